"""Harmonic functions against their closed form, and what class mass normalisation changes."""

from dataclasses import replace

import numpy as np
import pytest
from blobs import blobs
from harmonic import ClassMassNormalization, HarmonicFunction, harness_methods, storage
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

from harness import Shape
from harness.planning.own_bytes import overhead_bytes
from harness.planning.size import plan

WIDTH = 0.8


def weights(X, Z=None):
    Z = X if Z is None else Z
    return np.exp(-((X[:, None] - Z[None]) ** 2).sum(-1) / (2 * WIDTH**2))


def closed_form(X, y, n_classes):
    W, u, known = weights(X), y == -1, y != -1
    laplacian = np.diag(W.sum(axis=1)) - W
    return np.linalg.solve(
        laplacian[np.ix_(u, u)], W[np.ix_(u, known)] @ np.eye(n_classes)[y[known]]
    )


@pytest.fixture(params=[2, 3])
def fitted(request):
    X, y, truth = blobs(70, request.param)
    model = HarmonicFunction(sigma=WIDTH, sigma_unit="absolute").fit(X, y)
    return X, y, truth, model


def test_it_equals_the_closed_form(fitted):
    X, y, _, model = fitted
    expected = closed_form(X, y, len(model.classes_))
    np.testing.assert_allclose(model.label_distributions_[y == -1], expected, atol=1e-7)


def test_it_is_harmonic_a_distribution_and_keeps_the_labels(fitted):
    X, y, _, model = fitted
    f = model.label_distributions_
    W = weights(X)
    np.fill_diagonal(W, 0)
    mean = W @ f / W.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(f[y == -1], mean[y == -1], atol=1e-7)
    assert f.min() >= 0
    assert f.max() <= 1
    np.testing.assert_allclose(f.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_array_equal(model.transduction_[y != -1], y[y != -1])


def test_induction_is_the_weighted_mean(fitted):
    X, _, _, model = fitted
    new = X[:5] + 0.1
    W = weights(new, X)
    expected = W @ model.label_distributions_ / W.sum(axis=1, keepdims=True)
    expected = expected[:, 1] - expected[:, 0] if expected.shape[1] == 2 else expected
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-10)


def test_mass_normalisation_moves_the_threshold_and_not_the_ranking():
    X, y, truth = blobs(70, 2)
    harmonic, cmn = HarmonicFunction().fit(X, y), ClassMassNormalization().fit(X, y)
    u = y == -1
    aucs = [roc_auc_score(truth[u], m.decision_scores_[u]) for m in (harmonic, cmn)]
    assert aucs[0] == aucs[1]
    assert (harmonic.transduction_ != cmn.transduction_).any()


def test_masses_match_the_prior():
    X, y, _ = blobs(70, 3)
    y[np.flatnonzero(y == 1)[1:]] = -1
    cmn = ClassMassNormalization().fit(X, y)
    mass = (cmn.label_distributions_ * cmn._mass_weights)[y == -1].mean(axis=0)
    share = np.bincount(y[y >= 0]) / np.count_nonzero(y >= 0)
    assert np.ptp(share) > 0.1
    np.testing.assert_allclose(mass, share)


def test_points_that_no_edge_reaches_get_the_prior():
    X = np.array([[0.0], [0.1], [1.0], [1e4], [2e4]])
    model = HarmonicFunction(sigma=0.3, sigma_unit="absolute").fit(X, [0, 0, 1, -1, -1])
    np.testing.assert_allclose(model.label_distributions_[3:], [[2 / 3, 1 / 3]] * 2)
    np.testing.assert_allclose(model.decision_function([[1e6]]), [-1 / 3])


SOLVERS = [{"solver": "cholesky"}, {"solver": "cg"}, {"n_neighbors": 15}]


@pytest.mark.parametrize("params", SOLVERS[1:], ids=str)
def test_a_class_that_is_solved_at_once_does_not_disturb_the_others(params):
    """Conjugate gradients stop for a class whose residual is exactly 0 before any other's."""
    X = np.array([[0.0], [-1.0], [1.0], [100.0], [-100.0]])
    settings = {"sigma": 1.0, "sigma_unit": "absolute"}
    model = HarmonicFunction(**settings, **params).fit(X, [-1, 0, 1, 0, 2])
    np.testing.assert_allclose(model.label_distributions_[0], [0.5, 0.5, 0], atol=1e-6)


