"""MSSKSC in the primal against dense solutions of its own problem, and against its limits."""

from dataclasses import replace

import numpy as np
import pytest
from blobs import blobs
from mssksc import PrimalMSSKSC, harness_methods
from mssksc.primal import prototype_count
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel

from harness import Shape
from harness.planning.size import plan

FEATURES = ["fourier", "nystrom", "kernel"]


def make(features="fourier", **params):
    usual = {"n_components": 60, "gamma2": 10.0, "selector": "uniform", "random_state": 0}
    return PrimalMSSKSC(features, **{**usual, "dtype": "float64", **params})


def dense_parts(model, X, y):
    Phi = model._map.transform(X).astype(float)
    degrees = Phi @ Phi.sum(0)
    if model.degrees == "floored":
        degrees = np.maximum(degrees, 1)
    elif model.degrees == "exact":
        degrees = rbf_kernel(X, gamma=0.5 / model._width**2).sum(1)
    A = (y != -1).astype(float)
    Y = np.eye(3)[y] * 2 - 1 if len(model.classes_) == 3 else (2.0 * y - 1)[:, None]
    return Phi, model.gamma2 * A - model.gamma1 / degrees, model.gamma2 * A[:, None] * Y


def dense_solution(model, X, y):
    Phi, R, c = dense_parts(model, X, y)
    Phi = np.column_stack([Phi, np.ones(len(X))])
    identity = np.eye(Phi.shape[1])
    identity[-1, -1] = model.penalise_bias
    return np.linalg.solve(Phi.T @ (R[:, None] * Phi) + identity, Phi.T @ c)


@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("penalise", [False, True])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-6), ("float32", 5e-3)])
def test_streamed_solution_is_the_dense_one(features, n_classes, penalise, dtype, tolerance):
    X, y, _ = blobs(400, n_classes)
    model = make(features, n_components=20, gamma1=0.5, penalise_bias=penalise, dtype=dtype)
    model.fit(X, y)
    expected = dense_solution(model, X, y)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(model.coef_, expected[:-1], atol=tolerance * scale)
    np.testing.assert_allclose(model.intercept_, expected[-1], atol=tolerance * scale)


@pytest.mark.parametrize("features", FEATURES)
def test_split_fit_is_the_fit(features):
    X, y, _ = blobs(100, 3)
    rows = np.flatnonzero(y != -1)
    whole = make(features, gamma1=0.5).fit(X, y)
    parts = make(features).fit_features(X, rows)
    for gamma1, gamma2 in [(0.1, 1.0), (0.5, 10.0)]:
        parts.set_params(gamma1=gamma1, gamma2=gamma2).fit_labels(y[rows])
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-8)
    np.testing.assert_allclose(parts.intercept_, whole.intercept_, atol=1e-8)
    held = np.where(np.arange(len(rows)) % 3 == 0, -1, y[rows])
    other = y.copy()
    other[rows] = held
    parts.fit_labels(held)
    expected = _scores_without(parts, X, other)[rows[held == -1]]
    np.testing.assert_allclose(parts.held_out_scores_, expected, atol=1e-6)


def _scores_without(model, X, y):
    """Scores of the dense problem on the same prototypes, which were chosen with all labels."""
    solution = dense_solution(model, X, y)
    return model._map.transform(X) @ solution[:-1] + solution[-1]


@pytest.mark.parametrize("penalise", [False, True])
def test_primal_is_the_dual(penalise):
    """A penalised bias is the kernel Omega + 1; a free one makes the multipliers sum to zero."""
    X, y, _ = blobs(60, 2)
    model = make(gamma1=0.5, penalise_bias=penalise).fit(X, y)
    Phi, R, c = dense_parts(model, X, y)
    expected = dual_scores(Phi @ Phi.T, R, c, penalise)
    np.testing.assert_allclose(model.decision_function(X), expected[:, 0], atol=1e-8)


def dual_scores(Omega, R, c, penalise=False):
    n = len(Omega)
    if penalise:
        # e = (Omega + 1) alpha, alpha = c - R e
        return np.linalg.solve(np.eye(n) + (Omega + 1) * R, (Omega + 1) @ c)
    system = np.block([[np.eye(n) + Omega * R, -np.ones((n, 1))], [R[None], np.zeros((1, 1))]])
    return np.linalg.solve(system, np.vstack([Omega @ c, c.sum(0, keepdims=True)]))[:n]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_with_every_point_a_prototype_fixed_size_is_the_exact_model(n_classes):
    """Equation 11 with a free bias is the dual, equation 7."""
    X, y, _ = blobs(40, n_classes)
    model = make("nystrom", n_components=len(X), gamma1=0.2, sigma=0.5).fit(X, y)
    assert model._map.n_components == len(X)
    Omega = rbf_kernel(X, gamma=0.5 / model._width**2)
    A = y != -1
    Y = np.eye(n_classes)[y] * 2 - 1 if n_classes > 2 else (2.0 * y - 1)[:, None]
    R = 10.0 * A - 0.2 / Omega.sum(1)
    expected = dual_scores(Omega, R, 10.0 * A[:, None] * Y)
    scores = model.decision_function(X).reshape(len(X), -1)
    np.testing.assert_allclose(scores, expected, atol=1e-6)


