"""Hinge machines of all classes: LIBSVM's minimum, at once and in rounds, in little memory."""

import numpy as np
import pytest
from budget_machines import one_vs_rest_hinge
from budget_machines.feature_cache import FeatureCache
from budget_machines.one_vs_rest_hinge import train_hinge_machines
from budget_machines.working_set import working_set
from hinge_problems import counted, features_of, noisy, problem, separable
from scipy.optimize import minimize
from sklearn.svm import SVC


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_all_points_as_landmarks_are_libsvm_at_half_the_cost(C):
    X, y = problem()
    features = features_of(X, len(X))
    cache = FeatureCache(features, X, 10**8, len(X))
    rows = np.arange(len(X))
    found = train_hinge_machines(features, X, rows, y, 3, C, cache, tol=1e-4)
    K = features.kernel(X.astype(np.float64), X.astype(np.float64))
    objective = 0.0
    for label in range(3):
        machine = SVC(kernel="precomputed", C=C / 2, tol=1e-6).fit(K, y == label)
        a = np.zeros(len(X))
        a[machine.support_] = machine.dual_coef_[0]
        scores = machine.decision_function(K)
        hinges = np.maximum(0, 1 - np.where(y == label, 1, -1) * scores)
        objective += a @ K @ a + C * hinges.sum()
    assert found.objective == pytest.approx(objective, rel=1.1e-4)
    assert 0 <= found.gap <= 1e-4 * found.objective


@pytest.mark.parametrize("held_rows", [20, 150])
def test_a_small_cache_gives_the_same_machines(held_rows, monkeypatch):
    X, y = problem(600)
    features, rows = features_of(X, 50), np.arange(600)
    y = np.where(rows % 7 == 0, -1, y)
    whole = FeatureCache(features, X, 10**8, 600)
    part = FeatureCache(features, X, 4 * held_rows * features.n_components, 600)
    assert part.n_held == held_rows
    loaded = []
    train = one_vs_rest_hinge.train_hinge
    monkeypatch.setattr(
        one_vs_rest_hinge,
        "train_hinge",
        lambda *a, **options: [loaded.append(len(a[0])), train(*a, **options)][1],
    )
    small = train_hinge_machines(features, X, rows, y, 3, 5.0, part, tol=1e-4)
    assert held_rows < max(loaded) < 600
    large = train_hinge_machines(features, X, rows, y, 3, 5.0, whole, tol=1e-4)
    assert small.objective == pytest.approx(large.objective, rel=2e-4)
    assert 0 <= small.gap <= 1e-4 * small.objective
    # scores of all rows, those without a label among them
    np.testing.assert_allclose(small.scores, large.scores, atol=0.05)


@pytest.mark.parametrize("held_rows", [10, 10**6])
def test_a_class_without_a_label_stays_where_it_is(held_rows):
    X, y = problem()
    features = features_of(X, 30)
    room = 4 * held_rows * features.n_components
    cache = FeatureCache(features, X, room, len(X))
    codes = np.where(y == 1, -1, y)
    found = train_hinge_machines(features, X, np.arange(len(X)), codes, 3, 1.0, cache)
    assert not found.coefficients[:, 1].any()
    assert found.intercepts[1] == -1
    assert (found.scores[:, 1] == -1).all()


