"""Estimators whose parameters are written once: name, type, default and a text.

    class NearestMean(ClassifierMixin, Estimator):
        sigma: PositiveFloat = 1.0
        '''Width of the kernel.'''
        metric: Literal["euclidean", "cosine"] = "euclidean"
        '''What is near.'''

The constructor, the check of values before a fit, the refusal of values in a study and the table
of `harness methods` follow from that. An estimator is a dataclass and what scikit-learn calls one:
it can be cloned, and searched, and passes `check_estimator`.

What a parameter allows is its type. Bounds are those of `annotated_types`, as pydantic's are.
"""

from __future__ import annotations

import inspect
import math
import types
import typing
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, fields
from functools import cache
from numbers import Integral, Real
from typing import Annotated, Any, Literal, dataclass_transform

import numpy as np
from annotated_types import BaseMetadata, Ge, GroupedMetadata, Gt, Interval, Le, Lt
from sklearn.base import BaseEstimator

PositiveFloat = Annotated[float, Gt(0)]
NonNegativeFloat = Annotated[float, Ge(0)]
PositiveInt = Annotated[int, Ge(1)]
NonNegativeInt = Annotated[int, Ge(0)]
ClassCount = Annotated[int, Ge(2)]
Fraction = Annotated[float, Interval(ge=0, le=1)]
RandomState = NonNegativeInt | np.random.RandomState | None
"""What `sklearn.utils.check_random_state` takes."""


@dataclass(frozen=True, eq=False)
class OneOf(BaseMetadata):
    """Bound of a string: it is one of these names, which may grow until a value is checked."""

    names: Collection[str]


