"""Parameters of estimators on kernels and landmarks, written once, with what each decides.

An estimator derives from the classes whose parameters it has, and may give them other defaults.
"""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Literal

import numpy as np

from harness.estimator import Estimator, PositiveFloat, PositiveInt, RandomState
from harness.kernels.functions import BoundKernel, KernelFunction, KernelName, bind_kernel
from harness.kernels.landmarks import Selector, SelectorName, select_landmarks
from harness.kernels.transfer_functions import apply_transfer
from harness.kernels.width import kernel_width


class GaussianWidth(Estimator):
    """The width of a Gaussian kernel."""

    _: KW_ONLY
    sigma: PositiveFloat = 1.0
    """Width of the kernel."""
    sigma_unit: Literal["median", "absolute"] = "median"
    """What `sigma` counts: median distances between the points, or units of the features."""

    def _width_on(self, X: np.ndarray) -> float:
        """Return the width in the units of X."""
        return kernel_width(X, self.sigma, self.sigma_unit)

    def _gaussian_on(self, X: np.ndarray) -> BoundKernel:
        """Return the Gaussian kernel of that width, moved to the middle of X."""
        return bind_kernel("rbf", X, self.sigma, self.sigma_unit)


class AnyKernel(Estimator):
    """A kernel by its name, or one of a plugin."""

    _: KW_ONLY
    kernel: KernelName | KernelFunction = "rbf"
    """A name of `harness.kernels.KERNELS`, or an object like `harness.Kernel`."""
    sigma: PositiveFloat = 1.0
    """Width of the kernel, if it has one."""
    sigma_unit: Literal["median", "absolute"] = "median"
    """What `sigma` counts: median distances between the points, or units of the features."""

    def _kernel_on(self, X: np.ndarray) -> BoundKernel:
        """Return the kernel with its width on X."""
        return bind_kernel(self.kernel, X, self.sigma, self.sigma_unit)


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
        return select_landmarks(self.selector, X, min(n_landmarks, len(X)), rng, kernel)


class Landmarks(LandmarkSelection):
    """Landmarks, and how many."""

    n_landmarks: PositiveInt = 100
    """Points chosen by `selector`; all of them where there are fewer."""


class TransferSettings(Estimator):
    """Settings of the transfer functions of a cluster kernel."""

    _: KW_ONLY
    epsilon: PositiveFloat = 0.3
    """eps of the regularised Laplacian. The smaller, the more clusters count: clusters without
    noise and a handful of labels want 0.05 or less.
    """
    degree: PositiveFloat = 2.0
    """Of the polynomial."""
    cut: PositiveInt | None = None
    """Eigenvalues before the step: "step" keeps them, "poly-step" takes their square roots. The
    paper's n_labeled + 8 by default.
    """

    def _transferred(self, eigenvalues: np.ndarray, transfer: str, n_labeled: int) -> np.ndarray:
        """Return what becomes of eigenvalues where so many points are labeled."""
        return apply_transfer(
            eigenvalues, transfer, n_labeled, self.epsilon, self.degree, self.cut
        )
