"""Transduction: a convex problem for each guess of the labels that are not known.

Both forms lower

    |f|^2 / 2 + C sum_labeled q(y_i f_i) + C* sum_unlabeled q(|f_i|),   q(t) = max(0, 1 - t)^2,

step by step, at values of C* that grow: Newton steps at given labels or tangents, which then
change. Neither ends in the lowest of its many local minima for certain.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from harness.semi_supervised.kernel_operators import CenteredProduct, KernelProduct
from harness.semi_supervised.squared_hinge import (
    Expansion,
    HingeLosses,
    minimise,
    newton_step,
    tolerated,
)

# While C* still grows, a problem need not be solved this many times as well as the last one.
_LOOSER = 10
# Steps at one value of C*, after which a machine is as it is, with a warning.
_MOST_ROUNDS = 1000


@dataclass
class TransductionProblem:
    """One class against the rest.

    Attributes
    ----------
    labeled, unlabeled : ndarray of int
        Rows of the kernel.
    targets : ndarray of shape (len(labeled),)
        +1 or -1.
    share : float
        Share of positive points among the unlabeled.
    C : float
        Cost of a labeled point.
    weights : list of float
        Values of C*, the last one last.
    tol : float
        Excess of the objective at which a convex problem counts as solved, in parts of |f|^2 / 2
        or of the objective.
    path : list of (float, float)
        C* and the objective with it, before and after every step.
    """

    kernel: KernelProduct
    labeled: np.ndarray
    unlabeled: np.ndarray
    targets: np.ndarray
    share: float
    C: float
    weights: list[float]
    tol: float
    path: list[tuple[float, float]] = field(default_factory=list)

    def costs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return what missing the margin at +1 and at -1 costs the labeled points, (n,) each."""
        positive, negative = np.zeros(self.kernel.n), np.zeros(self.kernel.n)
        positive[self.labeled] = self.C * (self.targets > 0)
        negative[self.labeled] = self.C * (self.targets < 0)
        return positive, negative

    def tolerance(self, weight: float) -> float:
        """Return the relative tolerance at one value of C*."""
        return self.tol if weight == self.weights[-1] else _LOOSER * self.tol


def inductive(problem: TransductionProblem) -> Expansion:
    """Train on the labeled points alone."""
    losses = HingeLosses(*problem.costs())
    return minimise(problem.kernel, Expansion.zero(problem.kernel.n), losses, problem.tol)


def switching(problem: TransductionProblem, max_switches: int | None = None) -> Expansion:
    """Label the unlabeled points and exchange labels while that lowers the objective.

    A positive and a negative label are exchanged where f is higher at the negative point. As the
    losses are a sum over points and q(f) - q(-f) falls in f, each such pair lowers the objective
    at this f, whatever other pairs do; so all of them are exchanged at once, and one Newton step
    follows. The number of positive labels stays. With `max_switches=1` and exact retraining this
    is algorithm 1 of Joachims (1999), with more it is multiple switching (Sindhwani & Keerthi).

    `max_switches` bounds the pairs exchanged before a step, those that gain most first.
    """
    unlabeled, known = problem.unlabeled, problem.costs()
    f = inductive(problem)
    positive = np.zeros(len(unlabeled), bool)
    n_positive = int(problem.share * len(unlabeled) + 0.5)
    positive[np.argsort(-f.scores[unlabeled], kind="stable")[:n_positive]] = True

    for weight in problem.weights:
        for _ in range(_MOST_ROUNDS):
            switched = _switch(positive, f.scores[unlabeled], max_switches, problem.tol)
            costs = [side.copy() for side in known]
            costs[0][unlabeled], costs[1][unlabeled] = weight * positive, weight * ~positive
            losses = HingeLosses(*costs)
            objective = f.objective(losses)
            problem.path.append((weight, objective))
            excess = tolerated(f, objective, problem.tolerance(weight))
            f, solved = newton_step(problem.kernel, f, losses, excess)
            problem.path.append((weight, f.objective(losses)))
            if solved and not switched:
                break
        else:
            _warn_of_steps(weight)
    return f


def _switch(
    positive: np.ndarray, scores: np.ndarray, max_switches: int | None, margin: float
) -> int:
    """Exchange labels in place and return how many pairs.

    Without a margin between their scores, in parts of their spread if that is small, equal points
    would be exchanged forever.
    """
    margin *= min(1.0, float(scores.std()))
    lowest, highest = np.flatnonzero(positive), np.flatnonzero(~positive)
    lowest = lowest[np.argsort(scores[lowest], kind="stable")]
    highest = highest[np.argsort(-scores[highest], kind="stable")]
    pairs = min(len(lowest), len(highest))
    gains = scores[highest[:pairs]] - scores[lowest[:pairs]]
    exchanged = int(np.count_nonzero(gains > margin))
    if max_switches is not None:
        exchanged = min(exchanged, max_switches)
    positive[lowest[:exchanged]], positive[highest[:exchanged]] = False, True
    return exchanged


def concave_convex(problem: TransductionProblem, ramp: float = 0.0) -> Expansion:
    """Give the unlabeled points both labels at ramp losses, and the mean score 2 share - 1.

    The ramp loss is min(q(t), q(ramp)). Where it is flat its bound is that constant, elsewhere q:
    a convex upper bound of the objective that touches it at the present f, so a step that lowers
    the bound lowers the objective. Collobert, Sinz, Weston & Bottou (2006) take the tangent of the
    concave part, which is nowhere below: with the squared hinge, it would hold points beyond the
    margin where they are. With ramp = 0 both losses of a point sum up to
    q(|f|) + 1. The mean score (Chapelle & Zien 2005) is kept exactly: with
    the kernel centred on the unlabeled points it is the bias.
    """
    unlabeled = problem.unlabeled
    positive, negative = problem.costs()
    centered = CenteredProduct(problem.kernel, unlabeled)
    mean = 2 * problem.share - 1
    known = HingeLosses(positive.copy(), negative.copy())
    f = minimise(centered, Expansion.zero(centered.n, mean), known, problem.tol, free_bias=False)

    def objective(f: Expansion, weight: float) -> float:
        # less what its two losses never fall below together: q(ramp) beyond the margin, 2 at 0
        hinges = np.maximum(0, 1 - np.outer((1, -1), f.scores[unlabeled])) ** 2
        flat = (1 - ramp) ** 2
        ramps = np.minimum(hinges, flat).sum() - len(unlabeled) * min(flat, 2)
        return f.objective(known) + weight * ramps

    for weight in problem.weights:
        for _ in range(_MOST_ROUNDS):
            scores = f.scores[unlabeled]
            positive[unlabeled] = weight * (scores >= ramp)
            negative[unlabeled] = weight * (-scores > ramp)
            problem.path.append((weight, objective(f, weight)))
            losses = HingeLosses(positive, negative)
            excess = tolerated(f, f.objective(losses), problem.tolerance(weight))
            f, solved = newton_step(centered, f, losses, excess, free_bias=False)
            problem.path.append((weight, objective(f, weight)))
            if solved:
                break
        else:
            _warn_of_steps(weight)
    coefficients = centered.uncentered(f.coefficients)
    products = problem.kernel.multiply(coefficients)
    return Expansion(coefficients, products, mean - float(products[unlabeled].mean()))


def _warn_of_steps(weight: float) -> None:
    message = (
        f"{_MOST_ROUNDS} steps were not enough at C* = {weight:.3g}: the objective may lie far "
        "above its minimum; lower C or unlabeled_weight, or raise tol"
    )
    warnings.warn(message, ConvergenceWarning, stacklevel=6)
