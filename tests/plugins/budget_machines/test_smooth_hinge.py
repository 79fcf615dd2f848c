"""The smooth hinge: its derivatives, its conjugate, and the hinge as its limit."""

import numpy as np
import pytest
from budget_machines.smooth_hinge import SmoothHinge
from scipy.optimize import minimize_scalar

MARGINS = np.linspace(-3, 3, 601)


@pytest.mark.parametrize("smoothing", [0.0, 1e-3, 0.5, 2.0])
def test_the_pull_is_minus_the_derivative(smoothing):
    step = 1e-6
    for margin in np.linspace(-3, 3, 50):
        one = SmoothHinge(np.array([2.0]), smoothing)
        above, below = (one.total(np.array([margin + h])) for h in (step, -step))
        found = one.pull(np.array([margin]))[0]
        assert found == pytest.approx(
            (below - above) / (2 * step), rel=1e-3, abs=1e-2 * (0 < smoothing < 0.1) + 1e-6
        )


@pytest.mark.parametrize("smoothing", [0.0, 0.5, 2.0])
def test_it_is_the_largest_of_its_tangents(smoothing):
    """That is how it is defined, and what makes a dual objective of it a lower bound."""
    t = np.linspace(0, 1, 2001)
    for margin in MARGINS[::20]:
        loss = SmoothHinge(np.array([3.0]), smoothing)
        lines = 3 * t * (1 - margin) - loss.conjugate(3 * t)
        assert loss.total(np.array([margin])) == pytest.approx(lines.max(), abs=1e-6)


@pytest.mark.parametrize("smoothing", [1e-3, 0.1, 1.0])
def test_it_is_at_most_half_its_width_below_the_hinge(smoothing):
    for margin in MARGINS:
        one = np.array([margin])
        below = SmoothHinge(np.ones(1)).total(one)
        below -= SmoothHinge(np.ones(1), smoothing).total(one)
        assert -1e-12 <= below <= smoothing / 2 + 1e-12


@pytest.mark.parametrize("penalty", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("smoothing", [0.0, 0.5, 4.0])
def test_the_proximal_pull_is_where_its_objective_is_largest(smoothing, penalty):
    cost, dual = 2.0, 0.7
    loss = SmoothHinge(np.array([cost]), smoothing)
    for margin in np.linspace(-2, 2, 21):

        def minus(a, margin=margin):
            near = (a - dual) ** 2 / (2 * penalty)
            return near + float(loss.conjugate(np.array([a]))[0]) - a * (1 - margin)

        found = loss.proximal_pull(np.array([margin]), np.array([dual]), penalty)[0]
        least = minimize_scalar(minus, bounds=(0, cost), method="bounded").fun
        assert 0 <= found <= cost
        assert minus(found) <= least + 1e-9


def test_rows_without_a_cost_count_nothing():
    loss = SmoothHinge(np.array([2.0, 0.0]), 0.5)
    margins = np.array([0.8, -5.0])
    assert loss.total(margins) == pytest.approx(2 * 0.2**2 / 2 / 0.5)
    assert loss.pull(margins).tolist() == [pytest.approx(2 * 0.2 / 0.5), 0]
    assert loss.proximal_pull(margins, np.zeros(2), 1.0)[1] == 0
