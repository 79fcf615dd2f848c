"""Sparse matrices in `.npz` files as SciPy writes them, and rows of them read without the rest.

`scipy.sparse.load_npz` reads these files. Their arrays are stored plain and aligned, so that parts
of them can be read, and all of them mapped.
"""

from __future__ import annotations

import io
import math
import os
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix

from harness.datasets.buffers import BUFFER_BYTES, BUFFER_NONZEROS, ROWS_AT_ONCE
from harness.datasets.item_types import ItemType
from harness.errors import DamagedFileError, HarnessError
from harness.plugin.shape import csr_row_bytes, index_bytes

_MEMBERS = ("data", "indices", "indptr", "shape", "format")
_ALIGNED = 64
_PADDING = 0xD935
"""The field of a member's header that is there to align what follows, as `zipalign` has it."""
_LOCAL_HEADER, _SIZES_IN_64_BITS = 30, 20


@dataclass(frozen=True)
class Member:
    """Where an array stands in a file."""

    offset: int
    length: int
    dtype: np.dtype

    @property
    def nbytes(self) -> int:
        """Its bytes."""
        return self.length * self.dtype.itemsize


@dataclass(frozen=True)
class SparseHeader:
    """What a file of a sparse matrix says of itself.

    Attributes
    ----------
    shape : (int, int)
    data, indices, indptr : Member
    """

    shape: tuple[int, int]
    data: Member
    indices: Member
    indptr: Member

    @property
    def dtype(self) -> np.dtype:
        """Of the values."""
        return self.data.dtype

    @property
    def nnz(self) -> int:
        """Nonzeros."""
        return self.data.length

    @property
    def row_bytes(self) -> int:
        """Bytes of a row, on average."""
        return csr_row_bytes(self.nnz / max(1, self.shape[0]), self.dtype.itemsize)


def compressed(X: Any) -> csr_matrix:
    """Return a matrix in compressed rows: columns in order, none twice, no stored zero."""
    X = csr_matrix(X)
    X.sum_duplicates()
    X.eliminate_zeros()
    index = np.dtype(f"i{index_bytes(X.nnz)}")  # readers of some formats take 8 bytes
    X.indices, X.indptr = (a.astype(index, copy=False) for a in (X.indices, X.indptr))
    return X


def write_sparse(path: Path, X: csr_matrix) -> None:
    """Write a matrix as `scipy.sparse.save_npz(path, X, compressed=False)` does, but aligned.

    The same matrix gives the same bytes, whenever it is written.
    """
    arrays = {
        "data": X.data,
        "indices": X.indices,
        "indptr": X.indptr,
        "shape": np.array(X.shape, dtype=np.int64),
        "format": np.array(b"csr"),
    }
    with path.open("wb") as stream, zipfile.ZipFile(stream, "w") as archive:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(f"{name}.npy")
            before = stream.tell() + _LOCAL_HEADER + len(info.filename) + _SIZES_IN_64_BITS + 4
            padding = -before % _ALIGNED
            info.extra = struct.pack("<HH", _PADDING, padding) + bytes(padding)
            header = io.BytesIO()
            described = np.lib.format.header_data_from_array_1_0(array)
            np.lib.format.write_array_header_1_0(header, described)
            with archive.open(info, "w", force_zip64=True) as member:
                member.write(header.getbuffer())
                member.write(array.reshape(-1).view(np.uint8).data)


def read_sparse_header(path: Path) -> SparseHeader:
    """Read and check where the arrays of a sparse matrix stand.

    Raises
    ------
    DamagedFileError
        If the file is missing, cut short, or none that `write_sparse` wrote.
    """
    meta = Path(path).with_name("meta.json")  # without it the data are prepared again
    try:
        with Path(path).open("rb") as stream:
            found = _members(stream)
            rows, columns = _whole(stream, found["shape"])
            if _whole(stream, found["format"])[0] != b"csr":
                raise ValueError("its rows are not compressed")
    except OSError as error:
        raise DamagedFileError(meta, f"{path}: cannot be read: {error.strerror}") from None
    except Exception as error:  # of zipfile or of NumPy, which a damaged header may lead anywhere
        raise DamagedFileError(meta, f"{path}: not an .npz of a sparse matrix ({error})") from None
    header = SparseHeader((int(rows), int(columns)), *(found[name] for name in _MEMBERS[:3]))
    if header.indptr.length != rows + 1 or header.indices.length != header.nnz:
        raise DamagedFileError(meta, f"{path}: its arrays are not those of {rows} rows")
    return header


