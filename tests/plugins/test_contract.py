"""What every method owes: the conformance kit finds nothing, and what the kit does not ask.

The kit takes a refusal in words for an answer; the methods of the project learn from all that
these tests give them. Variants of `registered` are asked as defaults are.
"""

import functools
import itertools
from dataclasses import replace

import numpy as np
import pytest
from blobs import blobs
from registered import CASES, LEARNERS, METHODS, all_scores, build, with_variants
from scipy import sparse
from sklearn.base import clone

from harness.conformance import check_methods, kit
from harness.conformance.finding import NotApplicableError
from harness.conformance.hard_inputs import INPUTS
from harness.conformance.problems import fitted, make_problem, predictions
from harness.plugin.abilities import takes_sparse
from harness.plugin.parameters import describe_parameters
from harness.semi_supervised import predict_labels
from harness.trial.warm_up import warm_up

# SGD and SSOKMF say that they are not at the minimum, which is not asked here.
pytestmark = pytest.mark.filterwarnings("ignore:after .* (epochs|rounds) the objective")

warm_up_once = functools.cache(warm_up)

each_case = pytest.mark.parametrize("method", CASES)
each_method = pytest.mark.parametrize("method", with_variants(METHODS, pytest.mark.slow))
CLASSES = {case.values[0].estimator: case.id for case in reversed(with_variants(METHODS))}
"""Which case scikit-learn's checks of a class are asked with: its first."""
each_learner = pytest.mark.parametrize("method", LEARNERS, ids=lambda method: method.name)

ORIGIN = "far from the origin"
BOUND_TO_THE_ORIGIN = {
    "random": "scores are drawn anew for other numbers",
    "rbf-sampler-ridge": "scikit-learn's random features: others where points are moved",
    "budget-svm kernel=linear": "a kernel of products",
    "budget-lssvm kernel=poly2": "a kernel of products",
}
"""Methods to which the origin means something, and why."""


BY_CHANCE = {("xks combine=True", "permutation equivariant, regression")}
"""Told apart at p = 0.001 with the random states of the kit; with 100 others at 0.17."""


@each_method
def test_the_conformance_kit_finds_nothing(method, request, monkeypatch):
    monkeypatch.setattr(kit, "warm_up", warm_up_once)
    case = request.node.callspec.id
    if CLASSES[method.estimator] != case:
        monkeypatch.setattr(kit, "sklearn_checks", lambda method: [])
    found = list(check_methods([method], seconds=60, measure=False))
    moved = [f for f in found if f.check.startswith(ORIGIN)]
    assert len(moved) == len(method.tasks)
    bound = case in BOUND_TO_THE_ORIGIN
    # a method that begins to compute with points as they lie would no longer be asked
    assert [f for f in moved if (f.result == "passes") == bound] == []
    failed = [f for f in found if f.result == "fails" and (case, f.check) not in BY_CHANCE]
    assert [f for f in failed if not (bound and f in moved)] == []


MAY_BE_REFUSED = {"one class", "one labeled point", "NaN in X"}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@each_method
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hard_inputs_are_learned_from_and_not_refused(method, dtype):
    for task, name in itertools.product(sorted(method.tasks), INPUTS.keys() - MAY_BE_REFUSED):
        try:
            hard = INPUTS[name](method, make_problem(method, task))
        except NotApplicableError:
            continue
        hard = replace(hard, X=hard.X.astype(dtype), X_new=hard.X_new.astype(dtype))
        predictions(fitted(method, hard), hard)


def test_names_are_the_ones_that_studies_use():
    names = "random prior oracle 1nn svm linear-svm harmonic cmn clusk nysck sock rff-mssksc"
    names += " fs-mssksc rd-mssksc mssksc nystrom-krr budget-kmedoids ksc tsvm linear-tsvm"
    names += " nystroem-ridge rbf-sampler-ridge self-training"
    names += " budget-svm nystrom-svm budget-lssvm ssokmf"
    names += " rbp forgetron projectron projectron-pp bpa-s bsgd bogd nogd fogd dual-sgd"
    names += " rff-clusk nystrom-tsvm s4vm knn-clusk pvm"
    names += " falkon logfalkon pcg-krr rff-ridge"
    names += " anchor-graph label-propagation label-spreading poisson-learning lapsvm"
    names += " xnv xks sssl sssl-m sssl-2m krr laprls laprls-landmarks"
    assert sorted(method.name for method in METHODS) == sorted(names.split())


@pytest.mark.parametrize("method", METHODS, ids=lambda m: m.name)
def test_every_parameter_says_what_it_allows_and_means(method):
    told = describe_parameters(method)
    assert [name for name, said in told.items() if not (said["allowed"] and said["meaning"])] == []


