"""Search for parameters by cross-validation on the labeled points only.

A held-out fold of labeled points becomes unlabeled: a semi-supervised method still sees its
features and is scored on what it makes of them; a supervised method does not see it at all.

Where an estimator splits its fit in two (`fit_features`, `fit_labels`), what depends on neither
labels nor `Method.label_params` is computed once and serves all folds and all values of these.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

from harness.hookspecs import Metric
from harness.metrics import evaluate
from harness.prediction import labeled_scores, predict, transduction
from harness.settings import Tuning
from harness.space import Distribution


def candidates(
    space: Mapping[str, Distribution], tuning: Tuning, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """List the parameter settings that a search tries, at most `tuning.trials` of them.

    A grid has as many points per range as the number of trials allows; choices are never thinned,
    so a grid over many of them may need more trials than it may have and is then cut.
    """
    names = sorted(space)
    if tuning.search == "grid":
        points = 1
        while _grid_size(space, points + 1) <= tuning.trials and points < tuning.trials:
            points += 1
        product = itertools.product(*(space[name].grid(points) for name in names))
        settings = list(itertools.islice(product, tuning.trials))
        return [dict(zip(names, values, strict=True)) for values in settings]
    if tuning.search == "sobol":
        from scipy.stats import qmc

        # rounded up to a power of two, where Sobol points are balanced, then cut
        power = int(np.ceil(np.log2(tuning.trials)))
        positions = qmc.Sobol(len(names), rng=rng).random_base2(power)[: tuning.trials]
    else:
        positions = rng.random((tuning.trials, len(names)))
    return [
        {name: space[name].at(float(x)) for name, x in zip(names, row, strict=True)}
        for row in positions
    ]


def tune(
    make: Callable[..., Any],
    settings: list[dict[str, Any]],
    X: np.ndarray,
    y: np.ndarray,
    *,
    task: str,
    n_classes: int,
    uses_unlabeled: bool,
    metric: Metric,
    folds: int,
    rng: np.random.Generator,
    label_params: Set[str] = frozenset(),
    defaults: Mapping[str, Any] | None = None,
    standard_errors: float = 0.0,
) -> tuple[dict[str, Any], float]:
    """Return the setting with the best mean score over the folds, and that score.

    Few labels tell settings apart poorly, and the best of many is then best by luck. So the
    defaults stand unless the best setting beats them, fold by fold, by more than so many standard
    errors. Of equally good settings the one in the middle of their list is taken.

    Parameters
    ----------
    make : callable (**setting) -> estimator
    settings : list of dict
    X : (n, d) array
    y : (n,) array
        Labeled points first.
    task, n_classes, uses_unlabeled
        As in `Method` and `Shape`.
    metric : Metric
        What decides. Folds where it is not defined are left out.
    folds : int
        At most; fewer where a class has fewer labeled points.
    rng : numpy.random.Generator
        Decides the folds, which are the same for every setting.
    label_params : set of str, default empty
        As in `Method`.
    defaults : mapping, optional
        The setting that stands in doubt; if there is none, the best one is always taken.
    standard_errors : float, default 0.0
        Of the mean difference between two settings over the folds.

    Returns
    -------
    setting : dict
    score : float
        NaN if no fold of any setting could be scored; the setting is then the defaults, or the
        first one where there are none.
    """
    if defaults is not None:
        settings = [dict(defaults), *(setting for setting in settings if setting != defaults)]
    n_labeled = int(np.count_nonzero(np.isfinite(y) if task == "regression" else y >= 0))
    problem = _Problem(X, y, n_labeled, task, n_classes, uses_unlabeled)
    parts = list(_folds(y[:n_labeled], task, folds, rng))
    scores = np.full((len(settings), len(parts)), np.nan)
    for alike in _alike(settings, label_params):
        estimator = make(**settings[alike[0]])
        staged = hasattr(estimator, "fit_features") and task in ("binary", "multiclass")
        if staged:
            estimator.fit_features(X, np.arange(n_labeled))
        for i in alike:
            changes = {name: settings[i][name] for name in label_params & set(settings[i])}
            for j, held in enumerate(parts):
                if staged:
                    predicted = problem.refit(estimator.set_params(**changes), held)
                else:
                    predicted = problem.fit(make(**settings[i]), held)
                scored = evaluate([metric], task, y[held], predicted)
                scores[i, j] = scored.get(metric.name, np.nan)
        # before the next one takes as much again
        del estimator
    signed = scores if metric.greater_is_better else -scores
    best = _best(signed, standard_errors, defaults is not None)
    known = scores[best][np.isfinite(scores[best])]
    return settings[best], float(known.mean()) if known.size else float("nan")


def _best(scores: np.ndarray, standard_errors: float, defaults_first: bool) -> int:
    """Return the row of scores to go by: the best mean, or the first in doubt."""
    counts = np.isfinite(scores).sum(axis=1)
    if not counts.any():
        return 0
    means = np.full(len(scores), -np.inf)
    means[counts > 0] = np.nanmean(scores[counts > 0], axis=1)
    ties = np.flatnonzero(means == means.max())
    best = int(ties[len(ties) // 2])
    if not defaults_first or not counts[0]:
        return best
    gains = scores[best] - scores[0]
    gains = gains[np.isfinite(gains)]
    if 0 in ties or len(gains) < 2:
        return 0
    doubt = standard_errors * gains.std(ddof=1) / np.sqrt(len(gains))
    return best if gains.mean() > doubt else 0


def _alike(settings: list[dict[str, Any]], label_params: Set[str]) -> list[list[int]]:
    """Group the positions of settings that differ in nothing but `label_params`."""
    groups: dict[tuple, list[int]] = {}
    for i, setting in enumerate(settings):
        key = tuple((name, setting[name]) for name in sorted(set(setting) - label_params))
        groups.setdefault(key, []).append(i)
    return list(groups.values())


@dataclass(frozen=True)
class _Problem:
    """What all fits of a search have in common."""

    X: np.ndarray
    y: np.ndarray
    n_labeled: int
    task: str
    n_classes: int
    uses_unlabeled: bool

    def fit(self, estimator: Any, held: np.ndarray) -> dict[str, np.ndarray]:
        """Fit without the labels of a fold and predict it."""
        X, y, task, n_classes = self.X, self.y, self.task, self.n_classes
        if not self.uses_unlabeled:
            train = np.setdiff1d(np.arange(self.n_labeled), held)
            estimator.fit(X[train], y[train])
            return predict(estimator, X[held], task, n_classes)
        masked = y.copy()
        masked[held] = np.nan if task == "regression" else -1
        estimator.fit(X, masked)
        seen = transduction(estimator, slice(0, self.n_labeled), len(X), task, n_classes)
        if seen is None:
            return predict(estimator, X[held], task, n_classes)
        return {kind: values[held] for kind, values in seen.items()}

    def refit(self, estimator: Any, held: np.ndarray) -> dict[str, np.ndarray]:
        """Do the same where all that no label decides is there already."""
        masked = self.y[: self.n_labeled].copy()
        masked[held] = -1
        estimator.fit_labels(masked)
        found = labeled_scores(estimator, self.n_labeled, self.n_classes)
        return {kind: values[held] for kind, values in found.items()}


def _folds(y: np.ndarray, task: str, folds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield the held-out rows of each fold, with classes spread evenly.

    The only labeled point of a class is never held out: nothing could be learned of that class.
    """
    order = rng.permutation(len(y))
    if task != "regression":
        counts = np.bincount(y)
        order = order[counts[y[order]] > 1]
        if not order.size:
            return
        folds = min(folds, int(counts[counts > 1].min()))
        order = order[np.argsort(y[order], kind="stable")]
    for fold in range(min(folds, len(order))):
        yield np.sort(order[fold::folds])


def _grid_size(space: Mapping[str, Distribution], points: int) -> int:
    return int(np.prod([len(distribution.grid(points)) for distribution in space.values()]))
