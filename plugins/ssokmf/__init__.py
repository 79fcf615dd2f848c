"""Semi-supervised online kernel matrix factorisation on a budget (Castellanos 2021, 4-16 to 4-20).

Points are coded, phi(X) ~ phi(B) Wx H, so that the codes of labeled points give their labels,
Y ~ Wy H. The points are read once, for `Factorisation`; H is never held.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from harness import Arrays, Method, Shape, Storage, beside, choice, hookimpl, kernels, log_uniform
from harness.estimator import (
    NonNegativeFloat,
    PositiveFloat,
    PositiveInt,
)
from harness.layers import Center, KernelValues, Layer, Linear
from harness.semi_supervised import PartlyLabeledClassifier

from .factorisation import NEAR, Factorisation, Moments, principal_factors

# Eigenvalues of the budget's kernel matrix below this part of the largest are rounding.
_ROUNDING = 1e-6
# Of alternating least squares that SGD is held against.
_EXACT_ROUNDS, _EXACT_TOL = 200, 1e-4


class SSOKMF(kernels.Landmarks, kernels.AnyKernel, PartlyLabeledClassifier):
    """Minimise alpha/2 |phi(X) - phi(B) Wx H|^2 + beta/2 |Y - Wy H_t|^2 and ridges on all three.

    Equation 4-16, with l1 / 2 |Wx|^2 + l2 / 2 |Wy|^2 + l3 / 2 |H|^2. The labeled share t is that
    of y. Codes of new points do not know their label; those of the labeled points do, the more so
    the larger beta is: hence its small default.

    Attributes
    ----------
    landmarks_ : ndarray of shape (b, d), float32
        Less `center_`.
    center_ : ndarray of shape (d,) or None
        Subtracted from points before they are rounded, where the kernel is one of differences.
    Wx_, Wy_ : ndarrays of shape (b, r) and (c, r)
    coef_ : ndarray of shape (b, c), float32
        Scores are k(x, B) @ coef_.
    n_iter_ : int
        Rounds, or epochs.
    objective_ : list of float
        At the start and after every round of alternating least squares, where it never rises but
        by rounding; at the start and the end of SGD.
    converged_ : bool
        Of alternating least squares: whether rounds ended by `tol`, or falls shrink so fast that
        less than 2 % are left of them. Of SGD: whether the objective is within 2 % of that of
        alternating least squares. Else there is a `ConvergenceWarning`.
    """

    rank: PositiveInt = 100
    """r, the length of a code; at most b."""
    alpha: PositiveFloat = 1.0
    """Weights of reconstruction and labels."""
    beta: PositiveFloat = 0.001
    """Weights of reconstruction and labels."""
    l1: PositiveFloat = 0.1
    """Ridges on Wx, Wy and H."""
    l2: PositiveFloat = 0.001
    """Ridges on Wx, Wy and H."""
    l3: PositiveFloat = 0.1
    """Ridges on Wx, Wy and H."""
    sigma: PositiveFloat = 0.5
    solver: Literal["als", "sgd"] = "als"
    """Alternating least squares, each step exact; or equations 4-18 to 4-20, with the signs that
    make them gradients, on mini-batches with steps from their stability bound, and the mean of
    the second half of the iterates.
    """
    max_iter: PositiveInt = 50
    """Rounds of alternating least squares, or epochs."""
    tol: NonNegativeFloat = 0.0001
    """Rounds end where the objective falls by less than this part."""
    batch_size: PositiveInt = 64
    """Of SGD."""

    @property
    def takes_scaled_integers(self) -> bool:
        """Whether X may be `ScaledIntegers`: it is looked at block by block."""
        return self.kernel in kernels.OF_SCALED_INTEGERS

    def _fit(self, X: np.ndarray, y: np.ndarray) -> None:
        labels = self._read(y)
        rng = check_random_state(self.random_state)
        kernel = self._kernel_on(X)
        self._near, self._kernel, self.center_ = kernel.near, kernel.at_origin, kernel.center
        chosen = self._select(X, self.n_landmarks, rng, kernel)
        self.landmarks_ = kernels.centered_rows(X, chosen, kernel.center)
        codes, b = labels.codes_of_all(len(X)), len(chosen)

        K = np.empty((b, b))
        K[...] = self._kernel(self.landmarks_, self.landmarks_)
        eigenvalues, U = kernels.eigensystem(K)
        del K
        # Elsewhere K_BB is rounding, and Wx would grow where it costs nothing.
        kept = max(1, int(np.sum(eigenvalues > _ROUNDING * eigenvalues[0])))
        eigenvalues, self._basis = eigenvalues[:kept].clip(0), U[:, :kept]
        factors = Factorisation(
            eigenvalues,
            *principal_factors(eigenvalues, self.rank, len(self.classes_)),
            *(self.alpha, self.beta, self.l1, self.l2, self.l3),
        )
        if self.solver == "als":
            self._alternate(factors, self._moments(X, codes))
        else:
            self._descend(factors, X, codes, rng)
        A = factors.code_matrices()[0]
        self.Wx_, self.Wy_ = self._basis @ factors.Wx, factors.Wy
        self.coef_ = self.alpha * self.Wx_ @ np.linalg.solve(A, self.Wy_.T)
        self.coef_ = self.coef_.astype(np.float32)
        del self._basis

    def _rows(self, X: np.ndarray) -> np.ndarray:
        return self._kernel(self._near(X), self.landmarks_)

    def _moments(self, X: np.ndarray, codes: np.ndarray) -> Moments:
        """Read the points once."""
        b, c, U = len(self.landmarks_), len(self.classes_), self._basis
        cross, diagonal, kept = np.zeros((b, c)), 0.0, U.shape[1]
        grams: dict[bool, np.ndarray] = {}
        for has_label in (False, True):
            rows = np.flatnonzero((codes >= 0) == has_label)
            # Without unlabeled points there is no matrix to hold.
            if not (has_label or len(rows)):
                continue
            # eigenvalues of K_BB down to a millionth of the largest divide it, and a sum in
            # float32 is no more exact than that
            sums = kernels.GramSum(b, exact=True)
            for block in _blocks(len(rows), b, c, X.shape[1]):
                part = X[rows[block]]
                k = self._rows(part)
                own = codes[rows[block], None] == np.arange(c)
                cross += k.T @ own.astype(np.float32)
                diagonal += float(self._kernel.diagonal(part).sum(dtype=np.float64))
                sums.add(k)
                del part, k
            grams[has_label] = kernels.project_gram(sums.total(), U)[:kept, :kept]
        counts = np.bincount(codes[codes >= 0], minlength=c).astype(np.float64)
        return Moments(grams.get(False), grams[True], U.T @ cross, counts, diagonal)

    def _alternate(self, factors: Factorisation, moments: Moments) -> None:
        found = factors.alternate(moments, self.max_iter, self.tol)
        self.objective_, self.converged_ = found.objectives, found.near
        self.n_iter_ = len(found.objectives) - 1
        if not self.converged_:
            advice = "raise max_iter"
            if self.n_iter_ < self.max_iter:
                advice = "what is left is rounding of the kernel's values; raise l1 or l3"
            message = (
                f"after {self.n_iter_} rounds the objective is {self.objective_[-1]:.4g}, not "
                f"known to be within {NEAR:.0%} of what it falls to: {advice}"
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def _descend(
        self,
        factors: Factorisation,
        X: np.ndarray,
        codes: np.ndarray,
        rng: np.random.RandomState,
    ) -> None:
        exact = replace(factors, Wx=factors.Wx.copy(), Wy=factors.Wy.copy())
        factors.descend(
            lambda rows: self._rows(X[rows]) @ self._basis,
            codes,
            self.max_iter,
            self.batch_size,
            rng,
        )
        self.n_iter_, moments = self.max_iter, self._moments(X, codes)
        reached = factors.objective(moments, factors.codes(moments))
        found = exact.alternate(moments, _EXACT_ROUNDS, _EXACT_TOL)
        start, least = found.objectives[0], found.objectives[-1]
        self.objective_ = [start, reached]
        self.converged_ = found.near and reached <= (1 + NEAR) * least
        if not self.converged_:
            message = (
                f"after {self.max_iter} epochs the objective is {reached:.4g}, that of "
                f"alternating least squares {least:.4g}: not known to be within "
                f"{NEAR:.0%}; raise max_iter or use solver='als'"
            )
            warnings.warn(message, ConvergenceWarning, stacklevel=3)

    def _layers(self) -> list[Layer]:
        coef = self.coef_
        if coef.shape[1] == 2:
            coef = coef[:, 1:] - coef[:, :1]
        kernel = KernelValues(self.landmarks_, self._kernel.width, self._kernel.kernel)
        return [Center(self.center_, np.float32), kernel, Linear(coef)]

    def _scores(self, X: np.ndarray) -> np.ndarray:
        scores = np.empty((len(X), len(self.classes_)), np.float32)
        b, d = self.landmarks_.shape
        for block in _blocks(len(X), b, len(self.classes_), d):
            np.matmul(self._rows(X[block]), self.coef_, out=scores[block])
        return scores[:, 1:] - scores[:, :1] if scores.shape[1] == 2 else scores


def _row_width(b: int, c: int, d: int) -> int:
    """Numbers held for a row: kernel values, class, and itself in doubles, moved and scaled."""
    return b + 2 * c + 4 * d


def _blocks(n: int, b: int, c: int, d: int) -> Iterator[slice]:
    """Cut n rows into blocks of half a mebibyte; each adds to a matrix of order b."""
    step = max(kernels.block_rows(2 * _row_width(b, c, d), 4), b // 4)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


def storage(
    shape: Shape,
    size: int,
    rank: int = 100,
    kernel: str | kernels.KernelFunction = "rbf",
    selector: str | kernels.Selector = "uniform",
    solver: str = "als",
    batch_size: int = 64,
) -> Storage:
    """Count b landmarks, eigenvectors, and Gram matrices on their way there.

    SGD holds the kernel rows and codes of a batch besides.
    """
    n, d, i, b = shape.n, shape.n_features, shape.itemsize, min(size, shape.n)
    r, c, square = min(rank, b), max(2, shape.n_classes), 8 * b * b
    width = _row_width(b, c, d)
    rows = max(kernels.BLOCK_BYTES / (8 * width), 16, b // 4)
    # of doubles a row is picked, too
    block = int(min(n, rows) * (4 * width - (8 - i) * d))
    if kernel != "rbf":
        taken = n if isinstance(kernel, str) else min(n, int(rows))
        block += kernels.kernel_bytes(kernel, taken, b, d, 4, at_origin=True)
    held = Arrays(X=shape.data_bytes, labels=11 * n + 9 * shape.n_labeled)
    landmarks = Arrays(
        landmarks=4 * b * d,
        # of products of kernel rows, 64 at a time, and of points
        blas=kernels.blas_bytes(b, terms=64) + kernels.blas_bytes(max(b, int(rows)), 4, terms=d),
    )
    kernel_matrix = Arrays(kernel_matrix=square)
    # eigenvectors, one Gram matrix that is ready, and one to which blocks are added
    grams = Arrays(eigenvectors=square, grams=square * (2 if shape.n_unlabeled else 1))
    # what it was, what it is and its moments, those of SGD besides; matrices of codes, their roots
    factors = Arrays(factors=8 * b * r * (7 if solver == "sgd" else 6), of_rank=8 * r * r * 6)
    start = Arrays(start=8 * r * (b + c), sums_by_class=8 * 2 * b * c)
    reading = grams + start
    learning = {
        "landmarks": Arrays(picked=kernels.stream_bytes(b, 2 * d)),
        "kernel matrix": kernel_matrix
        + Arrays(
            float32=square // 2,
            working=kernels.kernel_bytes(kernel, b, b, d, 4, at_origin=True),
        ),
        "eigenvectors": kernel_matrix
        + Arrays(eigenvectors=square, workspace=kernels.eigen_workspace(b)),
        "Gram matrices": reading + Arrays(rows=block),
        "products": reading + Arrays(panel=kernels.GramSum.panel_bytes(b)),
        "projection": reading + Arrays(rows=kernels.stream_bytes(b, 2 * b)),
        "factorisation": grams + factors + Arrays(by_class=8 * c * (b + 6 * r)),
    }
    if solver == "sgd":
        m = min(n, batch_size)
        learning["descent"] = factors + Arrays(
            eigenvectors=square,
            points=m * (i + 4) * d,
            # in float32, in float64, and by eigenvectors
            kernel_values=m * 20 * b,
            codes=m * (8 * 5 * r + 8 * 3 * c),
            working=kernels.kernel_bytes(kernel, m, b, d, 4, at_origin=True),
        )
    fit = {
        "width": Arrays(sample=kernels.binding_bytes(kernel, n, d, i)),
        "selection": Arrays(selection=kernels.selection_bytes(selector, n, d, b, i, kernel)),
        **beside(landmarks, learning),
    }
    new = landmarks + Arrays(
        factors=8 * r * (b + c),
        coefficients=4 * b * c,
        rows=block,
        block=shape.new_block_bytes,
    )
    return Storage(fit, {"a block": new}, held)


@hookimpl
def harness_methods() -> list[Method]:
    """Provide SSOKMF."""
    return [
        Method(
            "ssokmf",
            SSOKMF,
            storage,
            size="n_landmarks",
            tasks={"binary", "multiclass"},
            space={
                "sigma": choice([0.25, 0.5, 1.0, 2.0]),
                "beta": log_uniform(1e-4, 0.1),
                "l3": log_uniform(1e-2, 10),
            },
            reference="castellanos2021",
        )
    ]
