"""Formulas of what the built-in methods without a storage model hold, which come with the harness.

They serve where nothing runs: advice, `harness storage` and the site. A study measures for itself.
`python -m harness.planning.learned.shipping NAME` measures methods anew and writes the file.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.planning.learned.envelope import Envelope, Term
from harness.planning.learned.model import STAGES, Fitted, within
from harness.plugin.shape import Shape
from harness.plugin.storage import Storage
from harness.project import PLUGINS, TEMPLATES

SHIPPED = TEMPLATES / "shipped_storage.json"


@dataclass(frozen=True)
class ShippedStorage:
    """What a method holds, by a formula: called as a storage model is.

    Attributes
    ----------
    fitted : Fitted
        Without its runs.
    largest : tuple of float
        The largest count of each kind that was measured.
    trials : int
        How many were.
    versions : dict of str to str
        Of the libraries that they ran with.
    """

    fitted: Fitted
    largest: tuple[float, ...]
    trials: int
    versions: Mapping[str, str]

    def __call__(self, shape: Shape, size: int | None) -> Storage:
        """Return what is held at a shape of `fit`: a phase that says whether it was measured."""
        return self.fitted.storage(shape, size, self.covers(shape, size))

    def covers(self, shape: Shape, size: int | None) -> bool:
        """Tell whether a shape of `fit` and a size are within what was measured."""
        return within(shape, size, self.largest)

    def as_dict(self) -> dict[str, Any]:
        """Return what JSON can hold."""
        formulas = {
            stage: [[*term.factors, term.itemsize, factor] for term, factor in envelope.terms]
            for stage, envelope in self.fitted.by_stage().items()
        }
        return {
            "trials": self.trials,
            "versions": dict(self.versions),
            "largest": list(self.largest),
            "spread": self.fitted.spread,
            "unseen": self.fitted.unseen,
            "refused": self.fitted.refused,
            **formulas,
        }

    @classmethod
    def of_dict(cls, content: Mapping[str, Any]) -> ShippedStorage:
        """Read what `as_dict` gave."""
        envelopes = tuple(
            Envelope(
                tuple(
                    (Term(tuple(factors), itemsize), factor)
                    for *factors, itemsize, factor in content[stage]
                )
            )
            for stage in STAGES
        )
        unsure = (content["spread"], content["unseen"], content["refused"])
        return cls(
            Fitted(envelopes, *unsure, runs=(), general=True),
            tuple(content["largest"]),
            content["trials"],
            content["versions"],
        )

    @property
    def measured_with(self) -> str:
        """The libraries and their versions, as a sentence names them."""
        return ", ".join(f"{name} {version}" for name, version in self.versions.items())


def shipped_storage(entry: Mapping[str, Any], path: Path = SHIPPED) -> ShippedStorage | None:
    """Return the formula that came with the harness for one of its own methods; None without.

    Parameters
    ----------
    entry : mapping
        The method's own part of the index.
    path : Path
        As `harness.planning.learned.shipping` writes it.

    Raises
    ------
    HarnessError
        If the file cannot be read.
    """
    if Path(entry["plugin_path"]).parent != PLUGINS:
        return None
    return read_shipped(path).get(entry["name"])


@functools.cache
def read_shipped(path: Path = SHIPPED) -> Mapping[str, ShippedStorage]:
    """Read all formulas, by the method's name. Raises HarnessError as `shipped_storage` does."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        return {name: ShippedStorage.of_dict(told) for name, told in content.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise HarnessError(f"{path}: cannot be read: {error}; install the harness again") from None
