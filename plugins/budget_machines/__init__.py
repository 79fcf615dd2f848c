"""Machines on a budget of landmarks (Castellanos 2021, algorithms 2 and 3), exact or by SGD.

The function is a sum over the budget, f = sum_j a_j k(., x_j) + b with x_j in B, the loss is over
all labeled points. That is a linear machine on the Nystrom features L^-1 k(B, x), L L' = K_BB: the
budgeted SVM and the Nystrom SVM are one estimator. Features are computed in row blocks, as often
as they are needed, and one factorisation serves all classes.
"""

from __future__ import annotations

from functools import partial

from harness import Method, choice, hookimpl, log_uniform

from .lssvm import BudgetLSSVM, lssvm_storage
from .svm import BudgetSVM, svm_storage


@hookimpl
def harness_methods() -> list[Method]:
    """Provide the budgeted SVM, under its two names, and the budgeted LSSVM."""
    machine = partial(
        Method,
        size="n_landmarks",
        tasks={"binary", "multiclass"},
        space={"sigma": choice([0.25, 0.5, 1.0, 2.0, 4.0]), "C": log_uniform(1e-2, 1e4)},
    )
    svm = partial(
        machine, estimator=BudgetSVM, storage=svm_storage, head_params={"C", "smoothing"}
    )
    lssvm = partial(machine, estimator=BudgetLSSVM, storage=lssvm_storage, head_params={"C"})
    return [
        svm("budget-svm", reference="castellanos2021"),
        svm("nystrom-svm", reference="williams2001"),
        lssvm("budget-lssvm", reference="castellanos2021"),
    ]
