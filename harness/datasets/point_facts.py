"""What is said of each point besides its features and its target: its group, and when it was.

They are columns of the source, kept beside the targets as whole numbers: of groups any, of the
order smaller ones for earlier points. No trial can reach them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from harness.datasets.entry import Declared
from harness.datasets.meta import FACTS, Meta
from harness.datasets.rows import is_sparse, open_mapped
from harness.datasets.splits import PointFacts
from harness.errors import HarnessError, shown


def coded_facts(
    facts: dict[str, np.ndarray], rows: np.ndarray, entry: Declared
) -> dict[str, np.ndarray]:
    """Return the facts of some rows of a source as whole numbers.

    Parameters
    ----------
    facts : dict of str to ndarray (n,)
        "groups" and "order" as they were read, each where the entry has it.
    rows : ndarray (m,)
    entry : Declared

    Returns
    -------
    dict of str to ndarray (m,) of int64

    Raises
    ------
    HarnessError
        If one is missing, or an order is neither numbers nor dates.
    """
    coded = {}
    for name, values in facts.items():
        column = pd.Series(np.asarray(values)[rows])
        missing = lacking(column)
        if missing.any():
            row = int(rows[np.argmax(missing)])
            raise HarnessError(
                f"data set {entry.name!r}: {name}: row {row} (numbered from 0; {missing.sum()} in "
                f"all) has no value: `missing: drop` below `{name}` leaves such points out"
            )
        if name == "order":
            column = _times(column, entry)
        coded[name] = np.unique(column.to_numpy(), return_inverse=True)[1].astype(np.int64)
    return coded


def have_facts(facts: dict[str, np.ndarray], n: int, entry: Declared) -> np.ndarray:
    """Tell which points have each fact for the lack of which an entry leaves points out.

    Parameters
    ----------
    facts : dict of str to ndarray (n,)
        As they were read.
    n : int
        Points.
    entry : Declared

    Returns
    -------
    ndarray (n,) of bool
    """
    known = np.ones(n, dtype=bool)
    for name, fact in entry.fact_sources.items():
        if fact.missing == "drop" and name in facts:
            known &= ~lacking(pd.Series(np.asarray(facts[name])))
    return known


def lacking(column: pd.Series) -> np.ndarray:
    """Tell of which points (n,) a column says nothing: no value, an empty one, or `?`."""
    return (column.isna() | column.isin(["", "?"])).to_numpy(bool)


def _times(column: pd.Series, entry: Declared) -> pd.Series:
    if pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_datetime64_any_dtype(column):
        return column
    texts = column.astype(str).str.strip()
    numbers = pd.to_numeric(texts, errors="coerce")
    if not numbers.isna().any():
        return numbers
    times = pd.to_datetime(texts, errors="coerce", format="ISO8601", utc=True)
    if times.isna().any():
        wrong = texts[times.isna()].iloc[0]
        raise HarnessError(
            f"data set {entry.name!r}: order: {shown(wrong)} is neither a number nor a date such "
            "as 2026-11-26 or 2026-11-26T17:00"
        )
    return times.astype("int64")


def largest_group(coded: dict[str, np.ndarray], known: np.ndarray) -> int | None:
    """Return the points with a label of the largest group; None where there are no groups."""
    if "groups" not in coded or not known.any():
        return None
    return int(np.bincount(coded["groups"][known]).max())


def read_facts(folder: Path, meta: Meta, rules: dict[str, Any]) -> PointFacts:
    """Read what an evaluation asks of prepared data besides their targets.

    Parameters
    ----------
    folder : Path
        Of the prepared data.
    meta : Meta
    rules : dict
        As `harness.datasets.sizes.rules_of` returns them.

    Raises
    ------
    HarnessError
        If it asks for a feature that is the same for all points.
    """
    found: dict[str, np.ndarray] = {}
    if meta.facts:
        held = np.load(folder / FACTS, allow_pickle=False)
        found = dict(zip(meta.facts, held, strict=True))
    groups = found.get("groups") if rules["groups"] else None
    order = found.get("order") if rules["temporal"] else None
    return PointFacts(groups, order, _feature(folder, meta, rules))


def _feature(folder: Path, meta: Meta, rules: dict[str, Any]) -> np.ndarray | None:
    shift = rules["unlabeled"] or {}
    if "beyond" not in shift:
        return None
    column = shift["column"]
    part: Any = open_mapped(folder / meta.features)[:, [column]]
    values = (part.toarray() if is_sparse(folder / meta.features) else np.array(part)).ravel()
    if values.min() == values.max():
        raise HarnessError(
            f"data set {meta.name!r}: evaluation.unlabeled.column {column} is {values[0]:g} for "
            "all points, so none is beyond another; name another feature"
        )
    return np.asarray(values)