def test_reduced_model_is_the_paper_s_dual():
    """Equation 13 with its penalised bias 1'beta, scores by equation 14."""
    X, y, _ = blobs(50, 2)
    model = make("kernel", n_components=20, gamma1=0.5, penalise_bias=True).fit(X, y)
    Obar, R, c = dense_parts(model, X, y)
    G = np.column_stack([Obar, np.ones(len(X))])
    beta = c - R[:, None] * (G @ np.linalg.solve(np.eye(21) + G.T @ (R[:, None] * G), G.T @ c))
    expected = Obar @ (Obar.T @ beta) + beta.sum(0)
    np.testing.assert_allclose(model.decision_function(X), expected[:, 0], atol=1e-8)


@pytest.mark.parametrize("features", FEATURES)
def test_without_the_spectral_term_it_is_ridge_regression(features):
    X, y, _ = blobs(60, 2)
    model = make(features, gamma1=0.0).fit(X, y)
    known = y != -1
    Z = model._map.transform(X).astype(float)
    centre, target = Z[known].mean(0), 2.0 * y[known] - 1
    G = (Z[known] - centre).T @ (Z[known] - centre) + np.eye(Z.shape[1]) / 10
    w = np.linalg.solve(G, (Z[known] - centre).T @ (target - target.mean()))
    expected = (Z - centre) @ w + target.mean()
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-7)


def test_scores_converge_as_one_over_the_root_of_the_features():
    X, y, _ = blobs(60, 2)
    exact = make("nystrom", n_components=len(X), gamma1=0.5).fit(X, y).decision_function(X)
    errors = []
    for m in (64, 256, 1024):
        scores = [
            make(n_components=m, gamma1=0.5, random_state=seed).fit(X, y).decision_function(X)
            for seed in range(8)
        ]
        errors.append(np.sqrt(np.mean((np.array(scores) - exact) ** 2)))
    slopes = np.diff(np.log(errors)) / np.log(4)
    assert ((slopes > -0.7) & (slopes < -0.3)).all(), errors


def test_two_classes_as_two_columns_would_be_opposite():
    X, y, _ = blobs(60, 2)
    one = make().fit(X, y).decision_function(X)
    other = make().fit(X, np.where(y == -1, -1, 1 - y)).decision_function(X)
    np.testing.assert_allclose(one, -other, atol=1e-8)


def test_degrees():
    X, y, _ = blobs(200, 2)
    narrow = {"sigma": 0.05, "gamma1": 0.02, "n_components": 20}
    with pytest.warns(UserWarning, match="no minimum"):
        literal = make(degrees="feature", **narrow).fit(X, y)
    Phi = literal._map.transform(X)
    assert (Phi @ Phi.sum(0) < 0).any()
    np.testing.assert_allclose(literal.coef_, dense_solution(literal, X, y)[:-1], rtol=1e-4)
    floored = make(**narrow).fit(X, y)
    assert not np.allclose(literal.coef_, floored.coef_)


@pytest.mark.parametrize("features", FEATURES)
def test_exact_degrees_are_those_of_the_gaussian_kernel(features):
    X, y, _ = blobs(200, 2)
    setting = {"n_components": 20, "gamma1": 0.02, "sigma": 0.3}
    exact = make(features, degrees="exact", **setting).fit(X, y)
    expected = dense_solution(exact, X, y)[:-1]
    np.testing.assert_allclose(exact.coef_, expected, rtol=1e-4, atol=1e-5 * abs(expected).max())
    floored = make(features, **setting).fit(X, y)
    assert not np.allclose(exact.coef_, floored.coef_, rtol=1e-3)


def test_a_degree_of_zero_has_no_inverse():
    X, y, _ = blobs(60, 2)
    with pytest.raises(ValueError, match="degree 0; use 'floored'"):
        make("kernel", degrees="feature", sigma=1e-3, n_components=5).fit(X, y)


def test_points_that_are_equal_have_no_spectral_term():
    X, y, _ = blobs(60, 2)
    for features in FEATURES:
        same = make(features, normalize=True, n_components=5).fit(np.ones_like(X), y)
        plain = make(features, gamma1=0.0, n_components=5).fit(np.ones_like(X), y)
        scores = plain.decision_function(np.ones_like(X))
        np.testing.assert_allclose(same.decision_function(np.ones_like(X)), scores, atol=1e-8)


