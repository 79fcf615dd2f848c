"""The size that every method would get for points that nobody has drawn yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.planning.learned.general import with_known_storage
from harness.planning.learned.model import LearnedStorage, LearningError
from harness.planning.learned.shipped import ShippedStorage
from harness.planning.size import plan
from harness.plugin.environments import not_made
from harness.plugin.method import Method
from harness.plugin.registry import Registry
from harness.plugin.shape import Shape


@dataclass(frozen=True)
class Fit:
    """What a method would get.

    Attributes
    ----------
    method : str
    size : int or None
        None where nothing is turned, nothing fits, or nothing is known.
    size_name : str or None
    planned_bytes : int or None
        What it would hold; None where its storage model is still to be learned.
    n_kept : int or None
        Unlabeled points that fit is given where not all of them fit.
    reason : str
        Why it does not fit; empty if it does, or where that is not known.
    unknown : str
        Why it is not known whether it fits; empty where it is.
    measured_with : str
        Where its storage is a formula above trials that were measured: the libraries that they ran
        with, "here" for those of this folder. Empty where its storage model is written.
    extrapolated : bool
        Whether it is asked beyond what was measured.
    uses_unlabeled : bool
    space : bool
        Whether it has parameters that are tuned.
    """

    method: str
    size: int | None = None
    size_name: str | None = None
    planned_bytes: int | None = None
    n_kept: int | None = None
    reason: str = ""
    unknown: str = ""
    measured_with: str = ""
    extrapolated: bool = False
    uses_unlabeled: bool = True
    space: bool = False

    @property
    def fits(self) -> bool:
        """Whether it is known to fit."""
        return not self.reason and not self.unknown

    @property
    def size_words(self) -> str:
        """The size with its name, and how many points are kept of all that there are."""
        if self.size is None:
            return "-"
        return f"{self.size:,} {(self.size_name or '').removeprefix('n_').replace('_', ' ')}"


def fit_methods(
    index: Mapping[str, Any],
    shape: Shape,
    task: str,
    budget: int,
    folders: Sequence[Path] = (),
    tuned: bool = True,
) -> list[Fit]:
    """Plan every method that does a task; controls are left out.

    Parameters
    ----------
    index : mapping
        That of `read_index(folders)`.
    shape : Shape
        All points.
    task : str
    budget : int
        Bytes.
    folders : sequence of Path, default ()
        Where plugins are, besides those that are searched anyway.
    tuned : bool, default True
        Whether parameters are searched by cross-validation.

    Returns
    -------
    list of Fit
        By name.
    """
    registry = Registry.load(folders)
    apart = {p["path"]: p["requirements"] for p in index["plugins"] if p["environment"]}
    found = []
    for entry in sorted(index["methods"], key=lambda entry: entry["name"]):
        if task not in entry["tasks"] or entry["control"]:
            continue
        if entry["plugin_path"] in apart:
            found.append(Fit(entry["name"], unknown=not_made(apart[entry["plugin_path"]])))
            continue
        method, _ = registry.get("methods", entry["name"])
        found.append(_fit(index, method, shape, budget, tuned))
    return found


def _fit(index: Mapping[str, Any], method: Method, shape: Shape, budget: int, tuned: bool) -> Fit:
    told = Fit(
        method.name, uses_unlabeled=method.uses_unlabeled, space=bool(tuned and method.space)
    )
    learned = with_known_storage(index, method)
    storage = learned.storage
    if isinstance(storage, LearnedStorage) and not storage.runs:
        why = f"it has no storage model until it is measured: harness measure {method.name}"
        return replace(told, unknown=why)
    try:
        planned = plan(learned, shape, budget, space=method.space if tuned else None)
    except LearningError as error:
        return replace(told, unknown=str(error))
    seen = method.training_shape(shape, planned.size, planned.n_kept)
    return replace(
        told,
        size=planned.size if planned.feasible else None,
        size_name=method.size,
        planned_bytes=planned.planned_bytes,
        n_kept=planned.n_kept,
        reason=planned.reason,
        measured_with=_measured_with(storage),
        extrapolated=isinstance(storage, LearnedStorage | ShippedStorage)
        and not storage.covers(seen, planned.size),
    )


def _measured_with(storage: Any) -> str:
    if isinstance(storage, ShippedStorage):
        return storage.measured_with
    return "here" if isinstance(storage, LearnedStorage) else ""