@pytest.mark.parametrize("params", SOLVERS, ids=str)
def test_where_the_points_lie_changes_no_width(params):
    X, y, _ = blobs(100, 2)
    settings = {"sigma": 0.5, "sigma_unit": "absolute", **params}
    expected = HarmonicFunction(**settings).fit(X, y).label_distributions_
    for moved in (X + 1e5, np.column_stack([X, np.full(len(X), 1e5)])):
        found = HarmonicFunction(**settings).fit(moved, y).label_distributions_
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_features_of_other_points_forget_the_fit():
    X, y, _ = blobs(30, 2)
    model = HarmonicFunction().fit(X, y)
    model.fit_features(X[::-1], np.flatnonzero(y[::-1] >= 0)).fit_labels(y[::-1][y[::-1] >= 0])
    with pytest.raises(NotFittedError):
        model.predict(X)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("params", SOLVERS, ids=str)
@pytest.mark.parametrize("estimator", [HarmonicFunction, ClassMassNormalization])
def test_a_fold_is_scored_as_a_fit_on_its_labels_would(estimator, params, n_classes):
    X, y, _ = blobs(70, n_classes, labeled=9)
    labeled = np.flatnonzero(y != -1)
    staged = estimator(n_classes=n_classes, **params).fit_features(X, labeled)
    for fold in range(3):
        masked = y.copy()
        held = labeled[fold::3]
        masked[held] = -1
        scores = staged.fit_labels(masked[labeled]).held_out_scores_
        whole = estimator(n_classes=n_classes, **params).fit(X, masked)
        atol = 1e-10 if params == {"solver": "cholesky"} else 1e-5
        np.testing.assert_allclose(scores, whole.decision_scores_[held], atol=atol)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_solvers_agree(n_classes):
    X, y, _ = blobs(70, n_classes)
    direct, iterated, automatic = (
        HarmonicFunction(solver=solver).fit(X, y) for solver in ("cholesky", "cg", "auto")
    )
    np.testing.assert_allclose(iterated.decision_scores_, direct.decision_scores_, atol=5e-6)
    np.testing.assert_array_equal(automatic.decision_scores_, direct.decision_scores_)


def test_auto_iterates_where_there_are_more_points(monkeypatch):
    X, y, _ = blobs(70, 2)
    monkeypatch.setattr("harmonic._FACTORED", 100)
    automatic, iterated = (HarmonicFunction(solver=s).fit(X, y) for s in ("auto", "cg"))
    np.testing.assert_array_equal(automatic.decision_scores_, iterated.decision_scores_)


def test_all_neighbors_are_the_complete_graph():
    X, y, _ = blobs(50, 3)
    sparse = HarmonicFunction(n_neighbors=500).fit(X, y)
    complete = HarmonicFunction().fit(X, y)
    np.testing.assert_allclose(sparse.decision_scores_, complete.decision_scores_, atol=5e-6)
    new = X[:9] + 0.1
    np.testing.assert_allclose(
        sparse.decision_function(new), complete.decision_function(new), atol=5e-6
    )


def test_induction_on_a_neighbor_graph_asks_the_nearest_only():
    X, y, _ = blobs(60, 2)
    model = HarmonicFunction(sigma=WIDTH, sigma_unit="absolute", n_neighbors=4).fit(X, y)
    new = X[:6] + 0.1
    W = weights(new, X)
    W[np.sort(W, axis=1)[:, [-4]] > W] = 0
    f = W @ model.label_distributions_ / W.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.decision_function(new), f[:, 1] - f[:, 0], atol=1e-10)


