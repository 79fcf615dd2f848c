"""What online kernel machines share: one pass over the points, window by window, and its mistakes.

Each point is predicted before it is learned from, so the share of mistakes on the way (the online
mistake rate, or prequential error) is an honest estimate and needs no held-out points.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from harness import Arrays, Shape, Storage, kernels
from harness.estimator import PositiveInt, RandomState
from harness.layers import Center, KernelValues, Layer, Linear
from harness.semi_supervised import PartlyLabeledClassifier

from .support import SupportSet
from .windows import MISTAKE, WINDOW, KernelWindow, Window

ROWS = 256
"""Rows that are scored at a time."""

_MADE_AGAIN = ("_room", "_inverse", "_features")


class OnlineClassifier(PartlyLabeledClassifier):
    """A machine that learns from one point after the other, and keeps none but a few.

    A subclass writes `_begin(X)`, what a first look at some points decides, and
    `_observe(X, codes)`, which learns from a window of points, near the origin and in float32, and
    returns how many of them it came to.

    Attributes
    ----------
    n_seen_ : int
        Points that were learned from; repeated passes count once.
    mistakes_ : int
        How many of them were predicted wrongly when they came.
    """

    epochs: PositiveInt = 1
    """Passes over the points in `fit`. The papers make one."""
    shuffle: bool = True
    """Whether `fit` visits the points in random order. `partial_fit` takes them as they come."""
    random_state: RandomState = None
    """Seed or generator of all that is drawn."""

    def __sklearn_tags__(self) -> Tags:
        """Say that one pass over few points, and its last mistakes, may leave a poor fit."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        for _ in self._steps(X, y):
            pass

    def fit_steps(self, X: np.ndarray, y: np.ndarray) -> Iterator[None]:
        """Fit, and yield after each window of 128 points."""
        yield from self._steps(*self._checked(X, y))

    def _steps(self, X: np.ndarray, y: np.ndarray) -> Iterator[None]:
        labels = self._read(y)
        self._start(X)
        n = len(labels.rows)
        for epoch in range(self.epochs):
            order = self._rng.permutation(n) if self.shuffle else np.arange(n)
            for start in range(0, n, WINDOW):
                part = order[start : start + WINDOW]
                self._learn(X[labels.rows[part]], labels.codes[part], counted=epoch == 0)
                yield
        self._rest()

    def partial_fit(
        self, X: np.ndarray, y: np.ndarray, classes: Sequence[int] | np.ndarray | None = None
    ) -> Self:
        """Learn from some more points, in their order; those with a y of -1 are left out.

        Parameters
        ----------
        X : ndarray of shape (n, d)
            The first ones decide what a median distance is.
        y : ndarray of shape (n,)
        classes : sequence, optional
            All that y will ever hold; needed in the first call unless `n_classes` is given.
        """
        first = not hasattr(self, "n_seen_")
        if first:
            self._validate_params()
            if classes is None and self.n_classes is None:
                message = "the first call of partial_fit needs classes, all that y will ever hold"
                raise ValueError(message)
            self.classes_ = np.unique(
                np.arange(self.n_classes or 0) if classes is None else classes
            )
            self._present = np.arange(len(self.classes_))
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C", reset=first)
        rows = np.flatnonzero(y != -1) if y.dtype.kind in "biuf" else np.arange(len(y))
        codes = np.searchsorted(self.classes_, y[rows])
        wrong = self.classes_[np.minimum(codes, len(self.classes_) - 1)] != y[rows]
        if wrong.any():
            unknown, known = y[rows][wrong].tolist()[0], self.classes_.tolist()
            raise ValueError(f"y holds {unknown!r}, which is not among the classes {known}")
        if first:
            self._start(X)
        elif not hasattr(self, "_rng"):
            self._rng = check_random_state(self.random_state)
        for start in range(0, len(rows), WINDOW):
            part = slice(start, start + WINDOW)
            self._learn(X[rows[part]], codes[part], counted=True)
        return self

    def _start(self, X: np.ndarray) -> None:
        self._rng = check_random_state(self.random_state)
        self.n_seen_ = self.mistakes_ = 0
        self._absent = np.setdiff1d(np.arange(len(self.classes_)), self._present)
        self._begin(X)

    @property
    def _n_machines(self) -> int:
        return 1 if len(self.classes_) == 2 else len(self.classes_)

    def _learn(self, X: np.ndarray, codes: np.ndarray, counted: bool) -> None:
        X, before = self._near(X), self.mistakes_
        done = 0
        while done < len(X):
            done += self._observe(X[done:], codes[done:])
        if counted:
            self.n_seen_ += len(X)
        else:
            self.mistakes_ = before

    @abstractmethod
    def _begin(self, X: np.ndarray) -> None:
        """Start anew; the points tell widths and where the origin is moved to."""

    @abstractmethod
    def _near(self, X: np.ndarray) -> np.ndarray:
        """Return points as the machine takes them, C-contiguous float32."""

    @abstractmethod
    def _observe(self, X: np.ndarray, codes: np.ndarray) -> int:
        """Predict and learn from points one after the other; return how many."""

    def _rest(self) -> None:
        """Let go of what only further learning needs."""

    def diagnostics(self, X: np.ndarray) -> dict[str, float]:
        """Return the share of mistakes on the way, as "error"."""
        check_is_fitted(self)
        return {"error": self.mistakes_ / max(1, self.n_seen_)}


