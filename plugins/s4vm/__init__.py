"""Safe semi-supervised support vector machine, S4VM (Li & Zhou 2015).

Many low-density separators agree with few labels, and one of them may be far off. Several that
differ are found from random labels. The other points then get labels that are at least as good as
those of a support vector machine, whichever of the separators is true.
"""

from __future__ import annotations

import mmap
from dataclasses import KW_ONLY, replace
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge
from sklearn.utils import check_random_state

from harness import Arrays, Method, Shape, Storage, choice, hookimpl, kernels, log_uniform
from harness.estimator import PositiveFloat, PositiveInt
from harness.semi_supervised import (
    Labels,
    LandmarkMachine,
    landmark_machine_block,
    landmark_machine_phases,
    transduced,
)
from harness.semi_supervised.squared_hinge import Expansion

from .safe_labels import MOST_PATTERNS, safe_labels
from .separators import Separation, diverse, highest

_TOLERANCE = 1e-4
"""Of machines that are kept, in parts of |f|^2 / 2."""


class S4VM(LandmarkMachine):
    """Safe semi-supervised support vector machine with the squared hinge loss.

    Attributes
    ----------
    decision_scores_ : ndarray of shape (n,) or (n, n_classes)
        Scores of the points of `fit`. For two classes their signs are the safe labels.
    transduction_ : ndarray of shape (n,)
        Classes of the points of `fit`; labels that were given stay.
    candidates_ : list of ndarray of shape (t, u)
        Labels of the separators, of each machine (one for two classes).
    baselines_ : list of ndarray of shape (u,)
        Labels of the support vector machine of the labeled points alone.
    """

    _: KW_ONLY
    C: PositiveFloat = 1.0
    """Cost of the squared hinge loss of a labeled point: C1 of the paper."""
    unlabeled_weight: PositiveFloat = 1.0
    """Cost of all points without a label, in parts of that of all labeled ones: C2 u / (C1 l)."""
    n_candidates: PositiveInt = 20
    """Random labelings from which separators are found."""
    n_separators: PositiveInt = 10
    """T, separators among which the truth is taken to be: the best one of so many clusters."""
    risk: Annotated[float, Ge(1)] = 3.0
    """lambda, points that must be gained for one that may be lost."""
    baseline: Literal["share", "zero"] = "share"
    """What the labels of the machine alone are: "share" gives each class its share of the labeled
    points, as all separators do; "zero" takes the signs of scores, as printed.
    """

    def _learn(self, X: np.ndarray, labeled: np.ndarray) -> None:
        # as drawn here: labelings of a fold are those of a fit
        self._seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        self._product, self._labeled = self._hold_features(X), labeled

    def _train(self, labels: Labels, held_out: np.ndarray) -> np.ndarray:
        # of other labels, or they would stand beside what is learned now
        for name in ("_coefficients", "decision_scores_", "transduction_", "candidates_"):
            self.__dict__.pop(name, None)
        rng = np.random.RandomState(self._seed)
        n, labeled, targets = self._product.n, self._labeled[labels.rows], labels.targets()
        unlabeled = np.setdiff1d(np.arange(n), labeled)
        scores = np.empty((n, targets.shape[1]))
        coefficients = np.empty(scores.shape, np.float32)
        self._intercepts = np.empty(targets.shape[1])
        self.candidates_: list[np.ndarray] = []
        self.baselines_: list[np.ndarray] = []
        for j, target in enumerate(targets.T):
            weight = self.C * self.unlabeled_weight * len(labeled) / max(1, len(unlabeled))
            problem = Separation(self._product, labeled, unlabeled, target, self.C, weight)
            f, safe = self._machine(problem, rng)
            scores[:, j], coefficients[:, j], self._intercepts[j] = (
                f.scores,
                f.coefficients,
                f.bias,
            )
            # a machine may miss labels that it was given
            scores[unlabeled, j] = safe * np.abs(scores[unlabeled, j])
            # or it would be held while the next machine is trained
            del f
        self._coefficients = self._expand(coefficients)
        self.decision_scores_ = self._as_decision(scores)
        self.transduction_ = transduced(self.decision_scores_, replace(labels, rows=labeled))
        return scores[self._labeled[held_out]]

    def _machine(
        self, problem: Separation, rng: np.random.RandomState
    ) -> tuple[Expansion, np.ndarray]:
        """Return one machine and the safe labels of the points without one."""
        n, unlabeled, targets = problem.kernel.n, problem.unlabeled, problem.targets
        u = len(unlabeled)
        self.candidates_.append(np.empty((0, u), np.int8))
        self.baselines_.append(np.full(u, 1 if targets[0] > 0 else -1, np.int8))
        if not np.ptp(targets):
            # a class without a labeled point
            return Expansion.zero(n, targets[0]), self.baselines_[-1]
        alone = problem.machine(None, Expansion.zero(n), _TOLERANCE)
        scores = alone.scores[unlabeled]
        if u < 2:
            self.baselines_[-1] = np.where(scores > 0, 1, -1).astype(np.int8)
            return alone, self.baselines_[-1]
        n_positive = min(max(round((targets > 0).mean() * u), 1), u - 1)
        share = self.baseline == "share"
        baseline = highest(scores, n_positive if share else int((scores > 0).sum()))
        labelings = np.empty((self.n_candidates, u), np.int8)
        objectives = np.empty(self.n_candidates)
        for i in range(self.n_candidates):
            guessed = highest(rng.random_sample(u), n_positive)
            objectives[i], labelings[i] = problem.separator(guessed, n_positive, alone)
        chosen = diverse(objectives, labelings, self.n_separators, rng)
        del labelings
        self.candidates_[-1], self.baselines_[-1] = chosen, baseline
        safe = safe_labels(chosen, baseline, scores, self.risk)
        if (safe != baseline).any():
            alone = problem.machine(safe, alone, _TOLERANCE)
        return (_with_positive(alone, unlabeled, int((safe > 0).sum())) if share else alone), safe

    def _finish(self, X: np.ndarray, labels: Labels) -> None:
        del self._product
        self._let_go()


