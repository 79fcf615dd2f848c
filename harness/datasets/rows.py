"""Rows of a file of features, read into memory of our own: no memory map, no second copy.

The file is an `.npy`, or an `.npz` of a sparse matrix, of which `sparse_rows` knows.

A trial is charged for every byte, so its part of a data set is read straight to where it stays,
through a small buffer where rows are picked; a page of a memory map would show up in
the measured peak as well. `open_mapped` is for studies that say `data: mapped`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, issparse

from harness.datasets.buffers import BUFFER_BYTES, ROWS_TAKEN, chunk_rows
from harness.datasets.item_types import ItemType
from harness.datasets.meta import Meta
from harness.datasets.sparse_rows import (
    SparseHeader,
    map_sparse,
    read_sparse_header,
    read_sparse_rows,
    sparse_slice,
)
from harness.errors import DamagedFileError, HarnessError
from harness.plugin.shape import block_rows, csr_row_bytes
from harness.scaled_integers import ScaledIntegers

Features = Any
"""An ndarray (n, d), a csr_matrix, or `ScaledIntegers`, which no type of NumPy's covers."""


@dataclass(frozen=True)
class Header:
    """What the first bytes of an `.npy` file say: shape, dtype, and where the data starts."""

    shape: tuple[int, ...]
    dtype: np.dtype
    offset: int

    @property
    def row_bytes(self) -> int:
        """Bytes of one row."""
        return self.dtype.itemsize * int(np.prod(self.shape[1:], dtype=np.int64))


def is_sparse(path: Path) -> bool:
    """Whether a file of features is one of a sparse matrix."""
    return Path(path).suffix == ".npz"


def read_header(path: Path) -> Header | SparseHeader:
    """Read and check what a file of features, or of targets, says of itself.

    Raises
    ------
    DamagedFileError
        If the file is missing, no file of numbers, or shorter or longer than it says.
    """
    return read_sparse_header(path) if is_sparse(path) else read_array_header(path)


def read_array_header(path: Path) -> Header:
    """Read and check the header of an `.npy` file.

    Raises
    ------
    DamagedFileError
        If the file is missing, not plain C-ordered numbers, or shorter or longer than it says.
    """
    meta = Path(path).with_name("meta.json")  # without it the data are prepared again
    try:
        with Path(path).open("rb") as stream:
            version = np.lib.format.read_magic(stream)
            read = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }[version]
            shape, fortran, dtype = read(stream)
            header = Header(shape, dtype, stream.tell())
            size = os.fstat(stream.fileno()).st_size
    except OSError as error:
        raise DamagedFileError(meta, f"{path}: cannot be read: {error.strerror}") from None
    except Exception as error:  # whatever a damaged header makes of Python's own tokenizer
        raise DamagedFileError(meta, f"{path}: not an .npy file of numbers ({error})") from None
    if fortran or dtype.hasobject or not shape:
        raise DamagedFileError(meta, f"{path}: not a C-ordered array of plain numbers")
    expected = header.offset + shape[0] * header.row_bytes
    if size != expected:
        raise DamagedFileError(meta, f"{path}: has {size} bytes, its header says {expected}")
    return header


def read_rows(path: Path, rows: np.ndarray, item: ItemType | None = None) -> Features:
    """Read some rows of a file of features.

    Parameters
    ----------
    path : Path
    rows : ndarray (m,) of int
        Row numbers in any order.
    item : ItemType, optional
        What becomes of the numbers; by default they are as they stand in the file.

    Returns
    -------
    ndarray, csr_matrix or ScaledIntegers (m, d)
        As `read_array_rows` and `read_sparse_rows` return them.
    """
    if is_sparse(path):
        return read_sparse_rows(path, rows, item)
    if item is not None and item.keeps_integers:
        return scaled(read_array_rows(path, rows), item)
    return read_array_rows(path, rows, item=item)


def scaled(codes: np.ndarray, item: ItemType) -> ScaledIntegers:
    """Return small integers as the numbers that they stand for, without converting them."""
    return ScaledIntegers(codes, item.divide_by, item.dtype)


