"""Numerics that methods share: kernels in blocks, degrees, landmarks, feature maps, spectra.

Nothing here knows of the harness. What a function holds beyond its inputs is stated where it is
not obvious from its result, because the storage models of the plugins are built from it.
"""

from harness.kernels.conjugate_gradients import conjugate_gradient_bytes, conjugate_gradients
from harness.kernels.degrees import (
    DEGREE_TILE,
    exact_degrees,
    feature_degrees,
    tile_bytes,
)
from harness.kernels.features import (
    NystromFeatures,
    RandomFourierFeatures,
)
from harness.kernels.frequencies import FrequencyName, frequency_bytes, phase_bytes
from harness.kernels.functions import (
    KERNELS,
    OF_SCALED_INTEGERS,
    OF_SPARSE,
    AnyKernel,
    BoundKernel,
    KernelFunction,
    bind_kernel,
    binding_bytes,
    kernel_bytes,
)
from harness.kernels.gaussian import (
    BLOCK_BYTES,
    GaussianAt,
    GaussianExpansion,
    block_rows,
    center_rows,
    centered,
    centered_rows,
    column_medians,
    expansion_bytes,
    gaussian_kernel,
    gaussian_rows,
    normalize_rows,
    refuse_overflow,
    row_blocks,
    stream_bytes,
)
from harness.kernels.gram import (
    GramSum,
    add_gram,
    blas_bytes,
    cholesky_blas_bytes,
    gram_block_bytes,
    gram_blocks,
    mirror,
    product_panel_bytes,
    project_gram,
    square_product_bytes,
    summing_panel_bytes,
)
from harness.kernels.kernel_rows import KernelRows, kernel_block_bytes, kernel_block_rows
from harness.kernels.landmark_features import (
    LandmarkFeatures,
)
from harness.kernels.landmarks import (
    OF_SPARSE as SELECTORS_OF_SPARSE,
)
from harness.kernels.landmarks import (
    SELECTORS,
    Landmarks,
    LandmarkSelection,
    Selector,
    select_landmarks,
    selection_bytes,
)
from harness.kernels.neighbors import NeighborGraph
from harness.kernels.packed_cholesky import (
    TILE,
    PackedSymmetric,
    packed_gaussian,
    packed_gaussian_bytes,
)
from harness.kernels.symmetric import (
    eigen_arrays,
    eigen_workspace,
    eigensystem,
    largest_eigenpairs,
    solve_positive_definite,
)
from harness.kernels.transfer_functions import (
    Transfer,
    TransferSettings,
    apply_transfer,
)
from harness.kernels.width import (
    GaussianWidth,
    kernel_width,
    sparse_width_bytes,
    width_bytes,
)
from harness.scaled_integers import ScaledIntegers

__all__ = [
    "BLOCK_BYTES",
    "DEGREE_TILE",
    "KERNELS",
    "OF_SCALED_INTEGERS",
    "OF_SPARSE",
    "SELECTORS",
    "SELECTORS_OF_SPARSE",
    "TILE",
    "AnyKernel",
    "BoundKernel",
    "FrequencyName",
    "GaussianAt",
    "GaussianExpansion",
    "GaussianWidth",
    "GramSum",
    "KernelFunction",
    "KernelRows",
    "LandmarkFeatures",
    "LandmarkSelection",
    "Landmarks",
    "NeighborGraph",
    "NystromFeatures",
    "PackedSymmetric",
    "RandomFourierFeatures",
    "ScaledIntegers",
    "Selector",
    "Transfer",
    "TransferSettings",
    "add_gram",
    "apply_transfer",
    "bind_kernel",
    "binding_bytes",
    "blas_bytes",
    "block_rows",
    "center_rows",
    "centered",
    "centered_rows",
    "cholesky_blas_bytes",
    "column_medians",
    "conjugate_gradient_bytes",
    "conjugate_gradients",
    "eigen_arrays",
    "eigen_workspace",
    "eigensystem",
    "exact_degrees",
    "expansion_bytes",
    "feature_degrees",
    "frequency_bytes",
    "gaussian_kernel",
    "gaussian_rows",
    "gram_block_bytes",
    "gram_blocks",
    "kernel_block_bytes",
    "kernel_block_rows",
    "kernel_bytes",
    "kernel_width",
    "largest_eigenpairs",
    "mirror",
    "normalize_rows",
    "packed_gaussian",
    "packed_gaussian_bytes",
    "phase_bytes",
    "product_panel_bytes",
    "project_gram",
    "refuse_overflow",
    "row_blocks",
    "select_landmarks",
    "selection_bytes",
    "solve_positive_definite",
    "sparse_width_bytes",
    "square_product_bytes",
    "stream_bytes",
    "summing_panel_bytes",
    "tile_bytes",
    "width_bytes",
]