def _with_positive(f: Expansion, rows: np.ndarray, n_positive: int) -> Expansion:
    """Return f with a bias that leaves so many of these points above 0."""
    n = len(rows)
    above = min(max(n_positive, 1), n - 1)
    ordered = np.partition(f.products[rows], (n - above - 1, n - above))
    middle = float(ordered[n - above - 1]) / 2 + float(ordered[n - above]) / 2
    return Expansion(f.coefficients, f.products, -middle)


def storage(
    shape: Shape,
    size: int,
    n_candidates: int = 20,
    n_separators: int = 10,
    selector: str | kernels.Selector = "uniform",
    tuned: bool = False,
) -> Storage:
    """Count features of all points, 4 n s, a machine's vectors, and labelings, a byte a point."""
    n, Q, T = shape.n, shape.n_machines, n_separators
    scores = Arrays(scores=8 * n * Q)
    # of the program, with what its solver takes
    program = min(n, MOST_PATTERNS) * (700 + 90 * T)
    kept = scores + Arrays(
        labels=8 * shape.n_labeled * (Q + 2),
        coefficients=4 * n * Q,
        separators=Q * (T + 1) * n,
        # vectors too small to be mapped; in a search also those of the fits before, and programs
        left_in_the_heap=min(6 * 8 * n, 1 << 19) * (2 if tuned else 1) + (program if tuned else 0),
    )
    # the machine alone, its scores, unlabeled rows
    machine = kept + Arrays(machine=5 * (8 * n + mmap.PAGESIZE))
    training = {
        "separators": machine
        + Arrays(labelings=n_candidates * n, vectors=17 * (8 * n + mmap.PAGESIZE)),
        "clusters": machine
        + Arrays(labelings=(n_candidates + T) * n, products=4096 * n_candidates),
        "patterns": machine + Arrays(patterns=(4 * T + 40) * n),
        "safe labels": machine + Arrays(order=24 * n, program=program),
        "scores": kept
        + Arrays(
            held_out_scores=8 * shape.n_labeled * Q, order=16 * n, expansion=12 * min(size, n) * Q
        ),
    }
    fit = landmark_machine_phases(shape, size, selector, training)
    new = scores + Arrays(separators=Q * (T + 1) * n, order=8 * n)
    new += landmark_machine_block(shape, size)
    return Storage(fit, {"a block": new}, Arrays(X=shape.data_bytes))


@hookimpl
def harness_methods() -> list[Method]:
    """Provide S4VM."""
    return [
        Method(
            "s4vm",
            S4VM,
            storage,
            size="n_landmarks",
            tasks={"binary", "multiclass"},
            space={"sigma": choice([0.5, 1.0, 2.0]), "C": log_uniform(0.1, 10)},
            head_params={"C", "unlabeled_weight", "risk"},
            reference="li2015",
        )
    ]
