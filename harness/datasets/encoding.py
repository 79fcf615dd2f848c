"""From columns of numbers and names to one matrix, and from labels to class numbers."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_matrix, hstack, issparse

from harness.datasets.entry import Declared, Entry
from harness.datasets.matrix_reading import Matrix
from harness.datasets.missing_targets import refuse_missing_targets
from harness.datasets.point_facts import have_facts
from harness.datasets.reading import Tabular
from harness.datasets.rows import Features
from harness.datasets.sparse_rows import compressed
from harness.errors import HarnessError
from harness.units import format_bytes

_SHOWN = 5
_OWN_VALUE = "missing"


@dataclass
class Source:
    """What a reader found: features and target, before anything is decided about them.

    Parameters
    ----------
    X : ndarray or csr_matrix (n, d), or DataFrame
        In a DataFrame, nominal columns are categorical with their values in order.
    target : ndarray (n,)
        Numbers or strings.
    parts : list of int
        Rows of each file.
    facts : dict of str to ndarray (n,)
        What else is said of each point: "groups" and "order", where the entry has them.
    words : csr_matrix (n, m), optional
        Features made of texts; X has the other columns.
    n_texts : int, default 0
        Columns that those texts were.
    vectorizer : object, optional
        scikit-learn's, which made features of the texts.
    names : list of str, optional
        Of folders, the file of each point, by its path in the folder.
    """

    X: Any
    target: np.ndarray
    parts: list[int]
    facts: dict[str, np.ndarray] = field(default_factory=dict)
    words: csr_matrix | None = None
    n_texts: int = 0
    vectorizer: Any = None
    names: list[str] | None = None


def encode(source: Source, entry: Entry) -> tuple[Features, np.ndarray, np.ndarray]:
    """Return the features as numbers and the target as class numbers or real values.

    Parameters
    ----------
    source : Source
        Its features are overwritten where that saves a copy.
    entry : Entry

    Returns
    -------
    X : ndarray (n, d) of the entry's dtype, C order; csr_matrix where the entry says sparse
    y : ndarray (n,) of int64 or float64; -1 or NaN of points without a label
    rows : ndarray (n,)
        Which row of the source each point is.

    Raises
    ------
    HarnessError
        If features are missing and the entry does not say what to do, or a label is unknown.
    """
    X, target, rows = encode_features(source, entry)
    return X, _targets(target, entry), rows


def encode_features(source: Source, entry: Declared) -> tuple[Features, np.ndarray, np.ndarray]:
    """Return the features as numbers, and the targets of the same points as they were read.

    Parameters
    ----------
    source : Source
        Its features are overwritten where that saves a copy.
    entry : Declared

    Returns
    -------
    X : ndarray (n, d) of the entry's dtype, C order; csr_matrix where the entry says sparse
    target : ndarray (n,)
    rows : ndarray (n,)
        Which row of the source each point is.
    """
    X, target = source.X, source.target
    if X.shape[0] != len(target):
        raise HarnessError(
            f"data set {entry.name!r}: {X.shape[0]} rows of features, but {len(target)} targets"
        )
    found = (X.shape[0], X.shape[1] + source.n_texts)
    published = (entry.raw_n or found[0], entry.raw_d or found[1])
    if found != published:
        raise HarnessError(
            f"data set {entry.name!r}: the source has {found[0]} x {found[1]} points and "
            f"attributes, the catalog says {published[0]} x {published[1]} (raw_n, raw_d)"
        )
    wanted = have_facts(source.facts, len(target), entry)
    if entry.other_classes == "drop":
        wanted &= has_label(target, entry)
    rows = np.flatnonzero(wanted)
    X = X if wanted.all() else X[wanted]
    if issparse(X):
        X, kept = _encoded_sparse(X, entry)
        return X, target[rows[kept]], rows[kept]
    missing = _missing(X)
    if missing.any():
        X, kept = _without_missing(X, missing, entry)
        rows = rows[kept]
    X = _with_logarithms(X, entry)
    if isinstance(X, pd.DataFrame):
        X = _to_numbers(X, entry)
        if source.words is not None:
            X = as_declared(hstack([X, source.words[rows]], "csr", dtype=entry.dtype), entry)
    if entry.sparse:
        return compressed(X.astype(entry.dtype, copy=False)), target[rows], rows
    if entry.small_integers:
        _refuse_other_than_bytes(X, entry)
    return np.ascontiguousarray(X, dtype=entry.dtype), target[rows], rows


def _refuse_other_than_bytes(X: np.ndarray, entry: Declared) -> None:
    if X.dtype == np.uint8 or not X.size:
        return
    wrong = (np.floor(X) != X) | (X < 0) | (X > 255)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise HarnessError(
            f"data set {entry.name!r}: dtype is uint8, but row {row}, column {column} is "
            f"{X[row, column]:g}: features are whole numbers from 0 to 255, or of another dtype"
        )


def as_declared(X: Any, entry: Declared) -> Any:
    """Return a matrix that was read as it is to be kept: compressed rows, or with its zeros.

    Raises
    ------
    HarnessError
        If it is to have its zeros, and is larger than the machine's memory with them.
    """
    if not issparse(X):
        return X
    if entry.sparse:
        return X.tocsr()
    needed = X.shape[0] * X.shape[1] * X.dtype.itemsize
    if needed > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
        raise HarnessError(
            f"data set {entry.name!r}: {X.shape[0]} x {X.shape[1]} points and features are "
            f"{format_bytes(needed)} with all zeros, more than this machine's memory; write "
            "`sparse: true`"
        )
    return X.toarray()


def _encoded_sparse(X: csr_matrix, entry: Declared) -> tuple[csr_matrix, np.ndarray]:
    """Return the features of a sparse source as they are prepared, and which rows they are."""
    if entry.logarithm:
        raise HarnessError(
            f"data set {entry.name!r}: logarithm is of columns of a table; the source is sparse"
        )
    kept = np.arange(X.shape[0])
    gaps = np.flatnonzero(~np.isfinite(X.data))
    if len(gaps):
        rows = np.unique(np.searchsorted(X.indptr, gaps, side="right") - 1)
        if entry.missing_by_kind.numeric != "drop":
            named = ", ".join(str(row) for row in rows[:_SHOWN])
            raise HarnessError(
                f"data set {entry.name!r}: NaN or infinite features in row {named} (numbered from "
                f"0; {len(rows)} in all); of a sparse source allowed is `missing: drop`; it is "
                f"`missing: {_written(entry)}` now"
            )
        kept = np.setdiff1d(kept, rows)
        X = X[kept]
    return compressed(X.astype(entry.dtype, copy=False)), kept


def has_label(target: np.ndarray, entry: Declared) -> np.ndarray:
    """Tell which points have a target: of classes, one that the entry names, if it names any."""
    if entry.classes:
        return np.isin(label_texts(target), list(entry.classes))
    return ~pd.isna(pd.Series(target)).to_numpy()


def _missing(X: np.ndarray | pd.DataFrame) -> np.ndarray:
    if isinstance(X, pd.DataFrame):
        # of a table without columns the type would be another
        return X.isin([np.inf, -np.inf]).to_numpy(bool) | X.isna().to_numpy(bool)
    if np.issubdtype(X.dtype, np.integer):
        return np.zeros((1, 1), dtype=bool)
    return ~np.isfinite(X)


def _without_missing(
    X: np.ndarray | pd.DataFrame, missing: np.ndarray, entry: Declared
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the features with their gaps filled, and which rows are left."""
    X = pd.DataFrame(X).mask(missing)
    kept = np.arange(len(X))
    by_kind = entry.missing_by_kind
    numbers = X.select_dtypes("number").columns
    names = X.columns.difference(numbers, sort=False)
    dropping = {"numeric": numbers, "nominal": names}
    dropped = [
        n for kind, held in dropping.items() if getattr(by_kind, kind) == "drop" for n in held
    ]
    if dropped:
        kept = np.flatnonzero(~X[dropped].isna().any(axis=1))
        X = X.iloc[kept].copy()
    if by_kind.numeric in ("mean", "median"):
        X = X.fillna(X[numbers].agg(by_kind.numeric))
    if by_kind.nominal in ("own", "most_frequent"):
        for name in names:
            if X[name].isna().any():
                X[name] = _filled(X[name], own=by_kind.nominal == "own")
    missing = _missing(X)
    rows = np.flatnonzero(missing.any(axis=1))
    if len(rows):
        named = ", ".join(str(row) for row in rows[:_SHOWN])
        more = f" and {len(rows) - _SHOWN} more" if len(rows) > _SHOWN else ""
        held = ", ".join(str(name) for name in X.columns[missing.any(axis=0)][:_SHOWN])
        raise HarnessError(
            f"data set {entry.name!r}: NaN, infinite or missing features in row {named}{more} "
            f"(numbered from 0; columns {held}); declare `missing: drop`, `mean`, `median`, "
            "`value` (nominal attributes only), or both kinds: `{numeric: median, nominal: own}`; "
            f"it is `missing: {_written(entry)}` now"
        )
    return X, kept


