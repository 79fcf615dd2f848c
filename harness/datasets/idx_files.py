"""The format of MNIST."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from harness.datasets import matrix_reading
from harness.datasets.encoding import Source
from harness.datasets.fetching import open_unpacked
from harness.datasets.matrices import joined

_IDX_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


def read_idx(path: Path) -> np.ndarray:
    """Read one IDX file, packed or not.

    Raises
    ------
    ValueError
        If it does not start as IDX or its length is not what its header says.
    """
    with open_unpacked(path) as stream:
        raw = stream.read()
    if len(raw) < 4 or raw[:2] != b"\0\0" or raw[2] not in _IDX_TYPES:
        raise ValueError(f"{path.name} does not start as an IDX file")
    if len(raw) < 4 + 4 * raw[3]:
        raise ValueError(f"{path.name} is cut short within its header")
    shape = np.frombuffer(raw, ">u4", count=raw[3], offset=4).astype(int)
    kind = np.dtype(_IDX_TYPES[raw[2]])
    start = 4 + 4 * raw[3]
    if len(raw) - start != kind.itemsize * shape.prod():
        raise ValueError(f"{path.name} holds {len(raw) - start} bytes, its header says {shape}")
    return np.frombuffer(raw, kind, offset=start).reshape(shape)


def read_images_and_labels(read: matrix_reading.Idx, paths: Sequence[Path]) -> Source:
    """Read files of images and of labels, which take turns."""
    if len(paths) % 2:
        raise ValueError("files of images and of labels must take turns")
    arrays = [read_idx(path) for path in paths]
    labels = [
        _labels_of(path, held, read.target)
        for path, held in zip(paths[1::2], arrays[1::2], strict=True)
    ]
    X = [images.reshape(len(images), -1) for images in arrays[::2]]
    return joined(X, labels, read)


def _labels_of(path: Path, labels: np.ndarray, target: int | None) -> np.ndarray:
    if labels.ndim == 2 and target is not None and target < labels.shape[1]:
        return labels[:, target]
    if labels.ndim == 1 and not target:
        return labels
    if labels.ndim < 3 and target is not None:
        width = 1 if labels.ndim == 1 else labels.shape[1]
        raise ValueError(f"read.target: {path.name} has no column {target}, but {width} from 0 on")
    columns = f", and {labels.shape[1]} columns: write `target: 0`" if labels.ndim == 2 else ""
    raise ValueError(
        f"{path.name} should hold labels, and has {labels.ndim} axes{columns}: of two files the "
        "images come first"
    )
