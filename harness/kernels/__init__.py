"""Numerics that methods share: kernels in blocks, degrees, landmarks, feature maps, spectra.

Nothing here knows of the harness. What a function holds beyond its inputs is stated where it is
not obvious from its result, because the storage models of the plugins are built from it.
"""

from harness.kernels.gaussian import (
    BLOCK_BYTES,
    block_rows,
    gaussian_kernel,
    kernel_width,
    median_distance,
    row_blocks,
    squared_norms,
)
from harness.kernels.labels import Labels, decide, read_labels, spread_scores
from harness.kernels.packed import TILE, PackedCholesky, packed_bytes

__all__ = [
    "BLOCK_BYTES",
    "TILE",
    "Labels",
    "PackedCholesky",
    "block_rows",
    "decide",
    "gaussian_kernel",
    "kernel_width",
    "median_distance",
    "packed_bytes",
    "read_labels",
    "row_blocks",
    "spread_scores",
    "squared_norms",
]
