"""A fit in steps that is not the fit, or notices that it is asked, is found."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import NotFittedError

from harness import Method
from harness.conformance.anytime import steps_agree
from harness.conformance.finding import NotApplicableError
from harness.conformance.problems import make_problem


class Averaged(ClassifierMixin, BaseEstimator):
    """Perceptron whose answer is the mean of its weights: `finish_fit` takes it."""

    def __init__(self, steps: int = 20, random_state: int | None = None) -> None:
        self.steps, self.random_state = steps, random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> Any:
        for _ in self.fit_steps(X, y):
            pass
        return self.finish_fit()

    def fit_steps(self, X: np.ndarray, y: np.ndarray) -> Iterator[None]:
        self.classes_, self._rng = np.array([0, 1]), np.random.default_rng(self.random_state)
        rows, self._w = np.flatnonzero(y >= 0), np.zeros(X.shape[1])
        self._total, self._done = np.zeros(X.shape[1]), 0
        for _ in range(self.steps):
            i = self._rng.choice(rows)
            sign = 2.0 * y[i] - 1
            self._w += sign * X[i] * (sign * (X[i] @ self._w) <= 0)
            self._total += self._w
            self._done += 1
            yield

    def finish_fit(self) -> Any:
        self.coef_ = self._total / self._done
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return X @ self.coef_

    def predict(self, X: np.ndarray) -> np.ndarray:
        return (self.decision_function(X) > 0).astype(int)

    def diagnostics(self, X: np.ndarray) -> dict[str, float]:
        return {"norm": np.linalg.norm(self.coef_)}


class FitWithoutFinish(Averaged):
    """`fit` answers by the last weights."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Any:
        for _ in self.fit_steps(X, y):
            self.coef_ = self._w
        return self


class FitOfFewerSteps(Averaged):
    def fit(self, X: np.ndarray, y: np.ndarray) -> Any:
        steps = self.fit_steps(X, y)
        for _ in range(self.steps - 1):
            next(steps)
        return self.finish_fit()


class FinishesInPlace(Averaged):
    """Its mean takes the place of the sum."""

    def finish_fit(self) -> Any:
        self._total /= self._done
        self.coef_ = self._total
        return self


class FinishDraws(Averaged):
    def finish_fit(self) -> Any:
        self._rng.random()
        return super().finish_fit()


class DiagnosticsDraw(Averaged):
    def diagnostics(self, X: np.ndarray) -> dict[str, float]:
        return {"one": X[self._rng.integers(len(X))] @ self.coef_}


class AnswersDraw(Averaged):
    def decision_function(self, X: np.ndarray) -> np.ndarray:
        self._rng.random()
        return X @ self.coef_


class AnswersStay(Averaged):
    """Keeps the first scores of the points of fit that it was asked for."""

    def fit_steps(self, X: np.ndarray, y: np.ndarray) -> Iterator[None]:
        self._X, self._scores = X, None
        yield from super().fit_steps(X, y)

    @property
    def decision_scores_(self) -> np.ndarray:
        if self._scores is None:
            self._scores = self.decision_function(self._X)
        return self._scores


class Silent(Averaged):
    """Has no answer before the end."""

    def fit_steps(self, X: np.ndarray, y: np.ndarray) -> Iterator[None]:
        self._over = False
        yield from super().fit_steps(X, y)
        self._over = True

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        if not self._over:
            raise NotFittedError
        return X @ self.coef_


class Unsteady(Averaged):
    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return np.full(len(X), np.nan) if self._done == 2 else X @ self.coef_


class Stepless(Averaged):
    def fit_steps(self, X: np.ndarray, y: np.ndarray) -> Iterator[None]:
        for _ in super().fit_steps(X, y):
            pass
        yield from ()


class FirstUnknown(Averaged):
    def diagnostics(self, X: np.ndarray) -> dict[str, float]:
        return {"gain": np.nan if self._done == 1 else 0.5, "norm": 1.0}


class DiagnosticsAsList(Averaged):
    def diagnostics(self, X: np.ndarray) -> Any:
        return [1.0]


class AtOnce(ClassifierMixin, BaseEstimator):
    """A fit without steps, and nothing to say of it."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> Any:
        self.classes_ = np.array([0, 1])
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        return X[:, 0]


class AtOnceUnbounded(AtOnce):
    def diagnostics(self, X: np.ndarray) -> dict[str, float]:
        return {"error": np.inf}


def advice(estimator: type) -> str:
    method = Method("example", estimator, lambda shape, size: 1)
    return steps_agree(method, make_problem(method, "binary"))


def test_steps_that_are_the_fit_pass():
    assert advice(Averaged) == ""


def test_fewer_steps_than_pauses_pass():
    method = Method("example", Averaged, lambda shape, size: 1, params={"steps": 1})
    assert steps_agree(method, make_problem(method, "binary")) == ""


@pytest.mark.parametrize(
    ("estimator", "words"),
    [
        (FitWithoutFinish, "exhausted, gives other transductive scores"),
        (FitOfFewerSteps, "exhausts fit_steps and then calls finish_fit"),
        (FinishesInPlace, "asking for finish_fit or diagnostics after steps 1, 2, 3, 20 of 20"),
        (FinishDraws, "asking for finish_fit or diagnostics after"),
        (DiagnosticsDraw, "asking for finish_fit or diagnostics after"),
        (AnswersDraw, "asking for predictions after steps 1, 2, 3, 20 of 20 changed"),
        (AnswersStay, "asking for predictions after"),
        (Unsteady, "between steps raised ValueError: decision_function gave 120 values of 120"),
        (Silent, "between steps raised NotFittedError"),
        (Stepless, "ended without a step"),
        (FirstUnknown, "gain = nan after step 1; give finite numbers"),
        (AtOnceUnbounded, "error = inf; give finite"),
    ],
)
def test_each_way_to_break_the_contract_is_found(estimator, words):
    assert words in advice(estimator)


def test_diagnostics_that_are_no_numbers_are_an_error():
    with pytest.raises(ValueError, match="diagnostics gave list, not a dict of numbers"):
        advice(DiagnosticsAsList)


def test_a_fit_without_steps_is_not_asked():
    with pytest.raises(NotApplicableError):
        advice(AtOnce)
