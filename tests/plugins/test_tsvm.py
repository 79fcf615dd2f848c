"""TSVM: limits, what the objective and the labels may do, and clusters that few labels solve."""

import itertools
import tracemalloc

import numpy as np
import pytest
import tsvm
from blobs import blobs
from dense import gaussian, off
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.svm import LinearSVC
from tsvm import TransductiveSVM, label_switching
from tsvm.label_switching import TransductionProblem, concave_convex, switching
from tsvm.nystrom import NystromTransductiveSVM

from harness import Shape
from harness.planning.size import plan
from harness.semi_supervised import LinearProduct
from harness.semi_supervised.squared_hinge import Expansion, HingeLosses, minimise

FORMS = ["switching", "cccp"]
KERNELS = ["rbf", "linear"]


def hinge(t):
    return np.maximum(0, 1 - t) ** 2


def problem(X, y, tol=1e-10, share=0.5, weight=0.3, stages=4):
    labeled = np.flatnonzero(y >= 0)
    weights = [weight / 3**stage for stage in range(stages - 1, -1, -1)]
    product = LinearProduct(X)
    unlabeled = np.flatnonzero(y < 0)
    targets = np.where(y[labeled] == 1, 1.0, -1.0)
    return TransductionProblem(product, labeled, unlabeled, targets, share, 1.0, weights, tol)


@pytest.mark.parametrize("form", FORMS)
def test_without_weight_it_is_the_svm_of_the_labeled_points(form, two_blobs):
    X, y, _ = two_blobs
    model = TransductiveSVM(C=2.0, unlabeled_weight=0, form=form, kernel="linear", tol=1e-10).fit(
        X, y
    )
    # A large constant feature leaves the intercept nearly free of the penalty.
    peer = LinearSVC(C=2.0, dual=False, intercept_scaling=1e3, tol=1e-10)
    peer.fit(X[y >= 0], y[y >= 0])
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), rtol=1e-3)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_small_weight_comes_near_that_svm(kernel, two_blobs):
    X, y, _ = two_blobs
    svm = TransductiveSVM(unlabeled_weight=0, kernel=kernel, tol=1e-8).fit(X, y)
    errors = []
    for weight in (1e-2, 1e-3, 1e-4):
        model = TransductiveSVM(unlabeled_weight=weight, kernel=kernel, tol=1e-8).fit(X, y)
        errors.append(np.abs(model.decision_scores_ - svm.decision_scores_).max())
    # The change is of first order in the weight.
    assert errors[1] < 0.2 * errors[0]
    assert errors[2] < 0.2 * errors[1]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("weight", [0.1, 1.0])
def test_the_objective_never_rises_while_the_weight_stays(form, kernel, weight):
    X, y, _ = blobs(150, 2)
    model = TransductiveSVM(form=form, kernel=kernel, unlabeled_weight=weight, C=5.0)
    (path,) = model.fit(X, y).objective_
    for stage in np.unique(path[:, 0]):
        values = path[path[:, 0] == stage, 1]
        assert np.all(np.diff(values) <= 1e-6 * values[0])
    np.testing.assert_allclose(path[-1, 0], 5.0 * weight)


@pytest.mark.parametrize("most", [None, 1, 3])
def test_pairs_are_exchanged_those_that_gain_most_first(most):
    positive, scores = np.arange(10) < 5, np.array([0.0, 1, 2, 3, 9, 8, 7, 6, 2.5, -1])
    exchanged = label_switching._switch(positive, scores, most, 0.0)
    assert exchanged == (most or 3)
    lost, won = [0, 1, 2][:exchanged], [5, 6, 7][:exchanged]
    expected = [i not in lost if i < 5 else i in won for i in range(10)]
    np.testing.assert_array_equal(positive, expected)


def test_a_single_switch_at_a_time_ends_in_a_local_minimum_too(two_blobs):
    X, y, _ = two_blobs
    (path,) = TransductiveSVM(max_switches=1, kernel="linear").fit(X, y).objective_
    (many,) = TransductiveSVM(kernel="linear").fit(X, y).objective_
    assert len(many) <= len(path)
    last = path[path[:, 0] == path[-1, 0], 1]
    assert np.all(np.diff(last) <= 1e-6 * last[0])


def least_objective(task, signs):
    """Train exactly at given labels of the unlabeled points."""
    targets = np.zeros(task.kernel.n)
    targets[task.labeled], targets[task.unlabeled] = task.targets, signs
    costs = np.zeros(task.kernel.n)
    costs[task.labeled], costs[task.unlabeled] = task.C, task.weights[-1]
    losses = HingeLosses(costs * (targets > 0), costs * (targets < 0))
    f = minimise(task.kernel, Expansion.zero(task.kernel.n), losses, 1e-12)
    return f.objective(losses)


