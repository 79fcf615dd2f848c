"""scikit-learn's own estimator checks, but for those that ask what the harness never asks."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any
from unittest import SkipTest

from sklearn.utils.estimator_checks import estimator_checks_generator

from harness.conformance.finding import NotApplicableError
from harness.conformance.isolation import describe
from harness.plugin.abilities import takes_sparse
from harness.plugin.method import Method

DO_NOT_APPLY = {
    "check_classifiers_classes": "uses -1 and strings as classes; here -1 is a missing label",
    "check_supervised_y_no_nan": "wants NaN in y refused; here it is a missing target",
    "check_supervised_y_2d": "y of shape (n, 1) never reaches a method",
    "check_dtype_object": "X of objects never reaches a method",
    "check_classifiers_one_label_sample_weights": "the harness passes no weights",
    "check_all_zero_sample_weights_error": "the harness passes no weights",
    "check_methods_sample_order_invariance": "asks for 1e-7, less than float32 keeps; the "
    "harness's own check of permutations covers the order of rows",
    "check_methods_subset_invariance": "asks for 1e-7, less than float32 keeps",
}
"""Checks of scikit-learn that are left out, and why."""

_OF_SPARSE = (
    "check_estimator_sparse_array",
    "check_estimator_sparse_matrix",
    "check_estimator_sparse_tag",
)
"""Those of a method that takes a sparse X: none reaches another."""


def sklearn_checks(method: Method) -> Iterator[tuple[str, Callable[[], str]]]:
    """Iterate over the checks that apply to a method's estimator: name, and what runs it."""
    estimator = method.estimator(**method.params)
    left_out = {*DO_NOT_APPLY, *(() if takes_sparse(estimator) else _OF_SPARSE)}
    for instance, check in estimator_checks_generator(estimator, legacy=True):
        name = _name(check)
        if name not in left_out:
            yield name, functools.partial(_run, name, instance, check)


def _name(check: Any) -> str:
    while isinstance(check, functools.partial):
        check = check.func
    return check.__name__


def _run(name: str, estimator: Any, check: Callable[[Any], None]) -> str:
    try:
        check(estimator)
    except SkipTest as why:
        raise NotApplicableError(str(why)) from None
    except MemoryError:
        raise
    except Exception as error:
        return f"scikit-learn's {name} failed: {describe(error)}; see that function's docstring"
    return ""
