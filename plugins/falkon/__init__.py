"""FALKON and LogFALKON: squared and logistic loss over many points, in memory of M^2.

Conjugate gradients on the system of M landmarks, preconditioned by two Cholesky factors in one
square matrix (Rudi, Carratino & Rosasco 2017), and Newton steps of the same kind
(Marteau-Ferey, Bach & Rudi 2019). Rows of kernel values are computed anew in each pass.
"""

from __future__ import annotations

from functools import partial

from harness import Method, choice, hookimpl, log_uniform

from .falkon import Falkon
from .logfalkon import LogFalkon
from .storage import falkon_storage, logfalkon_storage

_WIDTHS = choice([0.25, 0.5, 1.0, 2.0, 4.0])


@hookimpl
def harness_methods() -> list[Method]:
    """Provide both."""
    machine = partial(Method, size="n_landmarks", uses_unlabeled=False)
    return [
        machine(
            "falkon",
            Falkon,
            falkon_storage,
            tasks={"regression", "binary", "multiclass"},
            space={"sigma": _WIDTHS, "alpha": log_uniform(1e-3, 10)},
            reference="rudi2017",
        ),
        machine(
            "logfalkon",
            LogFalkon,
            logfalkon_storage,
            tasks={"binary", "multiclass"},
            space={"sigma": _WIDTHS, "alpha": log_uniform(1e-3, 10)},
            reference="marteau2019",
        ),
    ]
