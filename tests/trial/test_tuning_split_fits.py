"""Fits in two stages: features once, labels for every fold and setting."""

import weakref
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from tuning_problems import METRICS, arguments, every

from harness.trial.tuning import tune


class Staged(BaseEstimator):
    """Kernel smoothing of labels: a width that features decide, a power that labels do."""

    log: ClassVar[list] = []

    def __init__(self, width=1.0, power=1.0):
        self.width = width
        self.power = power

    def fit_features(self, X, labeled):
        Staged.log.append(("features", self.width))
        self._labeled = labeled
        self._K = np.exp(-((X - X.T) ** 2) / self.width)
        return self

    def fit_labels(self, y):
        Staged.log.append(("labels", self.width, self.power))
        self.classes_ = np.array([0, 1])
        known = np.where(y < 0, 0.0, np.where(y == 1, 1.0, -1.0))
        self._scores = self._K[:, self._labeled] @ known
        held_out = self._labeled[y < 0]
        self.held_out_scores_ = np.sign(self._scores[held_out]) ** self.power
        return self

    def fit(self, X, y):
        self.fit_features(X, np.flatnonzero(y >= 0)).fit_labels(y[y >= 0])
        self.decision_scores_ = np.sign(self._scores) ** self.power
        return self


def test_a_split_fit_computes_once_what_no_label_decides():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    y = np.where(np.arange(60) < 30, X[:, 0] > 0, -1).astype(np.int64)
    settings = [{"power": p, "width": w} for p in (1.0, 3.0, 5.0) for w in (0.1, 100.0)]
    Staged.log.clear()
    shared = every(settings) | arguments(uses_unlabeled=True, head_params={"power"})
    staged = tune(Staged, {}, X, y, **shared)
    assert [entry for entry in Staged.log if entry[0] == "features"] == [
        ("features", 0.1),
        ("features", 100.0),
    ]
    assert len(Staged.log) == 2 + 5 * len(settings)
    assert staged == tune(_Generic, {}, X, y, **shared)


def test_features_serve_settings_that_are_scored_one_after_the_other():
    X = np.linspace(-1, 1, 30)[:, None]
    y = np.where(np.arange(30) < 20, np.arange(30) % 2, -1)

    def search(space, evaluate, trials, rng):
        for power in (1.0, 3.0):
            evaluate([{"width": 0.1, "power": power}])
        evaluate([{"width": width, "power": 5.0} for width in (0.2, 0.1)])

    Staged.log.clear()
    shared = arguments(uses_unlabeled=True, head_params={"power"})
    tune(Staged, {}, X, y, search=search, trials=4, **shared)
    assert [entry[1] for entry in Staged.log if entry[0] == "features"] == [0.1, 0.2]


class Large(Staged):
    """Knows how many of its kind have features when another one computes its own."""

    alive: ClassVar = weakref.WeakSet()
    seen: ClassVar[list] = []

    def fit_features(self, X, labeled):
        Large.seen.append(len(Large.alive))
        Large.alive.add(self)
        return super().fit_features(X, labeled)


def test_never_are_two_estimators_held():
    X = np.linspace(-1, 1, 30)[:, None]
    y = np.where(np.arange(30) < 20, np.arange(30) % 2, -1)

    def search(space, evaluate, trials, rng):
        evaluate([{"width": width} for width in (0.1, 0.2)])
        evaluate([{"width": 0.3}])

    Large.seen.clear()
    tune(Large, {}, X, y, search=search, trials=3, **arguments(uses_unlabeled=True))
    assert Large.seen == [0, 0, 0]
    assert len(Large.alive) == 0


class _Generic:
    """Hides the stages of `Staged`."""

    def __init__(self, **params):
        self._model = Staged(**params)

    def fit(self, X, y):
        self._model.fit(X, y)
        self.classes_, self.decision_scores_ = self._model.classes_, self._model.decision_scores_


class StagedValues(BaseEstimator):
    """Ridge regression on cosines of a frequency that no target decides."""

    log: ClassVar[list] = []

    def __init__(self, frequency=1.0, alpha=1.0):
        self.frequency = frequency
        self.alpha = alpha

    def fit_features(self, X, labeled):
        StagedValues.log.append(self.frequency)
        self._labeled, self._F = labeled, np.cos(self.frequency * X)
        return self

    def fit_labels(self, y):
        F, known = self._F[self._labeled], np.isfinite(y)
        gram = F[known].T @ F[known] + self.alpha * np.eye(F.shape[1])
        self._w = np.linalg.solve(gram, F[known].T @ y[known])
        self.held_out_values_ = F[~known] @ self._w
        return self

    def fit(self, X, y):
        rows = np.flatnonzero(np.isfinite(y))
        return self.fit_features(X, rows).fit_labels(y[rows])

    def predict(self, X):
        return np.cos(self.frequency * X) @ self._w


class WholeValues:
    """Hides the stages of `StagedValues`."""

    def __init__(self, **params):
        self._model = StagedValues(**params)
        self.predict = self._model.predict

    def fit(self, X, y):
        self._model.fit(X, y)


def test_a_split_fit_serves_regression_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    y = np.where(np.arange(60) < 30, np.cos(2 * X[:, 0]), np.nan)
    settings = [{"alpha": a, "frequency": f} for a in (1e-3, 1e3) for f in (1.0, 2.0)]
    shared = {"task": "regression", "n_classes": 0, "metric": METRICS["nmse"]}

    def tuned(estimator):
        told = arguments(uses_unlabeled=True, head_params={"alpha"}, **shared)
        return tune(estimator, {}, X, y, **every(settings), **told)

    StagedValues.log.clear()
    best, score = tuned(StagedValues)
    assert StagedValues.log == [1.0, 2.0]
    assert best == {"alpha": 1e-3, "frequency": 2.0}
    assert score < 1e-3
    assert (best, score) == tuned(WholeValues)


def test_settings_that_share_features_are_scored_fold_by_fold():
    X = np.linspace(-1, 1, 30)[:, None]
    y = np.where(np.arange(30) < 20, np.arange(30) % 2, -1)
    settings = [{"width": 0.1, "power": p} for p in (1.0, 3.0)]
    Staged.log.clear()
    shared = arguments(uses_unlabeled=True, head_params={"power"}, folds=2)
    tune(Staged, {}, X, y, **every(settings), **shared)
    assert [entry[2] for entry in Staged.log if entry[0] == "labels"] == [1.0, 3.0, 1.0, 3.0]
