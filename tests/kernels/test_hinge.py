"""Hinge machines and landmark features: LIBSVM's minimum, duality, and little memory."""

import numpy as np
import pytest
from scipy.linalg.lapack import dpstrf
from scipy.optimize import minimize
from sklearn.svm import SVC

from harness import kernels
from harness.kernels import hinge, hinge_machines


def problem(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 0.8)
    return X, y


def features_of(X, b, name="rbf", width=1.0):
    kernel = kernels.bind_kernel(name, X, width, "absolute")
    return kernels.LandmarkFeatures(X[:b], kernel)


@pytest.mark.parametrize("name", ["rbf", "linear", "poly2", "laplacian"])
def test_features_reproduce_the_kernel_at_the_landmarks(name):
    X, _ = problem()
    features = features_of(X, 40, name)
    B = X[:40].astype(np.float64)
    K = features.kernel(B, B)
    Z = features.transform(X[:40])
    np.testing.assert_allclose(Z @ Z.T, K, atol=2e-5 * K.max())
    # and an expansion in landmarks is the linear function of the features
    w = np.random.default_rng(1).normal(size=(features.n_components, 2))
    found = features.scores(X, features.expansion(w))
    np.testing.assert_allclose(found, features.transform(X) @ w, atol=1e-3)


def test_landmarks_that_others_span_are_dropped():
    X, _ = problem()
    twice = np.concatenate([X[:30], X[:30]])
    kernel = kernels.bind_kernel("rbf", X, 1.0, "absolute")
    features = kernels.LandmarkFeatures(twice, kernel)
    assert features.n_components == 30
    assert features_of(X, 100, "linear").n_components == X.shape[1]
    # nothing but zeros still leaves one, whose feature is zero
    nothing = kernels.LandmarkFeatures(0 * X[:5], kernels.bind_kernel("linear", X))
    assert nothing.transform(X).tolist() == [[0.0]] * len(X)


def test_each_landmark_is_kept_or_dropped_by_its_own_size():
    X, _ = problem()
    X = X[:40].copy()
    X[3] *= 1e4
    X[7] = 0
    kernel = kernels.bind_kernel("linear", X)
    features = kernels.LandmarkFeatures(X, kernel)
    assert features.n_components == X.shape[1]
    assert np.abs(features.landmarks).sum(axis=1).all()
    Z, K = features.transform(X), kernel(X.astype(np.float64), X.astype(np.float64))
    sizes = np.sqrt(np.maximum(K.diagonal(), 1))
    np.testing.assert_allclose(
        Z @ Z.T / np.outer(sizes, sizes), K / np.outer(sizes, sizes), atol=1e-4
    )


def test_landmarks_of_equal_size_are_not_scaled():
    X, _ = problem()
    B = X[:40].astype(np.float64)
    for name in ("rbf", "laplacian"):
        features = features_of(X, 40, name)
        L, pivots, rank, _ = dpstrf(features.kernel(B, B).T, tol=1e-5, lower=1)
        kept = pivots[:rank] - 1
        np.testing.assert_array_equal(features.landmarks, X[kept])
        np.testing.assert_array_equal(features.factor, np.tril(L)[:rank, :rank].astype(np.float32))


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_all_points_as_landmarks_are_libsvm_at_half_the_cost(C):
    X, y = problem()
    features = features_of(X, len(X))
    cache = kernels.FeatureCache(features, X, 10**8, len(X))
    rows = np.arange(len(X))
    found = kernels.train_hinge_machines(features, X, rows, y, 3, C, cache, tol=1e-4)
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
    whole = kernels.FeatureCache(features, X, 10**8, 600)
    part = kernels.FeatureCache(features, X, 4 * held_rows * features.n_components, 600)
    assert part.n_held == held_rows
    loaded = []
    train = hinge_machines.train_hinge
    monkeypatch.setattr(
        hinge_machines, "train_hinge", lambda *a: [loaded.append(len(a[0])), train(*a)][1]
    )
    small = kernels.train_hinge_machines(features, X, rows, y, 3, 5.0, part, tol=1e-4)
    assert held_rows < max(loaded) < 600
    large = kernels.train_hinge_machines(features, X, rows, y, 3, 5.0, whole, tol=1e-4)
    assert small.objective == pytest.approx(large.objective, rel=2e-4)
    assert 0 <= small.gap <= 1e-4 * small.objective
    # scores of all rows, those without a label among them
    np.testing.assert_allclose(small.scores, large.scores, atol=0.05)


