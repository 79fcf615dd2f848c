"""The class around an estimator that holds others, with the parameters of all of them.

A pipeline's parameters are those of its steps, which a study sets and tunes as `svc__C`.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

from harness.scikit_learn.wrapped import (
    SEED,
    Wrapped,
    WrappedClassifier,
    WrappedRegressor,
    make_class,
)


class _OfObject(Wrapped):
    """Around an object; `_seeded` are the parameters that its `random_state` stands for."""

    _seeded: tuple[str, ...]

    def set_params(self, **params: Any) -> Self:
        """Set parameters: `svc__C` is one of ours, and not one of an `svc` that we hold."""
        type(self)(**params)  # refuses what is unknown
        for name, value in params.items():
            setattr(self, name, value)
        return self

    def _make(self) -> Any:
        given, made = self.get_params(deep=False), clone(self._foreign)
        seed = given.pop(SEED, None)
        if seed is not None:
            most = np.iinfo(np.int32).max
            draws = check_random_state(seed).randint(most, size=len(self._seeded)).tolist()
            given |= dict(zip(self._seeded, draws, strict=True))
        before = self._foreign.get_params()
        return made.set_params(**{k: v for k, v in given.items() if v is not before[k]})


class _Classifier(_OfObject, WrappedClassifier):
    pass


class _Regressor(_OfObject, WrappedRegressor):
    pass


@functools.cache
def around_object(foreign: Any, unlabeled: str, regresses: bool) -> type[Wrapped]:
    """Make the class around an object that nobody else changes."""
    found = foreign.get_params()
    seeded = tuple(sorted(name for name in found if name.rpartition("__")[2] == SEED))
    names = {
        name: value
        for name, value in found.items()
        if name not in seeded and not _holds_estimators(value)
    }
    constraints = {name: _constraint(found, foreign, name) for name in names}
    if seeded or unlabeled == "tri-training":
        names[SEED] = None
        constraints[SEED] = [SEED]
    told = {name: values for name, values in constraints.items() if values is not None}
    base = _Regressor if regresses else _Classifier
    made_by = (around_object, foreign, unlabeled, regresses)
    return make_class(made_by, base, names, told, _seeded=seeded)


def _holds_estimators(value: Any) -> bool:
    """Whether it is an estimator, or a list of them, or of pairs of a name and one."""
    parts = value if isinstance(value, list | tuple) else [value]
    inner = [item for part in parts for item in (part if isinstance(part, tuple) else [part])]
    return any(hasattr(item, "get_params") for item in inner)


def _constraint(found: Mapping[str, Any], foreign: Any, name: str) -> Any:
    """Return what the class of a step says of its parameter; None where it says nothing."""
    owner, _, inner = name.rpartition("__")
    part = found.get(owner) if owner else foreign
    return getattr(type(part), "_parameter_constraints", {}).get(inner)
