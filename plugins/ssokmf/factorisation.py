"""Factors Wx and Wy of phi(X) ~ phi(B) Wx H, Y ~ Wy H (Castellanos 2021, 4-16 to 4-20).

For fixed Wx and Wy a code, a column of H, is linear in k(B, x) and y, so two Gram matrices of the
budget B hold all that alternating least squares asks of the points: they are read once, H is never
held.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

NEAR = 0.02
"""Part of a minimum within which an objective is near it."""

# Parts by which an objective may rise: where it rises by more, what it is made of is rounding.
_ROUNDING = 1e-6


class Moments(NamedTuple):
    """What the points contribute, sums over the unlabeled and over the labeled ones.

    All that has length b is in the eigenvectors of K_BB that are not rounding.

    Attributes
    ----------
    unlabeled : ndarray of shape (b, b) or None
        Sum of k k' with k = k(B, x); None where there is no such point.
    labeled : ndarray of shape (b, b)
        The same over the labeled points.
    cross : ndarray of shape (b, c)
        Sum of k y', y one-hot.
    counts : ndarray of shape (c,)
        Labels of each class.
    diagonal : float
        Sum of k(x, x).
    """

    unlabeled: np.ndarray | None
    labeled: np.ndarray
    cross: np.ndarray
    counts: np.ndarray
    diagonal: float


class Codes(NamedTuple):
    """The least squares codes of all points for some Wx and Wy, by what is needed of them.

    Attributes
    ----------
    unlabeled : ndarray of shape (b, r)
        h = unlabeled' k where there is no label.
    by_kernel, by_label : ndarrays of shape (b, r) and (c, r)
        h = by_kernel' k + by_label' y where there is one.
    kernel_moment, label_moment : ndarrays of shape (b, r) and (c, r)
        Sums of k h' over all points and of y h' over the labeled ones.
    gram, labeled_gram : ndarrays of shape (r, r)
        Sums of h h' over all points and over the labeled ones.
    """

    unlabeled: np.ndarray
    by_kernel: np.ndarray
    by_label: np.ndarray
    kernel_moment: np.ndarray
    label_moment: np.ndarray
    gram: np.ndarray
    labeled_gram: np.ndarray


class Rounds(NamedTuple):
    """What rounds of alternating least squares came to.

    Attributes
    ----------
    objectives : list of float
        At the start and after every round.
    near : bool
        Whether they ended because the objective fell by less than asked for, but neither rose nor
        drowned in rounding, or falls that shrink so fast that less than `NEAR` is left of them.
    """

    objectives: list[float]
    near: bool


@dataclass
class Factorisation:
    """Minimise alpha/2 |phi(X) - phi(B) Wx H|^2 + beta/2 |Y - Wy H_t|^2 and ridges on all three.

    Attributes
    ----------
    eigenvalues : ndarray of shape (b,)
        Of K_BB, descending.
    Wx, Wy : ndarrays of shape (b, r) and (c, r)
        The former in the eigenvectors of K_BB.
    alpha, beta : float
        Weights of reconstruction and labels.
    l1, l2, l3 : float
        Twice the weights of |Wx|^2, |Wy|^2 and |H|^2.
    """

    eigenvalues: np.ndarray
    Wx: np.ndarray
    Wy: np.ndarray
    alpha: float
    beta: float
    l1: float
    l2: float
    l3: float

    def code_matrices(self) -> tuple[np.ndarray, np.ndarray]:
        """Return what codes without and with a label are solved with."""
        A = self.alpha * self.Wx.T @ (self.eigenvalues[:, None] * self.Wx)
        A[np.diag_indices(len(A))] += self.l3
        return A, A + self.beta * self.Wy.T @ self.Wy

    def codes(self, moments: Moments) -> Codes:
        """Solve for the codes of all points."""
        without, known = (cho_factor(A) for A in self.code_matrices())
        U = self.alpha * cho_solve(without, self.Wx.T).T
        P = self.alpha * cho_solve(known, self.Wx.T).T
        S = self.beta * cho_solve(known, self.Wy.T).T
        R, N = moments.cross, moments.counts[:, None]
        labeled_moment = moments.labeled @ P + R @ S
        label_moment = R.T @ P + N * S
        labeled_gram = P.T @ labeled_moment + S.T @ label_moment
        kernel_moment, gram = labeled_moment, labeled_gram
        if moments.unlabeled is not None:
            # not by np.dot, which would copy a matrix that is part of a larger one
            unlabeled_moment = moments.unlabeled @ U
            kernel_moment += unlabeled_moment
            gram = labeled_gram + U.T @ unlabeled_moment
        return Codes(U, P, S, kernel_moment, label_moment, gram, labeled_gram)

    def objective(self, moments: Moments, codes: Codes) -> float:
        """Return equation 4-16."""
        fit = moments.diagonal - 2 * np.sum(self.Wx * codes.kernel_moment)
        fit += np.sum((self.Wx.T @ (self.eigenvalues[:, None] * self.Wx)) * codes.gram)
        known = moments.counts.sum() - 2 * np.sum(self.Wy * codes.label_moment)
        known += np.sum((self.Wy.T @ self.Wy) * codes.labeled_gram)
        ridges = self.l1 * np.sum(self.Wx**2) + self.l2 * np.sum(self.Wy**2)
        ridges += self.l3 * np.trace(codes.gram)
        return float(self.alpha * fit + self.beta * known + ridges) / 2

    def alternate(self, moments: Moments, max_iter: int, tol: float) -> Rounds:
        """Solve for Wx and Wy, then for the codes, until a round gains less than a part `tol`."""
        codes = self.codes(moments)
        found = [self.objective(moments, codes)]
        for _ in range(max_iter):
            before = self.Wx, self.Wy
            # alpha K Wx G + l1 Wx = alpha M, with G = H H', in the eigenvectors of both.
            values, V = np.linalg.eigh(codes.gram)
            bend = np.outer(self.eigenvalues, values.clip(0)) + self.l1 / self.alpha
            turned = codes.kernel_moment @ V
            turned /= bend
            del bend
            self.Wx = turned @ V.T
            del turned
            values, V = np.linalg.eigh(codes.labeled_gram)
            V /= np.sqrt(self.beta * values.clip(0) + self.l2)
            self.Wy = self.beta * (codes.label_moment @ V) @ V.T
            # or they would stand beside the next ones
            del codes, V
            try:
                codes = self.codes(moments)
            except LinAlgError:
                # Factors so large that l3 is lost beside them are made of rounding.
                self.Wx, self.Wy = before
                return Rounds(found, False)
            found.append(self.objective(moments, codes))
            if found[-2] - found[-1] <= tol * found[-2]:
                return Rounds(found, found[-1] - found[-2] <= _ROUNDING * found[-2])
        return Rounds(found, _hardly_falls(found))

    def descend(
        self,
        kernel_rows: Callable[[np.ndarray], np.ndarray],
        labels: np.ndarray,
        epochs: int,
        batch: int,
        rng: np.random.RandomState,
    ) -> None:
        """Take gradient steps on mini-batches, then the mean of the second half of the iterates.

        A step is the longest that is stable for the codes and points of its batch, divided by the
        root of the epochs so far. Holds three times the factors, and rows and codes of a batch.

        Parameters
        ----------
        kernel_rows : callable rows -> ndarray of shape (m, b)
            k(B, x) of these rows, in the eigenvectors of K_BB.
        labels : ndarray of shape (n,)
            Classes from 0, -1 where there is none.
        epochs, batch : int
        rng : numpy.random.RandomState
        """
        n, classes = len(labels), np.arange(len(self.Wy))
        mean_x, mean_y, averaged = np.zeros_like(self.Wx), np.zeros_like(self.Wy), 0
        for epoch in range(epochs):
            order = rng.permutation(n)
            for start in range(0, n, batch):
                rows = order[start : start + batch]
                k, known = kernel_rows(rows), labels[rows] >= 0
                y = (labels[rows, None] == classes).astype(np.float64)
                h = self._batch_codes(k, y, known)
                slope_x, slope_y = self.gradients(k, y, known, h, n)
                fall = np.sqrt(1 + epoch + start / n)
                bend = self.eigenvalues[0] * _largest_square(h) / len(h)
                self.Wx -= slope_x / (self.alpha * bend + self.l1 / n) / fall
                bend = _largest_square(h[known]) / len(h)
                self.Wy -= slope_y / (self.beta * bend + self.l2 / n) / fall
                if 2 * epoch >= epochs - 1:
                    averaged += 1
                    mean_x += (self.Wx - mean_x) / averaged
                    mean_y += (self.Wy - mean_y) / averaged
        self.Wx, self.Wy = mean_x, mean_y

    def _batch_codes(self, k: np.ndarray, y: np.ndarray, known: np.ndarray) -> np.ndarray:
        h = np.empty((len(k), self.Wx.shape[1]))
        right = self.alpha * k @ self.Wx + self.beta * y @ self.Wy
        for A, where in zip(self.code_matrices(), (~known, known), strict=True):
            if where.any():
                h[where] = cho_solve(cho_factor(A), right[where].T).T
        return h

    def gradients(
        self, k: np.ndarray, y: np.ndarray, known: np.ndarray, h: np.ndarray, n: int
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the mean over some points of the gradients of 4-17 in Wx and Wy, codes held.

        The first terms of 4-18 to 4-20 have the signs that differentiation gives, not those
        printed, and the ridges on Wx and Wy, which 4-17 counts once a point, are divided by the n
        points. k, of shape (m, b), is in the eigenvectors of K_BB, as Wx is; y, of shape (m, c),
        is one-hot, `known` says where it has a label; h, of shape (m, r), are the codes.
        """
        m = len(h)
        slope_x = self.alpha * (self.eigenvalues[:, None] * self.Wx @ (h.T @ h) - k.T @ h) / m
        slope_x += self.l1 / n * self.Wx
        labeled = h[known]
        slope_y = self.beta * ((labeled @ self.Wy.T - y[known]).T @ labeled) / m
        return slope_x, slope_y + self.l2 / n * self.Wy


def principal_factors(
    eigenvalues: np.ndarray, rank: int, n_classes: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return Wx and Wy whose codes are kernel principal components of B; labels have no say."""
    r = min(rank, len(eigenvalues))
    roots = np.sqrt(eigenvalues[:r])
    Wx = np.zeros((len(eigenvalues), r))
    Wx[range(r), range(r)] = np.divide(1, roots, out=np.zeros(r), where=roots > 0)
    return Wx, np.zeros((n_classes, r))


def _hardly_falls(objectives: list[float]) -> bool:
    """Say whether the falls that are left add up to less than `NEAR`, by the last two of them."""
    if len(objectives) < 3:
        return False
    before, last = -np.diff(objectives[-3:])
    # Falls shrink ever more slowly: what is left is up to twice what the last two promise.
    return bool(last < before and 2 * last * last <= NEAR * objectives[-1] * (before - last))


def _largest_square(h: np.ndarray) -> float:
    """Return the largest eigenvalue of h'h, 0 where there is no row."""
    if not len(h):
        return 0.0
    return float(np.linalg.eigvalsh(h @ h.T if len(h) < h.shape[1] else h.T @ h)[-1])