def _written(entry: Declared) -> str:
    given = entry.missing
    if isinstance(given, str):
        return given
    return f"{{numeric: {given.numeric}, nominal: {given.nominal}}}"


def _filled(values: pd.Series, own: bool) -> pd.Series:
    """Put a value of its own, or the one that occurs most often, into the gaps of names."""
    if not own:
        return values.fillna(values.mode().iloc[0]) if values.notna().any() else values
    value = _OWN_VALUE
    while value in values.cat.categories:
        value += "_"
    # names of numbers, as years are, are no text that one of words could stand among
    return values.cat.add_categories([value]).fillna(value)


def _with_logarithms(X: np.ndarray | pd.DataFrame, entry: Declared) -> np.ndarray | pd.DataFrame:
    if not entry.logarithm:
        return X
    table = pd.DataFrame(X)
    for position in entry.logarithm:
        values = table.iloc[:, position] if position < X.shape[1] else pd.Series(["none"])
        if not pd.api.types.is_numeric_dtype(values) or values.min() < 0:
            raise HarnessError(
                f"data set {entry.name!r}: logarithm: column {position} is not one of numbers "
                f"from 0 on; there are columns 0 to {X.shape[1] - 1}"
            )
        table[table.columns[position]] = np.log1p(values.astype(float))
    return table if isinstance(X, pd.DataFrame) else table.to_numpy()


