"""Numerics that methods share: kernels in blocks, degrees, landmarks, feature maps, spectra.

Nothing here knows of the harness. What a function holds beyond its inputs is stated where it is
not obvious from its result, because the storage models of the plugins are built from it.
"""

from harness.kernels.gaussian import (
    BLOCK_BYTES,
    STREAM_BYTES,
    block_rows,
    gaussian_kernel,
    kernel_width,
    median_distance,
    row_blocks,
    squared_norms,
)
from harness.kernels.labels import Labels, decide, read_labels, spread_scores
from harness.kernels.packed import TILE, PackedSymmetric, packed_bytes
from harness.kernels.transfer import (
    TRANSFERS,
    linear,
    poly_step,
    polynomial,
    regularized_laplacian,
    step,
    transferred,
)

__all__ = [
    "BLOCK_BYTES",
    "STREAM_BYTES",
    "TILE",
    "TRANSFERS",
    "Labels",
    "PackedSymmetric",
    "block_rows",
    "decide",
    "gaussian_kernel",
    "kernel_width",
    "linear",
    "median_distance",
    "packed_bytes",
    "poly_step",
    "polynomial",
    "read_labels",
    "regularized_laplacian",
    "row_blocks",
    "spread_scores",
    "squared_norms",
    "step",
    "transferred",
]
