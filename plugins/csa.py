"""Coupled simulated annealing, then Nelder-Mead: the search `csa`.

Xavier-de-Souza, Suykens, Vandewalle & Bolle (2010), "Coupled simulated annealing", IEEE Trans. SMC
B 40 (2), the variant with variance control (CSA-MwVC), followed by the simplex method as in
Mehrkanoon & Suykens (2016), section V: annealing from five states finds a good region, the simplex
refines it. It fits spaces of a few parameters of which most are real; every method can use it.

Where it departs from the paper: the five starts are spread (a Latin hypercube) instead of drawn
independently, and the acceptance temperature is solved for after every sweep. The paper moves it
by a few per cent a sweep, which takes hundreds of them to arrive; a search has a handful.

Where an estimator splits its fit, values of `head_params` cost little once the rest is computed.
Annealing and simplex then move the other parameters alone: each of their positions is scored with
a few values of the label parameters, the same ones throughout, and counts as the best of these. A
second simplex refines the label parameters at the best position, for which one more computation
of features serves.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy.optimize import brentq, minimize
from scipy.stats import qmc

from harness import Distribution, Evaluate, Search, hookimpl, settings_at

STATES = 5
"""Annealing states, moved in one batch."""

ANNEALED_SHARE = 0.4
"""Share of the trials left after the starts that annealing gets; the simplex has the rest."""

FIRST_MOVE = 0.3
"""Generation temperature of the first sweep: the median move along an axis, of a range of 1."""

SIMPLEX_EDGE = 0.25
"""Edge of the first simplex, of a range of 1: it leads to another of up to four choices."""

SMALLEST_SIMPLEX = 1e-4
"""The simplex stops when it is this small: finer differences of a parameter decide nothing."""

LABEL_VALUES = 4
"""Settings of the label parameters with which each position of the others is scored."""

LABEL_SHARE = 0.25
"""Share of the trials that goes to the simplex of the label parameters."""

VARIANCE_SHARE = 0.99
"""Variance of the acceptance probabilities to hold, of the largest possible."""


Function = Callable[[np.ndarray], np.ndarray]
"""Costs of the rows of an array of positions."""


class Costs:
    """Costs of positions in the unit cube, negated scores, and the best position so far.

    Parameters
    ----------
    space : mapping of str to Distribution
    evaluate : callable list of dict -> list of float
        As in `harness.Search`.
    """

    def __init__(self, space: Mapping[str, Distribution], evaluate: Evaluate) -> None:
        self._space, self._evaluate = space, evaluate
        self.best, self.least = None, np.inf

    def __call__(self, positions: np.ndarray) -> np.ndarray:
        """Return the costs of (m, d) positions, in one batch; infinite where there is no score."""
        costs = -np.array(self._evaluate(settings_at(self._space, positions)), dtype=float)
        costs[np.isnan(costs)] = np.inf
        if costs.min() < self.least:
            self.best, self.least = positions[costs.argmin()].copy(), costs.min()
        return costs


def search(
    space: Mapping[str, Distribution], evaluate: Evaluate, trials: int, rng: np.random.Generator
) -> None:
    """Anneal five coupled states, then refine the best position by a simplex.

    Parameters
    ----------
    space, evaluate, trials, rng
        As in `harness.Search`. Less than 18 trials leave nothing for moves of the states.
    """
    costs = Costs(space, evaluate)
    label = np.array([name in evaluate.head_params for name in sorted(space)])
    positions = int((1 - LABEL_SHARE) * trials) // LABEL_VALUES
    if label.all() or not label.any() or positions < STATES:
        optimise(costs, costs, np.full(len(label), True), trials, rng)
        return
    values = qmc.Sobol(label.sum(), rng=rng).random(LABEL_VALUES)

    def least(others: np.ndarray) -> np.ndarray:
        found = costs(joined(label, others[:, None], values).reshape(-1, len(label)))
        return found.reshape(len(others), LABEL_VALUES).min(axis=1)

    optimise(least, costs, ~label, positions, rng)
    if costs.best is not None:
        others, start = costs.best[~label], costs.best[label]
        left = trials - positions * LABEL_VALUES
        refine(lambda values: costs(joined(label, others, values)), start, left)


def joined(label: np.ndarray, others: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Return positions in the whole space from those along its label axes and the others."""
    shape = np.broadcast_shapes(others.shape[:-1], values.shape[:-1])
    whole = np.empty((*shape, len(label)))
    whole[..., ~label], whole[..., label] = others, values
    return whole


