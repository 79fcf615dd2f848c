"""XNV and XKS against the paper's equations, and at the edge of what they can be given."""

import numpy as np
import pytest
from blobs import blobs
from views import XKS, XNV

from harness.semi_supervised import centered_ridge


def sines(n=400, labeled=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(n, 3))
    truth = np.sin(X[:, 0]) + X[:, 1] + 5
    y = truth.copy()
    y[labeled:] = np.nan
    return X, y, truth


def make(model, **params):
    size = "n_landmarks" if model is XNV else "n_components"
    return model(**{size: 30, "random_state": 0, **params})


both = pytest.mark.parametrize("model", [XNV, XKS])


@both
@pytest.mark.parametrize("combine", [False, True])
def test_held_out_values_are_predictions_of_a_fit_on_the_other_labels(model, combine):
    X, y, _ = sines()
    model, rows = make(model, combine=combine), np.arange(60)
    y[:60:3] = np.nan
    values = model.fit_features(X, rows).fit_labels(y[rows]).held_out_values_
    expected = model.fit(X, y).predict(X[:60:3])
    np.testing.assert_allclose(values, expected, atol=1e-3)


@both
def test_it_learns_and_says_how_views_are_correlated(model):
    X, y, truth = sines()
    model = make(model, alpha=1e-3).fit(X, y)
    assert np.mean((model.predict(X) - truth)[60:] ** 2) < 0.05 * truth.var()
    c = model.canonical_correlations_
    assert (np.diff(c) <= 1e-12).all()
    assert c[0] <= 1
    assert c[0] > 0.95
    assert c[-1] >= 0


def canonical(model, X, labeled):
    """Coordinates of the labeled rows in the first view, and the correlations."""
    model.fit_features(X, labeled)
    return model._coordinates[0].astype(float), model.canonical_correlations_


@both
def test_it_minimises_equation_nine(model):
    X, y, _ = sines()
    rows = np.arange(60)
    model = make(model, alpha=0.05)
    Z, c = canonical(model, X, rows)
    model.fit_labels(y[rows])
    w, b = model._weights[0]
    residual = y[rows] - Z @ w[:, 0] - b
    penalty = (1 - c) / np.maximum(c, 1e-6) + 0.05
    np.testing.assert_allclose(Z.T @ residual / 60, penalty * w[:, 0], atol=1e-6)
    assert residual.mean() == pytest.approx(0, abs=1e-9)


def test_with_whitened_coordinates_it_is_the_shrinkage_of_equation_four():
    # All points labeled: the second moment of the coordinates is the identity without a ridge.
    X, _, truth = sines(n=3000)
    rows = np.arange(3000)
    model = make(XNV, n_landmarks=8, ridge=0.0, alpha=1e-9)
    Z, c = canonical(model, X, rows)
    np.testing.assert_allclose(np.cov(Z.T, bias=True), np.eye(len(c)), atol=2e-3)
    model.fit_labels(truth)
    expected = c / 3000 * ((Z - Z.mean(axis=0)).T @ truth)
    np.testing.assert_allclose(model._weights[0][0][:, 0], expected, atol=5e-3)


class TwoOfAKind(XNV):
    """Both views from the same landmarks."""

    def _draw_views(self, X, rng):
        view, _ = super()._draw_views(X, rng)
        return [view, view]


def test_equal_views_leave_a_plain_ridge_in_whitened_coordinates():
    X, y, _ = sines()
    rows = np.arange(60)
    model = TwoOfAKind(6, ridge=1e-7, alpha=0.1, random_state=0)
    Z, c = canonical(model, X, rows)
    np.testing.assert_allclose(c, 1, atol=1e-2)
    y[:20] = np.nan
    model.fit_labels(y[rows])
    w, b = centered_ridge(Z[20:], y[20:60, None], 40 * 0.1)
    np.testing.assert_allclose(model.held_out_values_, (Z[:20] @ w + b)[:, 0], atol=0.02)


def test_a_large_penalty_leaves_the_mean():
    X, y, _ = sines()
    values = make(XNV, alpha=1e9).fit(X, y).predict(X)
    np.testing.assert_allclose(values, y[:60].mean(), atol=1e-5)


@both
def test_a_shift_of_targets_or_points_shifts_nothing_else(model):
    X, y, _ = sines()
    expected = make(model).fit(X, y).predict(X)
    np.testing.assert_allclose(make(model).fit(X, y + 1e3).predict(X) - 1e3, expected, atol=1e-5)
    moved = X + 1e4
    if model is XNV:
        # cosines are of the points themselves, only relative to where the origin is
        np.testing.assert_allclose(make(model).fit(moved, y).predict(moved), expected, atol=1e-2)


