"""Readers of matrices: SVMlight, MNIST's format, MATLAB's, and those of NumPy and SciPy."""

from __future__ import annotations

import bisect
import itertools
import math
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from harness.datasets import matrix_reading
from harness.datasets.encoding import Source, as_declared
from harness.datasets.entry import Declared
from harness.datasets.fact_sources import QUERY
from harness.datasets.fetching import open_unpacked
from harness.datasets.mat_files import load_mat
from harness.datasets.svmlight_mistakes import svmlight_mistake
from harness.errors import HarnessError
from harness.units import format_bytes

_TRANSPOSED = "samples seem to be in columns: write `transpose: true`"


def read_svmlight(entry: Declared, read: matrix_reading.Svmlight, paths: Sequence[Path]) -> Source:
    """Read the sparse text of SVMlight and LIBSVM."""
    from sklearn.datasets import load_svmlight_file

    # of codes that are encoded, the columns that come out are not those that are read
    width = entry.raw_d if read.nominal else entry.d
    said = [key for key, fact in entry.fact_sources.items() if fact.in_source]
    X, y = [], []
    facts: dict[str, list[np.ndarray]] = {key: [] for key in said}
    for path in paths:
        with open_unpacked(path) as stream:
            try:
                rows, target, queries = load_svmlight_file(
                    stream,
                    n_features=width,
                    dtype=entry.number_type,
                    zero_based=read.zero_based,
                    multilabel=read.several_labels,
                    query_id=True,
                )
            except ValueError as error:
                told = str(error).replace("n_features was set to", "the entry says that d is")
                raise ValueError(svmlight_mistake(path, read.zero_based, told)) from None
        if said and len(queries) != len(target):
            raise ValueError(
                f"{said[0]}: {len(queries)} of {len(target)} lines of {path.name} have a {QUERY}"
            )
        for key in said:
            facts[key].append(queries)
        X.append(rows)
        y.append(_one_against_all(target, entry) if read.several_labels else target)
    widest = max(part.shape[1] for part in X)
    for part in X:
        part.resize(part.shape[0], widest)
    return joined([_as_read(part, entry, read) for part in X], y, read, facts)


def _one_against_all(labels: list[tuple[float, ...]], entry: Declared) -> np.ndarray:
    [positive] = entry.positive
    held = [positive in (f"{label:g}" for label in of_point) for of_point in labels]
    return np.where(held, positive, "other")


def read_mat(entry: Declared, read: matrix_reading.Mat, paths: Sequence[Path]) -> Source:
    """Read matrices of MATLAB files."""
    X, y = [], []
    facts: dict[str, list[np.ndarray]] = {key: [] for key in entry.fact_sources}
    for path in paths:
        matrices = load_mat(path)
        for key, name in _named_facts(entry):
            facts[key].append(column(matrices[_the_one(matrices, name)]))
        for name, target in read.pairs:
            features = _rows(matrices[_the_one(matrices, name)], read)
            kept = list(range(features.shape[1]))
            if target is not None:
                y.append(column(matrices[_the_one(matrices, target)]))
            elif read.y is not None:
                y.append(_no_targets(features))
            else:
                assert read.target is not None, "Mat names one of the two"
                y.append(column(features[:, [read.target]]).copy())
                kept = [at for at in kept if at != read.target][: read.columns]
            taken = _take_facts(_columns_of(features), features.shape[1], entry, facts)
            if target is None or taken:
                features = features[:, [at for at in kept if at not in taken]]
            X.append(_as_read(features, entry, read))
    return joined(X, y, read, facts)


def column(values: Any) -> np.ndarray:
    """Return targets as one column: of a matrix of any kind, or of MATLAB's cells of text."""
    array = np.asarray(values.toarray() if sparse.issparse(values) else values)
    if array.ndim > 1 and sorted(array.shape)[-2] > 1:
        told = " x ".join(map(str, array.shape))
        raise ValueError(f"the targets are a matrix of {told}, and one column is wanted")
    flat = array.ravel()
    if flat.dtype.kind == "S":
        return np.char.decode(flat, "utf-8")
    if flat.dtype != object:
        return flat
    return np.array([str(np.asarray(value).item()) for value in flat])


def _no_targets(features: Any) -> np.ndarray:
    return np.full(features.shape[0], np.nan)


def _the_one(matrices: Mapping[str, Any], name: str) -> str:
    matching = [key for key in matrices if re.fullmatch(name, key)]
    if len(matching) != 1:
        held = ", ".join(matrices)
        more = "; of several, name each in a list" if len(matrices) > 2 else ""
        raise ValueError(f"there is no matrix {name!r}; the file holds {held}{more}")
    return matching[0]