@pytest.mark.parametrize("features", FEATURES)
def test_normalised_spectral_term(features):
    """It is the weighted variance of the scores, at most |w|^2."""
    X, y, _ = blobs(200, 2)
    model = make(features, n_components=20, gamma1=0.9, normalize=True, sigma=0.1).fit(X, y)
    Phi, A, c = dense_parts(model.set_params(gamma1=0.0), X, y)
    v = 1 / np.maximum(Phi @ Phi.sum(0), 1)
    centred = Phi - v @ Phi / v.sum()
    S = centred.T @ (v[:, None] * centred)
    S = np.pad(S / np.linalg.eigvalsh(S)[-1], (0, 1))
    Phi = np.column_stack([Phi, np.ones(len(X))])
    H = Phi.T @ (A[:, None] * Phi) - 0.9 * S + np.diag([1.0] * Phi[:, :-1].shape[1] + [0.0])
    expected = Phi @ np.linalg.solve(H, Phi.T @ c)[:, 0]
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-6)
    assert np.linalg.eigvalsh(H)[0] > 0


@pytest.mark.filterwarnings("ignore:the problem has no minimum")
def test_two_moons_need_eight_labels():
    """Unlabeled points decide what a few labels cannot: the exact figures are the study's."""
    rng = np.random.default_rng(0)
    X, truth = make_moons(3000, noise=0.1, random_state=0)
    labeled = np.concatenate([rng.choice(np.flatnonzero(truth == c), 4, False) for c in (0, 1)])
    y = np.full(len(X), -1)
    y[labeled] = truth[labeled]
    best = {}
    for gamma1 in (0.0, 0.99):
        for sigma in (0.15, 0.3, 0.5, 1.0):
            model = make("nystrom", n_components=200, gamma1=gamma1, sigma=sigma, gamma2=1.0)
            accuracy = np.mean(model.fit(X, y).predict(X) == truth)
            best[gamma1] = max(best.get(gamma1, 0), accuracy)
    assert best[0.99] > 0.95
    assert best[0.99] > best[0.0] + 0.05


def test_a_sample_of_points_stands_for_all_in_the_degrees(monkeypatch):
    X, y, _ = blobs(2000, 2)
    every = make(gamma1=0.5).fit(X, y).decision_function(X)
    monkeypatch.setattr("mssksc.primal._DEGREE_SAMPLE", 1000)
    some = make(gamma1=0.5).fit(X, y).decision_function(X)
    assert 0 < np.abs(every - some).max() < 0.02 * np.abs(every).max()


def test_a_problem_without_minimum_is_warned_of_and_still_solved():
    X, y, _ = blobs(60, 2)
    with pytest.warns(UserWarning, match="no minimum .smallest eigenvalue -"):
        model = make(gamma1=500.0).fit(X, y)
    solution = np.append(model.coef_, model.intercept_)
    np.testing.assert_allclose(solution, dense_solution(model, X, y)[:, 0], rtol=1e-6)


def test_rounding_is_not_taken_for_a_missing_minimum():
    """In float32 the labels' matrix times gamma2 would be off by more than the penalty."""
    X, y, truth = blobs(1500, 2)
    for features in ("fourier", "nystrom"):
        model = make(features, gamma1=0.0, gamma2=1e4, sigma=4.0, dtype="float32")
        model.fit(X, truth)
    with pytest.warns(UserWarning, match="is below rounding: lower gamma2"):
        make("nystrom", gamma1=0.0, gamma2=1e17).fit(X, y)


@pytest.mark.parametrize("features", ["fourier", "nystrom"])
def test_points_that_are_repeated_weigh_as_often(features):
    """Degrees and the spectral term grow alike; each label counts as often as its point does."""
    X, y, _ = blobs(15, 2)
    setting = {"sigma": 2.0, "sigma_unit": "absolute", "gamma1": 0.1}
    # all points are prototypes; random features are so many that no degree is floored
    m, of_all = (30, 120) if features == "nystrom" else (2000, 2000)
    once = make(features, gamma2=40.0, n_components=m, **setting).fit(X, y)
    often = make(features, n_components=of_all, **setting)
    often.fit(np.repeat(X, 4, axis=0), np.repeat(y, 4))
    scores = once.decision_function(X)
    np.testing.assert_allclose(often.decision_function(X), scores, atol=1e-5)
    assert np.abs(scores).max() > 0.1


