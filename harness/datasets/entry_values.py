"""What some keys of an entry may hold, and what it becomes: missing values, labels, their counts.

Nothing heavy is imported here: Snakemake reads the catalog in every job.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Tag

from harness.datasets.strict_model import Strict
from harness.errors import shown

UNKNOWN = "unknown"
"""The licence of data of which none is known."""


class MissingByKind(Strict):
    """What becomes of missing features, for each kind of column.

    Parameters
    ----------
    numeric : {"error", "drop", "mean", "median"}, default "error"
        Rows dropped, or the column's mean or median put in.
    nominal : {"error", "drop", "own", "most_frequent"}, default "error"
        Rows dropped, a value of its own, or the value that occurs most often put in.
    """

    numeric: Literal["error", "drop", "mean", "median"] = "error"
    nominal: Literal["error", "drop", "own", "most_frequent"] = "error"


BY_KIND = {
    "error": MissingByKind(),
    "drop": MissingByKind(numeric="drop", nominal="drop"),
    "mean": MissingByKind(numeric="mean"),
    "median": MissingByKind(numeric="median"),
    "value": MissingByKind(nominal="own"),
}
"""What the words of `missing` stand for."""


def _kind_of_missing(value: Any) -> str:
    return "by kind" if isinstance(value, dict | MissingByKind) else "by word"


Missing = Annotated[
    Annotated[Literal["error", "drop", "mean", "median", "value"], Tag("by word")]
    | Annotated[MissingByKind, Tag("by kind")],
    Discriminator(_kind_of_missing),
]


def _text(value: Any) -> Any:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def label_texts(value: Any) -> Any:
    """Write a label, or a list of them, as texts."""
    labels = [_text(item) for item in (value if isinstance(value, list) else [value])]
    for label in labels:
        _refuse_no_label(label)
    return labels


def _refuse_no_label(label: Any) -> None:
    if not isinstance(label, str):
        raise ValueError(f"{shown(label)} is no label: write text or a number, quoted if need be")


def label_counts(value: Any) -> Any:
    """Read labels, with or without their counts, as a mapping of texts to counts or None."""
    if not isinstance(value, list | dict):
        return value
    labels = [_text(label) for label in value]
    seen: set[str] = set()
    for label in labels:
        _refuse_no_label(label)
        if label in seen:
            raise ValueError(f"the label {shown(label)} is there twice")
        seen.add(label)
    counts = value.values() if isinstance(value, dict) else [None] * len(labels)
    return dict(zip(labels, counts, strict=True))