def read_npz(entry: Declared, read: matrix_reading.Npz, paths: Sequence[Path]) -> Source:
    """Read arrays of an `.npz`, or the sparse matrix that SciPy has written to one."""
    X: list[Any] = []
    y: list[np.ndarray] = []
    facts: dict[str, list[np.ndarray]] = {key: [] for key in entry.fact_sources}
    for path in paths:
        with np.load(path, allow_pickle=False) as arrays:
            for key, name in _named_facts(entry):
                if name not in arrays:
                    raise ValueError(_no_array(name, arrays, paths))
                facts[key].append(arrays[name].ravel())
            is_sparse = read.X not in arrays and "indptr" in arrays
            for name, target in read.pairs:
                for wanted in (target,) if is_sparse else (name, target):
                    if wanted is not None and wanted not in arrays:
                        raise ValueError(_no_array(wanted, arrays, paths))
                # what scipy.sparse.save_npz writes, and the target beside it
                stored = sparse.load_npz(path) if is_sparse else arrays[name]
                features = _rows(stored, read)
                taken = _take_facts(_columns_of(features), features.shape[1], entry, facts)
                if taken:
                    kept = [at for at in range(features.shape[1]) if at not in taken]
                    features = features[:, kept]
                X.append(_as_read(features, entry, read))
                y.append(_no_targets(X[-1]) if target is None else column(arrays[target]))
    return joined(X, y, read, facts)


def _named_facts(entry: Declared) -> Iterator[tuple[str, str]]:
    """Give the names of matrices that say something of each point, and what they say."""
    for key, fact in entry.fact_sources.items():
        if fact.in_source and not isinstance(fact.column, int | None):
            named = (fact.column,) if isinstance(fact.column, str) else fact.column
            yield from ((key, name) for name in named)


def _columns_of(matrix: Any) -> Callable[[int], np.ndarray]:
    return lambda at: column(matrix[:, [at]]).copy()


def _take_facts(
    picked: Callable[[int], np.ndarray],
    width: int,
    entry: Declared,
    facts: dict[str, list[np.ndarray]],
) -> set[int]:
    """Add what columns of a matrix say of its points, and return those that are no features."""
    taken = set()
    for key, fact in entry.fact_sources.items():
        if not fact.in_source or not isinstance(fact.column, int):
            continue
        if not 0 <= fact.column < width:
            raise ValueError(
                f"{key}: there is no column {fact.column}; columns are 0 to {width - 1}"
            )
        facts[key].append(picked(fact.column))
        taken |= set() if fact.feature else {fact.column}
    return taken


def _no_array(name: str, arrays: Any, paths: Sequence[Path]) -> str:
    told = f"there is no array {name!r}; the file holds {', '.join(arrays.files)}"
    one = "; each file has features and targets: join those of two with numpy.savez"
    return told + one * (len(paths) > 1)


def read_npy(entry: Declared, read: matrix_reading.Npy, paths: Sequence[Path]) -> Source:
    """Read matrices of NumPy with the target among their columns."""
    blocks = []
    for path in paths:
        stored = np.load(path, allow_pickle=False)
        stored = np.moveaxis(stored, -1, 0) if read.transpose and stored.ndim > 1 else stored
        if read.side_by_side == 1 and stored.ndim != 2:
            raise ValueError(
                f"a matrix with a column {read.target} is wanted, got {stored.shape}; of features "
                "and targets in files in turn write `side_by_side: 2`"
            )
        blocks.append(stored.reshape(len(stored), math.prod(stored.shape[1:])))
    return _columns(entry, blocks, read, read.side_by_side, paths)


def read_bytes(entry: Declared, read: matrix_reading.Bytes, paths: Sequence[Path]) -> Source:
    """Read numbers that stand row after row without a header."""
    kind = np.dtype(read.type).newbyteorder("<")
    blocks = []
    for path, width in zip(paths, itertools.cycle(read.row), strict=False):
        with open_unpacked(path) as stream:
            stream.read(read.skip_bytes)
            content = stream.read()
        if len(content) % (width * kind.itemsize):
            raise ValueError(
                f"{path.name} has {len(content)} bytes, which are no whole rows of {width} "
                f"{read.type}: correct `row`, `type` or `skip_bytes`"
            )
        blocks.append(np.frombuffer(content, kind).reshape(-1, width))
    return _columns(entry, blocks, read, len(read.row), paths)


def _columns(
    entry: Declared,
    blocks: list[np.ndarray],
    read: matrix_reading.Npy | matrix_reading.Bytes,
    beside: int,
    paths: Sequence[Path],
) -> Source:
    """Return features and target of matrices, of which so many in turn stand side by side."""
    X, y = [], []
    facts: dict[str, list[np.ndarray]] = {key: [] for key in entry.fact_sources}
    if len(blocks) % beside == beside - 1 and beside > 1 and read.target == -1:
        blocks, paths = [*blocks, _no_targets(blocks[-1])[:, None]], [*paths, paths[-1]]
    refuse_uneven_files([len(block) for block in blocks], paths, beside)
    for start in range(0, len(blocks), beside):
        group = blocks[start : start + beside]
        firsts = np.cumsum([0, *(block.shape[1] for block in group)]).tolist()
        width = firsts.pop()
        if not -width <= read.target < width:
            raise ValueError(
                f"a matrix with a column {read.target} is wanted, got {width} columns"
            )

        def picked(at: int, group: Any = group, firsts: Any = firsts) -> np.ndarray:
            block = bisect.bisect_right(firsts, at) - 1
            return group[block][:, at - firsts[block]].copy()

        target = read.target % width
        y.append(picked(target))
        taken = _take_facts(picked, width, entry, facts)
        left_out = {target, *taken, *(at % width for at in read.ignore)}
        kept = []
        for block, first in zip(group, firsts, strict=True):
            without = [at - first for at in left_out if first <= at < first + block.shape[1]]
            kept.append(np.delete(block, without, axis=1) if without else block)
        held = [block for block in kept if block.shape[1]]
        X.append(held[0] if len(held) == 1 else np.concatenate(held, axis=1))
    return joined(X, y, read, facts)