def optimise(
    function: Function, costs: Costs, axes: np.ndarray, trials: int, rng: np.random.Generator
) -> None:
    """Anneal, then refine the best: `trials` positions along some axes of the space."""
    states = min(STATES, trials)
    sweeps = int(ANNEALED_SHARE * (trials - states)) // states
    anneal(function, spread(states, axes.sum(), rng), sweeps, rng)
    left = trials - states * (1 + sweeps)
    if left and costs.best is not None:
        refine(function, costs.best[axes], left)


def spread(states: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a Latin hypercube: along every axis, one state in each of as many equal parts."""
    parts = rng.permuted(np.tile(np.arange(states), (d, 1)), axis=1).T
    return (parts + rng.random((states, d))) / states


def anneal(function: Function, states: np.ndarray, sweeps: int, rng: np.random.Generator) -> None:
    """Move coupled states: Cauchy steps of falling temperature, coupled acceptance.

    A better position is always accepted, a worse one with the probability that `acceptance` gives
    the state.
    """
    current = function(states)
    for sweep in range(1, sweeps + 1):
        # half of all steps are shorter than the temperature, and a few go anywhere
        steps = np.tan(np.pi * (rng.random(states.shape) - 0.5))
        probes = reflect(states + FIRST_MOVE / sweep * steps)
        found = function(probes)
        accepted = (found <= current) | (rng.random(len(states)) < acceptance(current))
        states = np.where(accepted[:, None], probes, states)
        current = np.where(accepted, found, current)


def acceptance(costs: np.ndarray) -> np.ndarray:
    """Probabilities with which states leave for a worse position; the worst leave most easily.

    Proportional to exp(cost / T) and of sum one. T is such that their variance is
    `VARIANCE_SHARE` of the largest possible, (m - 1) / m^2 of m states, where one state has all.
    Where several are worst, no T gives that much, and they share alike: the limit of small T.

    Parameters
    ----------
    costs : (m,) array
        Infinite where a state has no score.

    Returns
    -------
    (m,) array
    """
    m, worst = len(costs), costs == costs.max()
    if worst.sum() > 1 or np.isinf(costs.max()):
        return worst / worst.sum()
    gaps = costs.max() - costs

    def probabilities(log_temperature: float) -> np.ndarray:
        weights = np.exp(-gaps / np.exp(log_temperature))
        return weights / weights.sum()

    def excess(log_temperature: float) -> float:
        return probabilities(log_temperature).var() - VARIANCE_SHARE * (m - 1) / m**2

    # one has all where the next is 50 temperatures below, all alike where none is 0.01 below
    coldest, hottest = np.log(gaps[~worst].min() / 50), np.log(gaps.max() * 100)
    return probabilities(brentq(excess, coldest, hottest))


def reflect(positions: np.ndarray) -> np.ndarray:
    """Bring positions back into the unit cube, as between two mirrors along each axis."""
    return 1 - np.abs(positions % 2 - 1)


def refine(function: Function, start: np.ndarray, trials: int) -> None:
    """Run Nelder-Mead from a position, within the unit cube."""
    edges = np.where(start + SIMPLEX_EDGE > 1, -SIMPLEX_EDGE, SIMPLEX_EDGE)
    minimize(
        lambda position: function(position[None])[0],
        start,
        method="Nelder-Mead",
        bounds=[(0, 1)] * len(start),
        options={
            "maxfev": trials,
            "initial_simplex": np.vstack([start, start + np.diag(edges)]),
            "xatol": SMALLEST_SIMPLEX,
            # size alone decides: scores of settings that differ little are often equal
            "fatol": np.inf,
        },
    )


@hookimpl
def harness_searches() -> list[Search]:
    """Provide the search."""
    return [Search("csa", search)]