@pytest.mark.parametrize("features", FEATURES)
def test_a_constant_feature_changes_nothing(features):
    X, y, _ = blobs(60, 3)
    more = np.column_stack([X, np.full(len(X), 3.0)])
    models = [make(features, gamma1=0.5).fit(data, y) for data in (X, more)]
    if features == "fourier":  # whose frequencies are others
        np.testing.assert_allclose(models[1]._width, models[0]._width)
        assert np.mean(models[0].predict(X) == models[1].predict(more)) > 0.9
    else:
        expected = models[0].decision_function(X)
        np.testing.assert_allclose(models[1].decision_function(more), expected, atol=1e-6)


@pytest.mark.filterwarnings("ignore:the problem has no minimum")
@pytest.mark.parametrize("features", FEATURES)
@pytest.mark.parametrize("gamma1", [0.1, 0.9, 0.99])
@pytest.mark.parametrize("n_classes", [3, 10])
def test_a_class_without_labeled_point_is_never_predicted(features, gamma1, n_classes):
    """It has no code word; the problem may have no minimum, and its scores be anything."""
    X, y, truth = blobs(60, 3)
    few = np.full(len(y), -1)
    for label in (0, 1):
        few[np.flatnonzero(truth == label)[0]] = label
    model = make(features, gamma1=gamma1, n_classes=n_classes, n_components=30).fit(X, few)
    scores = model.decision_function(X)
    assert scores.shape == (len(X), n_classes)
    assert scores[:, 2:].max() < scores[:, :2].min()
    parts = make(features, gamma1=gamma1, n_classes=n_classes, n_components=30)
    rows = np.union1d(np.flatnonzero(y != -1), np.flatnonzero(few != -1))
    parts.fit_features(X, rows).fit_labels(few[rows])
    assert parts.held_out_scores_[:, 2:].max() < parts.held_out_scores_[:, :2].min()


def test_the_highest_score_is_the_nearest_code_word_ties_broken_by_score():
    X, y, _ = blobs(60, 5)
    model = make(gamma1=0.5).fit(X, y)
    scores, words = model.decision_function(X), 2 * np.eye(5) - 1
    distances = (np.sign(scores)[:, None] != words).sum(axis=2)
    nearest = distances == distances.min(axis=1, keepdims=True)
    assert (nearest.sum(axis=1) > 1).any()
    expected = np.where(nearest, scores, -np.inf).argmax(axis=1)
    np.testing.assert_array_equal(model.predict(X), expected)


def test_no_features_are_refused():
    X, y, _ = blobs(20, 2)
    with pytest.raises(ValueError, match="n_components"):
        make(n_components=0).fit(X, y)


def test_prototype_counts_are_the_paper_s():
    assert prototype_count(1000, 5000) == 103
    assert prototype_count(4000, 12000) == 174
    assert prototype_count(64_000, 320_000) == 819
    assert prototype_count(150, 400) == 550
    model = PrimalMSSKSC(random_state=0).fit(*blobs(300, 2)[:2])
    assert len(model.coef_) == 2 * ((12 + 25) // 2)


def test_the_spectral_term_is_computed_when_gamma1_first_asks_for_it():
    X, y, _ = blobs(60, 2)
    rows = np.flatnonzero(y >= 0)
    split = PrimalMSSKSC(n_components=20, gamma1=0, random_state=0).fit_features(X, rows)
    split.fit_labels(y[rows])
    assert split._spectral is None
    split.set_params(gamma1=0.5).fit_labels(y[rows])
    whole = PrimalMSSKSC(n_components=20, gamma1=0.5, random_state=0).fit(X, y)
    expected = whole.decision_function(X)
    np.testing.assert_allclose(split.decision_function(X), expected, atol=1e-4)


@pytest.mark.memory
@pytest.mark.parametrize("params", [{"normalize": True, "gamma1": 0.9}, {"gamma1": 5.0}])
@pytest.mark.parametrize("name", ["rff-mssksc", "rd-mssksc"])
def test_eigenvalues_are_found_in_place(name, params, assert_peak_between):
    """Of the spectral term, and of a problem without a minimum."""
    method = next(method for method in harness_methods() if method.name == name)
    method = replace(method, params={**method.params, **params}, space={})
    shape = Shape(100, 3000, 10, 2, n_test=1000)
    planned = plan(method, shape, None, {"n_components": 800}).planned_bytes
    assert_peak_between(0.5 * planned, planned, method, shape, 800, "binary")


@pytest.mark.parametrize("features", FEATURES)
def test_without_a_number_there_are_as_many_features_as_the_paper_takes(features):
    X, y, _ = blobs(350, 2)
    labeled = int((y != -1).sum())
    model = make(features, n_components=None).fit(X, y)
    expected = labeled + int(np.ceil(np.sqrt(700 - labeled)))
    # a frequency is two of them
    assert abs(model._map.n_components - expected) <= (features == "fourier")