@pytest.mark.parametrize("held_rows", [300, 712])
def test_rows_of_both_signs_are_trained_on(held_rows, monkeypatch):
    """Of noise with 40 % positive rows, all of these are below the margin and the worst of all."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6000, 10)).astype(np.float32)
    codes = (rng.random(6000) < 0.4).astype(int)
    features = features_of(X, 60, width=4.0)
    part, whole = (
        FeatureCache(features, X, 4 * rows * features.n_components, 6000)
        for rows in (held_rows, 6000)
    )
    signs, train = [], one_vs_rest_hinge.train_hinge
    monkeypatch.setattr(
        one_vs_rest_hinge,
        "train_hinge",
        lambda *a, **options: [signs.append(a[1]), train(*a, **options)][1],
    )
    arguments = (features, X, np.arange(6000), codes, 2, 0.01)
    found = train_hinge_machines(*arguments, part)
    assert all(np.ptp(some) == 2 for some in signs)
    expected = train_hinge_machines(*arguments, whole)
    assert found.gap <= 1e-3 * found.objective
    assert found.objective == pytest.approx(expected.objective, rel=2e-3)


def test_rows_far_below_the_margin_need_no_room(monkeypatch):
    """Of noisy labels most rows end below a margin of 1, several times as many as fit."""
    X, codes, features = noisy()
    part, whole = (
        FeatureCache(features, X, 4 * rows * features.n_components, 4000) for rows in (500, 4000)
    )
    arguments = (features, X, np.arange(4000), codes, 2, 1.0)
    trained = counted(monkeypatch, one_vs_rest_hinge, "train_hinge")
    found = train_hinge_machines(*arguments, part)
    below = (np.where(codes == 1, 1, -1) * found.scores[:, 0] < 1).sum()
    assert below > 3000
    assert max(len(call[0]) for call in trained) < below / 2
    assert max(call[3].bound_totals.sum() for call in trained) > below / 2
    expected = train_hinge_machines(*arguments, whole)
    assert found.gap <= 1e-3 * found.objective
    assert found.objective == pytest.approx(expected.objective, rel=2e-3)


def test_rows_far_above_the_margin_are_not_loaded(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 6)).astype(np.float32)
    codes = (X[:, 0] > 0).astype(int)
    features = features_of(X, 50, width=4.0)
    cache = FeatureCache(features, X, 4 * 3000 * features.n_components, 4000)
    trained = counted(monkeypatch, one_vs_rest_hinge, "train_hinge")
    found = train_hinge_machines(features, X, np.arange(4000), codes, 2, 10.0, cache)
    near = (np.where(codes == 1, 1, -1) * found.scores[:, 0] < 1.6).sum()
    assert near < 1500 < cache.n_held
    assert len(trained[-1][2].costs) < 1.2 * near
    assert found.gap <= 1e-3 * found.objective


def test_where_nothing_pulls_or_is_near_the_nearest_of_both_signs_are_trained_on():
    margins, signs = np.linspace(5, 3, 200), np.where(np.arange(200) % 10, -1.0, 1.0)
    nobody = np.zeros(200, bool)
    rows = working_set(margins, signs, nobody, ~nobody, 20, 0.5)
    assert 20 <= len(rows) <= 40
    assert margins[rows].max() < 3.5
    assert set(signs[rows]) == {1, -1}


def test_rows_that_wait_for_room_follow_without_a_pass_over_all(monkeypatch):
    X, codes, features = noisy()
    problem = (features, X, np.arange(4000), codes, 2, 1.0)
    passes, objectives = [], []
    for turns in (1, one_vs_rest_hinge._MOST_TURNS):
        monkeypatch.setattr(one_vs_rest_hinge, "_MOST_TURNS", turns)
        calls = counted(monkeypatch, one_vs_rest_hinge._Problem, "_scores_of")
        cache = FeatureCache(features, X, 4 * 500 * features.n_components, 4000)
        objectives.append(train_hinge_machines(*problem, cache).objective)
        passes.append(len(calls))
        monkeypatch.undo()
    assert passes[1] <= 0.7 * passes[0]
    assert objectives[1] == pytest.approx(objectives[0], rel=2e-3)


@pytest.mark.parametrize("held", [2, 10, 60, 150])
@pytest.mark.parametrize("seed", range(6))
def test_scores_and_objective_are_those_of_the_coefficients(seed, held):
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(150, 300)), int(rng.integers(5, 40))
    X, y = problem(n, seed)
    features, C = features_of(X, r), float(10 ** rng.uniform(-2.5, 1.5))
    cache = FeatureCache(features, X, 4 * held * features.n_components, n)
    found = train_hinge_machines(features, X, np.arange(n), y, 3, C, cache)
    a = found.coefficients
    scores = features.scores(X, a) + found.intercepts
    np.testing.assert_allclose(found.scores, scores, atol=2e-5 * max(1, np.abs(scores).max()))
    signs = np.where(y[:, None] == np.arange(3), 1, -1)
    objective = (
        np.square(features.factor.T @ a).sum() + C * np.maximum(0, 1 - signs * scores).sum()
    )
    assert found.objective == pytest.approx(objective, rel=1e-4)
    assert found.gap >= -1e-5 * objective


def test_no_step_goes_along_rounding_alone(monkeypatch):
    """A machine that training leaves as it is has other scores by rounding, not a direction."""
    X, y = problem()
    features, rows = features_of(X, 40), np.arange(len(X))
    cache = FeatureCache(features, X, 4 * 100 * features.n_components, len(X))
    scores_of = one_vs_rest_hinge._Problem._scores_of
    noise = np.random.default_rng(0)

    def noisy(self, columns):
        scores = scores_of(self, columns)
        return scores * (1 + 1e-6 * noise.standard_normal(scores.shape).astype(np.float32))

    monkeypatch.setattr(one_vs_rest_hinge._Problem, "_scores_of", noisy)
    train = one_vs_rest_hinge.train_hinge
    trained = []

    def stops(cache, signs, costs, machine, *more, **options):
        if len(trained) < 6:  # the machines of the sample, and of the first round
            trained.append(None)
            return train(cache, signs, costs, machine, *more, **options)
        return signs * (cache.products(machine.weights) + machine.bias)

    monkeypatch.setattr(one_vs_rest_hinge, "train_hinge", stops)
    found = train_hinge_machines(features, X, rows, y, 3, 1.0, cache, tol=1e-6)
    scores = features.scores(X, found.coefficients) + found.intercepts
    np.testing.assert_allclose(found.scores, scores, atol=1e-4)


def test_a_gap_that_is_rounding_of_the_scores_ends_the_rounds(monkeypatch):
    X, y = separable()
    X = 3 * X
    features = features_of(X, 150, "poly2")
    cache = FeatureCache(features, X, 4 * 400 * features.n_components, len(X))
    passes = counted(monkeypatch, one_vs_rest_hinge._Problem, "_scores_of")
    found = train_hinge_machines(features, X, np.arange(1000), y, 3, 10.0, cache)
    assert found.gap > 1e-3 * found.objective
    assert len(passes) < 10


def smooth_minimum(Z, signs, C, h):
    """Return the least |w|^2 + C sum l(y f), l the smooth hinge, by another method."""
    features = np.column_stack([Z.astype(np.float64), np.ones(len(Z))])
    penalty = np.append(np.ones(Z.shape[1]), 0)

    def objective(w):
        slack = 1 - signs * (features @ w)
        slope = np.clip(slack / h, 0, 1)
        value = penalty @ w**2 + C * np.sum(slope * (slack - h * slope / 2))
        return value, 2 * penalty * w - C * (features.T @ (slope * signs))

    options = {"maxiter": 10_000, "maxfun": 20_000, "ftol": 1e-13, "gtol": 1e-8}
    start = np.zeros(len(penalty))
    return minimize(objective, start, jac=True, method="L-BFGS-B", options=options).fun


@pytest.mark.parametrize("held_rows", [150, 10**6])
@pytest.mark.parametrize("smoothing", [0.05, 0.5, 3.0])
@pytest.mark.parametrize("C", [0.01, 1.0, 50.0])
def test_a_smooth_hinge_is_minimised_at_once_and_in_rounds(C, smoothing, held_rows):
    X, y = problem(800)
    features = features_of(X, 40)
    cache = FeatureCache(features, X, 4 * held_rows * features.n_components, 800)
    arguments = (features, X, np.arange(800), y, 3, C, cache)
    found = train_hinge_machines(*arguments, tol=1e-4, smoothing=smoothing)
    Z = features.transform(X)
    least = sum(smooth_minimum(Z, np.where(y == q, 1.0, -1.0), C, smoothing) for q in range(3))
    assert (1 - 1e-6) * least <= found.objective <= (1 + 1.1e-4) * least
    assert found.objective - found.gap <= least * (1 + 1e-6)
    # primal and dual are summed apart: rounding may put them in the wrong order
    assert -1e-7 * found.objective <= found.gap <= 1e-4 * found.objective


def test_smoothing_of_nothing_is_the_hinge():
    X, y = problem()
    features = features_of(X, 40)
    found = [
        train_hinge_machines(
            features,
            X,
            np.arange(len(X)),
            y,
            3,
            1.0,
            FeatureCache(features, X, 10**8, len(X)),
            tol=1e-5,
            smoothing=smoothing,
        ).objective
        for smoothing in (0.0, 1e-6, 1e-2)
    ]
    assert found[1] == pytest.approx(found[0], rel=2e-5)
    assert found[2] < found[0] * (1 - 1e-3)


def test_rows_on_the_straight_part_of_a_smooth_hinge_need_no_room(monkeypatch):
    X, codes, features = noisy()
    cache = FeatureCache(features, X, 4 * 500 * features.n_components, 4000)
    trained = counted(monkeypatch, one_vs_rest_hinge, "train_hinge")
    arguments = (features, X, np.arange(4000), codes, 2, 1.0, cache)
    found = train_hinge_machines(*arguments, smoothing=0.3)
    straight = (np.where(codes == 1, 1, -1) * found.scores[:, 0] < 0.7).sum()
    assert max(call[3].bound_totals.sum() for call in trained) > straight / 3 > 300
    least = smooth_minimum(features.transform(X), np.where(codes == 1, 1.0, -1.0), 1.0, 0.3)
    assert found.objective == pytest.approx(least, rel=1e-3)
