"""Supervised baselines against scikit-learn on the labeled points."""

from dataclasses import replace

import numpy as np
import pytest
from blobs import blobs
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from supervised import (
    KernelSVM,
    LinearSVM,
    NearestNeighbor,
    harness_methods,
    svm_cache_rows,
)

from harness import Kernel, Shape, kernels
from harness.planning.size import plan


@pytest.fixture
def svm():
    return next(method for method in harness_methods() if method.name == "svm")


@pytest.mark.parametrize("n_classes", [2, 4])
def test_nearest_neighbor_is_that_of_scikit_learn(n_classes):
    X, y, _ = blobs(200, n_classes)
    known = y != -1
    model = NearestNeighbor().fit(X, y)
    expected = KNeighborsClassifier(1).fit(X[known], y[known]).predict(X)
    np.testing.assert_array_equal(model.predict(X), expected)
    assert set(np.unique(model.decision_function(X))) == {-1.0, 1.0}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_svm_is_that_of_scikit_learn_with_its_width_absolute(n_classes):
    X, y, _ = blobs(60, n_classes)
    known = y != -1
    ours = KernelSVM(C=3, sigma=0.7, sigma_unit="absolute").fit(X, y).decision_function(X)
    theirs = SVC(C=3, gamma=0.5 / 0.7**2).fit(X[known], y[known]).decision_function(X)
    np.testing.assert_allclose(ours, theirs, atol=1e-8)


@pytest.mark.parametrize("estimator", [KernelSVM(), LinearSVM(), NearestNeighbor()])
def test_unlabeled_points_change_nothing(estimator):
    X, y, _ = blobs(60, 3)
    known = y != -1
    with_them = estimator.fit(X, y).decision_function(X)
    np.testing.assert_array_equal(
        with_them, estimator.fit(X[known], y[known]).decision_function(X)
    )


@pytest.mark.parametrize("estimator", [KernelSVM, LinearSVM, NearestNeighbor])
def test_a_class_without_labels_ranks_below_the_others(estimator):
    X, y, _ = blobs(40, 3)
    y = np.where(y == 1, -1, y)
    scores = estimator(n_classes=3).fit(X, y).decision_function(X)
    assert scores.shape == (120, 3)
    assert (scores[:, 1] < scores[:, [0, 2]].min(axis=1) + 1e-12).all()


def test_scaling_all_features_leaves_the_svm_as_it_is():
    X, y, _ = blobs(60, 2)
    small, large = KernelSVM().fit(X, y), KernelSVM().fit(X * 1000, y)
    np.testing.assert_allclose(
        small.decision_function(X), large.decision_function(X * 1000), atol=1e-8
    )


@pytest.mark.parametrize(
    ("n", "n_classes", "largest"),
    [(1000, 2, 1000), (4000, 2, 1000), (1000, 4, 500), (10**7, 2, 2)],
)
def test_cache_holds_two_classes_or_16_megabytes_of_them(n, n_classes, largest):
    shape = Shape(n, 0, 30, n_classes)
    assert svm_cache_rows(shape) == (2, largest)


def test_budget_turns_the_cache_and_a_budget_of_landmarks_does_not(svm):
    shape = Shape(3000, 40_000, 300, 2, mapped=True)
    budgets = 14 * 10**6, 16 * 10**6, 30 * 10**6, None
    planned = [plan(svm, shape, budget).size for budget in budgets]
    assert 2 <= planned[0] < planned[1] < planned[2] == planned[3] == 1333
    assert not svm.bounded_by_landmarks


@pytest.mark.memory
@pytest.mark.parametrize("budget", [6, 8, 12])
def test_cache_is_full_and_no_larger_than_planned(svm, budget, assert_peak_between):
    """It ends where the copy of the support vectors begins: the two are not added up.

    Where all points are support vectors, as with a narrow kernel, more of it is holes.
    """
    shape = Shape(2000, 0, 20, 2, n_test=1000)
    planned = plan(svm, shape, budget * 10**6)
    bounds = 0.75 * planned.planned_bytes, planned.planned_bytes
    assert_peak_between(*bounds, svm, shape, planned.size, "binary")
    narrow = replace(svm, params={**svm.params, "sigma": 0.05})
    bounds = 0.85 * planned.planned_bytes, planned.planned_bytes
    assert_peak_between(*bounds, narrow, shape, planned.size, "binary")


def test_rows_of_the_cache_change_nothing_but_time():
    X, y, _ = blobs(200, 3)
    few, many = KernelSVM(cache_rows=2).fit(X, y), KernelSVM(cache_rows=1000).fit(X, y)
    np.testing.assert_array_equal(few.decision_function(X), many.decision_function(X))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("name", ["rbf", "linear", "poly2", "chi2", "laplacian"])
def test_kernels_are_those_of_the_same_name(name, n_classes):
    X = np.abs(blobs(150, 2)[0])
    y = np.arange(len(X)) % n_classes
    ours = KernelSVM(kernel=name, sigma=1.3, sigma_unit="absolute").fit(X, y)
    kernel = kernels.KERNELS[name].function
    theirs = SVC(kernel="precomputed").fit(kernel(X, X, 1.3), y)
    scores = theirs.decision_function(kernel(X, X, 1.3))
    np.testing.assert_allclose(ours.decision_function(X), scores, atol=5e-3)


def test_a_kernel_of_a_plugin_is_one_like_others():
    X, y, _ = blobs(60, 2)
    of_a_plugin = Kernel("mine", kernels.KERNELS["rbf"].function, kernels.KERNELS["rbf"].unit)
    ours, theirs = KernelSVM(kernel=of_a_plugin).fit(X, y), KernelSVM(kernel="rbf").fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=5e-3)


@pytest.mark.memory
@pytest.mark.parametrize("kernel", ["chi2", "laplacian"])
@pytest.mark.parametrize("shape", [Shape(1500, 0, 20, 2, 500), Shape(900, 0, 500, 3, 500)])
def test_a_kernel_matrix_is_counted(svm, kernel, shape, assert_peak_between):
    given = replace(svm, params={"kernel": kernel})
    planned = plan(given, shape, None)
    task = "binary" if shape.n_classes == 2 else "multiclass"
    bounds = 0.8 * planned.planned_bytes, planned.planned_bytes
    assert_peak_between(*bounds, given, shape, planned.size, task)
