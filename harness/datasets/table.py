"""The table of all data sets in the manual; `python -m harness.datasets.table` prints it."""

from __future__ import annotations

from collections.abc import Iterable

from harness.datasets.catalog import Catalog, load_catalog
from harness.datasets.entry import Entry
from harness.units import format_bytes

_COLUMNS = (
    "name",
    "task",
    "n",
    "d",
    "classes",
    "scaling",
    "prepared",
    "download",
    "licence",
    "source",
)


def markdown_table(catalog: Catalog) -> str:
    """Return one row an entry, in the catalog's order, as a Markdown table."""
    lines = [_row(_COLUMNS), _row(["---"] * len(_COLUMNS))]
    lines += [_row(_cells(entry)) for entry in catalog.values()]
    return "\n".join(lines) + "\n"


def _cells(entry: Entry) -> list[str]:
    if entry.task == "regression":
        classes = ""
    elif entry.task == "binary":
        counts = entry.class_counts
        share = counts[1] / sum(counts) if counts else None
        classes = "2" if share is None else f"2 ({100 * share:.0f} % positive)"
    else:
        classes = str(entry.n_classes)
    if entry.download_bytes:
        download = format_bytes(entry.download_bytes)
    else:
        at_hand = {"sklearn": "none", "openml": "from OpenML", "generated": "none"}
        download = at_hand.get(entry.format, "mirror only")
    return [
        f"`{entry.name}`",
        entry.task,
        f"{entry.n:,}",
        f"{entry.d:,}"
        + ("" if entry.density is None else f" ({100 * entry.density:.2g} % nonzero)"),
        classes,
        entry.scaling,
        format_bytes(entry.data_bytes),
        download,
        entry.licence,
        entry.source,
    ]


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    print(markdown_table(load_catalog()), end="")