def test_the_dual_value_is_a_lower_bound_for_any_machine():
    X, y = problem()
    features = features_of(X, 30)
    cache = kernels.FeatureCache(features, X, 10**8, len(X))
    cache.load(np.arange(len(X)))
    signs, costs = np.where(y == 0, 1.0, -1.0), np.full(len(X), 3.0)
    rough, fine = (kernels.HingeMachine(np.zeros(features.n_components)) for _ in range(2))
    margins = kernels.train_hinge(cache, signs, kernels.SmoothHinge(costs), rough, 0.3)
    kernels.train_hinge(cache, signs, kernels.SmoothHinge(costs), fine, 1e-6)
    assert rough.dual < fine.dual * (1 + 1e-6)
    assert rough.primal(margins, kernels.SmoothHinge(costs)) > fine.dual


@pytest.mark.parametrize("held_rows", [10, 10**6])
def test_a_class_without_a_label_stays_where_it_is(held_rows):
    X, y = problem()
    features = features_of(X, 30)
    room = 4 * held_rows * features.n_components
    cache = kernels.FeatureCache(features, X, room, len(X))
    codes = np.where(y == 1, -1, y)
    found = kernels.train_hinge_machines(features, X, np.arange(len(X)), codes, 3, 1.0, cache)
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
        kernels.FeatureCache(features, X, 4 * rows * features.n_components, 6000)
        for rows in (held_rows, 6000)
    )
    signs, train = [], hinge_machines.train_hinge
    monkeypatch.setattr(
        hinge_machines, "train_hinge", lambda *a: [signs.append(a[1]), train(*a)][1]
    )
    arguments = (features, X, np.arange(6000), codes, 2, 0.01)
    found = kernels.train_hinge_machines(*arguments, part)
    assert all(np.ptp(some) == 2 for some in signs)
    expected = kernels.train_hinge_machines(*arguments, whole)
    assert found.gap <= 1e-3 * found.objective
    assert found.objective == pytest.approx(expected.objective, rel=2e-3)


def counted(monkeypatch, module, name):
    """Return a list that grows by the arguments of every call."""
    calls, function = [], getattr(module, name)
    monkeypatch.setattr(module, name, lambda *a: [calls.append(a), function(*a)][1])
    return calls