def read_array_rows(
    path: Path,
    rows: np.ndarray,
    out: np.ndarray | None = None,
    item: ItemType | None = None,
) -> np.ndarray:
    """Read some rows of an `.npy` file into one array.

    Parameters
    ----------
    path : Path
    rows : ndarray (m,) of int
        Row numbers in any order; increasing ones are read in a single pass over the file.
    out : ndarray (m, ...), optional
        Where to put them; a fresh array by default.
    item : ItemType, optional
        What becomes of the numbers; by default they are as they stand in the file.

    Returns
    -------
    ndarray (m, ...)
        Row i is row `rows[i]` of the file.

    Raises
    ------
    HarnessError
        If the file is damaged, or a row number is outside of it.

    Notes
    -----
    Besides the result it holds `reading_bytes`, less than a megabyte for up to 200,000 rows. Rows
    that do not increase are put in order, many at a time, so the file is passed over once, and at
    most 3 times where their whole order would take more. A run of consecutive rows is read
    without the buffer.
    """
    header = read_array_header(path)
    rows = np.asarray(rows)
    if rows.size and not (rows.min() >= 0 and rows.max() < header.shape[0]):
        raise HarnessError(
            f"{path}: rows {rows.min()} .. {rows.max()} asked for, it has {header.shape[0]}"
        )
    kind = header.dtype if item is None else np.dtype(item.dtype)
    if out is None:
        out = np.empty((len(rows), *header.shape[1:]), dtype=kind)
    converted = None if item is None or kind == header.dtype else item
    buffer = np.empty(max(BUFFER_BYTES, header.row_bytes), dtype=np.uint8)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        step = chunk_rows(len(rows))
        for start in range(0, len(rows), step):
            chunk = rows[start : start + step]
            target = out[start : start + len(chunk)]
            if (chunk[1:] > chunk[:-1]).all():
                _read_increasing(descriptor, header, chunk, target, buffer, None, converted)
            else:
                order = np.argsort(chunk)
                for first in range(0, len(order), ROWS_TAKEN):
                    places = order[first : first + ROWS_TAKEN]
                    taken = chunk[places]
                    _read_increasing(descriptor, header, taken, target, buffer, places, converted)
    finally:
        os.close(descriptor)
    return out


