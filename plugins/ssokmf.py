"""Semi-supervised online kernel matrix factorisation on a budget (Castellanos 2021, 4-16 to 4-20).

Points are coded, phi(X) ~ phi(B) Wx H, so that the codes of labeled points give their labels,
Y ~ Wy H. For fixed Wx and Wy a code is linear in k(B, x) and y, so two Gram matrices of the budget
hold all that alternating least squares asks of the points: they are read once, H is never held.
"""

from __future__ import annotations

from numbers import Integral, Real
from typing import ClassVar, NamedTuple, Self

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from harness import Method, Shape, choice, hookimpl, kernels, log_uniform

# Eigenvalues of the budget's kernel matrix below this part of the largest are rounding.
_ROUNDING = 1e-6


class Moments(NamedTuple):
    """What the points contribute, sums over the unlabeled and over the labeled ones.

    All that has length b is in the eigenvectors of K_BB that are not rounding.

    Attributes
    ----------
    unlabeled, labeled : ndarray of shape (b, b)
        Sums of k k' with k = k(B, x); 0.0 where there are none.
    cross : ndarray of shape (b, c)
        Sum of k y', y one-hot.
    counts : ndarray of shape (c,)
        Labels of each class.
    diagonal : float
        Sum of k(x, x).
    """

    unlabeled: np.ndarray
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


