"""The class around a foreign class, with its parameters."""

from __future__ import annotations

import contextlib
import functools
import inspect
from typing import Any

from harness.scikit_learn.wrapped import (
    SEED,
    Wrapped,
    WrappedClassifier,
    WrappedRegressor,
    make_class,
)


class _OfClass(Wrapped):
    """Around a class; `_further` are parameters that its constructor takes without naming them.

    `_own` are those that it does not take at all.
    """

    _further: frozenset[str]
    _own: frozenset[str]

    def _make(self) -> Any:
        params = self.get_params(deep=False)
        given = {name: value for name, value in params.items() if name not in self._own}
        absent = {name for name in self._further if given[name] is None}
        return self._foreign(**{name: v for name, v in given.items() if name not in absent})


class _Classifier(_OfClass, WrappedClassifier):
    pass


class _Regressor(_OfClass, WrappedRegressor):
    pass


@functools.cache
def around_class(
    foreign: type, unlabeled: str, regresses: bool, named: frozenset[str]
) -> type[Wrapped]:
    """Make the class around a foreign one, with its parameters.

    Of a constructor with `**kwargs`, as those of XGBoost and LightGBM, parameters are also what
    `get_params` tells, and what is named.
    """
    # a pipeline or a search is what its last step is, which its class does not say
    base = _Regressor if regresses else _Classifier
    signature = inspect.signature(foreign).parameters.values()
    takes_any = any(p.kind is p.VAR_KEYWORD for p in signature)
    names = {
        p.name: p.default for p in signature if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    }
    further = frozenset[str]()
    if takes_any:
        with contextlib.suppress(TypeError):  # where the constructor needs arguments
            told = foreign().get_params(deep=False)
            names |= {name: value for name, value in told.items() if name not in names}
        further = named - names.keys()
        names |= dict.fromkeys(sorted(further))

    own = frozenset[str]()
    if unlabeled == "tri-training" and SEED not in names:
        own = frozenset({SEED})
        names |= {SEED: None}
    constraints = {**getattr(foreign, "_parameter_constraints", {})}
    constraints |= {name: [SEED] for name in own}
    made_by = (around_class, foreign, unlabeled, regresses, named)
    return make_class(made_by, base, names, constraints, _further=further, _own=own)