@pytest.mark.parametrize("params", SOLVERS, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_parts_without_labels_get_the_prior(params, dtype):
    X, y, _ = blobs(40, 2, labeled=8)
    X, y = 10 * np.concatenate([X, X + 1000]), np.concatenate([y, np.full(80, -1)])
    y[np.flatnonzero(y == 1)[:4]] = -1
    model = HarmonicFunction(sigma=8.0, sigma_unit="absolute", **params).fit(X.astype(dtype), y)
    np.testing.assert_allclose(model.label_distributions_[80:], [[2 / 3, 1 / 3]] * 80, atol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("params", SOLVERS, ids=str)
@pytest.mark.parametrize("sigma", [1e-300, 1e-6, 0.01, 0.03, 1e6, 1e150])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_width_is_too_small_or_too_large(params, sigma, dtype):
    X, y, _ = blobs(20, 3)
    X = np.concatenate([X, X[:20]]).astype(dtype)
    y = np.concatenate([y, np.full(20, -1)])
    model = ClassMassNormalization(sigma=sigma, **params).fit(X, y)
    np.testing.assert_allclose(model.label_distributions_.sum(axis=1), 1)
    assert np.isfinite(model.decision_scores_).all()
    assert np.isfinite(model.decision_function(X + dtype(0.1))).all()
    labeled = np.flatnonzero(y != -1)
    given = y[labeled]
    given[::3] = -1
    staged = ClassMassNormalization(sigma=sigma, **params).fit_features(X, labeled)
    assert np.isfinite(staged.fit_labels(given).held_out_scores_).all()


@pytest.mark.parametrize("params", SOLVERS, ids=str)
def test_all_points_labeled(params):
    X, _, truth = blobs(30, 3)
    model = HarmonicFunction(**params).fit(X, truth)
    np.testing.assert_array_equal(model.transduction_, truth)
    staged = HarmonicFunction(**params).fit_features(X, np.arange(90))
    masked = truth.copy()
    masked[::5] = -1
    staged.fit_labels(masked)
    whole = HarmonicFunction(**params).fit(X, masked)
    np.testing.assert_allclose(staged.held_out_scores_, whole.decision_scores_[::5], atol=5e-6)


def test_what_cannot_be_solved_is_refused():
    X, y, _ = blobs(20, 2)
    with pytest.raises(ValueError, match="n_neighbors=5 use solver='auto' or 'cg'"):
        HarmonicFunction(n_neighbors=5, solver="cholesky").fit(X, y)
    staged = HarmonicFunction().fit_features(X, np.flatnonzero(y != -1))
    with pytest.raises(ValueError, match="one class among its labels"):
        staged.fit_labels(np.where(y[y != -1] == 1, -1, 0))


@pytest.mark.parametrize("tuned", [False, True])
@pytest.mark.parametrize(
    "params", [{}, {"solver": "cg"}, {"solver": "cholesky"}, {"n_neighbors": 20}], ids=str
)
def test_storage_falls_only_where_another_solver_takes_over(params, tuned):
    def needed(sizes):
        return [storage(Shape(500, u, 30, 2), u, **params, tuned=tuned).peaks for u in sizes]

    (change,) = harness_methods()[0].non_monotone_at
    below, above = needed([*range(1, change, 37), change - 1]), needed(range(change, 9000, 37))
    assert below == sorted(below)
    assert above == sorted(above)
    assert (above[0] < below[-1]) == (not params)


def test_a_small_budget_takes_all_points_where_iterating_needs_less():
    method, shape = harness_methods()[0], Shape(500, 20_000, 30, 2, itemsize=4)
    assert plan(method, shape, 20 * 10**6).size == 20_000
    assert plan(method, replace(shape, n_unlabeled=4000), 20 * 10**6).size < 2500


@pytest.mark.memory
@pytest.mark.parametrize("params", [{"solver": "cg"}, {"n_neighbors": 30}], ids=str)
def test_storage_without_a_factorisation_is_what_is_held(params, assert_peak_between):
    method = replace(harness_methods()[0], params=params)
    shape = Shape(300, 9000, 30, 2, n_test=200)
    planned = max(method.peaks(shape, 9000, params)) + overhead_bytes(shape)
    assert_peak_between(0.7 * planned, 1.05 * planned, method, shape, 9000, "binary")
