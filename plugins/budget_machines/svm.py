"""The budgeted SVM: the hinge loss over all labeled points (Castellanos 2021, algorithm 2)."""

from __future__ import annotations

from typing import Literal

import numpy as np

from harness import Arrays, Shape, Storage, beside, kernels
from harness.estimator import NonNegativeFloat
from harness.semi_supervised import Labels

from .feature_cache import FeatureCache, cache_bytes
from .machine import EXACT, BudgetMachine, sgd_phases, shared_phases
from .newton_matrix import newton_bytes
from .one_vs_rest_hinge import train_hinge_machines

# Left in the heap by Newton matrices that come and go, and pages that a long solver touches.
_SCATTERED_BYTES = 1 << 18


class BudgetSVM(BudgetMachine):
    """Minimise |w|^2 + C sum_i max(0, 1 - y_i f(x_i)), the hinge loss (equation 4-5).

    One machine for each class against the rest. The penalty has no factor 1/2: C is twice
    LIBSVM's. The bias is free, as printed. With few landmarks the hinge is least, for classes that
    they do not tell apart, at f = -1 everywhere, and such a class is never predicted: there a
    smooth hinge is more accurate.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    landmarks_ : ndarray of shape (r, d), float32
        Without those that the others span; less `center_`.
    center_ : ndarray of shape (d,) or None
        Subtracted from points before they are rounded, where the kernel is one of differences.
    coef_ : ndarray of shape (r, Q), float32
        a; Q is 1 for two classes.
    intercept_ : ndarray of shape (Q,)
    objective_ : float
        Summed over the machines.
    gap_ : float
        Part of the objective by which it is above its minimum at most, that over features as
        float32 has them.
    converged_ : bool
        Whether it is within 2 % of the minimum for certain.
    """

    _loss = "hinge"
    smoothing: NonNegativeFloat = 0.0
    """Width of margins below 1 over which the corner of the hinge is a parabola: t^2 / 2 smoothing
    for t = 1 - y_i f(x_i) up to it, t - smoothing / 2 beyond (Shalev-Shwartz & Zhang 2013). 0
    is the hinge as printed; "exact" only.
    """
    solver: Literal["exact", "sgd"] = "exact"
    """How the objective is minimised. "exact": to a duality gap of 3e-4 of it, or of what it falls
    from its value at w = 0 if that is less, before coefficients are rounded to float32. "sgd":
    mini-batches, a step from the stability bound that falls as 1 / sqrt(epochs), the mean of the
    second half of the iterates.
    """

    def _prepare(self) -> None:
        self._cache()

    def _cache(self) -> FeatureCache:
        if not isinstance(self._prepared, FeatureCache):
            r, rows = self._features.n_components, self._rows
            held = cache_bytes(len(rows), r)
            self._prepared = FeatureCache(self._features, self._X, held, len(rows))
        return self._prepared

    def _minimise(self, labels: Labels, n: int) -> np.ndarray:
        cache = self._cache()
        codes, n_classes = labels.codes_of_all(n), len(labels.classes)
        problem = (self._features, self._X, self._rows, codes, n_classes, self.C)
        found = train_hinge_machines(*problem, cache, EXACT, self.smoothing)
        self.coef_, self.intercept_ = found.coefficients, found.intercepts
        self.objective_, self.gap_ = found.objective, found.gap / found.objective
        return found.scores

    def _descend(self, labels: Labels, n: int) -> None:
        if self.smoothing:
            message = (
                f"smoothing is {self.smoothing:g}, but solver='sgd' minimises the hinge as it is: "
                "use solver='exact', or smoothing=0"
            )
            raise ValueError(message)
        super()._descend(labels, n)


def svm_storage(
    shape: Shape,
    size: int,
    kernel: str | kernels.KernelFunction = "rbf",
    selector: str | kernels.Selector = "uniform",
    solver: str = "exact",
    smoothing: float = 0.0,
    tuned: bool = False,
) -> Storage:
    """Count b landmarks with their factor, a cache of feature rows, and a Newton matrix.

    8 n d + 4 b d + 4 b^2 + min(4 n b, 8 MB + 6 b^2) + 4 b^2 + 9 n Q: with 60,000 points and 1,280
    landmarks of 784 features 58 MB beside the data, and 5 more with `smoothing`.
    """
    n, b, Q = shape.n_labeled, min(size, shape.n), max(1, shape.n_classes)
    choosing, held, block, predict = shared_phases(shape, size, kernel, selector)
    if solver == "exact":
        cache, machines = cache_bytes(n, b), Q if Q > 2 else 1
        # of a smooth hinge all rows may be on the parabola at once
        active = n if smoothing else min(n, cache // (4 * b) + n // 3)
        solver_arrays = Arrays(
            features=block,
            cache=cache,
            scores_and_margins=9 * n * Q,
            vectors_of_rows=8 * 5 * n,
            vectors_of_active_rows=8 * (14 if smoothing else 12) * active,
            weights=8 * b * machines,
        )
        newton = Arrays(
            newton_matrix=newton_bytes(n, b), scattered=min(1024 * b, _SCATTERED_BYTES)
        )
        training = {
            "Newton step": solver_arrays + newton,
            "coefficients": solver_arrays + Arrays(side_by_side=12 * b * machines),
        }
    else:
        training = sgd_phases(shape, b, "hinge", block, tuned)
    return Storage(
        fit=choosing | beside(held, training),
        predict=predict,
    )
