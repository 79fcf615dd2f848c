"""Choice of landmarks: the few points that stand for all, by any of several selectors.

A selector is `selector(X, n_landmarks, random_state, kernel) -> row numbers`, or a name of
`SELECTORS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Annotated

import numpy as np

from harness.estimator import Estimator, OneOf, PositiveInt, RandomState
from harness.kernels.functions import BoundKernel, KernelFunction
from harness.kernels.landmarks.columns import (
    cssp,
    cssp_bytes,
    kmeans_plus_plus,
    kmeans_plus_plus_bytes,
    leverage,
    leverage_bytes,
)
from harness.kernels.landmarks.entropy import renyi, renyi_bytes
from harness.kernels.landmarks.hashing import dbh, dbh_bytes, dbh_hierarchical
from harness.kernels.landmarks.pivots import (
    rpcholesky,
    rpcholesky_accelerated,
    rpcholesky_accelerated_bytes,
    rpcholesky_bytes,
)
from harness.kernels.landmarks.recursion import (
    recursive_leverage,
    recursive_leverage_bytes,
)
from harness.kernels.landmarks.uniform import uniform_bytes, uniform_landmarks

Selector = Callable[[np.ndarray, int, np.random.RandomState, BoundKernel], np.ndarray]


def select_landmarks(
    selector: str | Selector,
    X: np.ndarray,
    n_landmarks: int,
    random_state: np.random.RandomState,
    kernel: BoundKernel,
) -> np.ndarray:
    """Choose landmarks among the rows of X.

    Parameters
    ----------
    selector : str or callable (X, n_landmarks, random_state, kernel) -> row numbers
        A name of `SELECTORS`, or a selector of one's own.
    X : ndarray of shape (n, d)
        May be a read-only memory map; what is held besides is `selection_bytes`. A csr_matrix with
        the selectors of `OF_SPARSE`.
    n_landmarks : int
        From 1 to n.
    random_state : numpy.random.RandomState
    kernel : BoundKernel
        In whose feature space the landmarks are to stand for all points.

    Returns
    -------
    ndarray of shape (n_landmarks,)
        Distinct row numbers, ascending.

    Raises
    ------
    ValueError
        If there is no selector of that name, if more landmarks are asked for than there are
        points, or if a selector of one's own does not return so many distinct row numbers.
    """
    n = X.shape[0]
    if n_landmarks > n:
        message = f"n_landmarks={n_landmarks} is more than the {n} points there are"
        raise ValueError(message)
    if isinstance(selector, str):
        if selector not in SELECTORS:
            message = f"selector={selector!r} is not one of {', '.join(SELECTORS)}"
            raise ValueError(message)
        selector = SELECTORS[selector]
    rows = np.unique(selector(X, n_landmarks, random_state, kernel))
    found = f"{len(rows)} distinct of type {rows.dtype}"
    if len(rows):
        found += f" from {rows[0]} to {rows[-1]}"
    whole = np.issubdtype(rows.dtype, np.integer)
    if not whole or len(rows) != n_landmarks or rows[0] < 0 or rows[-1] >= n:
        name = getattr(selector, "name", getattr(selector, "__name__", repr(selector)))
        message = f"selector {name}: {n_landmarks} distinct rows of {n} are wanted, not {found}"
        raise ValueError(message)
    return rows


def selection_bytes(
    selector: str | Selector,
    n: int,
    n_features: int,
    n_landmarks: int,
    itemsize: int = 8,
    kernel: str | KernelFunction = "rbf",
) -> int:
    """Bytes that `select_landmarks` holds at most, beside X.

    Parameters
    ----------
    selector : str or callable
        Of a selector of one's own nothing is counted, unless it has an attribute `storage`: a
        callable (n, n_features, n_landmarks, itemsize) -> int.
    n, n_features : int
        Shape of X.
    n_landmarks : int
    itemsize : int, default 8
        Bytes of an element of X.
    kernel : str or KernelFunction, default "rbf"
        What the landmarks are chosen for.
    """
    n_landmarks = min(n, n_landmarks)
    if isinstance(selector, str) and selector in _STORAGE:
        return _STORAGE[selector](n, n_features, n_landmarks, itemsize, kernel)
    storage = getattr(selector, "storage", None)
    return int(storage(n, n_features, n_landmarks, itemsize)) if storage else 0


def _uniform(
    X: np.ndarray, n_landmarks: int, random_state: np.random.RandomState, kernel: BoundKernel
) -> np.ndarray:
    return uniform_landmarks(X, n_landmarks, random_state)


SELECTORS: dict[str, Selector] = {
    "uniform": _uniform,
    "dbh": dbh,
    "dbh-hierarchical": dbh_hierarchical,
    "cssp": cssp,
    "renyi": renyi,
    "k-means++": kmeans_plus_plus,
    "leverage": leverage,
    "recursive-leverage": recursive_leverage,
    "rpcholesky": rpcholesky,
    "rpcholesky-accelerated": rpcholesky_accelerated,
}
"""The selectors that come with the harness, by name."""

OF_SPARSE = ("uniform",)
"""Those that take a sparse X."""

SelectorName = Annotated[str, OneOf(SELECTORS)]

_STORAGE: dict[str, Callable[[int, int, int, int, str | KernelFunction], int]] = {
    "uniform": uniform_bytes,
    "dbh": dbh_bytes,
    "dbh-hierarchical": dbh_bytes,
    "cssp": cssp_bytes,
    "renyi": renyi_bytes,
    "k-means++": kmeans_plus_plus_bytes,
    "leverage": leverage_bytes,
    "recursive-leverage": recursive_leverage_bytes,
    "rpcholesky": rpcholesky_bytes,
    "rpcholesky-accelerated": rpcholesky_accelerated_bytes,
}


class LandmarkSelection(Estimator):
    """How landmarks are chosen."""

    _: KW_ONLY
    selector: SelectorName | Selector = "uniform"
    """How landmarks are chosen: a name of `harness.kernels.SELECTORS`, or a callable (X,
    n_landmarks, random_state, kernel) that returns row numbers.
    """
    random_state: RandomState = None
    """Seed or generator of all that is drawn."""

    def _select(
        self, X: np.ndarray, n_landmarks: int, rng: np.random.RandomState, kernel: BoundKernel
    ) -> np.ndarray:
        """Return row numbers of landmarks; all rows where there are fewer."""
        return select_landmarks(self.selector, X, min(n_landmarks, X.shape[0]), rng, kernel)


class Landmarks(LandmarkSelection):
    """Landmarks, and how many."""

    n_landmarks: PositiveInt = 100
    """Points chosen by `selector`; all of them where there are fewer."""
