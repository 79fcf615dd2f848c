"""One hinge machine for each class on the features of all rows, without holding these features.

A row whose margin is above 1 pulls at nothing, and most rows' margins are. So machines are trained
on rows that may be below, as many as there is room for, and a pass over all rows then says which
others are: some of them replace those that do not pull. Where more pull than there is room for,
those far below 1 are only summed up, their dual variables held at their costs, until their margins
come near 1. The duality gap is that of all rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from harness.kernels.gaussian import squared_norms
from harness.kernels.landmark_features import LandmarkFeatures

from .feature_cache import FeatureCache
from .hinge_solver import (
    HingeMachine,
    gap_scale,
    line_search,
    spare_bias,
    train_hinge,
)
from .smooth_hinge import SmoothHinge
from .working_set import farthest, working_set

# After so many rounds a gap that is left with more than this part of what it was asks for half as
# many more rows, than there is room for if need be.
_PATIENCE, _SLOW, _MOST_ROUNDS = 4, 0.7, 40
# Of the tolerance, for scores within 1 % of their range.
_FOR_SCORES = 0.3
# Times that rows are replaced between two passes.
_MOST_TURNS = 4
# The first machines, on a sample of the rows, only guess which rows matter.
_SAMPLE_TOL = 0.05
_FIRST_TOL = 0.01
# Part of the gap over all rows to which a machine is trained on some of them.
_SHARE = 0.1
# Rows so far above a margin of 1 are trained with too: the next machine may pull them below.
_SLACK = 0.02
# Rows further above it are not trained with: after the first rounds hardly any falls below.
_REACH = 0.5
# Rows so far below may be bound; they are free again when they have come half as near.
_DEPTH = 0.1
# Scores of about 1 in float32 can not tell less.
_LEAST_SPREAD = 1e-6
# A step goes at most so many times as far as the machine that was found: what rounding makes of
# its scores goes as far.
_FARTHEST = 4.0
# How a row's dual variable is kept between rounds, in one byte: 0 where it is not trained on, from
# 1 for a dual variable of 0 to 254 for one at its cost, and 255 where it is bound.
_NOT_AT_COST, _PARTS, _BOUND = 1, 253, 255


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
    smoothing: float = 0.0,
) -> HingeMachines:
    """Minimise |w|^2 + C sum_i l(y_i (w'z_i + b)), l a hinge, for each class against the rest.

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
        Duality gap of each machine, in parts of its objective; it is trained until that is 0.3 of
        tol in parts of `hinge.gap_scale`.
    smoothing : float, default 0
        Of the hinge, see `SmoothHinge`.
    """
    problem = _Problem(features, X, rows, codes, n_classes, C, cache, tol, smoothing)
    if cache.n_held < len(rows):
        return problem.train_in_rounds()
    if len(cache) != len(rows):
        cache.load(rows)
    return problem.train_at_once()


@dataclass
class _Progress:
    """How far the machine of one class is, over all rows.

    Attributes
    ----------
    best : HingeMachine
    states : ndarray of shape (n,), uint8
        What is kept of the rows' dual variables.
    most : int
        Rows to train on at a time.
    start : float
        P at w = 0.
    primal, dual, gap : float
        P of the best machine, a bound of its minimum, and their distance in parts of `gap_scale`.
    spread : float
        What distances from a margin of 1 count in: 1, or two standard deviations of the scores if
        these are less, for where C is small all margins of a sign are close.
    """

    best: HingeMachine
    states: np.ndarray
    most: int
    start: float
    primal: float = np.inf
    dual: float = 0.0
    gap: float = np.inf
    spread: float = 1.0


@dataclass
class _Problem:
    features: LandmarkFeatures
    X: np.ndarray
    rows: np.ndarray
    codes: np.ndarray
    n_classes: int
    C: float
    cache: FeatureCache
    tol: float
    smoothing: float

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

    @property
    def tol_scores(self) -> float:
        return _FOR_SCORES * self.tol

    def signs(self, j: int, part: np.ndarray | slice = slice(None)) -> np.ndarray:
        return np.where(self.codes[part] == self.classes[j], 1.0, -1.0)

    def loss(self, part: np.ndarray | slice = slice(None)) -> SmoothHinge:
        return SmoothHinge(self.C * (self.codes[part] >= 0), self.smoothing)

    def result(self, objective: float, gap: float) -> HingeMachines:
        return HingeMachines(
            self.features.expansion(np.column_stack([m.weights for m in self.machines])),
            np.array([m.bias for m in self.machines]),
            self.scores,
            objective,
            gap,
        )

    def train_at_once(self) -> HingeMachines:
        objective, gap, loss = 0.0, 0.0, self.loss()
        for j in self.columns:
            machine, signs = self.machines[j], self.signs(j)
            start = loss.of_constant(signs)
            margins = train_hinge(self.cache, signs, loss, machine, self.tol_scores, start=start)
            spare = spare_bias(margins, signs, loss)
            machine.bias += spare
            margins += spare * signs
            self.scores[:, j] = signs * margins
            primal = machine.primal(margins, loss)
            objective, gap = objective + primal, gap + primal - machine.dual
        return self.as_rounded(self.result(objective, gap))

    def as_rounded(self, found: HingeMachines) -> HingeMachines:
        """Judge coefficients as they are rounded where that may be as much as the gap allowed.

        Margins are those of features and weights. Where C is large coefficients are, too, and
        cancel.
        """
        L, a = self.features.factor, found.coefficients
        largest = float(squared_norms(L).max())  # k(b, b)
        rounding: float | np.floating = 0.0
        loss, eps = self.loss(), np.finfo(np.float32).eps
        for j in self.columns:
            moves = eps * largest * float(np.linalg.norm(a[:, j]))
            # the loss of a row well above 1 does not change
            rounding += moves * float(
                loss.costs @ (self.signs(j) * found.scores[:, j] < 1 + moves)
            )
        if rounding <= self.tol / 2 * found.objective:
            return found
        scores = self.features.scores(self.X, a, self.rows, self.cache.block)
        scores += found.intercepts.astype(np.float32)
        objective = float(np.square(L.T @ a, dtype=np.float64).sum())
        for j in self.columns:
            objective += loss.total(self.signs(j) * scores[:, j])
        # of features in float32 the bound may be above what the kernel rows come to
        gap = max(0.0, objective - (found.objective - found.gap))
        return replace(found, scores=scores, objective=objective, gap=gap)

    def train_in_rounds(self) -> HingeMachines:
        states = np.zeros(len(self.rows), np.uint8)
        states[self._train_on_a_sample()] = _NOT_AT_COST
        r = self.features.n_components
        loss, most = self.loss(), self.cache.n_held
        progress = {
            j: _Progress(
                HingeMachine(np.zeros(r)), states.copy(), most, loss.of_constant(self.signs(j))
            )
            for j in self.columns
        }
        self.scores[:, self.columns] = 0
        left = self.columns
        for t in range(_MOST_ROUNDS):
            found, unfinished = self._scores_of(left), []
            for j, scores in zip(left, found.T, strict=True):
                self._improve(progress[j], j, scores)
                if not self._is_done(progress[j], j, scores, may_grow=t >= _PATIENCE):
                    self._train_on_some(progress[j], j, scores)
                    unfinished.append(j)
            left = unfinished
            if not left:
                break
        for j, reached in progress.items():
            self.machines[j] = reached.best
        primal = sum(reached.primal for reached in progress.values())
        dual = sum(reached.dual for reached in progress.values())
        return self.as_rounded(self.result(primal, primal - dual))

    def _improve(self, progress: _Progress, j: int, scores: np.ndarray) -> None:
        """Move a machine towards the one just found, to where P over all rows is least.

        What is least over some rows need not be better over all: without this step, which the
        scores of both make cheap, twice as many rounds are needed (Franc & Sonnenburg 2008).
        """
        best, found = progress.best, self.machines[j]
        signs, loss = self.signs(j), self.loss()
        step, shift = found.weights - best.weights, found.bias - best.bias
        change = scores - self.scores[:, j]
        margins = (signs * self.scores[:, j]).astype(np.float64)
        length = 0.0
        if step.any():  # else all of the change is rounding, which P may fall along for ever
            length = line_search(best.weights, step, margins, signs * change, loss.pull)
            length = min(length, _FARTHEST)
        best.weights = best.weights + length * step
        best.bias += length * shift
        self.scores[:, j] += length * change
        found.weights, found.bias = best.weights, best.bias
        progress.primal = best.primal(signs * self.scores[:, j], loss)
        spread = 2 * float(scores[self.codes >= 0].std(dtype=np.float64))
        progress.spread = min(max(spread, _LEAST_SPREAD), 1.0)

    def _is_done(self, progress: _Progress, j: int, scores: np.ndarray, may_grow: bool) -> bool:
        """Return whether the gap is small enough, or nothing but the rounding of the scores."""
        scale = gap_scale(progress.primal, progress.dual, progress.start)
        gap = (progress.primal - progress.dual) / max(scale, np.finfo(float).tiny)
        slow = gap > _SLOW * progress.gap
        progress.gap = gap
        margins, states = self.signs(j) * scores, progress.states
        wrong = (states == 0) & (self.codes >= 0) & (margins < 1)
        wrong |= (states == _BOUND) & (margins > self.loss().straight)
        if gap <= self.tol_scores or (slow and not wrong.any()):
            return True
        if slow and may_grow:
            progress.most += progress.most // 2
        return False

    def _train_on_some(self, progress: _Progress, j: int, scores: np.ndarray) -> None:
        """Train a machine, from the best one so far, on the rows that matter.

        Where more rows are below 1 than there is room for, others follow without a pass over all.
        """
        signs = self.signs(j)
        margins, found = signs * self.scores[:, j], signs * scores
        for _ in range(_MOST_TURNS):
            self._train_in_turn(progress, j, margins, found)
            waiting = (progress.states == 0) & (self.codes >= 0) & (margins < 1)
            if waiting.sum() < progress.most // 2:
                break

    def _train_in_turn(
        self,
        progress: _Progress,
        j: int,
        margins: np.ndarray,
        found: np.ndarray,
    ) -> None:
        """Train on what there is room for, by margins of the best machine and the one just found.

        Of the rows trained on both are replaced by the margins that they have then.
        """
        machine, signs, states = self.machines[j], self.signs(j), progress.states
        straight, spread = self.loss().straight, progress.spread
        slack, depth = _SLACK * spread, _DEPTH * spread
        freed = (states == _BOUND) & (np.maximum(margins, found) >= straight - depth / 2)
        bound = (states == _BOUND) & ~freed
        # By the machine whose dual variables these are, not by the best one.
        pulling = freed | ((states > 0) & ~bound & (found < 1 + slack))
        candidates = (self.codes >= 0) & ~pulling & ~bound
        reach = _REACH * spread
        some = working_set(margins, signs, pulling, candidates, progress.most, reach)
        cache = self.cache
        cache.load(self.rows[some])
        signs, loss = signs[some], self.loss(some)
        costs = loss.costs
        _bind(cache, machine, signs, -costs * freed[some])
        parts = np.clip(states[some].astype(np.float64) - _NOT_AT_COST, 0, _PARTS) / _PARTS
        duals = costs * parts
        tol = max(self.tol_scores / 2, min(_FIRST_TOL, _SHARE * progress.gap))
        trained = train_hinge(cache, signs, loss, machine, tol, duals, progress.start)
        margins[some] = found[some] = trained
        progress.dual = max(progress.dual, machine.dual)
        states[~bound] = 0
        states[some] = _NOT_AT_COST + np.rint(_PARTS * duals / costs)
        # Half of the room is for rows that do not pull yet.
        crowd = int((trained < 1 + slack).sum()) - progress.most // 2
        if crowd > 0:
            may = (duals >= costs) & (trained < straight - depth)
            far = farthest(trained, signs, may, crowd)
            _bind(cache, machine, signs, np.where(np.isin(np.arange(len(some)), far), costs, 0))
            states[some[far]] = _BOUND

    def _train_on_a_sample(self) -> np.ndarray:
        """Return the rows of the sample, of which those that pull are trained on next."""
        known = np.flatnonzero(self.codes >= 0)
        first = np.unique(self.codes[known], return_index=True)[1]
        sample = np.random.default_rng(0).choice(
            len(known), min(len(known), self.cache.n_held), replace=False
        )
        sample = known[np.unique(np.concatenate([first, sample]))]
        self.cache.load(self.rows[sample])
        loss = self.loss(sample)
        loss = replace(loss, costs=loss.costs * (len(known) / len(sample)))
        for j in self.columns:
            signs = self.signs(j, sample)
            start = loss.of_constant(signs)
            train_hinge(self.cache, signs, loss, self.machines[j], _SAMPLE_TOL, start=start)
        return sample

    def _scores_of(self, columns: list[int]) -> np.ndarray:
        weights = np.column_stack([self.machines[j].weights for j in columns])
        coefficients = self.features.expansion(weights)
        scores = self.features.scores(self.X, coefficients, self.rows, self.cache.block)
        scores += np.array([self.machines[j].bias for j in columns], np.float32)
        return scores


def _bind(
    cache: FeatureCache, machine: HingeMachine, signs: np.ndarray, values: np.ndarray
) -> None:
    """Add dual variables of rows of the cache to those that are held; free rows, if negative."""
    values = values[:, None] * np.column_stack([signs > 0, signs < 0])
    machine.bound_sums += cache.sums(values)
    machine.bound_totals += values.sum(axis=0)