class SSOKMF(ClassifierMixin, BaseEstimator):
    """Minimise alpha/2 |phi(X) - phi(B) Wx H|^2 + beta/2 |Y - Wy H_t|^2 and ridges on all three.

    Equation 4-16, with l1 / 2 |Wx|^2 + l2 / 2 |Wy|^2 + l3 / 2 |H|^2. The labeled share t is that
    of y. Codes of new points do not know their label; those of the labeled points do, the more so
    the larger beta is: hence its small default.

    Parameters
    ----------
    n_landmarks : int, default 100
        b, the points of the budget, chosen by `selector`; all of them where there are fewer.
    rank : int, default 100
        r, the length of a code; at most b.
    alpha, beta : float, default 1.0 and 0.001
        Weights of reconstruction and labels.
    l1, l2, l3 : float, default 0.1, 1e-3 and 0.1
        Ridges on Wx, Wy and H.
    kernel : str or KernelFunction, default "rbf"
        A name of `harness.kernels.KERNELS`, or an object like `harness.Kernel`.
    selector : str or callable, default "uniform"
        A name of `harness.kernels.SELECTORS`, or a callable as described there.
    sigma : float, default 0.5
        Width of the kernel, if it has one.
    sigma_unit : {"median", "absolute"}, default "median"
        What `sigma` counts: median distances between the points, or units of the features.
    solver : {"als", "sgd"}, default "als"
        Alternating least squares, each step exact; or equations 4-18 to 4-20, with the signs that
        make them gradients, on mini-batches with steps from their stability bound.
    max_iter : int, default 50
        Rounds of alternating least squares, or epochs.
    tol : float, default 1e-4
        Rounds end where the objective falls by less than this part.
    batch_size : int, default 64
        Of SGD.
    n_classes : int, optional
        Found from y by default.
    random_state : int, RandomState instance or None, default None

    Attributes
    ----------
    classes_ : ndarray of shape (c,)
    landmarks_ : ndarray of shape (b, d), float32
    Wx_, Wy_ : ndarrays of shape (b, r) and (c, r)
    coef_ : ndarray of shape (b, c), float32
        Scores are k(x, B) @ coef_.
    n_iter_ : int
    objective_ : list of float
        Before every round of alternating least squares; it never rises.
    """

    _parameter_constraints: ClassVar[dict] = {
        "n_landmarks": [Interval(Integral, 1, None, closed="left")],
        "rank": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "beta": [Interval(Real, 0, None, closed="neither")],
        "l1": [Interval(Real, 0, None, closed="neither")],
        "l2": [Interval(Real, 0, None, closed="neither")],
        "l3": [Interval(Real, 0, None, closed="neither")],
        "kernel": [StrOptions(set(kernels.KERNELS)), HasMethods("function")],
        "selector": [StrOptions(set(kernels.SELECTORS)), callable],
        "sigma": [Interval(Real, 0, None, closed="neither")],
        "sigma_unit": [StrOptions({"median", "absolute"})],
        "solver": [StrOptions({"als", "sgd"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "n_classes": [Interval(Integral, 2, None, closed="left"), None],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_landmarks: int = 100,
        rank: int = 100,
        alpha: float = 1.0,
        beta: float = 0.001,
        l1: float = 0.1,
        l2: float = 1e-3,
        l3: float = 0.1,
        kernel: str | kernels.KernelFunction = "rbf",
        selector: str | kernels.Selector = "uniform",
        sigma: float = 0.5,
        sigma_unit: str = "median",
        solver: str = "als",
        max_iter: int = 50,
        tol: float = 1e-4,
        batch_size: int = 64,
        n_classes: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.rank = rank
        self.alpha = alpha
        self.beta = beta
        self.l1 = l1
        self.l2 = l2
        self.l3 = l3
        self.kernel = kernel
        self.selector = selector
        self.sigma = sigma
        self.sigma_unit = sigma_unit
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.batch_size = batch_size
        self.n_classes = n_classes
        self.random_state = random_state

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        """Learn from all points; y is -1 where a point has no label."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32], order="C")
        check_classification_targets(y)
        labels = kernels.read_labels(y, self.n_classes)
        self.classes_, self._present = labels.classes, labels.present
        rng = check_random_state(self.random_state)
        self._kernel = kernels.bind_kernel(self.kernel, X, self.sigma, self.sigma_unit, np.float32)
        b = min(self.n_landmarks, len(X))
        chosen = kernels.select_landmarks(self.selector, X, b, rng, self._kernel)
        self.landmarks_ = X[chosen].astype(np.float32, copy=False)
        codes = np.full(len(X), -1)
        codes[labels.rows] = labels.codes

        K = np.empty((b, b))
        K[...] = self._rows(self.landmarks_)
        eigenvalues, U = kernels.eigensystem(K)
        del K
        # Elsewhere K_BB is rounding, and Wx would grow where it costs nothing.
        kept = max(1, int(np.sum(eigenvalues > _ROUNDING * eigenvalues[0])))
        eigenvalues, self._basis = eigenvalues[:kept].clip(0), U[:, :kept]
        # Codes start as kernel principal components of the budget, without a say of the labels.
        r = min(self.rank, kept)
        roots = np.sqrt(eigenvalues[:r])
        self.Wx_ = np.zeros((kept, r))
        self.Wx_[range(r), range(r)] = np.divide(1, roots, out=np.zeros(r), where=roots > 0)
        self.Wy_ = np.zeros((len(self.classes_), r))
        if self.solver == "als":
            self._alternate(eigenvalues, self._moments(X, codes))
        else:
            self._descend(eigenvalues, X, codes, rng)
        A = self._code_matrix(eigenvalues)[0]
        self.Wx_ = self._basis @ self.Wx_
        self.coef_ = self.alpha * self.Wx_ @ np.linalg.solve(A, self.Wy_.T)
        self.coef_ = self.coef_.astype(np.float32)
        del self._basis
        return self

    def _rows(self, X: np.ndarray) -> np.ndarray:
        return self._kernel(X.astype(np.float32, copy=False), self.landmarks_)

    def _moments(self, X: np.ndarray, codes: np.ndarray) -> Moments:
        """Read the points once."""
        b, c, U = len(self.landmarks_), len(self.classes_), self._basis
        cross, diagonal, grams = np.zeros((b, c)), 0.0, []
        for rows in (np.flatnonzero(codes < 0), np.flatnonzero(codes >= 0)):
            gram = kernels.GramSum(b) if len(rows) else None
            for block in kernels.gram_blocks(len(rows), b + c, X.shape[1]):
                part = X[rows[block]]
                k = self._rows(part)
                own = codes[rows[block], None] == np.arange(c)
                cross += k.T @ own.astype(np.float32)
                diagonal += float(self._kernel.diagonal(part).sum(dtype=np.float64))
                gram.add(k)
                del k
            # Without unlabeled points there is no matrix to hold.
            if gram is not None:
                gram = gram.total() @ U
                gram = U.T @ gram
            grams.append(0.0 if gram is None else gram)
        counts = np.bincount(codes[codes >= 0], minlength=c)
        return Moments(*grams, U.T @ cross, counts.astype(np.float64), diagonal)

    def _code_matrix(self, eigenvalues: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return what codes without and with a label are solved with."""
        A = self.alpha * self.Wx_.T @ (eigenvalues[:, None] * self.Wx_)
        A[np.diag_indices(len(A))] += self.l3
        return A, A + self.beta * self.Wy_.T @ self.Wy_

    def codes(self, eigenvalues: np.ndarray, moments: Moments) -> Codes:
        """Solve for the codes of all points, given Wx and Wy."""
        without, known = (cho_factor(A) for A in self._code_matrix(eigenvalues))
        U = self.alpha * cho_solve(without, self.Wx_.T).T
        P = self.alpha * cho_solve(known, self.Wx_.T).T
        S = self.beta * cho_solve(known, self.Wy_.T).T
        R, N = moments.cross, moments.counts[:, None]
        labeled_moment = moments.labeled @ P + R @ S
        label_moment = R.T @ P + N * S
        labeled_gram = P.T @ labeled_moment + S.T @ label_moment
        unlabeled_moment = np.dot(moments.unlabeled, U)
        kernel_moment = labeled_moment + unlabeled_moment
        gram = labeled_gram + U.T @ unlabeled_moment
        return Codes(U, P, S, kernel_moment, label_moment, gram, labeled_gram)

    def objective(self, eigenvalues: np.ndarray, moments: Moments, codes: Codes) -> float:
        """Return equation 4-16."""
        fit = moments.diagonal - 2 * np.sum(self.Wx_ * codes.kernel_moment)
        fit += np.sum((self.Wx_.T @ (eigenvalues[:, None] * self.Wx_)) * codes.gram)
        known = moments.counts.sum() - 2 * np.sum(self.Wy_ * codes.label_moment)
        known += np.sum((self.Wy_.T @ self.Wy_) * codes.labeled_gram)
        ridges = self.l1 * np.sum(self.Wx_**2) + self.l2 * np.sum(self.Wy_**2)
        ridges += self.l3 * np.trace(codes.gram)
        return float(self.alpha * fit + self.beta * known + ridges) / 2

    def _alternate(self, eigenvalues: np.ndarray, moments: Moments) -> None:
        self.objective_ = []
        for self.n_iter_ in range(1, self.max_iter + 1):  # noqa: B020
            codes = self.codes(eigenvalues, moments)
            self.objective_.append(self.objective(eigenvalues, moments, codes))
            if len(self.objective_) > 1:
                before, now = self.objective_[-2:]
                if before - now <= self.tol * before:
                    break
            # alpha K Wx G + l1 Wx = alpha M, with G = H H', in the eigenvectors of both.
            values, V = np.linalg.eigh(codes.gram)
            bend = np.outer(eigenvalues, values.clip(0)) + self.l1 / self.alpha
            self.Wx_ = (codes.kernel_moment @ V / bend) @ V.T
            values, V = np.linalg.eigh(codes.labeled_gram)
            V /= np.sqrt(self.beta * values.clip(0) + self.l2)
            self.Wy_ = self.beta * (codes.label_moment @ V) @ V.T

    def _descend(
        self, eigenvalues: np.ndarray, X: np.ndarray, codes: np.ndarray, rng: np.random.RandomState
    ) -> None:
        n, bend = len(X), eigenvalues[0]
        self.n_iter_ = self.max_iter
        for epoch in range(self.max_iter):
            order = rng.permutation(n)
            for start in range(0, n, self.batch_size):
                rows = order[start : start + self.batch_size]
                k, y = self._rows(X[rows]) @ self._basis, codes[rows]
                known = y >= 0
                one_hot = (y[:, None] == np.arange(len(self.classes_))).astype(np.float64)
                h = np.empty((len(rows), self.Wx_.shape[1]))
                right = self.alpha * k @ self.Wx_ + self.beta * one_hot @ self.Wy_
                for A, where in zip(self._code_matrix(eigenvalues), (~known, known), strict=True):
                    h[where] = cho_solve(cho_factor(A), right[where].T).T
                slope_x, slope_y = gradients(self, eigenvalues, k, one_hot, known, h, n)
                largest = np.square(h).sum(axis=1).max()
                fall = np.sqrt(1 + epoch + start / n)
                self.Wx_ -= slope_x / (self.alpha * bend * largest + self.l1 / n) / fall
                self.Wy_ -= slope_y / (self.beta * largest + self.l2 / n) / fall

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Return scores of shape (n,) for two classes, else (n, n_classes)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32], order="C")
        scores = np.empty((len(X), len(self.classes_)), np.float32)
        for block in kernels.gram_blocks(len(X), *self.landmarks_.shape):
            np.matmul(self._rows(X[block]), self.coef_, out=scores[block])
        scores = scores[:, 1:] - scores[:, :1] if scores.shape[1] == 2 else scores
        return kernels.as_decision(scores, self._present, len(self.classes_))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the class of each row."""
        return kernels.decide(self.decision_function(X), self.classes_)


def gradients(
    model: SSOKMF,
    eigenvalues: np.ndarray,
    k: np.ndarray,
    y: np.ndarray,
    known: np.ndarray,
    h: np.ndarray,
    n: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean over some points of the gradients of 4-17 in Wx and Wy, codes held.

    The first terms of 4-18 to 4-20 have the signs that differentiation gives, not those printed,
    and the ridges on Wx and Wy, which 4-17 counts once a point, are divided by the n points.
    k, of shape (m, b), is in the eigenvectors of K_BB, as Wx is; y, of shape (m, c), is one-hot,
    `known` says where it has a label; h, of shape (m, r), are the codes.
    """
    m = len(h)
    slope_x = model.alpha * (eigenvalues[:, None] * model.Wx_ @ (h.T @ h) - k.T @ h) / m
    slope_x += model.l1 / n * model.Wx_
    labeled = h[known]
    slope_y = model.beta * ((labeled @ model.Wy_.T - y[known]).T @ labeled) / m
    return slope_x, slope_y + model.l2 / n * model.Wy_


def storage(
    shape: Shape,
    size: int,
    rank: int = 100,
    kernel: str | kernels.KernelFunction = "rbf",
    selector: str | kernels.Selector = "uniform",
    solver: str = "als",
) -> int:
    """Bytes held: the data, b landmarks, eigenvectors, and Gram matrices on their way there."""
    n, d, i, b = shape.n, shape.n_features, shape.itemsize, min(size, shape.n)
    r, c, square = min(rank, b), max(2, shape.n_classes), 8 * b * b
    block = kernels.gram_block_bytes(n, b + c, d) // 2
    factors = 8 * b * r * 8 + 8 * r * r * 12 + 8 * b * c * 4
    grams = square * (2 if shape.n_unlabeled else 1)
    own = kernels.kernel_bytes(kernel, b, b, d, 4)
    decomposing = max(3 * square + 600 * b, square + square // 2 + own)
    reading = square + grams + max(square, square // 2 + block)
    training = max(decomposing, reading) if solver == "als" else decomposing
    loaded = shape.block_bytes if shape.n_test else 0
    selecting = kernels.selection_bytes(selector, n, d, b, i, kernel)
    choosing = max(kernels.binding_bytes(kernel, n, d, i), selecting)
    panels = kernels.blas_bytes(b) + 2 * kernels.blas_bytes(b, 4)
    held = 4 * b * d + panels + 8 * 3 * n
    return shape.data_bytes + max(choosing, held + max(training + factors, block + loaded))


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