@dataclass_transform(eq_default=False)
class Estimator(BaseEstimator):
    """A scikit-learn estimator whose parameters are the fields of a dataclass.

    A field without a value is for the constructor to be given. `ClassVar` and attributes without
    an annotation are no parameters.
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # another default leaves a parameter where it was: by keyword, if it was
        given = {
            one.name: cls.__dict__[one.name]
            for base in cls.__mro__[1:]
            for one in getattr(base, "__dataclass_fields__", {}).values()
            if one.kw_only and one.name in inspect.get_annotations(cls)
        }
        for name, default in given.items():
            setattr(cls, name, field(default=default, kw_only=True))
        dataclass(cls, eq=False, repr=False)

    def _validate_params(self) -> None:
        """Raise ValueError for the first parameter whose value its type does not allow."""
        for name in parameters(type(self)):
            message = refusal(type(self), name, getattr(self, name), type(self).__name__)
            if message:
                raise ValueError(message)


def parameters(estimator: type) -> dict[str, Any]:
    """Return the parameters of an `Estimator` and what each allows, as a type."""
    return _types(estimator)


def refusal(estimator: type, name: str, value: Any, owner: str) -> str:
    """Say why a parameter cannot have a value; empty if it can.

    Parameters
    ----------
    estimator : type
        An `Estimator`; of others nothing is refused.
    name : str
    value : object
    owner : str
        Whose parameter it is, for the message.
    """
    allowed = parameters(estimator).get(name, Any)
    if admits(allowed, value):
        return ""
    return f"The {name!r} parameter of {owner} must be {describe(allowed)}. Got {value!r} instead."


def admits(allowed: Any, value: Any) -> bool:
    """Whether a value is of a type, within its bounds."""
    kind, origin = allowed, typing.get_origin(allowed)
    if origin is Annotated:
        kind, *bounds = typing.get_args(allowed)
        return admits(kind, value) and all(_holds(bound, value) for bound in _flat(bounds))
    if origin in (typing.Union, types.UnionType):
        return any(admits(one, value) for one in typing.get_args(allowed))
    if origin is Literal:
        return any(value == one and type(value) is type(one) for one in typing.get_args(allowed))
    if kind is Any:
        return True
    if origin is not None:
        kind = origin
    if kind in (None, types.NoneType):
        return value is None
    if kind is bool:
        return isinstance(value, (bool, np.bool_))
    if kind is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    if kind is float:
        number = isinstance(value, Real) and not isinstance(value, bool)
        return number and math.isfinite(value)
    if kind is Callable:
        return callable(value)
    if kind is Sequence:
        return isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, str)
    return isinstance(value, kind)


def describe(allowed: Any) -> str:
    """Return in words what a type with bounds allows: "a number above 0, or None"."""
    origin, arguments = typing.get_origin(allowed), typing.get_args(allowed)
    if origin is Annotated:
        kind, *bounds = arguments
        named = [bound for bound in bounds if isinstance(bound, OneOf)]
        if named:
            return _one_of(sorted(named[0].names))
        return " ".join([describe(kind), _join(map(_bound, _flat(bounds)), " and ")]).strip()
    if origin in (typing.Union, types.UnionType):
        return _join(map(describe, arguments), ", or ")
    if origin is Literal:
        return _one_of(arguments)
    words: dict[Any, str] = {
        **{Any: "anything", types.NoneType: "None", None: "None", bool: "true or false"},
        **{int: "a whole number", float: "a number", str: "a text", Callable: "a callable"},
        **{Sequence: "a sequence"},
    }
    kind = allowed if origin is None else origin
    return words.get(kind) or f"a {getattr(kind, '__name__', kind)}"


def listed_names(allowed: Any) -> frozenset[str]:
    """Return the strings that a type lists."""
    if typing.get_origin(allowed) is Literal:
        return frozenset(one for one in typing.get_args(allowed) if isinstance(one, str))
    if typing.get_origin(allowed) is Annotated:
        found = (one.names for one in typing.get_args(allowed)[1:] if isinstance(one, OneOf))
        return frozenset().union(*found)
    return frozenset().union(*map(listed_names, _alternatives(allowed)))


def takes_objects(allowed: Any) -> bool:
    """Whether a type has alternatives besides strings and None, or takes any string."""
    kinds = _alternatives(allowed) or (allowed,)
    return any(not listed_names(kind) and kind is not types.NoneType for kind in kinds)


def _alternatives(allowed: Any) -> tuple[Any, ...]:
    union = typing.get_origin(allowed) in (typing.Union, types.UnionType)
    return typing.get_args(allowed) if union else ()


@cache
def _types(estimator: type) -> dict[str, Any]:
    if not issubclass(estimator, Estimator):
        return {}
    hints = typing.get_type_hints(estimator, include_extras=True)
    return {one.name: hints[one.name] for one in fields(estimator)}


def _flat(bounds: Sequence[Any]) -> list[Any]:
    flat: list[Any] = []
    for bound in bounds:
        flat += bound if isinstance(bound, GroupedMetadata) else [bound]
    return flat


def _holds(bound: Any, value: Any) -> bool:
    match bound:
        case Gt(gt=limit):
            return value > limit
        case Ge(ge=limit):
            return value >= limit
        case Lt(lt=limit):
            return value < limit
        case Le(le=limit):
            return value <= limit
        case OneOf(names=names):
            return value in names
    return True


def _bound(bound: Any) -> str:
    match bound:
        case Gt(gt=limit):
            return f"above {limit}"
        case Ge(ge=limit):
            return f"of at least {limit}"
        case Lt(lt=limit):
            return f"below {limit}"
        case Le(le=limit):
            return f"of at most {limit}"
    return ""


def _one_of(names: Sequence[Any]) -> str:
    return _join([repr(name) for name in names], " or ")


def _join(parts: Any, last: str) -> str:
    parts = [part for part in parts if part]
    return ", ".join(parts[:-1]) + last + parts[-1] if len(parts) > 1 else "".join(parts)


__all__ = [
    "ClassCount",
    "Estimator",
    "Fraction",
    "NonNegativeFloat",
    "NonNegativeInt",
    "OneOf",
    "PositiveFloat",
    "PositiveInt",
    "RandomState",
    "admits",
    "describe",
    "listed_names",
    "parameters",
    "refusal",
    "takes_objects",
]
