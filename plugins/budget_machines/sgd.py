"""Stochastic gradient descent on the coefficients of landmarks.

The step follows from what keeps it stable, falls as 1 / sqrt(epochs), and the second half of the
iterates is averaged. What the result is worth `objective_bounds` tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from .objective import LandmarkProblem, n_machines, problem_block_bytes


def descend(
    problem: LandmarkProblem, epochs: int, batch: int, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Return a, float32 of shape (r, Q), and b, of shape (Q,): means over the second half.

    Holds `descent_bytes` and a block of features.

    Parameters
    ----------
    problem : LandmarkProblem
    epochs : int
    batch : int
        Rows of a step; the last step of an epoch has what is left.
    rng : RandomState
        Orders the rows of each epoch.
    """
    m, L = len(problem.rows), problem.features.factor
    a, b = np.zeros((len(L), problem.n_machines), np.float32), np.zeros(problem.n_machines)
    mean_a, mean_b, averaged = a.astype(np.float64), b.copy(), 0
    penalty = (2 if problem.loss == "hinge" else 1) / m
    own = 0 if problem.own is None else problem.own.astype(np.float32)
    first = _stable_step(problem, penalty)
    for epoch in range(epochs):
        start = 0
        for parts in _batches(problem, rng.permutation(m), batch):
            size, sums, total = 0, np.zeros_like(a), np.zeros_like(b)
            for K, y in parts:
                pull = _pull(problem.loss, K @ a + b.astype(np.float32), y)
                size, sums, total = size + len(y), sums + K.T @ pull, total + pull.sum(axis=0)
            eta = first / np.sqrt(1 + epoch + start / m)
            a -= eta * (penalty * (L @ (L.T @ a) - own) - problem.C / size * sums)
            b += eta * problem.C / size * total
            start += size
            if 2 * epoch >= epochs - 1:
                averaged += 1
                mean_a += (a - mean_a) / averaged
                mean_b += (b - mean_b) / averaged
    return mean_a.astype(np.float32), mean_b


def _batches(
    problem: LandmarkProblem, order: np.ndarray, batch: int
) -> Iterator[Iterable[tuple[np.ndarray, np.ndarray]]]:
    """Yield batches, each in parts of kernel rows and targets that no block is smaller than.

    Kernel rows of several batches are computed together, as many as are in a block.
    """
    buffer = problem.buffer()
    most = len(buffer)
    together = max(batch, most // batch * batch)
    for start in range(0, len(order), together):
        some = order[start : start + together]
        if batch > most:
            parts = (some[i : i + most] for i in range(0, len(some), most))
            yield ((problem.kernel_rows(part, buffer), problem.targets(part)) for part in parts)
            continue
        K = problem.kernel_rows(some, buffer)
        for i in range(0, len(some), batch):
            yield [(K[i : i + batch], problem.targets(some[i : i + batch]))]


def _pull(loss: str, scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return minus the derivatives of the loss, C left out."""
    return y * (y * scores < 1) if loss == "hinge" else y - scores


def _stable_step(problem: LandmarkProblem, penalty: float) -> float:
    """Return half the largest step at which no single row's step overshoots.

    That is 2 / (C |(k_i, 1)|^2 + the penalty's curvature) for the squared loss; with the hinge
    it moves no margin by more than 1.
    """
    largest = 0.0
    for _, K in problem.kernel_blocks():
        largest = max(largest, float(np.einsum("ij,ij->i", K, K).max()))
    L = problem.features.factor
    # The largest row sum of |K_BB|, a bound of its eigenvalues.
    absolute = np.abs(L)
    bend = float((absolute @ absolute.sum(axis=0)).max())
    return 1 / (problem.C * (1 + largest) + penalty * bend)


def descent_bytes(n: int, n_landmarks: int, n_features: int, n_classes: int) -> int:
    """Bytes that `descend` holds for n rows besides a block of features."""
    b, Q = n_landmarks, n_machines(n_classes)
    block = problem_block_bytes(n, b, n_features, n_classes)
    # the order of the rows, |L|, and coefficients, their mean and gradients
    return block + 8 * n + 4 * b * b + 8 * 5 * b * Q