def _members(stream: io.BufferedReader) -> dict[str, Member]:
    found = {}
    size = os.fstat(stream.fileno()).st_size
    with zipfile.ZipFile(stream) as archive:
        infos = [archive.getinfo(f"{name}.npy") for name in _MEMBERS]
        for name, info in zip(_MEMBERS, infos, strict=True):
            if info.compress_type != zipfile.ZIP_STORED:
                raise ValueError(f"{info.filename} is compressed")
            stream.seek(info.header_offset + 26)
            stream.seek(sum(struct.unpack("<HH", stream.read(4))), os.SEEK_CUR)
            if np.lib.format.read_magic(stream) != (1, 0):
                raise ValueError(f"{info.filename} is of another version")
            shape, _, dtype = np.lib.format.read_array_header_1_0(stream)
            member = Member(stream.tell(), math.prod(shape), dtype)
            if dtype.hasobject or member.offset + member.nbytes > size:
                raise ValueError(f"{info.filename} is cut short")
            found[name] = member
    return found


def _whole(stream: io.BufferedReader, member: Member) -> np.ndarray:
    stream.seek(member.offset)
    return np.frombuffer(stream.read(member.nbytes), member.dtype)


def read_sparse_rows(path: Path, rows: np.ndarray, item: ItemType | None = None) -> csr_matrix:
    """Read some rows of a sparse matrix.

    Parameters
    ----------
    path : Path
    rows : ndarray (m,) of int
        Row numbers in any order; increasing ones are read in a single pass over the file.
    item : ItemType, optional
        Of which type values are handed over; by default as they stand in the file.

    Returns
    -------
    csr_matrix (m, d)
        Row i is row `rows[i]` of the file.

    Raises
    ------
    HarnessError
        If the file is damaged, or a row number is outside of it.

    Notes
    -----
    Besides the result it holds `sparse_reading_bytes`. First the rows are counted, then arrays of
    their size are filled, in one pass over the file each.
    """
    header = read_sparse_header(path)
    rows = np.asarray(rows)
    if rows.size and not (rows.min() >= 0 and rows.max() < header.shape[0]):
        raise HarnessError(
            f"{path}: rows {rows.min()} .. {rows.max()} asked for, it has {header.shape[0]}"
        )
    indptr = np.zeros(len(rows) + 1, header.indptr.dtype)
    order = None if (rows[1:] > rows[:-1]).all() else np.argsort(rows)
    descriptor = os.open(path, os.O_RDONLY)
    try:
        for places in _windows(order, len(rows)):
            indptr[1:][places] = _bounds(descriptor, header, rows[places])[1]
        np.cumsum(indptr, out=indptr)
        kind = header.dtype if item is None else np.dtype(item.dtype)
        data = np.empty(int(indptr[-1]), kind)
        indices = np.empty(len(data), header.indices.dtype)
        for places in _windows(order, len(rows)):
            starts, counts = _bounds(descriptor, header, rows[places])
            targets = indptr[:-1][places]
            _fill(descriptor, header, starts, counts, targets, data, indices)
    finally:
        os.close(descriptor)
    return _matrix(data, indices, indptr, header.shape[1])


def _matrix(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, d: int) -> csr_matrix:
    X = csr_matrix((data, indices, indptr), shape=(len(indptr) - 1, d), copy=False)
    # as prepared, so that nobody looks through all of it, or sorts what cannot be written
    X.has_canonical_format = X.has_sorted_indices = True
    return X


def sparse_slice(X: csr_matrix, start: int, stop: int) -> csr_matrix:
    """Return consecutive rows without a copy of them, which indexing a sparse matrix makes."""
    stop = min(stop, X.shape[0])
    low, high = X.indptr[start], X.indptr[stop]
    indptr = X.indptr[start : stop + 1] - low
    return _matrix(X.data[low:high], X.indices[low:high], indptr, X.shape[1])