class KernelOnlineClassifier(kernels.AnyKernel, OnlineClassifier):
    """The same with a function sum_j alpha_j k(., x_j) of at most B support vectors.

    A subclass writes `_update(window, t, margin)`, what is learned of a point, and may write
    `_least_margins(window, start)`, the margins below which there is something to learn: by
    default where the prediction is wrong.
    """

    budget: PositiveInt = 100
    """B, the most support vectors."""

    _beyond_budget = 0
    """Support vectors that are there for a moment, before one is given up."""

    @property
    def support_vectors_(self) -> np.ndarray:
        """Support vectors less the center of the kernel, float32 of shape (n_support, d)."""
        return self._support.points[: self._support.size]

    @property
    def dual_coef_(self) -> np.ndarray:
        """Coefficients, shape (n_support, 1) for two classes, else (n_support, n_classes)."""
        return self._scale * self._support.coef[: self._support.size]

    def _begin(self, X: np.ndarray) -> None:
        self._kernel = self._kernel_on(X)
        capacity = self.budget + self._beyond_budget
        self._support = SupportSet(capacity, X.shape[1], self._n_machines)
        self._scale = 1.0
        self._make_room()

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is made again where learning goes on, so that a file has none of it."""
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in _MADE_AGAIN}

    def _make_room(self) -> None:
        self._room = np.empty((self._support.capacity + WINDOW) * WINDOW, np.float32)

    def _near(self, X: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray(self._kernel.near(X))

    def _observe(self, X: np.ndarray, codes: np.ndarray) -> int:
        if not hasattr(self, "_room"):
            self._make_room()
        window = self._window(X, codes)
        t = 0
        while found := window.next_below(t, self._least_margins(window, t)):
            t, margin = found
            self.mistakes_ += margin <= 0
            self._update(window, t, margin)
            t += 1
            if self._is_over():
                return t
        self._pass_by(window)
        return len(X)

    def _is_over(self) -> bool:
        """Return whether the rest of a window needs another way."""
        return False

    def _window(self, X: np.ndarray, codes: np.ndarray) -> KernelWindow:
        return KernelWindow(self._support, self._kernel, X, codes, self._absent, self._room)

    @abstractmethod
    def _update(self, window: KernelWindow, t: int, margin: float) -> None:
        """Learn from point t of the window."""

    def _least_margins(self, window: Window, start: int) -> np.ndarray | float:
        """Return the margins that are enough from a point on."""
        return MISTAKE

    def _pass_by(self, window: Window) -> None:
        """Count steps at which nothing was learned."""

    def _rest(self) -> None:
        del self._room, self._rng

    def _expansion(self) -> tuple[np.ndarray, np.ndarray]:
        """Return points and coefficients of which scores are the sum."""
        return self.support_vectors_, self.dual_coef_.astype(np.float32)

    def _scores(self, X: np.ndarray) -> np.ndarray:
        points, coef = self._expansion()
        at, scores = self._kernel.at(points), np.empty((len(X), coef.shape[1]))
        for start in range(0, len(X), ROWS):
            rows = slice(start, start + ROWS)
            scores[rows] = at(self._near(X[rows])) @ coef
        return scores

    def _layers(self) -> list[Layer]:
        points, coef = self._expansion()
        values = KernelValues(points, self._kernel.width, self._kernel.kernel)
        return [Center(self._kernel.center, np.float32), values, Linear(coef)]

    def diagnostics(self, X: np.ndarray) -> dict[str, float]:
        """Return the share of mistakes on the way as "error", and the support vectors."""
        return {**super().diagnostics(X), "support_vectors": self._support.size}


def require_gaussian(kernel: kernels.BoundKernel, why: str) -> None:
    """Refuse other kernels with a sentence."""
    if kernel.kernel is not kernels.KERNELS["rbf"]:
        raise ValueError(f"{why}: give kernel='rbf'")


def pass_arrays(shape: Shape, capacity: int, kernel: str | kernels.KernelFunction) -> Arrays:
    """Return what a window of a pass holds, with so many support vectors."""
    m, d, Q = min(WINDOW, shape.n_labeled), shape.n_features, shape.n_machines
    return Arrays(
        window=KernelWindow.bytes(capacity, m, Q),
        rows=m * d * (4 + shape.itemsize),
        kernel=kernels.kernel_bytes(kernel, capacity, m, d, 4, at_origin=True),
    )


def kernel_storage(
    shape: Shape,
    capacity: int,
    kernel: str | kernels.KernelFunction,
    beside: Arrays | None = None,
    kept: Arrays | None = None,
    paused: bool = False,
) -> Storage:
    """Count support vectors, a window and its kernel values, and a block of rows to predict.

    Parameters
    ----------
    shape : Shape
    capacity : int
        Support vectors, with those that are there for a moment.
    kernel : str or KernelFunction
    beside : Arrays, optional
        What a pass holds besides.
    kept : Arrays, optional
        What prediction needs, too.
    paused : bool, default False
        Whether predictions are asked for during the pass.
    """
    n, d, i = min(shape.n_labeled, shape.n_at_once), shape.n_features, shape.itemsize
    labels = Arrays(X=shape.data_bytes, labels=9 * n)
    support = Arrays(support=SupportSet.bytes(capacity, d, shape.n_machines)) + (kept or Arrays())
    support += Arrays(blas=kernels.blas_bytes(capacity, 4, terms=d))
    rows = min(ROWS, shape.block_rows)
    predicting = Arrays(
        block=shape.new_block_bytes,
        expansion=4 * capacity * shape.n_machines,
        rows=rows * (4 * d + 4 * capacity + 12 * shape.n_machines),
        kernel=kernels.kernel_bytes(kernel, rows, capacity, d, 4, at_origin=True),
        scores=8 * shape.block_rows * shape.n_machines,
    )
    learning = pass_arrays(shape, capacity, kernel) + (beside or Arrays()) + Arrays(order=8 * n)
    fit = {
        "labels": labels + Arrays(checked=16 * n),
        "width": labels + Arrays(sample=kernels.binding_bytes(kernel, shape.n_at_once, d, i)),
        "a window": labels + support + learning,
    }
    held = Arrays({name: many for name, many in learning.items() if name != "kernel"})
    asked = Arrays({f"asked_{name}": many for name, many in predicting.items()})
    if paused:
        # the points of the window before are let go
        between = Arrays({name: many for name, many in held.items() if name != "rows"})
        fit["a pause"] = labels + support + between + asked
    if shape.part is not None:  # what learns from the next part stays
        return Storage(fit, {"a block": support + held + asked})
    return Storage(fit, {"a block": support + predicting + _seen(shape)})


def _seen(shape: Shape) -> Arrays:
    """Return the points of `fit`, as far as they are held while new ones are predicted."""
    held = max(0, shape.predict_data_bytes - shape.new_block_bytes)
    return Arrays(X=held)