@each_case
@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_of_a_point_do_not_depend_on_those_beside_it(method, n_classes):
    """In one call, one by one and in another order."""
    X, y, _ = blobs(20, n_classes)
    estimator = build(method, n_classes).fit(X, y)
    scores = estimator.decision_function(X)
    alone = np.concatenate([estimator.decision_function(X[i : i + 1]) for i in range(len(X))])
    backwards = estimator.decision_function(X[::-1])[::-1]
    atol = 1e-4 * np.ptp(scores)
    np.testing.assert_allclose(alone, scores, rtol=0, atol=atol)
    np.testing.assert_allclose(backwards, scores, rtol=0, atol=atol)


ONLINE = {
    *("rbp", "forgetron", "projectron", "projectron-pp", "bpa-s"),
    *("bsgd", "bogd", "nogd", "fogd", "dual-sgd"),
}
"""Learn from one point after the other, in an order that is drawn."""
ORDERED = {"xnv", "rff-ridge"} | ONLINE
"""XNV deals its landmarks out to two views at random: other numbers of the rows, other views.
Features that are kept in few bits are rounded at random.
"""


@pytest.mark.parametrize(
    "method", [m for m in LEARNERS if m.name not in ORDERED], ids=lambda method: method.name
)
def test_order_of_the_points_does_not_matter(method):
    """Nor chance: the kit compares means over random states, this the scores of each point."""
    X, y, _ = blobs(40, 2)
    order = np.random.default_rng(1).permutation(80)
    estimator = build(method, 2)
    # A sample would be another one, and rounding decides what eigenvectors near zero are.
    if "n_landmarks" in method.parameters:
        estimator.set_params(n_landmarks=80, sigma=0.3)
    if method.name in ("nystroem-ridge", "self-training", "fs-mssksc", "rd-mssksc"):
        estimator.set_params(n_components=80, sigma=0.3)
    straight = clone(estimator).fit(X, y).decision_function(X)
    shuffled = clone(estimator).fit(X[order], y[order]).decision_function(X)
    np.testing.assert_allclose(straight, shuffled, atol=2e-3 * np.abs(straight).max())


@each_case
def test_labels_that_say_nothing_are_refused_in_words(method):
    X, y, _ = blobs(20, 2)
    with pytest.raises(ValueError, match=r"one class among its labels \(0\).* and -1 says that"):
        build(method, 2).fit(X, np.where(y == 1, -1, y))
    with pytest.raises(ValueError, match="no labeled point"):
        build(method, 2).fit(X, np.full(40, -1))
    with pytest.raises(ValueError, match="n_classes=2 allows"):
        build(method, n_classes=2).set_params(n_classes=2).fit(X, np.where(y == 1, 5, y))
    X, y, _ = blobs(20, 3)
    with pytest.raises(ValueError, match=r"one class among its labels \(2\).* and -1 says that"):
        build(method).set_params(n_classes=3).fit(X, np.where(y == 2, 2, -1))


@each_case
def test_sparse_and_infinite_features_are_refused_in_words(method):
    X, y, _ = blobs(20, 2)
    infinite = X.copy()
    infinite[3, 1] = np.inf
    estimator = build(method).fit(X, y)
    for call in (lambda X: build(method).fit(X, y), estimator.decision_function):
        if not takes_sparse(estimator):
            with pytest.raises(TypeError, match="dense data is required"):
                call(sparse.csr_array(X))
        with pytest.raises(ValueError, match="infinity"):
            call(infinite)
    if takes_sparse(estimator):
        with pytest.raises(ValueError, match="infinity"):
            build(method).fit(sparse.csr_matrix(infinite), y)
    with pytest.raises(ValueError, match="3 features"):
        estimator.decision_function(X[:, :3])


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
@pytest.mark.parametrize(
    "method",
    [c for c in with_variants(LEARNERS, pytest.mark.slow) if "sigma" in c.values[0].parameters],
)
def test_scores_are_finite_at_any_width(method):
    widths = (1e-300, 1e300) if "n_neighbors" in method.params else (1e-300, 1e-3, 1e3, 1e300)
    for dtype, unit in itertools.product((np.float32, np.float64), ("median", "absolute")):
        for X, y in samples(dtype):
            far = np.concatenate([X, X + dtype(100), X * dtype(1e6)])
            for sigma in widths:
                all_scores(build(method, sigma=sigma, sigma_unit=unit).fit(X, y), far)


WITHOUT_A_WIDTH = {"budget-svm kernel=linear", "linear-tsvm", "linear-tsvm form=cccp"}
"""A product of points is no matter of their distance."""
TOLD_APART_BY_RANK = {
    *(
        "harmonic n_neighbors=5",
        "label-propagation",
        "anchor-graph",
        "anchor-graph weights=kernel",
        "knn-clusk",
    ),
    *("xks", "xks combine=True", "xks frequencies=hadamard"),
}
"""Nearest neighbors stay the nearest; canonical correlations have no scale."""
NEVER_ZERO = {
    *("rbf-sampler-ridge", "rff-mssksc", "rff-ridge", "xks", "fogd", "budget-lssvm kernel=poly2"),
    *("anchor-graph", "rff-clusk", "pvm"),
}
"""Random Fourier features are far from a kernel that is zero; a polynomial grows; weights of the
nearest anchors are parts of their sum.
"""
RBF = [c for c in CASES if "sigma" in c.values[0].parameters and c.id not in WITHOUT_A_WIDTH]


