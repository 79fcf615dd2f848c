"""Bytes of FALKON and LogFALKON, phase by phase."""

from __future__ import annotations

from harness import Arrays, Shape, Storage, kernels

from .preconditioner import preconditioner_bytes


def falkon_storage(
    shape: Shape,
    size: int,
    kernel: str | kernels.KernelFunction = "rbf",
    selector: str | kernels.Selector = "uniform",
    dtype: str = "float32",
    tuned: bool = False,
) -> Storage:
    """Count landmarks, one square matrix of their order, vectors, and a block of kernel rows."""
    columns = max(1, shape.n_machines if shape.n_classes else 1)
    targets = Arrays(targets=8 * shape.n_labeled * (1 + columns))
    # the solution of conjugate gradients, what they end in, and these in the type of values
    vectors = kernels.conjugate_gradient_bytes(min(size, shape.n), columns)
    vectors += 3 * 8 * min(size, shape.n) * columns
    return _storage(shape, size, kernel, selector, dtype, tuned, targets, vectors, columns)


def logfalkon_storage(
    shape: Shape,
    size: int,
    kernel: str | kernels.KernelFunction = "rbf",
    selector: str | kernels.Selector = "uniform",
    dtype: str = "float32",
    tuned: bool = False,
) -> Storage:
    """Count the same with vectors of one class, and second derivatives of the points."""
    item, s = _itemsize(dtype), min(size, shape.n)
    labels = Arrays(labels=9 * shape.n_labeled, second_derivatives=item * shape.n_labeled)
    vectors = kernels.conjugate_gradient_bytes(s, 1) + 16 * 8 * s
    columns = max(1, shape.n_machines)
    return _storage(shape, size, kernel, selector, dtype, tuned, labels, vectors, columns)


def _storage(
    shape: Shape,
    size: int,
    kernel: str | kernels.KernelFunction,
    selector: str | kernels.Selector,
    dtype: str,
    tuned: bool,
    targets: Arrays,
    vectors: int,
    columns: int,
) -> Storage:
    n, d, i, s = shape.n, shape.n_features, shape.itemsize, min(size, shape.n)
    item = _itemsize(dtype)
    points = Arrays(X=shape.data_bytes) + targets
    landmarks = Arrays(landmarks=item * s * (d + 1), middle=16 * d)
    rows = min(shape.n_labeled, kernels.kernel_block_rows(s, d, i))
    # of the factors, of which a quarter of the columns and a part of a panel are packed at once,
    # and of kernel values
    factors = kernels.blas_bytes(s, item, terms=min(s // 4 + 64, 448))
    blas = Arrays(blas=max(factors, kernels.blas_bytes(rows, item, terms=d, others=s)))
    # what a fit packs is there in the next of a search
    before = points + (blas if tuned else Arrays())
    block = kernels.kernel_block_bytes(shape.n_labeled, s, d, i, item, kernel)
    new = kernels.kernel_block_bytes(shape.block_rows, s, d, i, item, kernel, picked=False)
    held = max(shape.data_bytes if tuned else 0, shape.predict_data_bytes)
    return Storage(
        fit={
            "width": before + Arrays(sample=kernels.binding_bytes(kernel, n, d, i)),
            "landmarks": before
            + Arrays(selection=kernels.selection_bytes(selector, n, d, s, i, kernel)),
            "picking": before + landmarks + Arrays(rows=kernels.stream_bytes(s, 2 * d)),
            "preconditioner": points
            + landmarks
            + blas
            + Arrays(square=item * s * s, columns=preconditioner_bytes(s, d, item, kernel)),
            "passes": points
            + landmarks
            + blas
            + Arrays(
                square=item * s * s,
                vectors=vectors + 8 * s * 4,
                block=block,
                values=8 * 3 * columns * rows,
            ),
        },
        predict={
            "a block": landmarks
            + blas
            + Arrays(
                coefficients=(8 + item) * s * columns,
                X_and_block=held,
                kernel_rows=new,
                values=8 * 2 * columns * shape.block_rows,
            )
        },
    )


def _itemsize(dtype: str) -> int:
    return 8 if dtype == "float64" else 4
