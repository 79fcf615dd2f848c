"""Supervised baselines against scikit-learn on the labeled points."""

import numpy as np
import pytest
from blobs import blobs
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from supervised import KernelSVM, LinearSVM, NearestNeighbor, cache_bytes

from harness import kernels


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


def test_cache_holds_a_small_kernel_and_bounds_a_large_one():
    assert cache_bytes(1000, 2) == 4_000_000
    assert cache_bytes(10**6, 2) == 16_000_000


@pytest.mark.parametrize("name", ["rbf", "linear", "poly2"])
def test_kernels_are_those_of_the_same_name(name):
    X, y, _ = blobs(30, 2)
    y = np.arange(len(X)) % 2
    ours = KernelSVM(name, sigma=1.3, sigma_unit="absolute").fit(X, y)
    kernel = kernels.KERNELS[name].function
    theirs = SVC(kernel="precomputed").fit(kernel(X, X, 1.3), y)
    scores = theirs.decision_function(kernel(X, X, 1.3))
    np.testing.assert_allclose(ours.decision_function(X), scores, atol=5e-3)