@pytest.mark.parametrize("seed", range(5))
def test_it_is_a_local_minimum_and_often_the_global_one_of_all_labelings(seed):
    X, y, _ = blobs(6, 2, d=2, labeled=2, seed=seed)
    task = problem(X, y)
    f = switching(task)
    signs = np.full(8, -1.0)
    signs[np.argsort(-f.scores[task.unlabeled])[:4]] = 1
    found = least_objective(task, signs)
    np.testing.assert_allclose(task.path[-1][1], found, rtol=1e-6)
    # At this f no exchange lowers the losses.
    scores = f.scores[task.unlabeled]
    positive, negative = scores[signs > 0], scores[signs < 0]
    gains = (
        hinge(positive)[:, None] + hinge(-negative) - hinge(-positive)[:, None] - hinge(negative)
    )
    assert gains.max() <= 1e-9
    # Not one of the 70 labelings with four positives does much better.
    others = []
    for chosen in itertools.combinations(range(8), 4):
        others.append(least_objective(task, np.where(np.isin(np.arange(8), chosen), 1.0, -1.0)))
    assert np.mean(np.array(others) < found * (1 - 1e-9)) <= 0.05


@pytest.mark.parametrize("share", [0.25, 0.5, 0.9])
def test_the_constraints_on_the_classes_hold(share, two_blobs):
    X, y, _ = two_blobs
    task = problem(X, y, share=share, weight=1.0)
    scores = concave_convex(task).scores[task.unlabeled]
    np.testing.assert_allclose(scores.mean(), 2 * share - 1, atol=1e-10)
    # Labels by rank explain the objective of the last step: as many positive ones as asked for.
    task = problem(X, y, share=share, weight=1.0)
    scores = switching(task).scores[task.unlabeled]
    signs = np.full(len(scores), -1.0)
    signs[np.argsort(-scores)[: int(share * len(scores) + 0.5)]] = 1
    np.testing.assert_allclose(least_objective(task, signs), task.path[-1][1], rtol=1e-5)


@pytest.mark.parametrize("ramp", [0.0, -0.3, -1.0])
def test_the_ramp_form_ends_where_its_objective_is_stationary(ramp, two_blobs):
    X, y, _ = two_blobs
    task = problem(X, y)
    f = concave_convex(task, ramp)
    mean, flat = X[task.unlabeled].mean(axis=0), (1 - ramp) ** 2

    def objective(weights):
        scores = (X - mean) @ weights + 2 * task.share - 1
        labeled = hinge(task.targets * scores[task.labeled]).sum()
        both = [np.minimum(hinge(side * scores[task.unlabeled]), flat) for side in (1, -1)]
        least = len(task.unlabeled) * min(flat, 2)
        return weights @ weights / 2 + labeled + task.weights[-1] * (np.sum(both) - least)

    weights = task.kernel.weights(f.coefficients)
    np.testing.assert_allclose(task.path[-1][1], objective(weights), rtol=1e-9)
    np.testing.assert_allclose(f.bias + mean @ weights, 2 * task.share - 1, atol=1e-9)
    h = 1e-6 * np.eye(len(weights))
    slope = [(objective(weights + e) - objective(weights - e)) / 2e-6 for e in h]
    np.testing.assert_allclose(slope, 0, atol=1e-3)
    if ramp == 0:
        one_side = hinge(np.abs(f.scores[task.unlabeled])).sum()
        labeled = hinge(task.targets * f.scores[task.labeled]).sum()
        expected = weights @ weights / 2 + labeled + task.weights[-1] * one_side
        np.testing.assert_allclose(task.path[-1][1], expected, rtol=1e-9)


def test_the_share_of_positive_points_is_the_one_that_is_given(two_blobs):
    X, y, _ = two_blobs
    settings = {"unlabeled_weight": 1.0, "positive_share": 0.2}
    scores = TransductiveSVM(form="cccp", **settings).fit(X, y).decision_scores_[y == -1]
    np.testing.assert_allclose(scores.mean(), -0.6, atol=1e-4)
    scores = TransductiveSVM(**settings).fit(X, y).decision_scores_[y == -1]
    assert 0.1 < np.mean(scores > 0) < 0.3


