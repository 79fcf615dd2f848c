"""What every method owes: scikit-learn's conventions, determinism, equivariance, refusals."""

import numpy as np
import pytest
from blobs import blobs
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.estimator_checks import parametrize_with_checks
from test_storage import METHODS

from harness.plugin.parameters import describe_parameters

CLASSIFIERS = [method for method in METHODS if "binary" in method.tasks]
LEARNERS = [m for m in CLASSIFIERS if m.name not in ("random", "prior", "oracle")]
# XNV deals its landmarks out to two views at random: other numbers of the rows, other views.
ORDERLESS = [m for m in LEARNERS if m.name != "xnv"]

SEMI_SUPERVISED = "y = -1 means that a point has no label; the check takes it for a class"

SINGLE = "the check asks for 1e-7, less than float32 keeps"


def expected_failures(estimator):
    """Say which of scikit-learn's checks a method fails on purpose, and why."""
    failures = {
        "check_methods_subset_invariance": SINGLE,
        "check_methods_sample_order_invariance": SINGLE,
    }
    if isinstance(estimator, ClassifierMixin):
        failures["check_classifiers_classes"] = SEMI_SUPERVISED
    return failures


def small(method):
    """Return an estimator of a method, of a size that is quick."""
    estimator = method.estimator(**method.params)
    if method.size in ("n_landmarks", "n_components"):
        estimator.set_params(**{method.size: 20})
    seeded = {"random_state": 0} if "random_state" in estimator.get_params() else {}
    return estimator.set_params(**seeded)


@parametrize_with_checks([small(m) for m in METHODS], expected_failed_checks=expected_failures)
def test_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_every_parameter_says_what_it_allows_and_means(method):
    told = describe_parameters(method)
    assert [name for name, said in told.items() if not (said["allowed"] and said["meaning"])] == []


def told(estimator, method, n_classes):
    """Tell an estimator that could do regression as well that y holds classes."""
    if "regression" in method.tasks and "n_classes" in method.parameters:
        estimator.set_params(n_classes=n_classes)
    return estimator


def fitted(method, X, y, n_classes):
    return told(small(method), method, n_classes).fit(X, y)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("method", CLASSIFIERS, ids=lambda m: m.name)
def test_inputs_stay_as_they_are_and_equal_seeds_give_equal_scores(method, n_classes):
    X, y, _ = blobs(40, n_classes)
    before_X, before_y = X.copy(), y.copy()
    y.setflags(write=False)
    first, second = (fitted(method, X, y, n_classes) for _ in range(2))
    scores = first.decision_function(X)
    np.testing.assert_array_equal(scores, second.decision_function(X))
    np.testing.assert_array_equal(X, before_X)
    np.testing.assert_array_equal(y, before_y)
    assert scores.shape == ((80,) if n_classes == 2 else (120, 3))


@pytest.mark.parametrize("method", ORDERLESS, ids=lambda m: m.name)
def test_order_of_the_points_does_not_matter(method):
    X, y, _ = blobs(40, 2)
    order = np.random.default_rng(1).permutation(80)
    estimator = small(method)
    if "n_landmarks" in estimator.get_params():
        # A sample would be another one, and rounding decides what eigenvectors near zero are.
        estimator.set_params(n_landmarks=80, sigma=0.3)
    if method.name in ("nystroem-ridge", "self-training", "fs-mssksc", "rd-mssksc"):
        estimator.set_params(n_components=80, sigma=0.3)
    told(estimator, method, 2)
    straight = clone(estimator).fit(X, y).decision_function(X)
    shuffled = clone(estimator).fit(X[order], y[order]).decision_function(X)
    np.testing.assert_allclose(straight, shuffled, atol=2e-3 * np.abs(straight).max())


# SSOKMF has no minimum to fall to but that of its ridges
@pytest.mark.filterwarnings("ignore:after 50 rounds the objective")
@pytest.mark.parametrize("method", CLASSIFIERS, ids=lambda m: m.name)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_constant_features_and_duplicates_give_finite_scores(method, dtype):
    y = np.array([0, 1, 0, 1] + [-1] * 26)
    for X in (np.ones((30, 3), dtype), np.repeat(np.eye(3, dtype=dtype), 10, axis=0)):
        scores = fitted(method, X, y, 2).decision_function(X)
        assert np.isfinite(scores).all()


@pytest.mark.parametrize("method", CLASSIFIERS, ids=lambda m: m.name)
def test_a_size_above_the_number_of_points_is_taken_as_all(method):
    X, y, _ = blobs(20, 2)
    estimator = small(method)
    if method.size in ("n_landmarks", "n_components"):
        estimator.set_params(**{method.size: 500})
    told(estimator, method, 2)
    assert np.isfinite(estimator.fit(X, y).decision_function(X)).all()


@pytest.mark.parametrize("method", LEARNERS, ids=lambda m: m.name)
def test_bad_labels_and_numbers_are_refused_in_words(method):
    X, y, _ = blobs(20, 2)
    with pytest.raises(ValueError, match="one class among its labels"):
        fitted(method, X, np.where(y == 1, -1, y), 2)
    with pytest.raises(ValueError, match="no labeled point"):
        fitted(method, X, np.full(40, -1), 2)
    with pytest.raises(ValueError, match="n_classes=2 allows"):
        small(method).set_params(n_classes=2).fit(X, np.where(y == 1, 5, y))
    with pytest.raises(ValueError, match="NaN"):
        fitted(method, np.where(X > 2, np.nan, X), y, 2)
