"""The parameters of a method's estimator: their defaults, and the values that it allows.

An `Estimator` of the harness says what it allows by types. Estimators of scikit-learn say it in
`_parameter_constraints`; others say nothing, and no value of theirs is refused. Reading either
takes importing them, so a study's values are held against it by a process of its own
(`harness.plugin.out_of_process`).
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import itertools
import json
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.plugin.environments import environment_for
from harness.plugin.method import Method
from harness.plugin.out_of_process import ask
from harness.plugin.registry import NAMED, Registry


def refused_values(
    folders: Sequence[Path],
    given: Sequence[tuple[str, Mapping[str, Any]]],
    requirements: Mapping[str, Sequence[str]],
) -> list[list[str]]:
    """Say for each method and its parameters which values its estimator does not allow.

    Parameters
    ----------
    folders : sequence of Path
        Plugin folders besides `plugins/`.
    given : sequence of (str, mapping)
        Names of methods, each with values of its parameters.
    requirements : mapping of str to sequence of str
        Of the plugins of these methods.

    Returns
    -------
    list of list of str
        Messages; none for estimators that do not say what they allow. Names of kernels and
        landmark selectors are not looked at.
    """
    if not any(params for _, params in given):
        return [[] for _ in given]
    answers: list[list[str]] = [[] for _ in given]
    places: dict[Path | None, list[int]] = {}
    for place, (name, _) in enumerate(given):
        environment = environment_for(requirements[name])
        places.setdefault(environment.python if environment else None, []).append(place)
    for python, asked in places.items():
        told = ask("harness.plugin.parameters", folders, [given[i] for i in asked], python)
        for place, messages in zip(asked, told, strict=True):
            answers[place] = messages
    return answers


def describe_parameters(method: Method) -> dict[str, dict[str, str]]:
    """Return default, allowed values and meaning of each parameter, as text."""
    texts = parameter_texts(method.estimator)
    return {
        name: {
            "default": _text(method.params.get(name, parameter.default)),
            "allowed": _allowed(method.estimator, name),
            "meaning": texts.get(name, ""),
        }
        for name, parameter in inspect.signature(method.estimator).parameters.items()
    }


def own_names(method: Method) -> dict[str, Any]:
    """Describe which names of kernels and selectors a method's parameters list.

    Returns
    -------
    dict
        For each of `NAMED`: "names", a sorted list, and "others", whether further names may stand
        for objects that the parameter takes.
    """
    from harness.estimator import listed_names, parameters, takes_objects

    allowed, own = parameters(method.estimator), {}
    for name in NAMED:
        if name in allowed:
            names, others = listed_names(allowed[name]), takes_objects(allowed[name])
        else:
            names, others = _constrained_names(method.estimator, name)
        own[name] = {"names": sorted(names), "others": others or not names}
    return own


def parameter_texts(estimator: type) -> dict[str, str]:
    """Return what the source of an `Estimator` says of each parameter: the text below it."""
    from harness.estimator import Estimator

    texts: dict[str, str] = {}
    for base in reversed(estimator.__mro__):
        if base is Estimator or not issubclass(base, Estimator):
            continue
        with contextlib.suppress(OSError, TypeError):  # no source, as of a class made in a shell
            (tree,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
            body = tree.body if isinstance(tree, ast.ClassDef) else []
            for field, text in itertools.pairwise(body):
                match field, text:
                    case (
                        ast.AnnAssign(target=ast.Name(id=name)),
                        ast.Expr(value=ast.Constant(value=str(said))),
                    ):
                        texts[name] = inspect.cleandoc(said)
    return texts


def _text(default: Any) -> str:
    if default is inspect.Parameter.empty:
        return ""
    return getattr(default, "__name__", None) or str(default)


def _allowed(estimator: type, name: str) -> str:
    from sklearn.utils._param_validation import StrOptions, make_constraint

    from harness.estimator import describe, parameters

    if name in parameters(estimator):
        return describe(parameters(estimator)[name])
    said = []
    for rule in _rules(estimator, name):
        if isinstance(rule, StrOptions):
            said += sorted(map(str, rule.options))
        else:
            # scikit-learn has rules that no constraint is made of
            with contextlib.suppress(ValueError):
                said.append(str(make_constraint(rule)))
    return ", ".join(said)


def _refused(method: Method, params: Mapping[str, Any]) -> list[str]:
    from harness.estimator import refusal

    messages = []
    for name, value in params.items():
        # what a name stands for is looked up when a trial begins
        if name in NAMED and isinstance(value, str):
            continue
        messages.append(refusal(method.estimator, name, value, method.name))
        messages.append(_constraint_broken(method, name, value))
    return [message for message in messages if message]


def _constraint_broken(method: Method, name: str, value: Any) -> str:
    from sklearn.utils._param_validation import validate_parameter_constraints

    rules = getattr(method.estimator, "_parameter_constraints", {})
    if name in rules:
        try:
            validate_parameter_constraints(rules, {name: value}, method.name)
        except ValueError as error:
            return str(error)
    return ""


def _constrained_names(estimator: type, name: str) -> tuple[frozenset[str], bool]:
    from sklearn.utils._param_validation import HasMethods, StrOptions

    rules = _rules(estimator, name)
    listed = [rule.options for rule in rules if isinstance(rule, StrOptions)]
    objects = any(rule is callable or isinstance(rule, HasMethods) for rule in rules)
    return frozenset().union(*listed), objects


def _rules(estimator: type, name: str) -> Sequence[Any]:
    rules = getattr(estimator, "_parameter_constraints", {}).get(name, [])
    return () if isinstance(rules, str) else rules


if __name__ == "__main__":
    registry = Registry.load([Path(folder) for folder in sys.argv[1:]])
    answers = [
        _refused(registry.get("methods", name)[0], params) for name, params in json.load(sys.stdin)
    ]
    print(json.dumps(answers))
