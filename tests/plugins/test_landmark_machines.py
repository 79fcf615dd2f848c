"""Machines on landmarks at the edge: few different points, every kernel and every selector."""

import itertools

import numpy as np
import pytest
from blobs import blobs
from registered import named

from harness import kernels

pytestmark = pytest.mark.filterwarnings("ignore:after .* (epochs|rounds) the objective")

KERNELS, SELECTORS = list(kernels.KERNELS), list(kernels.SELECTORS)
NAMES = ("budget-svm", "budget-lssvm", "ssokmf", "budget-kmedoids")

each_machine = pytest.mark.parametrize("name", NAMES)
each_kernel = pytest.mark.parametrize("kernel", KERNELS)


def machine(name, size, **params):
    groups = {"n_clusters": 3} if name == "budget-kmedoids" else {}
    return named(name).estimator(n_landmarks=size, random_state=0, **groups, **params)


def fit_and_predict(estimator, X, y):
    """Return scores, or clusters where there are none; labels are those that fit has seen."""
    found = estimator.fit(X, y).predict(X)
    if hasattr(estimator, "decision_function"):
        assert np.isin(found, y[y >= 0]).all()
        found = estimator.decision_function(X)
    else:
        assert np.isfinite(estimator.objective_).all()
        np.testing.assert_array_equal(found, estimator.labels_)
        assert np.isin(found, range(3)).all()
    assert np.isfinite(found).all()
    return found


def at_least_zero(n_classes=2, dtype=np.float64):
    X, y, _ = blobs(20, n_classes)
    return (X - X.min(axis=0)).astype(dtype), y


def repeated(n_points, times=8):
    X, y = at_least_zero()
    y = y[: n_points * times].copy()
    y[:2] = 0, 1
    return np.repeat(X[:n_points], times, axis=0), y


@pytest.mark.parametrize("name", NAMES[:3])  # the clusters begin with random ones
@pytest.mark.parametrize("selector", SELECTORS)
def test_where_all_points_are_landmarks_the_selector_chooses_nothing(name, selector):
    X, y = at_least_zero()
    found = fit_and_predict(machine(name, 100, selector=selector), X, y)
    expected = fit_and_predict(machine(name, len(X), selector="uniform"), X, y)
    np.testing.assert_array_equal(found, expected)


@each_kernel
@pytest.mark.parametrize("name", ["budget-svm", "budget-lssvm"])
def test_of_one_landmark_scores_are_its_kernel_times_a_weight(name, kernel):
    X, y = at_least_zero()
    model = machine(name, 1, kernel=kernel)
    scores = fit_and_predict(model, X, y)
    (landmark,) = model.landmarks_
    if model.center_ is not None:
        landmark = landmark + model.center_
    values = kernels.bind_kernel(kernel, X)(X, landmark[None].astype(X.dtype))[:, 0]
    assert abs(np.corrcoef(values, scores)[0, 1]) > 0.99999


@each_machine
@pytest.mark.parametrize(
    ("kernel", "selector"),
    [*((kernel, "uniform") for kernel in KERNELS), *(("rbf", name) for name in SELECTORS[1:])],
)
def test_of_one_point_again_and_again_nothing_is_learned(name, kernel, selector):
    X, y = repeated(1)
    found = fit_and_predict(machine(name, 7, kernel=kernel, selector=selector), X, y)
    np.testing.assert_array_equal(found, 0)


@each_machine
@pytest.mark.parametrize("n_points", [2, 5])
def test_equal_points_are_answered_alike_whichever_of_them_are_landmarks(name, n_points):
    """Fewer points than landmarks or clusters, and hashes whose buckets are empty."""
    X, y = repeated(n_points)
    for kernel, selector in itertools.product(KERNELS, SELECTORS):
        found = fit_and_predict(machine(name, 7, kernel=kernel, selector=selector), X, y)
        assert np.ptp(found.reshape(n_points, -1), axis=1).max() <= 1e-6 * np.abs(found).max()


@each_machine
@each_kernel
def test_buckets_of_points_on_a_line_are_empty(name, kernel):
    """Three halvings along one line give four codes, and not the eight that are asked for."""
    X = np.linspace(0, 1, 64)[:, None]
    truth = np.arange(64) // 32
    y = np.where(np.arange(64) % 4, -1, truth)
    model = machine(name, 8, kernel=kernel, selector="dbh")
    fit_and_predict(model, X, y)
    if name != "budget-kmedoids" and kernel in ("rbf", "laplacian"):
        assert (model.predict(X) == truth).mean() > 0.9


@each_machine
def test_chi2_names_the_value_below_zero(name):
    X, y = at_least_zero()
    X[5, 2] = -0.5
    with pytest.raises(ValueError, match=r"X has -0\.5 in row 5, column 2"):
        machine(name, 10, kernel="chi2").fit(X, y)
    X[5, 2] = 0
    model = machine(name, 10, kernel="chi2").fit(X, y)
    with pytest.raises(ValueError, match="the chi2 kernel is for values of at least 0"):
        model.predict(-X)


@pytest.mark.parametrize("name", NAMES[:3])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels_that_leave_numbers_out(name, n_classes):
    X, y = at_least_zero(n_classes)
    names = np.array([2, 7, 40, -1])
    found = machine(name, 20).fit(X, names[y]).predict(X)
    np.testing.assert_array_equal(found, names[machine(name, 20).fit(X, y).predict(X)])


@each_machine
@each_kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_kernel_refuses_what_overflows_in_it(name, kernel, dtype):
    X, y = at_least_zero(dtype=dtype)
    for scale in (1e20, 1e25, 1e36):
        model = machine(name, 10, kernel=kernel)
        if kernel == "laplacian" and scale < 1e36:
            fit_and_predict(model, X * dtype(scale), y)
        else:
            with pytest.raises(ValueError, match=f"{kernel.replace('rbf', 'gaussian')} kernel"):
                model.fit(X * dtype(scale), y)


@pytest.mark.filterwarnings("ignore:after 50 rounds:sklearn.exceptions.ConvergenceWarning")
def test_squares_of_kernel_values_that_float32_does_not_hold_are_summed_up_all_the_same():
    X, y = at_least_zero()
    model = machine("ssokmf", 10, kernel="linear").fit(X * 1e12, y)
    assert np.isfinite(model.decision_function(X * 1e12)).all()
