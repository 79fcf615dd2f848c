"""What an entry says of missing features: a word, or what becomes of each kind of column.

Nothing heavy is imported here: Snakemake reads the catalog in every job.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Tag

from harness.datasets.reading import Strict


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


MISSING = {
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
