"""Methods that are given as objects, as plugins that a worker imports."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError, shown
from harness.plugin.method import Method

if TYPE_CHECKING:
    from harness.python.source import Definitions

_HEAD = "# Written by harness.run, which writes it anew: copy it to plugins/ to go on from it.\n"

_HOOK = """\
@hookimpl
def harness_methods():
    yield {made}
"""


def given_methods(methods: Any) -> tuple[list[Any], list[Method]]:
    """Tell methods that are objects from those that a study file can name.

    Parameters
    ----------
    methods : str, mapping, class, estimator, Method or list of these
        As in a study file; where it has a name there may be an estimator, or its class; a mapping
        may give one its name.

    Returns
    -------
    named : list
        What the study file says, in the order given.
    objects : list of Method
    """
    named: list[Any] = []
    objects: list[Method] = []
    for item in methods if isinstance(methods, list | tuple) else [methods]:
        for label, one in _labeled(item):
            if _is_object(one):
                method = _method(one, label)
                objects.append(method)
                named.append(method.name)
            else:
                named.append(one if label is None else label if one is None else {label: one})
    return named, objects


def _labeled(item: Any) -> list[tuple[Any, Any]]:
    """Return the objects of a mapping, and what stands beside them, with their names."""
    if isinstance(item, Mapping) and any(map(_is_object, item.values())):
        return list(item.items())
    return [(None, item)]


def plugin_files(methods: list[Method]) -> dict[str, str]:
    """Return a plugin for each method: the name of its file, and its text.

    Raises
    ------
    HarnessError
        If a method has what cannot be written into a file.
    """
    files: dict[str, str] = {}
    for method in methods:
        stem = re.sub(r"[^a-z0-9]+", "_", method.name.lower()).strip("_") or "method"
        while f"{stem}.py" in files:
            stem += "_2"
        files[f"{stem}.py"] = _text(method)
    return files


def _is_object(item: Any) -> bool:
    return isinstance(item, Method | type) or hasattr(item, "get_params") or callable(item)


def _method(item: Any, name: str | None) -> Method:
    from sklearn.base import is_classifier, is_clusterer, is_regressor

    from harness.python.source import changed_params
    from harness.scikit_learn import sklearn_method

    if isinstance(item, Method):
        return item if name is None else dataclasses.replace(item, name=name)
    if isinstance(item, type):
        return sklearn_method(item, name)
    if not hasattr(item, "get_params"):
        raise HarnessError(
            f"methods: {shown(item)} is no method: give a name, a class with fit and predict, "
            "an estimator, or a harness.Method"
        )
    kinds = {
        "classifier": is_classifier(item) and {"binary", "multiclass"},
        "regressor": is_regressor(item) and {"regression"},
        "clusterer": is_clusterer(item) and {"clustering"},
    }
    tasks = next((tasks for tasks in kinds.values() if tasks), None)
    if len(item.get_params()) > len(item.get_params(deep=False)):
        # what it holds has parameters and seeds of its own
        return sklearn_method(item, name, tasks=tasks)
    return sklearn_method(type(item), name, params=changed_params(item), tasks=tasks)


def _text(method: Method) -> str:
    from harness.python.source import Definitions

    found = Definitions(f"method {method.name!r}")
    made = _call(method, found)
    found.harness("hookimpl")
    return f"{_HEAD}{found.text}\n\n\n{_HOOK.format(made=made)}"


def _call(method: Method, found: Definitions) -> str:
    """Write the call that makes a method."""
    from harness.scikit_learn import wraps

    wrapped = wraps(method.estimator)
    foreign = method.estimator if wrapped is None else wrapped[0]
    said = {"name", "estimator"}
    arguments = [found.value(foreign), repr(method.name)]
    if wrapped is None:
        arguments.reverse()
    else:
        arguments.append(f"unlabeled={wrapped[1]!r}")
        if method.uses_unlabeled == (wrapped[1] != "ignored"):
            said.add("uses_unlabeled")
    for field in dataclasses.fields(method):
        value = getattr(method, field.name)
        if field.init and field.name not in said and not _is_default(field, value):
            value = set(value) if isinstance(value, frozenset) else value
            arguments.append(f"{field.name}={found.value(value)}")
    maker = found.harness("Method" if wrapped is None else "sklearn_method")
    lines = "".join(f"        {argument},\n" for argument in arguments)
    return f"{maker}(\n{lines}    )"


def _is_default(field: dataclasses.Field[Any], value: Any) -> bool:
    if field.default is not dataclasses.MISSING:
        return bool(value == field.default)
    return field.default_factory is not dataclasses.MISSING and value == field.default_factory()