@both
def test_many_blocks_are_one(model, monkeypatch):
    X, y, _ = sines()
    expected = make(model).fit(X, y).predict(X)
    monkeypatch.setattr("harness.kernels.gaussian.BLOCK_BYTES", 20_000)
    np.testing.assert_allclose(make(model).fit(X, y).predict(X), expected, atol=1e-3)


@both
def test_randomised_correlations_are_near_the_exact_ones(model):
    X, _, _ = sines(n=6000)
    exact, sketched = (
        make(model, cca=cca, n_landmarks=30)
        if model is XNV
        else make(model, cca=cca, n_components=30)
        for cca in ("exact", "randomized")
    )
    exact, sketched = (m.fit_features(X, np.arange(5)) for m in (exact, sketched))
    difference = exact.canonical_correlations_ - sketched.canonical_correlations_
    assert np.sqrt(np.mean(difference**2)) < 0.15
    assert np.abs(difference[:3]).max() < 0.02


@both
def test_averaging_both_views_is_steadier(model):
    X, y, truth = sines(labeled=30)
    errors = {
        combine: np.mean(
            [
                (make(model, combine=combine, random_state=seed).fit(X, y).predict(X) - truth) ** 2
                for seed in range(8)
            ]
        )
        for combine in (False, True)
    }
    assert errors[True] < errors[False]


@both
@pytest.mark.parametrize("n_classes", [2, 3])
def test_classes_are_regressed_one_against_the_rest(model, n_classes):
    X, y, truth = blobs(60, n_classes, labeled=12)
    model = make(model, n_classes=n_classes).fit(X, y)
    assert np.mean(model.predict(X) == truth) > 0.7


def test_more_landmarks_than_half_of_the_points_are_half_of_them():
    X, y, _ = sines(n=41)
    assert XNV(500, random_state=0).fit(X, y[:41]).coef_.shape[0] == 20
    found = [XNV(size, random_state=0).fit(X, y).predict(X) for size in (20, 21, 41, 500)]
    for values in found[1:]:
        np.testing.assert_array_equal(values, found[0])
    with pytest.raises(ValueError, match="two views need a landmark each"):
        XNV().fit(X[:1], y[:1])


@both
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_hard_inputs_have_finite_answers(model, dtype):
    X, y, _ = sines()
    outliers = X.copy()
    outliers[[3, 200, 399], [0, 1, 2]] = 1e6
    hard = {
        "duplicates in both views": np.repeat(X[:8], 50, axis=0),
        "one point": np.ones_like(X),
        "views of rank one": np.where(np.arange(400)[:, None] % 2, 1.0, -1.0) * np.ones(3),
        "outliers": outliers,
        "far away": X + 1e5,
    }
    for points in hard.values():
        for cca in ("exact", "randomized"):
            fitted = make(model, cca=cca, combine=True).fit(points.astype(dtype), y)
            values = fitted.predict(points.astype(dtype))
            assert np.isfinite(values).all()
            assert (np.abs(values - 5) < 100).all()


@both
def test_constant_targets_are_predicted_exactly(model):
    X, y, _ = sines()
    values = make(model).fit(X, np.where(np.isnan(y), y, 7.25)).predict(X)
    np.testing.assert_allclose(values, 7.25, atol=1e-12)


@both
def test_outliers_do_not_spoil_the_rest(model):
    X, y, truth = sines()
    X[399, 1] = 1e6
    errors = (make(model, alpha=1e-3).fit(X, y).predict(X) - truth)[60:399] ** 2
    assert errors.mean() < 0.05 * truth.var()


@both
def test_fewer_labeled_points_than_classes(model):
    X, y, _ = blobs(40, 3)
    kept = np.flatnonzero(y >= 0)
    few = np.full_like(y, -1)
    for label in (0, 2):
        few[kept[y[kept] == label][0]] = label
    scores = make(model, n_classes=5).fit(X, few).decision_function(X)
    assert scores.shape == (120, 5)
    assert np.isfinite(scores).all()
    assert set(scores.argmax(axis=1)) <= {0, 2}


@pytest.mark.parametrize("far", [300.0, 1e4, 1e6])
def test_an_outlier_that_is_a_landmark_does_not_spoil_the_rest(far):
    X = np.random.default_rng(1).standard_normal((2000, 8))
    target = np.sin(X[:, 0]) + X[:, 1] * X[:, 2]
    y = np.where(np.arange(2000) < 400, target, np.nan)
    moved = X.copy()
    moved[1999, 0] = far
    model = XNV(
        60,
        selector=lambda X, n, rng, kernel: np.arange(len(X) - n, len(X)),
        random_state=0,
    )
    errors = [
        np.mean((model.fit(points, y).predict(points)[400:1999] - target[400:1999]) ** 2)
        for points in (X, moved)
    ]
    assert errors[1] < 1.1 * errors[0]
