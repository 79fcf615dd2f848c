"""Kernel ridge regression on all labeled points, without their kernel matrix.

Conjugate gradients with products of tiles that are computed anew, preconditioned by a Nystrom
approximation of low rank (Frangella, Tropp & Udell 2023; with random pivots Diaz, Epperly,
Frangella, Tropp & Webber 2023). Memory is of the order of the points times that rank.
"""

from __future__ import annotations

from math import ceil

from harness import Method, Shape, choice, hookimpl, log_uniform

from .ridge import PreconditionedKernelRidge
from .storage import ridge_storage


def ranks(shape: Shape) -> tuple[int, int]:
    """Return what makes sense: past some sqrt(n) a higher rank costs more than it saves."""
    return 1, min(shape.n, ceil(10 * shape.n**0.5))


@hookimpl
def harness_methods() -> list[Method]:
    """Provide it."""
    return [
        Method(
            "pcg-krr",
            PreconditionedKernelRidge,
            ridge_storage,
            size="n_landmarks",
            sizes=ranks,
            size_affects="time",
            tasks={"regression", "binary", "multiclass"},
            space={
                "sigma": choice([0.25, 0.5, 1.0, 2.0, 4.0]),
                "alpha": log_uniform(1e-3, 10),
            },
            uses_unlabeled=False,
            reference="diaz2023",
        )
    ]