def _read_increasing(
    descriptor: int,
    header: Header,
    rows: np.ndarray,
    out: np.ndarray,
    buffer: np.ndarray,
    places: np.ndarray | None,
    item: ItemType | None,
) -> None:
    """Read rows in their order in the file; `places` says where in `out` each of them goes."""
    if item is None and places is None and len(rows):
        first = int(rows[0])
        if int(rows[-1]) - first + 1 == len(rows):  # one run: at once, and not a buffer at a time
            _pread(descriptor, out, header.offset + first * header.row_bytes)
            return
    row_bytes = max(header.row_bytes, out.nbytes // max(1, len(out)))
    per_read = max(1, len(buffer) // row_bytes)
    held = buffer[: per_read * header.row_bytes].view(header.dtype)
    held = held.reshape(per_read, *header.shape[1:])
    position = 0
    while position < len(rows):
        first = int(rows[position])
        end = int(np.searchsorted(rows, first + per_read))
        span = int(rows[end - 1]) + 1 - first
        offset = header.offset + first * header.row_bytes
        # nothing lies between these rows, or some of what is read is picked
        picked = slice(span) if span == end - position else rows[position:end] - first
        if item is not None:
            _pread(descriptor, held[:span], offset)
            where = slice(position, end) if places is None else places[position:end]
            item.put(held[picked], out, where)
        elif places is None and span == end - position:
            _pread(descriptor, out[position:end], offset)
        else:
            _pread(descriptor, held[:span], offset)
            if places is None:
                # mode="clip" lets take write to `out` directly; the default goes through a copy
                np.take(
                    held, rows[position:end] - first, axis=0, out=out[position:end], mode="clip"
                )
            else:
                out[places[position:end]] = held[picked]
        position = end


def _pread(descriptor: int, target: np.ndarray, offset: int) -> None:
    view = target.reshape(-1).view(np.uint8).data
    while len(view):
        count = os.preadv(descriptor, [view], offset)
        if not count:
            raise HarnessError(f"a data file ended at byte {offset}: it was cut while in use")
        view = view[count:]
        offset += count


def row_blocks(path: Path, rows: np.ndarray, item: ItemType | None = None) -> Iterator[Features]:
    """Read rows a block at a time, of `harness.plugin.shape.block_rows`; the last may be shorter.

    Parameters
    ----------
    path : Path
    rows : ndarray (m,) of int
    item : ItemType, optional
        What becomes of the numbers; small integers are converted in any case.

    Yields
    ------
    ndarray or csr_matrix (m, ...)
        Read-only, and valid until the next one is asked for: all blocks share their memory, so
        that a whole pass costs one block. Of a sparse matrix each has its own.
    """
    rows = np.asarray(rows)
    header = read_header(path)
    block = block_rows(given_row_bytes(path, item))
    shared = None
    if isinstance(header, Header):
        kind = header.dtype if item is None else np.dtype(item.dtype)
        shared = np.empty((min(block, len(rows)), *header.shape[1:]), dtype=kind)
    for start in range(0, len(rows), block):
        part = rows[start : start + block]
        if shared is None:
            yield read_only(read_sparse_rows(path, part, item))
        else:
            yield read_only(read_array_rows(path, part, shared[: len(part)], item))


def given_row_bytes(path: Path, item: ItemType | None) -> int:
    """Return the bytes of a row of features as it is given: converted, on average if sparse.

    Parameters
    ----------
    path : Path
    item : ItemType or None
        What becomes of the numbers; None: they are as they stand in the file.
    """
    header = read_header(path)
    itemsize = header.dtype.itemsize if item is None else item.itemsize
    if isinstance(header, Header):
        return header.row_bytes // header.dtype.itemsize * itemsize
    return csr_row_bytes(header.nnz / max(1, header.shape[0]), itemsize)


def matrix_arrays(X: Features) -> tuple[np.ndarray, ...]:
    """Return the arrays that X is made of: itself, or those of a sparse matrix."""
    if isinstance(X, ScaledIntegers):
        return (X.codes,)
    return (X.data, X.indices, X.indptr) if issparse(X) else (X,)


def read_only(X: Features) -> Features:
    """Let nobody write to features, and return them."""
    for array in matrix_arrays(X):
        array.flags.writeable = False
    return X


def x_slice(X: Features, start: int, stop: int) -> Features:
    """Return consecutive rows of X as a view."""
    return sparse_slice(X, start, stop) if issparse(X) else X[start:stop]


def x_row_bytes(X: Features) -> int:
    """Return the bytes of a row of X, on average where it is sparse, as `Shape.row_bytes` does."""
    if issparse(X):
        return csr_row_bytes(X.nnz / max(1, X.shape[0]), X.dtype.itemsize)
    return int(X.shape[1]) * X.itemsize


def x_bytes(X: Features) -> int:
    """Return the bytes of the arrays of X."""
    return sum(array.nbytes for array in matrix_arrays(X))


def numbers_at(path: Path, rows: np.ndarray) -> Features:
    """Return some rows of prepared features as numbers, whatever they are prepared as.

    Parameters
    ----------
    path : Path
        Its folder says in `meta.json` what small integers stand for.
    rows : ndarray (m,) of int

    Returns
    -------
    ndarray or csr_matrix (m, d)
    """
    found = open_mapped(path)[rows]
    if found.dtype != np.uint8:
        return found
    return found.astype(np.float32) / np.float32(Meta.read_alone(path.parent).divide_by)


def open_mapped(path: Path) -> np.memmap | csr_matrix:
    """Open a file of features as a read-only memory map.

    Raises
    ------
    HarnessError
        If the file is damaged.
    """
    if is_sparse(path):
        return map_sparse(path)
    read_array_header(path)
    return np.lib.format.open_memmap(path, mode="r")
