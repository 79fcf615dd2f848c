"""The parameters of a method's estimator: their defaults, and the values that it allows.

Estimators say what they allow as scikit-learn's do, in `_parameter_constraints`. Reading it takes
importing them, so a study's values are held against it by a process of its own (`harness.aside`).
"""

from __future__ import annotations

import contextlib
import inspect
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.aside import ask
from harness.method import Method
from harness.registry import NAMED, Registry


def refused_values(
    folders: Sequence[Path], given: Sequence[tuple[str, Mapping[str, Any]]]
) -> list[list[str]]:
    """Say for each method and its parameters which values its estimator does not allow.

    Parameters
    ----------
    folders : sequence of Path
        Plugin folders besides `plugins/`.
    given : sequence of (str, mapping)
        Names of methods, each with values of its parameters.

    Returns
    -------
    list of list of str
        Messages; none for estimators that do not say what they allow. Names of kernels and
        landmark selectors are not looked at.
    """
    if not any(params for _, params in given):
        return [[] for _ in given]
    return ask("harness.parameters", folders, given)


def describe_parameters(method: Method) -> dict[str, dict[str, str]]:
    """Return default and allowed values of each parameter, as text."""
    rules = getattr(method.estimator, "_parameter_constraints", {})
    return {
        name: {
            "default": _text(method.params.get(name, parameter.default)),
            "allowed": _allowed(rules.get(name, [])),
        }
        for name, parameter in inspect.signature(method.estimator).parameters.items()
    }


def _text(default: Any) -> str:
    if default is inspect.Parameter.empty:
        return ""
    return getattr(default, "__name__", None) or str(default)


def _allowed(rules: Sequence[Any] | str) -> str:
    from sklearn.utils._param_validation import StrOptions, make_constraint

    said = []
    for rule in () if isinstance(rules, str) else rules:
        if isinstance(rule, StrOptions):
            said += sorted(map(str, rule.options))
        else:
            # scikit-learn has rules that no constraint is made of
            with contextlib.suppress(ValueError):
                said.append(str(make_constraint(rule)))
    return ", ".join(said)


def _refused(method: Method, params: Mapping[str, Any]) -> list[str]:
    from sklearn.utils._param_validation import validate_parameter_constraints

    rules = getattr(method.estimator, "_parameter_constraints", {})
    messages = []
    for name, value in params.items():
        # what a name stands for is looked up when a trial begins
        if name not in rules or (name in NAMED and isinstance(value, str)):
            continue
        try:
            validate_parameter_constraints(rules, {name: value}, method.name)
        except ValueError as error:
            messages.append(str(error))
    return messages


if __name__ == "__main__":
    registry = Registry.load([Path(folder) for folder in sys.argv[1:]])
    answers = [
        _refused(registry.get("methods", name)[0], params) for name, params in json.load(sys.stdin)
    ]
    print(json.dumps(answers))
