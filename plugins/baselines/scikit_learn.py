"""What scikit-learn holds, as storage models count it: ridge regression and distances."""

from __future__ import annotations

import platform
from typing import Any

import numpy as np
from scipy.sparse import issparse

from harness import Shape
from harness.kernels import blas_bytes

# Columns that OpenBLAS multiplies at once, by item size: the fewest that it does on a processor.
_AT_ONCE = {4: 448, 8: 192} if platform.machine() == "x86_64" else {4: 128, 8: 128}


def ridge_bytes(labeled: int, m: int, i: int, n_classes: int) -> int:
    """Bytes of a ridge regression: features and two copies, the smaller Gram matrix, weights.

    With the labels and their binary codes, as integers and as floats.
    """
    gram, codes = 16 * min(labeled, m) ** 2 // 5, 26 + 16 * max(n_classes, 2)
    return i * (3 * labeled * m + gram) + weights_bytes(m, i, n_classes) + labeled * codes


def weights_bytes(m: int, i: int, n_classes: int) -> int:
    """Bytes of the weights of m features and an intercept, for each class but of two."""
    return i * (m + 1) * (n_classes if n_classes > 2 else 1)


def upcast_bytes(rows: int, m: int, d: int, i: int) -> int:
    """Bytes by which scikit-learn turns float32 into float64 for distances: 10 MiB or a tenth.

    Parts of both sets, the product of two parts, and itself in float32.
    """
    if i == 8:
        return 8 * (rows + m)
    part = _part_rows(rows, m, d)
    x, z, product = min(part, rows), min(part, m), min(part, rows) * min(part, m)
    doubled = min(8 * product, 1 << 18)  # NumPy does it in place, unless it is small
    if rows <= part and m <= part:
        return 8 * (x + z) * d + max(8 * product + doubled, 12 * product)
    # parts and products stand until the next ones are made
    made = 8 * d * (x + z + max(x if rows > part else 0, z)) + 8 * product
    return max(made, 8 * (x + z) * d + 16 * product + doubled)


def distance_bytes(shape: Shape, rows: int, m: int) -> int:
    """Bytes that scikit-learn holds for distances of rows to m points, beside these and those.

    Of sparse points a sparse matrix of products comes first, and the m points once more.
    """
    d, i = shape.n_features, shape.itemsize
    if not shape.is_sparse:
        return upcast_bytes(rows, m, d, i)
    if i == 8:
        return 12 * rows * m + shape.matrix_bytes(m) + 8 * (rows + m)
    part = _part_rows(rows, m, d)
    x, z = min(part, rows), min(part, m)
    return 28 * x * z + 2 * shape.matrix_bytes(x, 8) + 2 * shape.matrix_bytes(z, 8)


def with_zeros(points: Any) -> np.ndarray:
    """Return points as an array: landmarks of sparse ones are sparse."""
    return points.toarray() if issparse(points) else points


def _part_rows(rows: int, m: int, d: int) -> int:
    """Return how many points scikit-learn turns into float64 at a time."""
    terms = max(((rows + m) * d + rows * m) / 10, 10 * 2**17)
    return int((d * d + terms) ** 0.5 - d) + 1


def packed_rows_bytes(rows: int, m: int, d: int, i: int) -> int:
    """Bytes that BLAS packs of rows of which distances to m points, then features are computed.

    As many columns as it takes at once are multiplied without keeping what is packed of rows.
    """
    deep = blas_bytes(rows, i, m) if m > _AT_ONCE[i] else 0
    if m <= _AT_ONCE[8]:
        return deep
    far = rows if i == 8 else min(rows, _part_rows(rows, m, d))
    return max(deep, blas_bytes(far, 8, d))
