"""Bytes of preconditioned kernel ridge regression, phase by phase."""

from __future__ import annotations

from harness import Arrays, Shape, Storage, kernels

from .ridge import TILE


def ridge_storage(
    shape: Shape,
    size: int,
    kernel: str | kernels.KernelFunction = "rbf",
    selector: str | kernels.Selector = "rpcholesky-accelerated",
    dtype: str = "float32",
    tuned: bool = False,
) -> Storage:
    """Count features of all labeled points, their Gram matrix, vectors, and a tile."""
    n, d, i, b = shape.n_labeled, shape.n_features, shape.itemsize, min(size, shape.n)
    item, columns = 8 if dtype == "float64" else 4, max(1, shape.n_machines)
    data = Arrays(X=shape.data_bytes, targets=8 * n * (1 + columns))
    # of the landmarks' factor and features, and of the Gram matrix and its factor
    packed = kernels.blas_bytes(b) + kernels.blas_bytes(b, 4)
    blas = Arrays(blas=max(packed, kernels.cholesky_blas_bytes(b)))
    # what a fit packs is there in the next of a search
    before = data + (blas if tuned else Arrays())
    features = Arrays(features=4 * n * b)
    making = data + blas + features
    making = making + Arrays(landmark_features=kernels.LandmarkFeatures.bytes(b, d))
    tile = min(n, TILE)
    tile_bytes = tile * (item * tile + 2 * (i + item) * d)
    tile_bytes += kernels.kernel_bytes(kernel, tile, tile, d, item, at_origin=True)
    vectors = Arrays(
        vectors=kernels.conjugate_gradient_bytes(n, columns, preconditioned=True),
        products=(8 + item) * n * columns,
    )
    points = Arrays(points=item * n * (d + 1), middle=16 * d)
    rows = kernels.kernel_block_bytes(shape.block_rows, n, d, i, item, kernel, picked=False)
    held = max(shape.data_bytes if tuned else 0, shape.predict_data_bytes)
    return Storage(
        fit={
            "width": before + Arrays(sample=kernels.binding_bytes(kernel, shape.n, d, i)),
            "landmarks": before
            + Arrays(selection=kernels.selection_bytes(selector, shape.n, d, b, i, kernel)),
            "landmark features": before
            + Arrays(building=kernels.LandmarkFeatures.building_bytes(b, d, i, kernel)),
            "features": making
            + Arrays(block=kernels.LandmarkFeatures.block_bytes(n, b, d, i, kernel)),
            "Gram matrix": making + Arrays(rows=8 * 64 * b, gram=8 * b * b),
            "iterations": data
            + blas
            + features
            + vectors
            + Arrays(gram=8 * b * b, tile=max(tile_bytes, kernels.stream_bytes(n, b))),
            "points": data
            + blas
            + points
            + Arrays(coefficients=8 * n * columns, picked=kernels.stream_bytes(n, 2 * d)),
        },
        predict={
            "a block": points
            + blas
            + Arrays(
                coefficients=(8 + item) * n * columns,
                X_and_block=held,
                kernel_rows=rows,
                values=8 * 2 * columns * shape.block_rows,
            )
        },
    )