def _to_numbers(X: pd.DataFrame, entry: Declared) -> np.ndarray:
    # columns of numbers also come from arrays with gaps
    encoding = entry.read.encoding if isinstance(entry.read, Tabular | Matrix) else None
    # as numbers, of which those that are no small integers are refused
    kind = entry.number_type if entry.small_integers else entry.dtype
    columns = []
    for name in X.columns:
        values = X[name]
        if not isinstance(values.dtype, pd.CategoricalDtype):
            columns.append(values.to_numpy(dtype=kind)[:, None])
            continue
        if encoding == "integer":
            columns.append(values.cat.codes.to_numpy(dtype=kind)[:, None])
            continue
        codes = values.cat.remove_unused_categories().cat
        count = len(codes.categories)
        first = 1 if encoding == "onehot-drop-binary" and count == 2 else 0
        columns.append(codes.codes.to_numpy()[:, None] == np.arange(first, count))
    width = sum(column.shape[1] for column in columns)
    out = np.empty((len(X), width), dtype=kind)
    position = 0
    for column in columns:
        out[:, position : position + column.shape[1]] = column
        position += column.shape[1]
    return out


def label_texts(values: np.ndarray) -> np.ndarray:
    """Write labels as a catalog does: whole numbers without a point, names without blanks."""
    if np.issubdtype(values.dtype, np.number):
        texts = values.astype(str).astype(object)
        known = np.isfinite(values)
        if np.all(values[known] == np.floor(values[known])):
            texts[known] = values[known].astype(np.int64).astype(str)
        return texts
    return np.array([str(value).strip() for value in values], dtype=object)


def class_counts(target: np.ndarray) -> dict[str, int]:
    """Count the points of each label, in ascending order: of numbers, else of texts."""
    codes, uniques = pd.factorize(target, use_na_sentinel=False)
    values = np.asarray(uniques)
    labels = label_texts(values)
    counts: Counter[str] = Counter()
    for label, count in zip(labels, np.bincount(codes, minlength=len(labels)), strict=True):
        counts[label] += int(count)
    numeric = np.issubdtype(values.dtype, np.number)
    return {label: counts[label] for label in sorted(counts, key=float if numeric else None)}


def _targets(target: np.ndarray, entry: Entry) -> np.ndarray:
    if entry.other_classes != "unlabeled":
        return _known_targets(target, entry)
    known = has_label(target, entry)
    lacking = int((~known).sum())
    if lacking != entry.n_unlabeled:
        raise HarnessError(
            f"data set {entry.name!r}: {lacking} points have no label, or one of another class; "
            f"the catalog says {entry.n_unlabeled} (n_unlabeled)"
        )
    found = _known_targets(target[known], entry)
    y = np.full(len(target), -1 if entry.task != "regression" else np.nan, found.dtype)
    y[known] = found
    return y


def _known_targets(target: np.ndarray, entry: Entry) -> np.ndarray:
    if not len(target):
        raise HarnessError(f"data set {entry.name!r}: no point has a label")
    if entry.task == "regression":
        try:
            y = np.ascontiguousarray(target, dtype=np.float64)
        except ValueError as error:
            raise HarnessError(
                f"data set {entry.name!r}: a target is not a number: {error}"
            ) from None
        refuse_missing_targets(y, entry)
        bad = np.flatnonzero(~np.isfinite(y))
        if len(bad):
            raise HarnessError(
                f"data set {entry.name!r}: the target of row {bad[0]} is {y[bad[0]]}"
            )
        return y
    codes, uniques = pd.factorize(target, use_na_sentinel=False)
    labels = label_texts(np.asarray(uniques))
    found: Counter[str] = Counter()
    for label, count in zip(labels, np.bincount(codes).tolist(), strict=True):
        found[label] += count
    if len(found) < 2:
        raise HarnessError(
            f"data set {entry.name!r}: all {len(target)} points have the label {labels[0]!r}; "
            "classification needs at least two classes"
        )
    contradiction = class_contradiction(entry, found)
    if contradiction:
        raise HarnessError(f"data set {entry.name!r}: {contradiction}")
    if entry.task == "binary":
        numbers = [int(label in entry.positive) for label in labels]
    else:
        order = list(entry.classes)
        numbers = [order.index(label) for label in labels]
    return np.array(numbers, dtype=np.int64)[codes]


def class_contradiction(entry: Entry, found: Mapping[str, int]) -> str:
    """Say which labels or counts of them are not those of an entry; empty if all are."""
    unknown = [label for label in found if label not in entry.classes]
    if unknown:
        return (
            f"labels {unknown[:_SHOWN]} are not among its declared classes {list(entry.classes)}"
        )
    wrong = [
        label
        for label, count in entry.classes.items()
        if found.get(label, 0) != count and (count is not None or label not in found)
    ]
    if wrong:
        return f"class counts are {dict(found)}, the catalog says {dict(entry.classes)}"
    return ""