def refuse_uneven_files(rows: Sequence[int], paths: Sequence[Path], beside: int) -> None:
    """Refuse files of which so many in turn are to stand side by side, and cannot.

    Raises
    ------
    ValueError
        If files are left over, or those that stand side by side differ in their rows.
    """
    if len(rows) % beside:
        raise ValueError(
            f"{beside} files in turn stand side by side, and there are {len(rows)} of them"
        )
    for at, count in enumerate(rows):
        first = at - at % beside
        if count != rows[first]:
            raise ValueError(
                f"{paths[at].name} has {count} rows, and {paths[first].name}, which stands beside "
                f"it, {rows[first]}"
            )


def _rows(stored: Any, read: matrix_reading.Stored) -> Any:
    """Return what is stored with a row for each sample: compressed if it is sparse."""
    kind = getattr(stored, "dtype", np.asarray(stored).dtype)
    if kind.kind not in "biuf":
        raise ValueError(f"a matrix of numbers is wanted, got one of {kind}")
    if sparse.issparse(stored):
        return (stored.T if read.transpose else stored).tocsr()
    array = np.asarray(stored)
    if array.ndim < 2:
        raise ValueError(f"a matrix is wanted, got an array of shape {array.shape}")
    if read.transpose:
        array = np.moveaxis(array, -1, 0)
    return array.reshape(len(array), math.prod(array.shape[1:]))


def joined(
    X: list[Any],
    y: list[np.ndarray],
    read: matrix_reading.Matrix,
    facts: Mapping[str, list[np.ndarray]] = MappingProxyType({}),
) -> Source:
    """Return what was read of several files or matrices, a row after the other.

    Raises
    ------
    ValueError
        If rows and targets, or the columns of two matrices, differ in number.
    """
    parts = [len(part) for part in y]
    rows = [part.shape[0] for part in X]
    widths = [part.shape[1] for part in X]
    if rows != parts:
        told = f"{rows} rows of features, {parts} targets"
        if isinstance(read, matrix_reading.Stored) and not read.transpose and widths == parts:
            raise ValueError(f"{told}: {_TRANSPOSED}")
        raise ValueError(told)
    if len(set(widths)) > 1:
        raise ValueError(f"matrices of {widths} columns cannot be joined")
    if len(X) == 1:
        whole = X[0]
    else:
        whole = sparse.vstack(X, "csr") if sparse.issparse(X[0]) else np.concatenate(X)
    said = {key: np.concatenate(held) for key, held in facts.items() if held}
    y = [part.astype(part.dtype.newbyteorder("="), copy=False) for part in y]  # as pandas needs it
    if any(part.dtype.kind not in "biuf" for part in y):  # names, besides which NaN were a text
        y = [part.astype(object) for part in y]
    return Source(_coded(whole, read), y[0] if len(y) == 1 else np.concatenate(y), parts, said)


def _coded(X: Any, read: matrix_reading.Matrix) -> Any:
    """Return a table in which columns of codes are categorical; a matrix without any as it is."""
    if not read.nominal:
        return X
    lacking = [at for at in read.nominal if at >= X.shape[1]]
    if lacking:
        raise ValueError(
            f"read.nominal: there is no column {lacking[0]}; columns are 0 to {X.shape[1] - 1}"
        )
    table = pd.DataFrame(X)
    return table.astype(dict.fromkeys(read.nominal, "category"))


def _as_read(X: Any, entry: Declared, read: matrix_reading.Matrix) -> Any:
    """Return a matrix as it is to be kept; with its zeros where columns are to be encoded."""
    return _filled(X, entry) if read.nominal else as_declared(X, entry)


def _filled(X: Any, entry: Declared) -> Any:
    if not sparse.issparse(X):
        return X
    needed = X.shape[0] * X.shape[1] * X.dtype.itemsize
    if needed > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"):
        todo = "leave `nominal` out" if entry.sparse else "write `sparse: true`"
        raise HarnessError(
            f"data set {entry.name!r}: {X.shape[0]} x {X.shape[1]} points and features are "
            f"{format_bytes(needed)} with all zeros, more than this machine's memory; {todo}"
        )
    return X.toarray()
