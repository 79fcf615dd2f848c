"""Preparing a data set once: fetch, read, encode, scale, check, and write plain arrays.

The files appear together or not at all: they are written to a folder beside the destination, which
is then renamed.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from harness.datasets.counting import nnz_contradiction, shape_contradiction
from harness.datasets.encoding import encode
from harness.datasets.entry import Entry
from harness.datasets.fetching import fetch
from harness.datasets.meta import DENSE, FACTS, SPARSE, Meta, content_sha256
from harness.datasets.point_facts import coded_facts, largest_group
from harness.datasets.rows import Features, x_bytes
from harness.datasets.scaling import scale, scale_sparse
from harness.datasets.sparse_rows import write_sparse
from harness.datasets.texts import read_source
from harness.errors import HarnessError
from harness.files import temporary_beside
from harness.units import format_bytes


def prepare(entry: Entry, destination: Path) -> Meta:
    """Write `X.npy` (of sparse data `X.npz`), `y.npy` and `meta.json` of a data set.

    Its groups and the order of its points, if it has any, are written to `facts.npy`.

    Parameters
    ----------
    entry : Entry
    destination : Path
        A folder; what it held is replaced once the new files are complete.

    Returns
    -------
    Meta
        As written.

    Raises
    ------
    HarnessError
        If the data cannot be fetched, read or written, or are not what the catalog declares.
    """
    destination = Path(destination)
    X, y, facts = load_with_facts(entry)
    counts = () if entry.task == "regression" else tuple(np.bincount(y[y >= 0]).tolist())
    needed = x_bytes(X) + y.nbytes
    with _writing(destination, needed) as folder:
        digest = hashlib.sha256()
        if entry.sparse:
            write_sparse(folder / SPARSE, X)
        else:
            _save(folder / DENSE, X, digest)
        _save(folder / "y.npy", y, digest)
        if facts:
            _save(folder / FACTS, np.array(list(facts.values())), digest)
        meta = Meta(
            name=entry.name,
            task=entry.task,
            n=entry.n,
            d=entry.d,
            n_train=entry.n_train,
            n_classes=entry.n_classes,
            class_names=entry.class_names,
            class_counts=counts,
            dtype=entry.dtype,
            itemsize=entry.itemsize,
            scaling=entry.scaling,
            sha256=content_sha256(folder) if entry.sparse else digest.hexdigest(),
            digest=entry.digest,
            citation=entry.citation,
            nnz=entry.nnz,
            n_unlabeled=entry.n_unlabeled,
            facts=tuple(facts),
            largest_group=entry.largest_group,
            divide_by=entry.divide_by if entry.small_integers else 1.0,
        )
        meta.write(folder)
    return meta


def load(entry: Entry) -> tuple[Features, np.ndarray]:
    """Return the features and targets of a data set as they are to be written.

    Returns
    -------
    X : ndarray or csr_matrix (n, d) of the entry's dtype
    y : ndarray (n,) of int64 (0 .. n_classes - 1, or -1 without a label) or float64
    """
    X, y, _ = load_with_facts(entry)
    return X, y


def load_with_facts(entry: Entry) -> tuple[Features, np.ndarray, dict[str, np.ndarray]]:
    """Return the same, and the groups and the order of points by their names."""
    source = read_source(entry, fetch(entry))
    ends = np.cumsum(source.parts)
    X, y, rows = encode(source, entry)
    _check_parts(np.searchsorted(rows, ends).tolist(), entry)
    facts = coded_facts(source.facts, rows, entry)
    _check_groups(facts, y, entry)
    if X.shape != (entry.n, entry.d):
        raise HarnessError(f"data set {entry.name!r}: {shape_contradiction(entry, X.shape)}")
    if entry.sparse and X.nnz != entry.nnz:
        raise HarnessError(f"data set {entry.name!r}: {nnz_contradiction(entry, X.nnz)}")
    if entry.small_integers:
        return X, y, facts
    if entry.divide_by != 1:
        values = X.data if entry.sparse else X
        values /= X.dtype.type(entry.divide_by)
    if entry.sparse:
        scale_sparse(X, entry.scaling)
    else:
        scale(X, entry.scaling)
    return X, y, facts


def _check_groups(facts: dict[str, np.ndarray], y: np.ndarray, entry: Entry) -> None:
    largest = largest_group(facts, np.isfinite(y) if entry.task == "regression" else y >= 0)
    if largest != entry.largest_group:
        raise HarnessError(
            f"data set {entry.name!r}: its largest group has {largest} points, the catalog says "
            f"{entry.largest_group} (largest_group)"
        )


def _check_parts(ends: list[int], entry: Entry) -> None:
    """Refuse an official training part that ends within a file; `ends` are of kept rows."""
    if entry.n_train is not None and len(ends) > 1 and entry.n_train not in ends:
        raise HarnessError(
            f"data set {entry.name!r}: n_train is {entry.n_train}, but its files end after "
            f"{ends} points"
        )


@contextmanager
def _writing(destination: Path, needed: int) -> Iterator[Path]:
    """Give a folder to write to, and put it in the destination's place when all went well."""
    folder = None
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        folder = temporary_beside(destination)
        folder.mkdir()
        folder.chmod(0o755)
        yield folder
        for path in folder.iterdir():
            _flush(path)
        _replace(folder, destination)
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            reason = f"the disk is full: {format_bytes(needed)} ({needed} bytes) are needed"
        elif error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            reason = "no permission to write there"
        else:
            reason = error.strerror or str(error)
        raise HarnessError(f"{destination}: cannot be written: {reason}") from None
    finally:
        if folder is not None:
            shutil.rmtree(folder, ignore_errors=True)


def _save(path: Path, array: np.ndarray, digest: hashlib._Hash) -> None:
    """Write an `.npy` file; unlike `np.save`, a full disk is told as such."""
    header = io.BytesIO()
    described = np.lib.format.header_data_from_array_1_0(array)
    np.lib.format.write_array_header_1_0(header, described)
    with path.open("wb") as stream:
        for part in (header.getbuffer(), array.data.cast("B")):
            stream.write(part)
            digest.update(part)


def _flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _replace(folder: Path, destination: Path) -> None:
    if destination.is_dir() and any(destination.iterdir()):
        old = temporary_beside(destination)
        destination.rename(old)
        folder.rename(destination)
        shutil.rmtree(old, ignore_errors=True)
    else:
        folder.rename(destination)
