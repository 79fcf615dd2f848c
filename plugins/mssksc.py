"""Semi-supervised kernel spectral learning on random Fourier features (Mehrkanoon 2016).

Minimises |w|^2 / 2 - g1/2 e'Ve + g2/2 (e - c)'A(e - c) with e = Phi w + b over explicit features:
one Gram matrix, summed up over row blocks, whatever the number of points.
"""

from __future__ import annotations

import warnings
from numbers import Integral, Real
from typing import ClassVar, Self

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.linalg.lapack import dsysv, dsysv_lwork
from scipy.sparse.linalg import eigsh
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from harness import Method, Shape, hookimpl, kernels, log_uniform, uniform


class RFFMSSKSC(ClassifierMixin, BaseEstimator):
    """Multi-class semi-supervised kernel spectral clustering on random Fourier features.

    Parameters
    ----------
    n_components : int, default 300
        Features, m = 2D: they come in pairs. An odd number is rounded down, but 1 up to one pair.
    gamma1 : float, default 0.1
        Weight of the spectral term. Below 1 the problem is convex in w for exact degrees.
    gamma2 : float, default 1.0
        Weight of the labels, for each labeled point. Larger values overfit a few labels: by up to
        .1 of AUC at 100 on a9a, australian, svmguide3 and breast_cancer.
    sigma : float, default 1.0
        Width of the kernel.
    sigma_unit : {"median", "absolute"}, default "median"
        What `sigma` counts: median distances between the points, or units of the features.
    penalise_bias : bool, default False
        True solves the paper's equation 19, whose identity covers the bias too (the kernel is
        then Omega + 1); False solves the objective it is derived from, equation 17.
    n_classes : int, optional
        Found from y by default.
    random_state : int, RandomState instance or None, default None

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    coef_ : ndarray of shape (m, Q)
        One column for two classes: the second would be its opposite.
    intercept_ : ndarray of shape (Q,)
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "gamma1": [Interval(Real, 0, None, closed="left")],
        "gamma2": [Interval(Real, 0, None, closed="neither")],
        "sigma": [Interval(Real, 0, None, closed="neither")],
        "sigma_unit": [StrOptions({"median", "absolute"})],
        "penalise_bias": ["boolean"],
        "n_classes": [Interval(Integral, 2, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int = 300,
        gamma1: float = 0.1,
        gamma2: float = 1.0,
        sigma: float = 1.0,
        sigma_unit: str = "median",
        penalise_bias: bool = False,
        n_classes: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.gamma1 = gamma1
        self.gamma2 = gamma2
        self.sigma = sigma
        self.sigma_unit = sigma_unit
        self.penalise_bias = penalise_bias
        self.n_classes = n_classes
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from all points; y is -1 where a point has no label."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C")
        check_classification_targets(y)
        labels = kernels.read_labels(y, self.n_classes)
        self.classes_ = labels.classes
        rng = check_random_state(self.random_state)
        width = kernels.kernel_width(X, self.sigma, self.sigma_unit)
        d = X.shape[1]
        self._features = kernels.RandomFourierFeatures(d, self.n_components, width, rng)

        # R = g2 A - g1 V, V = D^-1 with the degrees of the features, floored at 1.
        R = np.zeros(len(X))
        if self.gamma1:
            R -= self.gamma1 / kernels.feature_degrees(self._features, X)
        R[labels.rows] += self.gamma2
        c = np.zeros((len(X), labels.targets().shape[1]), np.float32)
        c[labels.rows] = self.gamma2 * labels.targets()
        solution = _solve(*self._normal_equations(X, R, c))
        self.coef_, self.intercept_ = solution[:-1], solution[-1]
        return self

    def _normal_equations(
        self, X: np.ndarray, R: np.ndarray, c: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        m = self._features.n_components
        H, right = np.eye(m + 1), np.zeros((m + 1, c.shape[1]))
        H[-1, -1] = self.penalise_bias
        for block in kernels.gram_blocks(len(X), m, X.shape[1]):
            Phi = _with_ones(self._features.transform(X[block]))
            right += Phi.T @ c[block]
            H += (Phi * R[block, None].astype(np.float32)).T @ Phi
            del Phi
        return H, right

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return scores (n,) for two classes, else (n, n_classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C")
        blocks = kernels.row_blocks(len(X), 2 * self._features.n_components + X.shape[1], 4)
        coef = self.coef_.astype(np.float32)
        scores = [self._features.transform(X[block]) @ coef for block in blocks]
        scores = np.concatenate(scores) + self.intercept_
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of the highest score.

        For one-vs-rest codes this is the nearest code word in Hamming distance, ties broken by
        score; the paper leaves ties open, and with few labels most points are ties.
        """
        return kernels.decide(self.decision_function(X), self.classes_)


def _with_ones(Phi: np.ndarray) -> np.ndarray:
    return np.concatenate([Phi, np.ones((len(Phi), 1), Phi.dtype)], axis=1)


def _solve(H: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Solve H x = right for a symmetric H that should be, but need not be, positive definite."""
    diagonal = H.diagonal().copy()
    try:
        # Only the lower triangle is overwritten, so that H can be had back from the upper one.
        return cho_solve(cho_factor(H.T, lower=True, overwrite_a=True), right)
    except LinAlgError:
        kernels.mirror(H)
        np.fill_diagonal(H, diagonal)
    start = np.ones(len(H))
    smallest = eigsh(H, 1, which="SA", v0=start, tol=1e-3, return_eigenvectors=False)[0]
    message = f"the problem has no minimum (smallest eigenvalue {smallest:.3g}): lower gamma1"
    warnings.warn(message + " or raise gamma2; its stationary point is used", stacklevel=3)
    # LDL' in place of H: scipy.linalg.solve would hold a second and a third matrix.
    work = int(dsysv_lwork(len(H))[0])
    return dsysv(H.T, right, lwork=work, overwrite_a=True)[2]


def storage(shape: Shape, size: int) -> int:
    """Bytes held: the data, frequencies, the Gram matrix in float64 and a block's share of it.

    8 n d + 2 m d + 16 m^2: the second 8 m^2 are a block's Gram matrix in float32 with the block
    itself, or room for the factorisation of an indefinite matrix.
    """
    n, d, m = shape.n, shape.n_features, size + 1
    points = n * (8 * 4 + 4 * max(1, shape.n_classes))
    frequencies = 2 * d * m
    block = kernels.gram_block_bytes(n, m, d) // 2
    loaded = shape.block_bytes if shape.n_test else 0
    predicting = loaded + kernels.stream_bytes(n + shape.n_test, 2 * m + d, 4)
    peak = max(
        kernels.width_bytes(n, d, shape.itemsize),
        12 * m * m + block,
        16 * m * m,
        predicting,
    )
    panels = kernels.blas_bytes(m, 4) + kernels.blas_bytes(m)
    return shape.data_bytes + points + frequencies + panels + peak


def sizes(shape: Shape) -> tuple[int, int]:
    """Return a pair of features at the least, as many as points or 10,000 at the most."""
    return 2, max(2, min(shape.n, 10_000))


@hookimpl
def harness_methods() -> list[Method]:
    """Provide RFF-MSSKSC."""
    return [
        Method(
            "rff-mssksc",
            RFFMSSKSC,
            storage,
            size="n_components",
            sizes=sizes,
            tasks={"binary", "multiclass"},
            space={
                "gamma1": uniform(0, 0.95),
                "gamma2": log_uniform(1, 1e4),
                "sigma": log_uniform(0.1, 2),
            },
            reference="mehrkanoon2016",
        )
    ]
