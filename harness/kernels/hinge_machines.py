"""One hinge machine for each class on the features of all rows, without holding these features.

A row whose margin is above 1 pulls at nothing, and most rows' margins are. So machines are trained
on the rows that may be below, whose features are held, and a pass over all rows then says whether
others are: if so they are added. The duality gap is that of all rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from harness.kernels.feature_cache import FeatureCache
from harness.kernels.hinge import HingeMachine, train_hinge
from harness.kernels.landmark_features import LandmarkFeatures

_MOST_ROUNDS = 12
# The first machines, on a sample of the rows, only guess which rows matter.
_SAMPLE_TOL = 0.05
_FIRST_TOL = 0.01
_FREE_ROUNDS = 3
# Rows so far above a margin of 1 are trained with too: the next machine may pull them below.
_SLACK = 0.02


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
        # A class without a labeled point stays at -1 everywhere, below all others.
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
        self._train_on_a_sample(cache)
        costs, known = self.costs(), self.codes >= 0
        near = np.zeros(self.scores.shape, bool)
        primal, dual = np.zeros(len(self.machines)), np.zeros(len(self.machines))
        left = self.columns
        for round_ in range(_MOST_ROUNDS):
            self._score(left)
            unfinished = []
            for j in left:
                machine, margins = self.machines[j], self.signs(j) * self.scores[:, j]
                primal[j] = machine.primal(margins, costs)
                if primal[j] - dual[j] <= self.tol * primal[j]:
                    continue
                # The first rounds' guesses are left behind; later ones add, so as not to cycle.
                near[:, j] &= round_ > _FREE_ROUNDS
                near[:, j] |= known & (margins < 1 + _SLACK)
                some = _nearest(margins, near[:, j], known, cache.n_held)
                cache.load(self.rows[some])
                signs, costs_ = self.signs(j, some), self.costs(some)
                tol = self.tol / 2 if round_ else max(_FIRST_TOL, self.tol / 2)
                train_hinge(cache, signs, costs_, machine, tol)
                dual[j] = max(dual[j], machine.dual)
                unfinished.append(j)
            left = unfinished
            if not left:
                break
        return self.result(float(primal.sum()), float((primal - dual).sum()))

    def _train_on_a_sample(self, cache: FeatureCache) -> None:
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

    def _score(self, columns: list[int]) -> None:
        weights = np.column_stack([self.machines[j].weights for j in columns])
        coefficients = self.features.expansion(weights)
        biases = np.array([self.machines[j].bias for j in columns], np.float32)
        for block in self.features.blocks(len(self.rows)):
            K = self.features.kernel_rows(self.X[self.rows[block]])
            self.scores[block, columns] = K @ coefficients + biases


def _nearest(margins: np.ndarray, near: np.ndarray, known: np.ndarray, most: int) -> np.ndarray:
    """Return the rows that are near, and while there is room those of the least margins."""
    room = most - int(near.sum())
    others = np.flatnonzero(known & ~near)
    if 0 < room < len(others):
        others = others[np.argpartition(margins[others], room)[:room]]
    chosen = near.copy()
    chosen[others if room > 0 else others[:0]] = True
    chosen = np.flatnonzero(chosen)
    # Where not all can be held, those are that a solver asks for most.
    return chosen[np.argsort(margins[chosen])]
