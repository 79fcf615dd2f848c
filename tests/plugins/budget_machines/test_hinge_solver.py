"""One hinge machine: duality, Newton steps, and where the bias stands."""

import numpy as np
import pytest
from budget_machines import hinge_solver
from budget_machines.feature_cache import FeatureCache
from budget_machines.hinge_solver import HingeMachine, train_hinge
from budget_machines.one_vs_rest_hinge import train_hinge_machines
from budget_machines.smooth_hinge import SmoothHinge
from hinge_problems import counted, features_of, problem, separable


def test_the_dual_value_is_a_lower_bound_for_any_machine():
    X, y = problem()
    features = features_of(X, 30)
    cache = FeatureCache(features, X, 10**8, len(X))
    cache.load(np.arange(len(X)))
    signs, costs = np.where(y == 0, 1.0, -1.0), np.full(len(X), 3.0)
    rough, fine = (HingeMachine(np.zeros(features.n_components)) for _ in range(2))
    margins = train_hinge(cache, signs, SmoothHinge(costs), rough, 0.3)
    train_hinge(cache, signs, SmoothHinge(costs), fine, 1e-6)
    assert rough.dual < fine.dual * (1 + 1e-6)
    assert rough.primal(margins, SmoothHinge(costs)) > fine.dual


def test_large_kernel_values_ask_for_few_more_newton_steps(monkeypatch):
    """With (x'z + 1)^2 up to 1e4 the ridge is nothing: parabolas of one width took 434 steps."""
    X, y = separable()
    features = features_of(X, 150, "poly2")
    cache = FeatureCache(features, X, 10**8, len(X))
    steps = counted(monkeypatch, hinge_solver, "_newton_direction")
    found = train_hinge_machines(features, X, np.arange(1000), y, 3, 10.0, cache)
    # of the weights below 1e-3; rounding of the coefficients is in it too
    assert found.gap <= 2e-3 * found.objective
    assert len(steps) < 150


def test_a_matrix_worn_by_changes_is_made_anew(monkeypatch):
    X, y = problem(600)
    features, rows = features_of(X, 50), np.arange(600)
    cache = FeatureCache(features, X, 10**8, 600)
    made = counted(monkeypatch, hinge_solver.ActiveRows, "make_anew")
    plain = train_hinge_machines(features, X, rows, y, 3, 5.0, cache, tol=1e-4)
    as_often = len(made)
    refused = []
    solve, centred = hinge_solver.solve_positive_definite, hinge_solver.ActiveRows.centred

    def solve_what_is_new(A, right):
        if len(A) == features.n_components and changes[-1]:
            refused.append(changes[-1])
            raise hinge_solver.LinAlgError
        return solve(A, right)

    changes = []
    monkeypatch.setattr(hinge_solver, "solve_positive_definite", solve_what_is_new)
    monkeypatch.setattr(
        hinge_solver.ActiveRows,
        "centred",
        lambda kept: [changes.append(kept.n_changes), centred(kept)][1],
    )
    anew = train_hinge_machines(features, X, rows, y, 3, 5.0, cache, tol=1e-4)
    assert refused
    assert len(made) - as_often > as_often
    assert anew.objective == pytest.approx(plain.objective, rel=1.1e-4)


def test_a_matrix_of_rows_is_not_held_beside_one_of_features(monkeypatch):
    X, y = separable()
    features = features_of(X, 150, "poly2")
    cache = FeatureCache(features, X, 10**8, len(X))
    solve, held = hinge_solver._step_by_rows, []
    directions = counted(monkeypatch, hinge_solver, "_newton_direction")

    def step_by_rows(*args):
        held.append(directions[-1][2]._moments)
        return solve(*args)

    monkeypatch.setattr(hinge_solver, "_step_by_rows", step_by_rows)
    train_hinge_machines(features, X, np.arange(1000), y, 3, 10.0, cache)
    assert 0 < len(held) < len(directions)
    assert all(moments is None for moments in held)


@pytest.mark.parametrize("seed", range(20))
def test_the_bias_is_in_the_middle_of_those_that_are_as_good(seed):
    rng = np.random.default_rng(seed)
    signs, costs = np.tile([1.0, -1.0], 5), np.repeat([2.0, 2.0, 2.0, 2.0, 0.0], 2)
    margins = 1 + np.repeat([-1, -1, 1, 1, -1], 2) * rng.exponential(size=10)

    def losses(shift):
        return costs @ np.maximum(0, 1 - margins - signs * shift)

    spare = hinge_solver.spare_bias(margins, signs, SmoothHinge(costs))
    reach = np.abs(1 - margins)[costs > 0].min() + abs(spare)
    for inside in (-0.99, 0, 0.99):
        assert losses(spare + inside * reach) == pytest.approx(losses(0), rel=1e-12)
    assert min(losses(spare - 1.01 * reach), losses(spare + 1.01 * reach)) > losses(0)
    # nothing is spare where one side weighs more
    heavier = SmoothHinge(costs + (signs > 0) * (costs > 0))
    assert hinge_solver.spare_bias(margins, signs, heavier) == 0


@pytest.mark.parametrize("seed", range(10))
def test_the_bias_is_in_the_middle_beside_a_smooth_hinge_too(seed):
    rng = np.random.default_rng(seed)
    signs, loss = np.tile([1.0, -1.0], 4), SmoothHinge(np.full(8, 2.0), 0.5)
    margins = np.repeat([0.5, 0.5, 1, 1], 2) + np.repeat([-1, -1, 1, 1], 2) * rng.exponential(
        size=8
    )
    spare = hinge_solver.spare_bias(margins, signs, loss)
    low, high = (0.5 - margins[:4]).min(), (margins[4:] - 1).min()
    reach = min(low, high) + abs(spare)
    for inside in (-0.99, 0, 0.99):
        moved = loss.total(margins + signs * (spare + inside * reach))
        assert moved == pytest.approx(loss.total(margins), rel=1e-12)
    # nothing is spare where a row is on the parabola
    margins[0] = 0.9
    assert hinge_solver.spare_bias(margins, signs, loss) == 0