@pytest.mark.parametrize("form", FORMS)
def test_steps_that_were_not_enough_are_told_of(form, two_blobs, monkeypatch):
    X, y, _ = two_blobs
    monkeypatch.setattr(label_switching, "_MOST_ROUNDS", 1)
    with pytest.warns(ConvergenceWarning, match="1 steps were not enough"):
        TransductiveSVM(form=form, unlabeled_weight=1.0, C=5.0).fit(X, y)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_classes_may_change_places(form, kernel, two_blobs):
    X, y, _ = two_blobs
    model = TransductiveSVM(form=form, kernel=kernel)
    scores = model.fit(X, y).decision_scores_
    flipped = model.fit(X, np.where(y < 0, -1, 1 - y)).decision_scores_
    np.testing.assert_allclose(flipped, -scores, atol=1e-3 * np.abs(scores).max())


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_two_labels_solve_two_clusters(form, kernel):
    truth = np.repeat([0, 1], 100)
    X = np.random.default_rng(0).normal(size=(200, 2)) + 6.0 * truth[:, None]
    y = np.full(200, -1)
    y[[0, 199]] = truth[[0, 199]]
    model = TransductiveSVM(C=10.0, unlabeled_weight=1.0, form=form, kernel=kernel).fit(X, y)
    assert accuracy_score(truth, model.transduction_) > 0.99


@pytest.mark.parametrize("form", FORMS)
def test_unlabeled_points_help_on_two_moons(form):
    X, truth = make_moons(400, noise=0.05, random_state=0)
    moons = [np.flatnonzero(truth == label) for label in (0, 1)]

    def auc(labeled, **params):
        y = np.full(400, -1)
        y[labeled] = truth[labeled]
        model = TransductiveSVM(form=form, sigma=0.2, **params).fit(X, y)
        return roc_auc_score(truth, model.decision_scores_)

    tips = [moons[0][X[moons[0], 1].argmax()], moons[1][X[moons[1], 1].argmin()]]
    alone, helped = (auc(tips, C=0.01, unlabeled_weight=weight) for weight in (0, 1))
    assert helped > alone + 0.05
    assert auc(np.concatenate([moon[:6] for moon in moons])) > 0.995


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_two_stages_give_the_same_as_fit_whatever_was_fitted_before(form, kernel, n_classes):
    X, y, _ = blobs(40, n_classes)
    labeled = np.flatnonzero(y >= 0)
    whole = TransductiveSVM(form=form, kernel=kernel, C=3.0).fit(X, y)
    staged = TransductiveSVM(form=form, kernel=kernel, n_classes=n_classes)
    staged.fit_features(X, labeled)
    held = y[labeled].copy()
    held[::3] = -1
    staged.set_params(C=0.5, unlabeled_weight=0.5).fit_labels(held)
    staged.set_params(C=3.0, unlabeled_weight=0.1).fit_labels(y[labeled])
    np.testing.assert_array_equal(staged.decision_scores_, whole.decision_scores_)
    # A held-out point is an unlabeled one.
    hidden = y.copy()
    hidden[labeled[::3]] = -1
    staged.fit_labels(held)
    whole.fit(X, hidden)
    np.testing.assert_array_equal(staged.decision_scores_, whole.decision_scores_)
    np.testing.assert_array_equal(staged.held_out_scores_, whole.decision_scores_[labeled[::3]])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("n_classes", [2, 4])
def test_points_of_fit_score_the_same_out_of_sample(form, kernel, n_classes):
    X, y, truth = blobs(40, n_classes)
    model = TransductiveSVM(form=form, kernel=kernel).fit(X, y)
    scale = np.abs(model.decision_scores_).max()
    np.testing.assert_allclose(
        model.decision_function(X), model.decision_scores_, atol=1e-4 * scale
    )
    assert accuracy_score(truth, model.transduction_) > 0.7
    np.testing.assert_array_equal(model.transduction_[y >= 0], y[y >= 0])


@pytest.mark.parametrize("form", FORMS)
def test_all_points_labeled_is_the_supervised_machine(form):
    X, _, truth = blobs(40, 2)
    model = TransductiveSVM(form=form).fit(X, truth)
    alone = TransductiveSVM(unlabeled_weight=0).fit(X, truth)
    np.testing.assert_array_equal(model.decision_scores_, alone.decision_scores_)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sigma", [1e-6, 1e6])
