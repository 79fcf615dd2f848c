"""Search for parameters by cross-validation on the labeled points only.

A held-out fold of labeled points becomes unlabeled: a semi-supervised method still sees its
features and is scored on what it makes of them; a supervised method does not see it at all.

Which settings are scored is a search's to say (`harness.trial.search`, plugins); which of them is
taken is decided here, in the same way for all.

Where an estimator splits its fit in two (`fit_features`, `fit_labels`), what depends on neither
labels nor `Method.head_params` is computed once and serves all folds and all values of these
that are scored together or one after the other. Never are two such estimators held.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from functools import cached_property
from operator import itemgetter
from typing import Any

import numpy as np

from harness.datasets import Features, x_row_bytes
from harness.metrics.functions import evaluate
from harness.plugin.abilities import scorer, splits_fit
from harness.plugin.hookspecs import Evaluate, Metric
from harness.plugin.search_space import Distribution
from harness.plugin.shape import block_rows
from harness.sandbox import return_freed
from harness.trial.folds import grouped_folds, single_folds
from harness.trial.prediction import held_out_predictions, join, named, predict, transduction

_Key = tuple[tuple[str, Any], ...]
"""Parameters and their values, by name."""


def tune(
    make: Callable[..., Any],
    space: Mapping[str, Distribution],
    X: Features,
    y: np.ndarray,
    *,
    search: Callable[[Mapping[str, Distribution], Evaluate, int, np.random.Generator], None],
    trials: int,
    task: str,
    n_classes: int,
    uses_unlabeled: bool,
    metric: Metric,
    folds: int,
    rng: np.random.Generator,
    head_params: Set[str] = frozenset(),
    defaults: Mapping[str, Any] | None = None,
    standard_errors: float = 0.0,
    validation: int = 0,
    groups: np.ndarray | None = None,
    learn: Callable[[Any, Features, np.ndarray], Any] | None = None,
) -> tuple[dict[str, Any], float]:
    """Return the setting with the best mean score over the folds, and that score.

    Few labels tell settings apart poorly, and the best of many is then best by luck. So the
    defaults stand unless the best setting beats them, fold by fold, by more than so many standard
    errors. Of equally good settings the one in the middle of their list is taken.

    Parameters
    ----------
    make : callable (**setting) -> estimator
    space : mapping of str to Distribution
    X : (n, d) array or csr_matrix
    y : (n,) array
        Labeled points first.
    search : callable (space, evaluate, trials, rng) -> None
        As in `Search`.
    trials : int
        Different settings that the search may have scored, the defaults not counted.
    task, n_classes, uses_unlabeled
        As in `Method` and `Shape`.
    metric : Metric
        What decides. Folds where it is not defined are left out.
    folds : int
        At most; fewer where a class has fewer labeled points.
    rng : numpy.random.Generator
        For the search, and for the folds, which are the same for every setting.
    head_params : set of str, default empty
        As in `Method`.
    defaults : mapping, optional
        The setting that stands in doubt; if there is none, the best one is always taken.
    standard_errors : float, default 0.0
        Of the mean difference between two settings over the folds.
    validation : int, default 0
        So many of the labeled points, the last, are held out instead of folds, and the best
        setting is always taken: one score says nothing of its error.
    groups : (n_labeled,) int array, optional
        The group of each labeled point. No group is held out in part.
    learn : callable (estimator, X, y), optional
        How an estimator is given the points of a fold; by default by its `fit`, or in two stages
        where it has them. Only labeled points are then given.

    Returns
    -------
    setting : dict
    score : float
        NaN if no fold of any setting could be scored; the setting is then the defaults, or the
        first one where there are none.

    Raises
    ------
    ValueError
        If the search scores no setting, or more than `trials`.
    """
    n_labeled = int(np.count_nonzero(np.isfinite(y) if task == "regression" else y >= 0))
    asked = metric.needs == "probabilities"
    problem = _Problem(X, y, n_labeled, task, n_classes, uses_unlabeled, asked, learn)
    tried = _Tried(
        *(make, problem, metric, folds, rng, head_params, defaults, trials, validation, groups)
    )
    search(space, tried, trials, rng)
    if not tried.settings:
        raise ValueError("the search has had no setting scored")
    return tried.best(standard_errors)


@dataclass
class _Tried:
    """Every setting that a search has had scored, in order, and its score in each fold."""

    make: Callable[..., Any]
    problem: _Problem
    metric: Metric
    folds: int
    rng: np.random.Generator
    head_params: Set[str]
    defaults: Mapping[str, Any] | None
    trials: int
    validation: int
    groups: np.ndarray | None
    settings: list[dict[str, Any]] = field(default_factory=list)
    scores: dict[_Key, np.ndarray] = field(default_factory=dict)
    estimator: Any = None
    """The last one made; with its features, if its fit is split in two."""
    estimator_key: _Key | None = None
    """Its parameters, without `head_params`."""

    def __call__(self, settings: list[dict[str, Any]]) -> list[float]:
        """Score settings: the mean over the folds, greater is better, NaN where there is none.

        The defaults are scored together with the first ones.
        """
        if not self.settings and self.defaults is not None:
            self.settings.append(dict(self.defaults))
        self.settings += [dict(setting) for setting in settings if setting != self.defaults]
        new = {_key(s): s for s in self.settings if _key(s) not in self.scores}
        different = len(self.scores) + len(new) - (self.defaults is not None)
        if different > self.trials:
            message = f"the search asks for setting {different}; it may have {self.trials} scored"
            raise ValueError(message)
        groups = _alike(new.values(), self.head_params)
        # those for which the features are at hand come first
        with warnings.catch_warnings():
            # of a setting that is only tried; the one that is taken warns when it is fitted
            warnings.simplefilter("ignore")
            for key in sorted(groups, key=lambda key: key != self.estimator_key):
                self._score(groups[key], key)
        return [_mean(self._signed(setting)) for setting in settings]

    def best(self, standard_errors: float) -> tuple[dict[str, Any], float]:
        """Return the setting to go by, and its mean score."""
        scores = np.array([self._signed(setting) for setting in self.settings])
        in_doubt = self.defaults is not None and not self.validation
        setting = self.settings[_best(scores, standard_errors, in_doubt)]
        return setting, _mean(self.scores[_key(setting)])

    @property
    def _splits_fit(self) -> bool:
        """Whether the fit is split in two, which leaves no probabilities of held-out points."""
        problem = self.problem
        return not problem.probabilities and problem.learn is None and splits_fit(self.estimator)

    @cached_property
    def _parts(self) -> list[np.ndarray]:
        """The held-out rows of each fold.

        Drawn when the first settings are scored, so after the positions that a search of
        independent settings draws from the same generator.
        """
        problem = self.problem
        if self.validation:
            return [np.arange(problem.n_labeled - self.validation, problem.n_labeled)]
        y = problem.y[: problem.n_labeled]
        if self.groups is not None:
            return list(grouped_folds(y, problem.task, self.folds, self.rng, self.groups))
        return list(single_folds(y, problem.task, self.folds, self.rng))

    def _score(self, group: list[dict[str, Any]], key: _Key) -> None:
        """Score settings that differ in nothing but `head_params`, fold by fold.

        Settings are the inner loop: an estimator may keep what belongs to one set of labels.
        """
        problem = self.problem
        scores = np.full((len(group), len(self._parts)), np.nan)
        if key != self.estimator_key:
            self.estimator = None  # before the next one takes as much again
            return_freed()
            self.estimator, self.estimator_key = self.make(**group[0]), key
            if self._splits_fit:
                self.estimator.fit_features(problem.X, np.arange(problem.n_labeled))
        for j, held in enumerate(self._parts):
            for i, setting in enumerate(group):
                scores[i, j] = self._score_fold(setting, held)
        self.scores |= {_key(setting): row for setting, row in zip(group, scores, strict=True)}

    def _score_fold(self, setting: dict[str, Any], held: np.ndarray) -> float:
        problem = self.problem
        if self._splits_fit:
            changes = {name: setting[name] for name in self.head_params & set(setting)}
            predicted = problem.refit(self.estimator.set_params(**changes), held)
        else:
            predicted = problem.fit(self.make(**setting), held)
        scored = evaluate([self.metric], problem.task, problem.y[held], predicted)
        return scored.get(self.metric.name, np.nan)

    def _signed(self, setting: dict[str, Any]) -> np.ndarray:
        scores = self.scores[_key(setting)]
        return scores if self.metric.greater_is_better else -scores


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


def _mean(scores: np.ndarray) -> float:
    """Mean of the scores that there are, NaN if there are none."""
    known = scores[np.isfinite(scores)]
    return float(known.mean()) if known.size else float("nan")


def _key(setting: Mapping[str, Any]) -> _Key:
    return tuple(sorted(setting.items(), key=itemgetter(0)))


def _alike(
    settings: Iterable[dict[str, Any]], head_params: Set[str]
) -> dict[_Key, list[dict[str, Any]]]:
    """Group settings that differ in nothing but `head_params`, by the rest of them."""
    groups: dict[_Key, list[dict[str, Any]]] = {}
    for setting in settings:
        shared = {name: value for name, value in setting.items() if name not in head_params}
        groups.setdefault(_key(shared), []).append(setting)
    return groups


@dataclass(frozen=True)
class _Problem:
    """What all fits of a search have in common."""

    X: Features
    y: np.ndarray
    n_labeled: int
    task: str
    n_classes: int
    uses_unlabeled: bool
    probabilities: bool = False
    learn: Callable[[Any, Features, np.ndarray], Any] | None = None

    def fit(self, estimator: Any, held: np.ndarray) -> dict[str, np.ndarray]:
        """Fit without the labels of a fold and predict it."""
        X, y, task, n_classes = self.X, self.y, self.task, self.n_classes
        if self.learn is not None or not self.uses_unlabeled:
            train = np.setdiff1d(np.arange(self.n_labeled), held)
            if self.learn is None:
                estimator.fit(X[train], y[train])
            else:
                self.learn(estimator, X[train], y[train])
            return self._predicted(estimator, held)
        estimator.fit(X, self._without(y, held))
        seen = transduction(estimator, X.shape[0], task, n_classes, self.probabilities)
        if seen is None:
            return self._predicted(estimator, held)
        return named(seen.rows(held), seen.name)

    def _predicted(self, estimator: Any, rows: np.ndarray) -> dict[str, np.ndarray]:
        step = block_rows(x_row_bytes(self.X))
        blocks = (rows[i : i + step] for i in range(0, len(rows), step))
        scoring = scorer(estimator, self.probabilities)
        task, n_classes, asked = self.task, self.n_classes, self.probabilities
        parts = (predict(estimator, self.X[b], task, n_classes, asked) for b in blocks)
        return named(join(parts, len(rows)), scoring[0] if scoring else None)

    def refit(self, estimator: Any, held: np.ndarray) -> dict[str, np.ndarray]:
        """Do the same where all that no label decides is there already."""
        estimator.fit_labels(self._without(self.y[: self.n_labeled], held))
        return held_out_predictions(estimator, len(held), self.task, self.n_classes)

    def _without(self, y: np.ndarray, held: np.ndarray) -> np.ndarray:
        masked = y.copy()
        masked[held] = np.nan if self.task == "regression" else -1
        return masked
