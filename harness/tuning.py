"""Search for parameters by cross-validation on the labeled points only.

A held-out fold of labeled points becomes unlabeled: a semi-supervised method still sees its
features and is scored on what it makes of them; a supervised method does not see it at all.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from harness.hookspecs import Metric
from harness.metrics import evaluate
from harness.prediction import predict, transduction
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
) -> tuple[dict[str, Any], float]:
    """Return the setting with the best mean score over the folds, and that score.

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

    Returns
    -------
    setting : dict
    score : float
        NaN if no fold of any setting could be scored; the first setting is then returned.
    """
    n_labeled = int(np.count_nonzero(np.isfinite(y) if task == "regression" else y >= 0))
    parts = list(_folds(y[:n_labeled], task, folds, rng))
    best, best_score = settings[0], float("nan")
    for setting in settings:
        scores = []
        for held in parts:
            predicted = _predict_fold(
                make(**setting), X, y, held, n_labeled, task, n_classes, uses_unlabeled
            )
            scored = evaluate([metric], task, y[held], predicted)
            scores += [value for value in scored.values() if np.isfinite(value)]
        if not scores:
            continue
        score = float(np.mean(scores))
        better = score > best_score if metric.greater_is_better else score < best_score
        if better or np.isnan(best_score):
            best, best_score = setting, score
    return best, best_score


def _predict_fold(
    estimator: Any,
    X: np.ndarray,
    y: np.ndarray,
    held: np.ndarray,
    n_labeled: int,
    task: str,
    n_classes: int,
    uses_unlabeled: bool,
) -> dict[str, np.ndarray]:
    if not uses_unlabeled:
        train = np.setdiff1d(np.arange(n_labeled), held)
        estimator.fit(X[train], y[train])
        return predict(estimator, X[held], task, n_classes)
    masked = y.copy()
    masked[held] = np.nan if task == "regression" else -1
    estimator.fit(X, masked)
    seen = transduction(estimator, slice(0, n_labeled), len(X), task, n_classes)
    if seen is None:
        return predict(estimator, X[held], task, n_classes)
    return {kind: values[held] for kind, values in seen.items()}


def _folds(y: np.ndarray, task: str, folds: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Yield the held-out rows of each fold, with classes spread evenly."""
    order = rng.permutation(len(y))
    if task != "regression":
        smallest = int(np.unique(y, return_counts=True)[1].min())
        folds = min(folds, max(2, smallest))
        order = order[np.argsort(y[order], kind="stable")]
    folds = min(folds, len(y))
    for fold in range(folds):
        yield np.sort(order[fold::folds])


def _grid_size(space: Mapping[str, Distribution], points: int) -> int:
    return int(np.prod([len(distribution.grid(points)) for distribution in space.values()]))