def noisy():
    """Return points, labels that often contradict them, and features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 6)).astype(np.float32)
    codes = (X[:, 0] * X[:, 1] + rng.normal(size=4000) > 0).astype(int)
    return X, codes, features_of(X, 50, width=2.0)


def test_rows_far_below_the_margin_need_no_room(monkeypatch):
    """Of noisy labels most rows end below a margin of 1, several times as many as fit."""
    X, codes, features = noisy()
    part, whole = (
        kernels.FeatureCache(features, X, 4 * rows * features.n_components, 4000)
        for rows in (500, 4000)
    )
    arguments = (features, X, np.arange(4000), codes, 2, 1.0)
    trained = counted(monkeypatch, hinge_machines, "train_hinge")
    found = kernels.train_hinge_machines(*arguments, part)
    below = (np.where(codes == 1, 1, -1) * found.scores[:, 0] < 1).sum()
    assert below > 3000
    assert max(len(call[0]) for call in trained) < below / 2
    assert max(call[3].bound_totals.sum() for call in trained) > below / 2
    expected = kernels.train_hinge_machines(*arguments, whole)
    assert found.gap <= 1e-3 * found.objective
    assert found.objective == pytest.approx(expected.objective, rel=2e-3)


def test_rows_far_above_the_margin_are_not_loaded(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, 6)).astype(np.float32)
    codes = (X[:, 0] > 0).astype(int)
    features = features_of(X, 50, width=4.0)
    cache = kernels.FeatureCache(features, X, 4 * 3000 * features.n_components, 4000)
    trained = counted(monkeypatch, hinge_machines, "train_hinge")
    found = kernels.train_hinge_machines(features, X, np.arange(4000), codes, 2, 10.0, cache)
    near = (np.where(codes == 1, 1, -1) * found.scores[:, 0] < 1.6).sum()
    assert near < 1500 < cache.n_held
    assert len(trained[-1][2].costs) < 1.2 * near
    assert found.gap <= 1e-3 * found.objective


def test_where_nothing_pulls_or_is_near_the_nearest_of_both_signs_are_trained_on():
    margins, signs = np.linspace(5, 3, 200), np.where(np.arange(200) % 10, -1.0, 1.0)
    nobody = np.zeros(200, bool)
    rows = hinge_machines._working_set(margins, signs, nobody, ~nobody, 20)
    assert 20 <= len(rows) <= 40
    assert margins[rows].max() < 3.5
    assert set(signs[rows]) == {1, -1}


def test_rows_that_wait_for_room_follow_without_a_pass_over_all(monkeypatch):
    X, codes, features = noisy()
    problem = (features, X, np.arange(4000), codes, 2, 1.0)
    passes, objectives = [], []
    for turns in (1, hinge_machines._MOST_TURNS):
        monkeypatch.setattr(hinge_machines, "_MOST_TURNS", turns)
        calls = counted(monkeypatch, hinge_machines._Problem, "_scores_of")
        cache = kernels.FeatureCache(features, X, 4 * 500 * features.n_components, 4000)
        objectives.append(kernels.train_hinge_machines(*problem, cache).objective)
        passes.append(len(calls))
        monkeypatch.undo()
    assert passes[1] <= 0.7 * passes[0]
    assert objectives[1] == pytest.approx(objectives[0], rel=2e-3)


def separable():
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(1000, 20))).astype(np.float32)
    return X, (X @ rng.normal(size=(20, 3))).argmax(axis=1)


def test_large_kernel_values_ask_for_few_more_newton_steps(monkeypatch):
    """With (x'z + 1)^2 up to 1e4 the ridge is nothing: parabolas of one width took 434 steps."""
    X, y = separable()
    features = features_of(X, 150, "poly2")
    cache = kernels.FeatureCache(features, X, 10**8, len(X))
    steps = counted(monkeypatch, hinge, "_newton_direction")
    found = kernels.train_hinge_machines(features, X, np.arange(1000), y, 3, 10.0, cache)
    # of the weights below 1e-3; rounding of the coefficients is in it too
    assert found.gap <= 2e-3 * found.objective
    assert len(steps) < 150


def test_a_matrix_worn_by_changes_is_made_anew(monkeypatch):
    X, y = problem(600)
    features, rows = features_of(X, 50), np.arange(600)
    cache = kernels.FeatureCache(features, X, 10**8, 600)
    made = counted(monkeypatch, hinge.ActiveRows, "make_anew")
    plain = kernels.train_hinge_machines(features, X, rows, y, 3, 5.0, cache, tol=1e-4)
    as_often = len(made)
    refused = []
    solve, centred = hinge.solve_positive_definite, hinge.ActiveRows.centred

    def solve_what_is_new(A, right):
        if len(A) == features.n_components and changes[-1]:
            refused.append(changes[-1])
            raise hinge.LinAlgError
        return solve(A, right)

    changes = []
    monkeypatch.setattr(hinge, "solve_positive_definite", solve_what_is_new)
    monkeypatch.setattr(
        hinge.ActiveRows,
        "centred",
        lambda kept: [changes.append(kept.n_changes), centred(kept)][1],
    )
    anew = kernels.train_hinge_machines(features, X, rows, y, 3, 5.0, cache, tol=1e-4)
    assert refused
    assert len(made) - as_often > as_often
    assert anew.objective == pytest.approx(plain.objective, rel=1.1e-4)


def test_a_matrix_of_rows_is_not_held_beside_one_of_features(monkeypatch):
    X, y = separable()
    features = features_of(X, 150, "poly2")
    cache = kernels.FeatureCache(features, X, 10**8, len(X))
    solve, held = hinge._step_by_rows, []
    directions = counted(monkeypatch, hinge, "_newton_direction")

    def step_by_rows(*args):
        held.append(directions[-1][2]._moments)
        return solve(*args)

    monkeypatch.setattr(hinge, "_step_by_rows", step_by_rows)
    kernels.train_hinge_machines(features, X, np.arange(1000), y, 3, 10.0, cache)
    assert 0 < len(held) < len(directions)
    assert all(moments is None for moments in held)


@pytest.mark.parametrize("held", [2, 10, 60, 150])
@pytest.mark.parametrize("seed", range(6))
def test_scores_and_objective_are_those_of_the_coefficients(seed, held):
    rng = np.random.default_rng(seed)
    n, r = int(rng.integers(150, 300)), int(rng.integers(5, 40))
    X, y = problem(n, seed)
    features, C = features_of(X, r), float(10 ** rng.uniform(-2.5, 1.5))
    cache = kernels.FeatureCache(features, X, 4 * held * features.n_components, n)
    found = kernels.train_hinge_machines(features, X, np.arange(n), y, 3, C, cache)
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
    cache = kernels.FeatureCache(features, X, 4 * 100 * features.n_components, len(X))
    scores_of = hinge_machines._Problem._scores_of
    noise = np.random.default_rng(0)

    def noisy(self, columns):
        scores = scores_of(self, columns)
        return scores * (1 + 1e-6 * noise.standard_normal(scores.shape).astype(np.float32))

    monkeypatch.setattr(hinge_machines._Problem, "_scores_of", noisy)
    train = hinge_machines.train_hinge
    trained = []

    def stops(cache, signs, costs, machine, *more):
        if len(trained) < 6:  # the machines of the sample, and of the first round
            trained.append(None)
            return train(cache, signs, costs, machine, *more)
        return signs * (cache.products(machine.weights) + machine.bias)

    monkeypatch.setattr(hinge_machines, "train_hinge", stops)
    found = kernels.train_hinge_machines(features, X, rows, y, 3, 1.0, cache, tol=1e-6)
    scores = features.scores(X, found.coefficients) + found.intercepts
    np.testing.assert_allclose(found.scores, scores, atol=1e-4)


def test_a_gap_that_is_rounding_of_the_scores_ends_the_rounds(monkeypatch):
    X, y = separable()
    X = 3 * X
    features = features_of(X, 150, "poly2")
    cache = kernels.FeatureCache(features, X, 4 * 400 * features.n_components, len(X))
    passes = counted(monkeypatch, hinge_machines._Problem, "_scores_of")
    found = kernels.train_hinge_machines(features, X, np.arange(1000), y, 3, 10.0, cache)
    assert found.gap > 1e-3 * found.objective
    assert len(passes) < 10


@pytest.mark.parametrize("seed", range(20))
def test_the_bias_is_in_the_middle_of_those_that_are_as_good(seed):
    rng = np.random.default_rng(seed)
    signs, costs = np.tile([1.0, -1.0], 5), np.repeat([2.0, 2.0, 2.0, 2.0, 0.0], 2)
    margins = 1 + np.repeat([-1, -1, 1, 1, -1], 2) * rng.exponential(size=10)

    def losses(shift):
        return costs @ np.maximum(0, 1 - margins - signs * shift)

    spare = hinge.spare_bias(margins, signs, kernels.SmoothHinge(costs))
    reach = np.abs(1 - margins)[costs > 0].min() + abs(spare)
    for inside in (-0.99, 0, 0.99):
        assert losses(spare + inside * reach) == pytest.approx(losses(0), rel=1e-12)
    assert min(losses(spare - 1.01 * reach), losses(spare + 1.01 * reach)) > losses(0)
    # nothing is spare where one side weighs more
    heavier = kernels.SmoothHinge(costs + (signs > 0) * (costs > 0))
    assert hinge.spare_bias(margins, signs, heavier) == 0


@pytest.mark.parametrize("seed", range(10))
def test_the_bias_is_in_the_middle_beside_a_smooth_hinge_too(seed):
    rng = np.random.default_rng(seed)
    signs, loss = np.tile([1.0, -1.0], 4), kernels.SmoothHinge(np.full(8, 2.0), 0.5)
    margins = np.repeat([0.5, 0.5, 1, 1], 2) + np.repeat([-1, -1, 1, 1], 2) * rng.exponential(
        size=8
    )
    spare = hinge.spare_bias(margins, signs, loss)
    low, high = (0.5 - margins[:4]).min(), (margins[4:] - 1).min()
    reach = min(low, high) + abs(spare)
    for inside in (-0.99, 0, 0.99):
        moved = loss.total(margins + signs * (spare + inside * reach))
        assert moved == pytest.approx(loss.total(margins), rel=1e-12)
    # nothing is spare where a row is on the parabola
    margins[0] = 0.9
    assert hinge.spare_bias(margins, signs, loss) == 0


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
    cache = kernels.FeatureCache(features, X, 4 * held_rows * features.n_components, 800)
    arguments = (features, X, np.arange(800), y, 3, C, cache)
    found = kernels.train_hinge_machines(*arguments, tol=1e-4, smoothing=smoothing)
    Z = features.transform(X)
    least = sum(smooth_minimum(Z, np.where(y == q, 1.0, -1.0), C, smoothing) for q in range(3))
    assert (1 - 1e-6) * least <= found.objective <= (1 + 1.1e-4) * least
    assert found.objective - found.gap <= least * (1 + 1e-6)
    assert 0 <= found.gap <= 1e-4 * found.objective


def test_smoothing_of_nothing_is_the_hinge():
    X, y = problem()
    features = features_of(X, 40)
    found = [
        kernels.train_hinge_machines(
            features,
            X,
            np.arange(len(X)),
            y,
            3,
            1.0,
            kernels.FeatureCache(features, X, 10**8, len(X)),
            tol=1e-5,
            smoothing=smoothing,
        ).objective
        for smoothing in (0.0, 1e-6, 1e-2)
    ]
    assert found[1] == pytest.approx(found[0], rel=2e-5)
    assert found[2] < found[0] * (1 - 1e-3)


def test_rows_on_the_straight_part_of_a_smooth_hinge_need_no_room(monkeypatch):
    X, codes, features = noisy()
    cache = kernels.FeatureCache(features, X, 4 * 500 * features.n_components, 4000)
    trained = counted(monkeypatch, hinge_machines, "train_hinge")
    arguments = (features, X, np.arange(4000), codes, 2, 1.0, cache)
    found = kernels.train_hinge_machines(*arguments, smoothing=0.3)
    straight = (np.where(codes == 1, 1, -1) * found.scores[:, 0] < 0.7).sum()
    assert max(call[3].bound_totals.sum() for call in trained) > straight / 3 > 300
    least = smooth_minimum(features.transform(X), np.where(codes == 1, 1.0, -1.0), 1.0, 0.3)
    assert found.objective == pytest.approx(least, rel=1e-3)
