"""Inputs at the edge of what a method can be given: finite scores, or a refusal in words.

What `test_contract` asks of every method (NaN in X, labels of one class, sizes far above the
number of points, equal points at default widths) is not asked again.
"""

import itertools

import numpy as np
import pytest
from blobs import blobs
from kmedoids import BudgetKernelKMedoids
from scipy import sparse
from test_contract import LEARNERS

from harness import kernels

# SGD and SSOKMF say that they are not at the minimum, which is not asked here.
pytestmark = pytest.mark.filterwarnings("ignore:after .* (epochs|rounds) the objective")

# Ways through a method's code that its defaults do not take.
VARIANTS = {
    "harmonic": [{"solver": "cg"}, {"n_neighbors": 5}],
    "budget-svm": [{"kernel": "linear"}, {"solver": "sgd", "sigma": 0.5}],
    "budget-lssvm": [{"kernel": "poly2"}, {"solver": "sgd"}],
    "clusk": [{"transfer": "poly-step"}],
    "nysck": [{"degrees": "features"}, {"degrees": "exact"}, {"variant": "literal"}],
    "sock": [{"degrees": "exact"}, {"transfer": "poly-step"}],
    "xnv": [{"cca": "randomized", "combine": True}],
    "xks": [{"combine": True}],
    "rff-mssksc": [{"penalise_bias": True}, {"normalize": True}],
    "fs-mssksc": [{"normalize": True}, {"degrees": "exact", "dtype": "float64"}],
    "rd-mssksc": [{"normalize": True}],
    "ssokmf": [{"solver": "sgd", "max_iter": 10}],
    "tsvm": [{"form": "cccp"}],
    "linear-tsvm": [{"form": "cccp"}],
}
QUICK = {"n_iter": 3, "n_landmarks": 20, "n_components": 20, "random_state": 0}
CASES = [
    pytest.param(method, params, id=" ".join([method.name, *map(str, params.values())]))
    for method in LEARNERS
    for params in [{}, *VARIANTS.get(method.name, [])]
]
KERNEL_CASES = [case for case in CASES if "sigma" in case.values[0].parameters]
WIDTHS = (1e-300, 1e-3, 1e3, 1e300)

each_case = pytest.mark.parametrize(("method", "params"), CASES)


def build(method, params, **more):
    quick = {name: value for name, value in QUICK.items() if name in method.parameters}
    if "regression" in method.tasks and "n_classes" in method.parameters:
        # or y would hold values
        quick["n_classes"] = 3
    return method.estimator(**{**method.params, **quick, **params, **more})


def all_scores(estimator, X_new):
    """Return the scores of new points and, where `fit` left them, of its own; all finite."""
    found = [estimator.decision_function(X_new)]
    for name in ("decision_scores_", "label_distributions_"):
        if hasattr(estimator, name):
            found.append(getattr(estimator, name))
    assert all(np.isfinite(scores).all() for scores in found)
    assert np.isin(estimator.predict(X_new), estimator.classes_).all()
    return found


def samples(dtype):
    X, y, _ = blobs(20, 2)
    X = X.astype(dtype)
    half_labeled = np.where(np.arange(40) % 2, y, -1)
    half_labeled[:2] = 0, 1
    yield X, y
    # far from the origin, where squared norms have lost what tells the points apart
    yield X + dtype(1e4), y
    yield np.repeat(X[:10], 4, axis=0), half_labeled
    yield np.ones_like(X), y