def _windows(order: np.ndarray | None, n: int) -> Iterator[slice | np.ndarray]:
    """Give the places of rows, some at a time, in the order of their rows in the file."""
    for start in range(0, n, ROWS_AT_ONCE):
        place = slice(start, min(n, start + ROWS_AT_ONCE))
        yield place if order is None else order[place]


def _bounds(
    descriptor: int, header: SparseHeader, rows: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return where rows begin, and how many nonzeros each has, both int64 of shape (m,)."""
    member = header.indptr
    buffer = np.empty(min(BUFFER_BYTES // member.dtype.itemsize, member.length), member.dtype)
    starts, counts = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    position = 0
    while position < len(rows):
        first = int(rows[position])
        end = int(np.searchsorted(rows, first + len(buffer) - 1))
        span = int(rows[end - 1]) - first + 2
        _pread(descriptor, buffer[:span], member, first)
        picked = rows[position:end] - first
        starts[position:end] = buffer[picked]
        counts[position:end] = buffer[picked + 1]
        position = end
    counts -= starts
    return starts, counts


def _fill(
    descriptor: int,
    header: SparseHeader,
    starts: np.ndarray,
    counts: np.ndarray,
    targets: np.ndarray,
    data: np.ndarray,
    indices: np.ndarray,
) -> None:
    """Read rows that are in the order of the file to where each belongs."""
    stops = starts + counts
    converts = data.dtype != header.dtype
    is_run = (starts[1:] == stops[:-1]).all() and (np.diff(targets) == counts[:-1]).all()
    if is_run and len(starts) and not converts:
        low, high, target = int(starts[0]), int(stops[-1]), int(targets[0])
        _read_run(descriptor, header, low, high, target, data, indices)
        return
    size = min(BUFFER_NONZEROS, header.nnz)
    if converts and len(counts):  # a row that is larger than the buffer has to pass it
        size = max(size, int(counts.max()))
    values, columns = np.empty(size, header.dtype), np.empty(size, indices.dtype)
    position = 0
    while position < len(starts):
        low = int(starts[position])
        end = int(np.searchsorted(stops, low + size, side="right"))
        if end <= position:  # a row larger than the buffer
            high, target = int(stops[position]), int(targets[position])
            _read_run(descriptor, header, low, high, target, data, indices)
            position += 1
            continue
        span, lengths = int(stops[end - 1]) - low, counts[position:end]
        is_whole = span == lengths.sum()  # nothing lies between these rows
        _pread(descriptor, values[:span], header.data, low)
        _pread(descriptor, columns[:span], header.indices, low)
        before = np.cumsum(lengths) - lengths
        within = np.arange(span if is_whole else lengths.sum())
        picked: slice | np.ndarray = slice(span)
        if not is_whole:
            picked = within + np.repeat(starts[position:end] - low - before, lengths)
        within += np.repeat(targets[position:end] - before, lengths)
        data[within] = values[picked]
        indices[within] = columns[picked]
        position = end


def _read_run(
    descriptor: int,
    header: SparseHeader,
    low: int,
    high: int,
    target: int,
    data: np.ndarray,
    indices: np.ndarray,
) -> None:
    place = slice(target, target + high - low)
    _pread(descriptor, data[place], header.data, low)
    _pread(descriptor, indices[place], header.indices, low)


def _pread(descriptor: int, target: np.ndarray, member: Member, first: int) -> None:
    offset = member.offset + first * member.dtype.itemsize
    view = target.view(np.uint8).data
    while len(view):
        count = os.preadv(descriptor, [view], offset)
        if not count:
            raise HarnessError(f"a data file ended at byte {offset}: it was cut while in use")
        view = view[count:]
        offset += count


def map_sparse(path: Path) -> csr_matrix:
    """Return the matrix of a file, its arrays mapped read-only.

    Raises
    ------
    HarnessError
        If the file is damaged.
    """
    header = read_sparse_header(path)
    data, indices, indptr = (
        np.memmap(path, member.dtype, "r", member.offset, (member.length,))
        if member.length
        else np.empty(0, member.dtype)
        for member in (header.data, header.indices, header.indptr)
    )
    return _matrix(data, indices, indptr, header.shape[1])
