"""One hinge machine for each class on the features of all rows, without holding these features.

A row whose margin is above 1 pulls at nothing, and most rows' margins are. So machines are trained
on rows that may be below, as many as there is room for, and a pass over all rows then says which
others are: some of them replace those that do not pull. Where more pull than there is room for,
those far below 1 are only summed up, their dual variables held at their costs, until their margins
come near 1. The duality gap is that of all rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.kernels.feature_cache import FeatureCache
from harness.kernels.hinge import HingeMachine, line_search, train_hinge
from harness.kernels.landmark_features import LandmarkFeatures

# After so many rounds a gap that is left with more than this part of what it was asks for half as
# many more rows, than there is room for if need be.
_PATIENCE, _SLOW, _MOST_ROUNDS = 4, 0.7, 40
# The first machines, on a sample of the rows, only guess which rows matter.
_SAMPLE_TOL = 0.05
_FIRST_TOL = 0.01
# Part of the gap over all rows to which a machine is trained on some of them.
_SHARE = 0.1
# Rows so far above a margin of 1 are trained with too: the next machine may pull them below.
_SLACK = 0.02
# Rows so far below may be bound; they are free again when they have come half as near.
_DEPTH = 0.1
# How a row's dual variable is kept between rounds, in one byte: 0 where it is not trained on, from
# 1 for a dual variable of 0 to 254 for one at its cost, and 255 where it is bound.
_AT_COST, _BOUND = 254, 255


@dataclass(frozen=True)
class HingeMachines:
    """Machines of all classes.

    Attributes
    ----------
    coefficients : ndarray of shape (r, Q), float32
        Of k(x, B): a = L^-T w.
    intercepts : ndarray of shape (Q,)
    scores : ndarray of shape (n, Q), float32
        Of the rows trained on, those without a label among them.
    objective, gap : float
        P summed over the machines, and how far above its minimum it is at most.
    """

    coefficients: np.ndarray
    intercepts: np.ndarray
    scores: np.ndarray
    objective: float
    gap: float


def train_hinge_machines(
    features: LandmarkFeatures,
    X: np.ndarray,
    rows: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    C: float,
    cache: FeatureCache,
    tol: float = 1e-3,
) -> HingeMachines:
    """Minimise |w|^2 + C sum_i max(0, 1 - y_i (w'z_i + b)) for each class against the rest.

    Parameters
    ----------
    features : LandmarkFeatures
    X : ndarray of shape (n, d)
    rows : ndarray of shape (m,)
        Row numbers.
    codes : ndarray of shape (m,)
        Class of each of these rows, 0 .. n_classes - 1, or -1 where it is not known.
    n_classes : int
        One machine where there are two of them, for the second.
    C : float
    cache : FeatureCache
        Of these features. If it holds all the rows already they are not computed again.
    tol : float, default 1e-3
        Duality gap of each machine, in parts of its objective.
    """
    problem = _Problem(features, X, rows, codes, n_classes, C, tol)
    if cache.n_held < len(rows):
        return problem.train_in_rounds(cache)
    if len(cache) != len(rows):
        cache.load(rows)
    return problem.train_at_once(cache)


@dataclass
class _Problem:
    features: LandmarkFeatures
    X: np.ndarray
    rows: np.ndarray
    codes: np.ndarray
    n_classes: int
    C: float
    tol: float

    def __post_init__(self) -> None:
        self.classes = [1] if self.n_classes == 2 else list(range(self.n_classes))
        # A class without a labeled point stays at -1 everywhere.
        self.machines = [HingeMachine(np.zeros(self.features.n_components), -1.0)] * len(
            self.classes
        )
        present = np.unique(self.codes[self.codes >= 0])
        self.columns = [j for j, q in enumerate(self.classes) if q in present]
        for j in self.columns:
            self.machines[j] = HingeMachine(np.zeros(self.features.n_components))
        self.scores = np.full((len(self.rows), len(self.classes)), -1, np.float32)

    def signs(self, j: int, part: np.ndarray | slice = slice(None)) -> np.ndarray:
        return np.where(self.codes[part] == self.classes[j], 1.0, -1.0)

    def costs(self, part: np.ndarray | slice = slice(None)) -> np.ndarray:
        return self.C * (self.codes[part] >= 0)

    def result(self, objective: float, gap: float) -> HingeMachines:
        return HingeMachines(
            self.features.expansion(np.column_stack([m.weights for m in self.machines])),
            np.array([m.bias for m in self.machines]),
            self.scores,
            objective,
            gap,
        )

    def train_at_once(self, cache: FeatureCache) -> HingeMachines:
        objective, gap, costs = 0.0, 0.0, self.costs()
        for j in self.columns:
            machine, signs = self.machines[j], self.signs(j)
            margins = train_hinge(cache, signs, costs, machine, self.tol)
            self.scores[:, j] = signs * margins
            primal = machine.primal(margins, costs)
            objective, gap = objective + primal, gap + primal - machine.dual
        return self.result(objective, gap)

    def train_in_rounds(self, cache: FeatureCache) -> HingeMachines:
        costs = self.costs()
        states = np.zeros(self.scores.shape, np.uint8)
        states[self._train_on_a_sample(cache)] = 1
        best = list(self.machines)
        for j in self.columns:
            best[j] = HingeMachine(np.zeros_like(best[j].weights))
        primal, dual = np.zeros(len(best)), np.zeros(len(best))
        before, most = np.full(len(best), np.inf), np.full(len(best), cache.n_held)
        self.scores[:, self.columns] = 0
        left = self.columns
        for t in range(_MOST_ROUNDS):
            found, unfinished = self._scores_of(left), []
            for j, scores in zip(left, found.T, strict=True):
                self._improve(best[j], j, scores, costs)
                margins = self.signs(j) * self.scores[:, j]
                primal[j] = best[j].primal(margins, costs)
                excess = (primal[j] - dual[j]) / primal[j]
                if excess <= self.tol:
                    continue
                if t >= _PATIENCE and excess > _SLOW * before[j]:
                    most[j] += most[j] // 2
                before[j] = excess
                tol = max(self.tol / 2, min(_FIRST_TOL, _SHARE * excess))
                nearest = np.maximum(margins, self.signs(j) * scores)
                self._train_on_some(cache, j, margins, nearest, states[:, j], most[j], tol)
                dual[j] = max(dual[j], self.machines[j].dual)
                unfinished.append(j)
            left = unfinished
            if not left:
                break
        self.machines = best
        return self.result(float(primal.sum()), float((primal - dual).sum()))

    def _train_on_some(
        self,
        cache: FeatureCache,
        j: int,
        margins: np.ndarray,
        nearest: np.ndarray,
        states: np.ndarray,
        most: int,
        tol: float,
    ) -> None:
        """Train a machine on the rows that matter, given margins; update what is kept of them."""
        machine, signs = self.machines[j], self.signs(j)
        freed = (states == _BOUND) & (nearest >= 1 - _DEPTH / 2)
        bound = (states == _BOUND) & ~freed
        pulling = freed | ((states > 0) & ~bound & (nearest < 1 + _SLACK))
        candidates = (self.codes >= 0) & ~pulling & ~bound
        some = _working_set(margins, signs, pulling, candidates, most)
        cache.load(self.rows[some])
        signs, costs = signs[some], self.costs(some)
        sides = np.column_stack([signs > 0, signs < 0])
        self._bind(cache, machine, -(costs * freed[some])[:, None] * sides)
        duals = costs * np.maximum(states[some].astype(float) - 1, 0) / (_AT_COST - 1)
        duals = np.minimum(duals, costs)
        margins = train_hinge(cache, signs, costs, machine, tol, duals)
        states[~bound] = 0
        states[some] = 1 + np.rint(duals / costs * (_AT_COST - 1))
        # Half of the room is for rows that do not pull yet.
        crowd = int((margins < 1 + _SLACK).sum()) - most // 2
        if crowd > 0:
            far = _farthest(margins, signs, states[some] == _AT_COST, crowd)
            values = np.zeros_like(costs)
            values[far] = costs[far]
            self._bind(cache, machine, values[:, None] * sides)
            states[some[far]] = _BOUND

    @staticmethod
    def _bind(cache: FeatureCache, machine: HingeMachine, values: np.ndarray) -> None:
        machine.bound_sums += cache.sums(values)
        machine.bound_totals += values.sum(axis=0)

    def _improve(self, best: HingeMachine, j: int, scores: np.ndarray, costs: np.ndarray) -> None:
        """Move a machine towards the one just found, to where P over all rows is least.

        What is least over some rows need not be better over all: without this step, which the
        scores of both make cheap, twice as many rounds are needed (Franc & Sonnenburg 2008).
        """
        signs, found = self.signs(j), self.machines[j]
        step, shift = found.weights - best.weights, found.bias - best.bias
        change = scores - self.scores[:, j]
        margins = (signs * self.scores[:, j]).astype(np.float64)
        length = line_search(
            best.weights, step, margins, signs * change, lambda at: costs * (at < 1)
        )
        best.weights = best.weights + length * step
        best.bias += length * shift
        self.scores[:, j] += length * change
        found.weights, found.bias = best.weights, best.bias

    def _train_on_a_sample(self, cache: FeatureCache) -> np.ndarray:
        """Return the rows of the sample, of which those that pull are trained on next."""
        known = np.flatnonzero(self.codes >= 0)
        first = np.unique(self.codes[known], return_index=True)[1]
        sample = np.random.default_rng(0).choice(
            len(known), min(len(known), cache.n_held), replace=False
        )
        sample = known[np.unique(np.concatenate([first, sample]))]
        cache.load(self.rows[sample])
        costs = self.costs(sample) * (len(known) / len(sample))
        for j in self.columns:
            train_hinge(cache, self.signs(j, sample), costs, self.machines[j], _SAMPLE_TOL)
        return sample

    def _scores_of(self, columns: list[int]) -> np.ndarray:
        weights = np.column_stack([self.machines[j].weights for j in columns])
        coefficients = self.features.expansion(weights)
        scores = self.features.scores(self.X, coefficients, self.rows)
        scores += np.array([self.machines[j].bias for j in columns], np.float32)
        return scores


def _farthest(
    margins: np.ndarray, signs: np.ndarray, at_cost: np.ndarray, most: int
) -> np.ndarray:
    """Return rows to bind, those of least margin; half of either sign's stay, for the bias."""
    far = at_cost & (margins < 1 - _DEPTH)
    of_a_sign = [np.flatnonzero(far & (signs == sign)) for sign in (1, -1)]
    lowest = [rows[np.argsort(margins[rows])[: len(rows) // 2]] for rows in of_a_sign]
    rows = np.concatenate(lowest)
    return rows[np.argsort(margins[rows])[:most]]


def _working_set(
    margins: np.ndarray, signs: np.ndarray, pulling: np.ndarray, candidates: np.ndarray, most: int
) -> np.ndarray:
    """Return the rows to train on next: those that pull already, and some of the candidates.

    While the rows that pull stay, the dual never falls. Of the candidates whose margin is below 1
    any are taken, since the worst would be the outliers, then those of least margin: `most` rows
    in all, or what pulls and an eighth as many. Where all are of one sign, as where a class is
    rare, the bias would be free: half of them give way to the rows of least margin of the other.
    """
    n_pulling = int(pulling.sum())
    room = max(most - n_pulling, n_pulling // 8, 1)
    others = np.flatnonzero(candidates)
    below = others[margins[others] < 1]
    if room < len(below):
        others = np.random.default_rng(len(below)).choice(below, room, replace=False)
    elif room < len(others):
        others = others[np.argpartition(margins[others], room)[:room]]
    chosen = np.concatenate([np.flatnonzero(pulling), others])
    if np.ptp(signs[chosen]) == 0:
        missing = np.flatnonzero((pulling | candidates) & (signs != signs[chosen[0]]))
        half = min(len(missing), -(-len(chosen) // 2))
        missing = missing[np.argsort(margins[missing])[:half]]
        stays = max(len(chosen) - half, 1)
        chosen = np.concatenate([chosen[np.argsort(margins[chosen])[:stays]], missing])
    # Where not all can be held, those are that a solver asks for most.
    return chosen[np.argsort(margins[chosen])]