@pytest.mark.filterwarnings("ignore:the objective is:sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("method", "params"), KERNEL_CASES)
def test_scores_are_finite_at_any_width(method, params, dtype):
    for (X, y), unit in itertools.product(samples(dtype), ["median", "absolute"]):
        far = np.concatenate([X, X + dtype(100), X * dtype(1e6)])
        for sigma in WIDTHS if "n_neighbors" not in params else (WIDTHS[0], WIDTHS[-1]):
            estimator = build(method, params, sigma=sigma, sigma_unit=unit)
            all_scores(estimator.fit(X, y), far)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("rows", [slice(None), slice(1)], ids=["all", "one"])
@each_case
def test_squares_that_overflow_are_told_of(method, params, rows, dtype):
    X, y, _ = blobs(20, 2)
    X = X.astype(dtype)
    X[rows] *= dtype(1e25)
    refusal = ""
    try:
        all_scores(build(method, params).fit(X, y), X)
    except ValueError as error:
        refusal = str(error)
    assert not refusal or "overflow" in refusal


@each_case
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_point_labeled(method, params, n_classes):
    X, _, truth = blobs(20, n_classes)
    estimator = build(method, params).fit(X, truth)
    # The classes overlap: only 1-NN is right at all of its own points.
    scores = getattr(estimator, "decision_scores_", all_scores(estimator, X)[0])
    right = kernels.predict_labels(scores, estimator.classes_) == truth
    assert right.mean() >= (1 if method.name == "1nn" else 0.7)


@each_case
def test_a_class_that_no_unlabeled_point_is_of(method, params):
    X, y, truth = blobs(20, 3)
    kept = (truth != 1) | (y == 1)
    estimator = build(method, params).fit(X[kept], y[kept])
    assert all_scores(estimator, X[kept])[0].shape == (kept.sum(), 3)


@each_case
@pytest.mark.parametrize("seed", range(3))
def test_a_class_without_a_label_is_never_predicted(method, params, seed):
    """Of five classes that overlap, so that no machine is far above -1 somewhere."""
    X, y, _ = blobs(40, 5, labeled=20, d=2, seed=seed)
    strong = {"C": 1000.0} if "C" in method.parameters else {}
    estimator = build(method, {**strong, **params}, n_classes=5)
    estimator.fit(X, np.where(y == 1, -1, y))
    for scores in all_scores(estimator, np.concatenate([X, 3 * X])):
        assert not (scores.argmax(axis=1) == 1).any()


@each_case
def test_labels_of_one_class_of_three_are_refused(method, params):
    X, y, _ = blobs(20, 3)
    with pytest.raises(ValueError, match=r"one class among its labels \(2\).* and -1 says that"):
        build(method, params, n_classes=3).fit(X, np.where(y == 2, 2, -1))


@each_case
def test_sparse_and_infinite_features_are_refused(method, params):
    X, y, _ = blobs(20, 2)
    infinite = X.copy()
    infinite[3, 1] = np.inf
    with pytest.raises(TypeError, match="dense data is required"):
        build(method, params).fit(sparse.csr_array(X), y)
    with pytest.raises(ValueError, match="infinity"):
        build(method, params).fit(infinite, y)
    fitted = build(method, params).fit(X, y)
    with pytest.raises(TypeError, match="dense data is required"):
        fitted.decision_function(sparse.csr_array(X))
    with pytest.raises(ValueError, match="infinity"):
        fitted.decision_function(infinite)
    with pytest.raises(ValueError, match="3 features"):
        fitted.decision_function(X[:, :3])


@each_case
def test_the_type_of_the_features_changes_nothing(method, params):
    X, y, _ = blobs(20, 2)
    whole = np.rint(10 * X)
    expected = all_scores(build(method, params).fit(whole, y), whole)
    for dtype, tolerance in {np.int64: 0, np.int16: 0, np.float32: 0.01}.items():
        given = whole.astype(dtype)
        found = all_scores(build(method, params).fit(given, y), given)
        for some, others in zip(found, expected, strict=True):
            np.testing.assert_allclose(some, others, rtol=0, atol=tolerance * np.ptp(others))


@each_case
def test_one_feature(method, params):
    X, y, _ = blobs(20, 2, d=1)
    all_scores(build(method, params).fit(X, y), X)


@each_case
@pytest.mark.parametrize("d", [1, 4])
def test_two_points(method, params, d):
    X = np.random.default_rng(0).normal(size=(2, d))
    for points in (X, np.zeros_like(X)):
        all_scores(build(method, params).fit(points, np.array([0, 1])), X)
    estimator = build(method, params).fit(X, np.array([0, 1]))
    assert estimator.predict(X).tolist() == [0, 1]


SIZED = [
    pytest.param(case.values[0], case.values[1], name, id=f"{case.id} {name}")
    for case in CASES
    for name in ("n_landmarks", "n_components", "rank")
    if name in case.values[0].parameters and case.values[1] != {"variant": "literal"}
]


@pytest.mark.parametrize(("method", "params", "name"), SIZED)
def test_sizes_from_one_to_above_the_number_of_points(method, params, name):
    X, y, _ = blobs(10, 2)
    found = {
        size: all_scores(build(method, params, **{name: size}).fit(X, y), X)[0]
        for size in (1, 2, 19, 20, 21, 100)
    }
    if name != "n_components":
        np.testing.assert_array_equal(found[21], found[20])
        np.testing.assert_array_equal(found[100], found[20])


BUDGETS = {
    method.name: method.estimator
    for method in LEARNERS
    if method.name in ("budget-svm", "budget-lssvm", "ssokmf")
}
BUDGETS["budget-kmedoids"] = BudgetKernelKMedoids

each_budget = pytest.mark.parametrize("name", BUDGETS)
each_kernel = pytest.mark.parametrize("kernel", list(kernels.KERNELS))
each_selector = pytest.mark.parametrize("selector", list(kernels.SELECTORS))


def budget(name, size, **params):
    groups = {"n_clusters": 3} if name == "budget-kmedoids" else {}
    return BUDGETS[name](n_landmarks=size, random_state=0, **groups, **params)


def finite_and_known(estimator, X, y):
    """Fit, predict, and return the predictions, which must be of what fit has seen."""
    found = estimator.fit(X, y).predict(X)
    if hasattr(estimator, "decision_function"):
        assert np.isfinite(estimator.decision_function(X)).all()
        assert np.isin(found, y[y >= 0]).all()
    else:
        assert np.isfinite(estimator.objective_).all()
        np.testing.assert_array_equal(found, estimator.labels_)
        assert np.isin(found, range(3)).all()
    return found


def at_least_zero(n_classes=2, dtype=np.float64):
    X, y, _ = blobs(20, n_classes)
    return (X - X.min(axis=0)).astype(dtype), y


@each_budget
@each_kernel
@each_selector
@pytest.mark.parametrize("size", [1, 100], ids=["one", "more than there are"])
def test_one_landmark_and_more_than_there_are_points(name, kernel, selector, size):
    X, y = at_least_zero()
    finite_and_known(budget(name, size, kernel=kernel, selector=selector), X, y)


@each_budget
@each_kernel
@each_selector
@pytest.mark.parametrize("distinct", [1, 2, 5])
def test_landmarks_that_are_the_same_point(name, kernel, selector, distinct):
    """Fewer points than landmarks or clusters, and hashes whose buckets are empty."""
    X, y = at_least_zero()
    X = np.repeat(X[:distinct], 8, axis=0)
    y = y[: len(X)].copy()
    y[:2] = 0, 1
    finite_and_known(budget(name, 7, kernel=kernel, selector=selector), X, y)


@each_budget
@each_kernel
def test_buckets_of_points_on_a_line_are_empty(name, kernel):
    """Three halvings along one line give four codes, and not the eight that are asked for."""
    X = np.linspace(0, 1, 64)[:, None]
    y = np.where(np.arange(64) % 4, -1, np.arange(64) // 32)
    model = budget(name, 8, kernel=kernel, selector="dbh")
    finite_and_known(model, X, y)


@each_budget
def test_chi2_names_the_value_below_zero(name):
    X, y = at_least_zero()
    X[5, 2] = -0.5
    with pytest.raises(ValueError, match=r"X has -0\.5 in row 5, column 2"):
        budget(name, 10, kernel="chi2").fit(X, y)
    X[5, 2] = 0
    model = budget(name, 10, kernel="chi2").fit(X, y)
    with pytest.raises(ValueError, match="the chi2 kernel is for values of at least 0"):
        model.predict(-X)


@pytest.mark.parametrize("name", sorted(set(BUDGETS) - {"budget-kmedoids"}))
@pytest.mark.parametrize("n_classes", [2, 3])
def test_labels_that_leave_numbers_out(name, n_classes):
    X, y = at_least_zero(n_classes)
    names = np.array([2, 7, 40, -1])
    found = finite_and_known(budget(name, 20), X, names[y])
    np.testing.assert_array_equal(found, names[finite_and_known(budget(name, 20), X, y)])


@each_budget
@each_kernel
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_kernel_refuses_what_overflows_in_it(name, kernel, dtype):
    X, y = at_least_zero(dtype=dtype)
    for scale in (1e20, 1e25, 1e36):
        model = budget(name, 10, kernel=kernel)
        if kernel == "laplacian" and scale < 1e36:
            finite_and_known(model, X * dtype(scale), y)
        else:
            with pytest.raises(ValueError, match=f"{kernel.replace('rbf', 'gaussian')} kernel"):
                model.fit(X * dtype(scale), y)


@pytest.mark.filterwarnings("ignore:after 50 rounds:sklearn.exceptions.ConvergenceWarning")
def test_squares_of_kernel_values_that_float32_does_not_hold_are_summed_up_all_the_same():
    X, y = at_least_zero()
    model = budget("ssokmf", 10, kernel="linear").fit(X * 1e12, y)
    assert np.isfinite(model.decision_function(X * 1e12)).all()
