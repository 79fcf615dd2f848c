"""Clusters of score variables: code words of their signs, and how nearly each is a line."""

from __future__ import annotations

import numpy as np

from harness import kernels
from harness.layers import Layer, Linear, Normalize, Signs, Sum

# Signs that agree less those that differ are 2 more for each step of Hamming distance, and two
# cosines differ by 2 at most: angles break ties alone.
_OF_ANGLES = 0.999


class Codebook:
    """The commonest sign patterns of score variables, each with its mean direction.

    Parameters
    ----------
    scores : ndarray of shape (n, m)
    n_clusters : int
        Words; fewer where there are not so many patterns.

    Attributes
    ----------
    words : ndarray of shape (k, m), bool
        Commonest first.
    directions : ndarray of shape (k, m)
        Mean of the unit vectors of the points with that pattern.
    """

    def __init__(self, scores: np.ndarray, n_clusters: int) -> None:
        packed, codes, counts = np.unique(
            np.packbits(scores > 0, axis=1), axis=0, return_inverse=True, return_counts=True
        )
        chosen = np.argsort(-counts, kind="stable")[:n_clusters]
        self.words = np.unpackbits(packed[chosen], axis=1, count=scores.shape[1]).astype(bool)
        sums = [_sum_of_units(scores, np.flatnonzero(codes.ravel() == word)) for word in chosen]
        self.directions = _unit(np.array(sums))

    def decode(self, scores: np.ndarray, decoding: str) -> np.ndarray:
        """Return the nearest word of each row: in Hamming distance, then in angle, or in angle."""
        cosines = _unit(scores) @ self.directions.T
        if decoding == "cosine":
            return cosines.argmax(axis=1)
        signs = np.where(scores > 0, np.float32(1), np.float32(-1))
        cosines *= _OF_ANGLES
        cosines += signs @ self._word_signs()
        return cosines.argmax(axis=1)

    def _word_signs(self) -> np.ndarray:
        return np.where(self.words, np.float32(1), np.float32(-1)).T

    def layers(self, decoding: str) -> list[Layer]:
        """Return what is largest for the word that `decode` finds."""
        if decoding == "cosine":
            return [Normalize(), Linear(self.directions.T)]
        angles: list[Layer] = [Normalize(), Linear(_OF_ANGLES * self.directions.T)]
        words: list[Layer] = [Signs(), Linear(self._word_signs())]
        return [Sum([angles, words])]


def _sum_of_units(vectors: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Return the sum of some rows, each of length one, added one after another.

    A block at a time: where a kernel is narrow, one pattern has all points.
    """
    total = np.zeros(vectors.shape[1], vectors.dtype)
    for block in kernels.row_blocks(len(rows), 3 * vectors.shape[1], vectors.itemsize):
        units = _unit(vectors[rows[block]])
        units[0] += total
        total = units.sum(axis=0)
    return total


def _unit(vectors: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(norms > 0, norms, 1)


def balanced_line_fit(
    scores: np.ndarray,
    degrees: np.ndarray,
    labels: np.ndarray,
    n_clusters: int,
    balance_weight: float = 0.3,
) -> float:
    """Return how nearly each cluster is a line through the origin, and how equal clusters are.

    Of well separated clusters the score variables are multiples of the degree, so that a cluster's
    share of variance along its first direction is 1. It is mapped from [1 / m, 1] to [0, 1] and
    averaged over the clusters. Moments are about the origin, where the lines meet: about its own
    mean, a cluster of a few outliers is as good a line.

    Parameters
    ----------
    scores : ndarray of shape (n, m)
        m = n_clusters - 1, or fewer where there are not so many prototypes.
    degrees : ndarray of shape (n,)
        The second of m = 2 variables where there are two clusters.
    labels : ndarray of shape (n,)
    n_clusters : int
    balance_weight : float, default 0.3
        Share of the balance, the smallest cluster's size over the largest's; 1 - eta of Alzate &
        Suykens 2010, section 6.

    Returns
    -------
    float
        Between 0 and 1. An empty cluster is no line.
    """
    if n_clusters == 2:
        scores = np.column_stack([scores, degrees])
        scores /= np.sqrt(np.mean(scores**2, axis=0)) + np.finfo(np.float32).tiny
    m, fits = scores.shape[1], np.zeros(n_clusters)
    for j in range(n_clusters):
        members = scores[labels == j].astype(np.float64)
        spread = np.linalg.eigvalsh(members.T @ members)
        if spread[-1] > 0:
            # Of one variable everything is a line.
            fits[j] = (m * spread[-1] / spread.sum() - 1) / (m - 1) if m > 1 else 1
    counts = np.bincount(labels, minlength=n_clusters)
    balance = counts.min() / counts.max()
    return float((1 - balance_weight) * fits.mean() + balance_weight * balance)
