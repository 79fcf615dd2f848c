"""Points, features and classes that an entry does not say, counted from its files.

A count reads and encodes everything, as preparation does, so it is kept below `.harness/counts`
under the digest of the entry. What an entry says of a local file is compared with it as well.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.datasets.entry import Declared, Entry
from harness.errors import DamagedFileError, HarnessError, shown
from harness.files import read_json, write_whole
from harness.project import CACHE

FOLDER = CACHE / "counts"

MOST_BYTES = 200_000_000
"""Larger files are not read for a comparison: preparation, which reads them anyway, makes it."""


@dataclass(frozen=True)
class Counts:
    """What comes out of a data set's files.

    Parameters
    ----------
    n, d : int
        Points and features after encoding.
    classes : mapping of str to int
        Points of each label, in ascending order; empty for regression.
    nnz : int or None, default None
        Nonzeros, where the features are sparse.
    n_unlabeled : int, default 0
        Points without a label, where the entry keeps them.
    largest_group : int or None, default None
        Points with a label of the largest group, where the entry has groups.
    """

    n: int
    d: int
    classes: Mapping[str, int]
    nnz: int | None = None
    n_unlabeled: int = 0
    largest_group: int | None = None


def count(declared: Declared) -> Counts:
    """Count what comes out of a data set's files, or read what was counted before.

    Raises
    ------
    HarnessError
        If they cannot be fetched or read.
    """
    path = _place(declared)
    with suppress(DamagedFileError, KeyError, TypeError):
        kept = read_json(path, dict)
        nnz = int(kept["nnz"]) if declared.sparse else None
        largest = int(kept["largest_group"]) if declared.groups is not None else None
        unlabeled = int(kept.get("n_unlabeled", 0))
        return Counts(
            *(int(kept["n"]), int(kept["d"]), dict(kept["classes"]), nnz, unlabeled, largest)
        )
    counts = _counted(declared)
    keep(declared, counts)
    return counts


def keep(declared: Declared, counts: Counts) -> None:
    """Keep what was counted, for whoever asks next; a folder that cannot be written keeps none."""
    told = vars(counts) | {"classes": dict(counts.classes)}
    with suppress(HarnessError):
        write_whole(json.dumps(told), _place(declared))


def completed(declared: Declared) -> Entry:
    """Return an entry with what it leaves unsaid counted from its files.

    Raises
    ------
    HarnessError
        If they cannot be fetched or read, or are not what the entry says.
    """
    if isinstance(declared, Entry):
        return declared
    counts = count(declared)
    said: dict[str, Any] = declared.model_dump(mode="json", exclude_unset=True)
    counted: dict[str, Any] = {"n": counts.n, "d": counts.d}
    if declared.sparse:
        counted["nnz"] = counts.nnz
    if declared.other_classes == "unlabeled":
        counted["n_unlabeled"] = counts.n_unlabeled
    if declared.groups is not None:
        counted["largest_group"] = counts.largest_group
    said = counted | said
    if declared.task != "regression" and not declared.classes:
        said["classes"] = dict(counts.classes)
        if declared.task == "binary" and not declared.positive:
            if len(counts.classes) > 2:
                raise HarnessError(
                    f"data set {declared.name!r}: the task is binary, but there are "
                    f"{len(counts.classes)} labels ({_some(counts.classes)}): name those of class "
                    "1 under `positive`, or write `task: multiclass`"
                )
            said["positive"] = [list(counts.classes)[-1]]
    try:
        entry = Entry.model_validate(said)
    except ValidationError as error:
        told = "; ".join(d["msg"].removeprefix("Value error, ") for d in error.errors())
        raise HarnessError(f"data set {declared.name!r}: {told}") from None
    keep(entry, counts)
    return entry


def _some(labels: Mapping[str, int]) -> str:
    return ", ".join(shown(label) for label in [*labels][:5]) + ", ..." * (len(labels) > 5)


def contradiction(entry: Entry) -> str:
    """Say what an entry of local files says that is not in them; empty if nothing is.

    Files of more than `MOST_BYTES` in all, and those that a mirror or an address gives, are not
    read: preparation compares them.

    Raises
    ------
    HarnessError
        If a file cannot be read as the entry says.
    """
    paths = [file.path for file in entry.every_file if file.path is not None]
    if not paths or len(paths) < len(entry.every_file):
        return ""
    if sum(path.stat().st_size for path in paths if path.is_file()) > MOST_BYTES:
        return ""
    return disagreement(entry, count(entry))


def disagreement(entry: Entry, counts: Counts) -> str:
    """Say in what an entry is not what was counted; empty if in nothing."""
    if (counts.n, counts.d) != (entry.n, entry.d):
        return shape_contradiction(entry, (counts.n, counts.d))
    if counts.nnz != entry.nnz:
        return nnz_contradiction(entry, counts.nnz)
    for key in ("n_unlabeled", "largest_group"):
        found, said = getattr(counts, key), getattr(entry, key)
        if found != said:
            return f"found {key} {found}, the catalog says {said}"
    if entry.task == "regression":
        return ""
    from harness.datasets.encoding import class_contradiction

    return class_contradiction(entry, counts.classes)


def shape_contradiction(entry: Entry, found: tuple[int, ...]) -> str:
    """Say that other points or features came out than an entry says."""
    return (
        f"found {found[0]} x {found[1]} points and features, "
        f"the catalog says {entry.n} x {entry.d}"
    )


def nnz_contradiction(entry: Entry, found: int | None) -> str:
    """Say that other nonzeros came out than an entry says."""
    return f"found {found} nonzeros, the catalog says {entry.nnz} (nnz)"


def _counted(declared: Declared) -> Counts:
    import numpy as np

    from harness.datasets.encoding import class_counts, encode_features, has_label
    from harness.datasets.fetching import fetch
    from harness.datasets.missing_targets import refuse_missing_targets
    from harness.datasets.point_facts import coded_facts, largest_group
    from harness.datasets.texts import read_source

    source = read_source(declared, fetch(declared))
    X, target, rows = encode_features(source, declared)
    refuse_missing_targets(target, declared)
    known = np.ones(len(target), dtype=bool)
    if declared.other_classes == "unlabeled":
        known = has_label(target, declared)
    classes = {} if declared.task == "regression" else class_counts(target[known])
    return Counts(
        *(X.shape[0], X.shape[1], classes, X.nnz if declared.sparse else None),
        n_unlabeled=int((~known).sum()),
        largest_group=largest_group(coded_facts(source.facts, rows, declared), known),
    )


def _place(declared: Declared) -> Path:
    return FOLDER / f"{declared.digest}.json"