def spread(scores):
    return np.ptp(scores, axis=0).max()


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", [c for c in RBF if c.id not in TOLD_APART_BY_RANK])
def test_to_a_kernel_that_is_wide_all_points_are_one(method):
    X, y, _ = blobs(20, 2)
    assert spread(build(method, sigma=1e300).fit(X, y).decision_function(X)) < 1e-6
    # what there is to learn has a width
    assert spread(build(method).fit(X, y).decision_function(X)) > 0.1


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("method", [c for c in RBF if not {c.id, c.id.split()[0]} & NEVER_ZERO])
def test_to_a_kernel_that_is_narrow_points_far_from_all_are_one(method):
    X, y, _ = blobs(20, 2)
    far = np.concatenate([X + 100, -1e3 * X])
    estimator = build(method, sigma=1e-3).fit(X, y)
    # random views and landmarks leave no more than rounding
    assert spread(estimator.decision_function(far)) < 1e-6


@pytest.mark.filterwarnings("ignore")
@each_case
def test_squares_that_overflow_are_told_of(method):
    for rows, dtype in itertools.product((slice(None), slice(1)), (np.float32, np.float64)):
        X, y, _ = blobs(20, 2)
        X = X.astype(dtype)
        X[rows] *= dtype(1e25)
        refusal = ""
        try:
            all_scores(build(method).fit(X, y), X)
        except ValueError as error:
            refusal = str(error)
        assert not refusal or "overflow" in refusal


# The last mistakes on classes that overlap are most of what an online machine knows.
@pytest.mark.parametrize("method", [c for c in CASES if c.values[0].name not in ONLINE])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_point_labeled(method, n_classes):
    X, _, truth = blobs(20, n_classes)
    estimator = build(method).fit(X, truth)
    # The classes overlap: only 1-NN is right at all of its own points.
    scores = getattr(estimator, "decision_scores_", all_scores(estimator, X)[0])
    right = predict_labels(scores, estimator.classes_) == truth
    assert right.mean() >= (1 if method.name == "1nn" else 0.7)


@each_case
def test_a_class_that_no_unlabeled_point_is_of_is_predicted_for_new_points_of_it(method):
    X, y, truth = blobs(20, 3)
    kept = (truth != 1) | (y == 1)
    estimator = build(method).fit(X[kept], y[kept])
    assert all_scores(estimator, X[kept])[0].shape == (kept.sum(), 3)
    assert (estimator.predict(X[~kept]) == 1).any()


@each_case
@pytest.mark.parametrize("seed", range(3))
def test_a_class_without_a_label_is_never_predicted(method, seed):
    """Of five classes that overlap, so that no machine is far above -1 somewhere."""
    X, y, _ = blobs(40, 5, labeled=20, d=2, seed=seed)
    strong = {"C": 1000.0} if "C" in method.parameters else {}
    estimator = build(method, **strong).set_params(n_classes=5)
    estimator.fit(X, np.where(y == 1, -1, y))
    for scores in all_scores(estimator, np.concatenate([X, 3 * X])):
        assert not (scores.argmax(axis=1) == 1).any()


@each_case
def test_the_type_of_the_features_changes_nothing(method):
    X, y, _ = blobs(20, 2)
    whole = np.rint(10 * X)
    expected = all_scores(build(method).fit(whole, y), whole)
    for dtype, tolerance in {np.int64: 0, np.int16: 0, np.float32: 0.01}.items():
        given = whole.astype(dtype)
        found = all_scores(build(method).fit(given, y), given)
        for some, others in zip(found, expected, strict=True):
            np.testing.assert_allclose(some, others, rtol=0, atol=tolerance * np.ptp(others))


@each_case
@pytest.mark.parametrize("d", [1, 4])
def test_two_points_are_told_apart(method, d):
    X = np.random.default_rng(0).normal(size=(2, d))
    assert build(method).fit(X, np.array([0, 1])).predict(X).tolist() == [0, 1]


SIZED = [
    pytest.param(case.values[0], name, id=f"{case.id} {name}")
    for case in CASES
    for name in ("n_landmarks", "n_components", "rank")
    if name in case.values[0].parameters and case.id != "nysck variant=literal"
]


@pytest.mark.parametrize(("method", "name"), SIZED)
def test_sizes_from_one_to_above_the_number_of_points(method, name):
    X, y, _ = blobs(10, 2)
    found = {
        size: all_scores(build(method, **{name: size}).fit(X, y), X)[0]
        for size in (1, 2, 19, 20, 21, 100)
    }
    if name != "n_components":
        np.testing.assert_array_equal(found[21], found[20])
        np.testing.assert_array_equal(found[100], found[20])