@pytest.mark.parametrize("C", [1e-6, 1e6])
def test_at_extreme_widths_and_costs_new_points_are_told_apart_by_nothing(
    form, sigma, C, two_blobs
):
    X, y, _ = two_blobs
    model = TransductiveSVM(C=C, form=form, sigma=sigma, unlabeled_weight=1.0).fit(X, y)
    np.testing.assert_array_equal(model.transduction_[y >= 0], y[y >= 0])
    assert np.ptp(model.decision_function(X + 0.1)) < 1e-9
    # all points are one, or none is like another
    assert (np.ptp(model.decision_scores_) < 1e-9) == (sigma == 1e6)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_duplicates_types_and_a_class_that_is_not_among_the_unlabeled(form, kernel, two_blobs):
    X, y, truth = two_blobs
    kept = (y >= 0) | (truth == 0)
    X, y = np.repeat(X[kept], 3, axis=0), np.repeat(y[kept], 3)
    for data in (X, X.astype(np.float32), np.rint(4 * X).astype(int)):
        model = TransductiveSVM(form=form, kernel=kernel).fit(data, y)
        triples = model.decision_scores_.reshape(-1, 3)
        scale = np.abs(triples).max()
        # Of equal points some may be labeled positive and others negative, their scores are equal.
        np.testing.assert_allclose(triples, triples[:, :1] * np.ones(3), atol=1e-4 * scale)


def test_a_class_without_a_labeled_point_ranks_below_the_others():
    X, y, _ = blobs(30, 3)
    y[y == 1] = -1
    model = TransductiveSVM(n_classes=3).fit(X, y)
    assert model.decision_scores_.shape == (90, 3)
    assert not np.any(model.transduction_ == 1)


def test_what_cannot_be_is_refused_in_words():
    X, y, _ = blobs(30, 3)
    with pytest.raises(ValueError, match="positive_share is for two classes, y has 3"):
        TransductiveSVM(positive_share=0.3).fit(X, y)
    with pytest.raises(ValueError, match="one class among its labels"):
        TransductiveSVM().fit(X, np.where(y == 1, 1, -1))
    with pytest.raises(ValueError, match="growth"):
        TransductiveSVM(growth=1.0).fit(X, y)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kernel", KERNELS)
def test_features_whose_squares_overflow_are_refused_at_once(kernel, two_blobs):
    X, y, _ = two_blobs
    with pytest.raises(ValueError, match="overflows in float32; scale the features"):
        TransductiveSVM(kernel=kernel).fit(1e150 * X, y)


def test_what_other_labels_gave_is_not_held_beside_what_new_ones_do():
    rng = np.random.default_rng(0)
    n, classes = 2000, 20
    X, y = rng.standard_normal((n, 3)), np.arange(40) % classes
    model = TransductiveSVM(kernel="linear", unlabeled_weight=0, tol=0.1)
    model.fit_features(X, np.arange(40))
    tracemalloc.start()
    peaks = []
    for _ in range(2):
        model.fit_labels(y)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.reset_peak()
    tracemalloc.stop()
    assert peaks[1] < peaks[0] + 8 * n * classes / 4


@pytest.mark.parametrize("form", FORMS)
def test_with_all_points_as_landmarks_it_is_the_exact_machine(form):
    X, y, _ = blobs(50, 2)
    settings = {"sigma": 0.5, "form": form, "tol": 1e-8}
    exact = TransductiveSVM(**settings).fit(X, y)
    model = NystromTransductiveSVM(100, **settings, random_state=0).fit(X, y)
    assert off(model.decision_scores_, exact.decision_scores_) < 2e-3
    assert off(model.decision_function(X), exact.decision_function(X)) < 2e-3
    # out of sample it is the same function
    assert off(model.decision_function(X), model.decision_scores_) < 1e-3


def test_on_landmarks_it_is_the_linear_machine_of_their_features():
    X, y, _ = blobs(60, 3)
    model = NystromTransductiveSVM(20, sigma=0.7, tol=1e-8, random_state=0).fit(X, y)
    B, near = model.landmarks_, X - model.center_
    values, U = np.linalg.eigh(gaussian(B, B, model._width))
    Z = gaussian(near, B, model._width) @ U / np.sqrt(values)
    peer = TransductiveSVM(kernel="linear", tol=1e-8).fit(Z, y)
    assert off(model.decision_scores_, peer.decision_scores_) < 2e-3


def test_landmarks_bring_far_more_points_into_a_budget():
    exact, on_landmarks = (m for m in tsvm.harness_methods() if m.name != "linear-tsvm")
    shape = Shape(100, 10_000, 20, 2, itemsize=4, n_test=1000)
    assert plan(exact, shape, 4 * 10**6).size < 1500
    planned = plan(on_landmarks, shape, 16 * 10**6)
    assert planned.n_kept is None
    assert planned.size > 150
