"""S4VM: safe on its own separators, and what it is for."""

import numpy as np
import pytest
from blobs import blobs
from dense import gaussian, odd_digits, off, squared_hinge
from s4vm import S4VM
from s4vm.safe_labels import gains


def few_labeled(n, labeled, seed):
    """Odd digits against even ones, of which some are labeled; X, y and the truth."""
    X, truth = odd_digits(n)
    rng = np.random.default_rng(seed)
    known = [rng.choice(np.flatnonzero(truth == c), labeled // 2, replace=False) for c in (0, 1)]
    y = np.full(n, -1)
    for rows, label in zip(known, (0, 1), strict=True):
        y[rows] = label
    return X, y, truth


def alone(model, X, y):
    """Scores of the machine of the labeled points, by a dense solver in float64."""
    known = y != -1
    K = gaussian(X, X, model._width)
    signs = np.where(y[known] == 1, 1.0, -1.0)
    inner = squared_hinge(K[np.ix_(known, known)], signs, model.C)
    # a bias and coefficients that give these scores: scores everywhere follow
    slack = np.maximum(0, 1 - signs * inner)
    a = 2 * model.C * signs * slack
    bias = (inner - K[np.ix_(known, known)] @ a).mean()
    return K[:, known] @ a + bias


def test_the_baseline_is_the_machine_of_the_labeled_points():
    X, y, _ = blobs(40, 2)
    u, settings = y == -1, {"n_landmarks": 80, "random_state": 0}
    scores = alone(S4VM(**settings).fit(X, y), X, y)[u]
    (zero,) = S4VM(**settings, baseline="zero").fit(X, y).baselines_
    sure = np.abs(scores) > 1e-3
    np.testing.assert_array_equal(zero[sure], np.where(scores > 0, 1, -1)[sure])
    (share,) = S4VM(**settings).fit(X, y).baselines_
    assert (share > 0).sum() == round(u.sum() / 2)
    assert scores[share > 0].min() > scores[share < 0].max() - 1e-3


@pytest.mark.parametrize("baseline", ["share", "zero"])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_never_below_its_machine_on_its_own_worst_case(seed, baseline):
    X, y, _ = few_labeled(200, 10, seed)
    model = S4VM(n_candidates=12, baseline=baseline, random_state=seed).fit(X, y)
    (candidates,), (found,), u = model.candidates_, model.baselines_, y == -1
    assert len(candidates) > 1
    safe = np.where(model.decision_scores_[u] > 0, 1, -1)
    assert gains(safe, candidates, found).min() >= 0
    np.testing.assert_array_equal(model.transduction_[u], (safe > 0).astype(int))


def test_separators_have_the_share_of_the_labels():
    X, y, _ = blobs(50, 2, labeled=4)
    y[np.flatnonzero(y == 0)[:2]] = -1  # 2 of one class and 4 of the other
    (candidates,) = S4VM(n_candidates=10, random_state=0).fit(X, y).candidates_
    assert {int((one > 0).sum()) for one in candidates} == {round(94 * 2 / 3)}


def test_new_points_are_scored_by_the_machine_of_the_safe_labels():
    X, y, _ = few_labeled(200, 10, 2)
    model = S4VM(200, n_candidates=12, C=10.0, risk=1.0, random_state=0).fit(X, y)
    (baseline,), u = model.baselines_, y == -1
    safe = np.where(model.decision_scores_[u] > 0, 1, -1)
    assert (safe != baseline).any()
    signs, costs = np.where(y == 1, 1.0, -1.0), np.full(len(X), 10.0)
    signs[u], costs[u] = safe, 10.0 * 10 / 190
    expected = squared_hinge(gaussian(X, X, model._width), signs, costs)
    found = model.decision_function(X)
    # but for its bias, which gives the classes the shares of the safe labels
    assert off(found - found.mean(), expected - expected.mean()) < 0.02
    assert (found[u] > 0).sum() == (safe > 0).sum()


def test_a_fold_is_scored_as_fit_scores_it():
    X, y, _ = blobs(40, 2, labeled=8)
    rows, settings = np.flatnonzero(y != -1), {"n_candidates": 8, "random_state": 0}
    model = S4VM(40, **settings).fit_features(X, rows)
    masked = y.copy()
    masked[rows[:4]] = -1
    whole = S4VM(40, **settings).fit(X, masked)
    found = model.fit_labels(masked[rows]).held_out_scores_
    np.testing.assert_allclose(found, whole.decision_scores_[rows[:4]], atol=1e-4)


def test_labels_are_better_on_the_mean_and_rarely_worse():
    differences = []
    for seed in range(6):
        X, y, truth = few_labeled(400, 20, seed)
        model, u = S4VM(150, random_state=seed).fit(X, y), y == -1
        right = (model.transduction_[u] == truth[u]).mean()
        differences.append(right - ((model.baselines_[0] > 0) == truth[u]).mean())
    assert np.mean(differences) > 0.002
    assert min(differences) > -0.01
