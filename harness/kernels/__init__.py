"""Numerics that methods share: kernels in blocks, degrees, landmarks, feature maps, spectra.

Nothing here knows of the harness. What a function holds beyond its inputs is stated where it is
not obvious from its result, because the storage models of the plugins are built from it.
"""

from harness.kernels.active_rows import newton_bytes
from harness.kernels.cca import (
    CanonicalCorrelations,
    CanonicalPairs,
    RowSketch,
    canonical_bytes,
)
from harness.kernels.degrees import (
    DEGREE_TILE,
    exact_degrees,
    feature_degrees,
    gaussian_tiles,
    landmark_degree_weights,
    landmark_degrees,
    tile_bytes,
)
from harness.kernels.factorisation import NEAR, Factorisation, Moments, principal_factors
from harness.kernels.feature_cache import FeatureCache, cache_bytes
from harness.kernels.features import (
    FeatureMap,
    KernelFeatures,
    NystromFeatures,
    RandomFourierFeatures,
    landmark_spectrum,
)
from harness.kernels.functions import (
    KERNELS,
    BoundKernel,
    KernelFunction,
    bind_kernel,
    binding_bytes,
    has_width,
    kernel_bytes,
)
from harness.kernels.gaussian import (
    BLOCK_BYTES,
    CENTER_SAMPLE,
    block_rows,
    gaussian_expansion,
    gaussian_kernel,
    gaussian_rows,
    kernel_width,
    median_distance,
    middle,
    moved,
    row_blocks,
    squared_norms,
    stream_bytes,
    unit_rows,
    width_bytes,
)
from harness.kernels.gram import (
    GramSum,
    add_gram,
    blas_bytes,
    gram_block_bytes,
    gram_blocks,
    mirror,
    square_product_bytes,
)
from harness.kernels.graph import CompleteGraph, NeighborGraph, NeighborSearch, extend_harmonically
from harness.kernels.hinge import HingeMachine, train_hinge
from harness.kernels.hinge_machines import HingeMachines, train_hinge_machines
from harness.kernels.labels import Labels, as_decision, decide, read_labels, spread_scores
from harness.kernels.landmark_bounds import bounds_bytes, objective_bounds
from harness.kernels.landmark_descent import descend, descent_bytes
from harness.kernels.landmark_features import (
    LandmarkFeatures,
    building_bytes,
    feature_block_bytes,
    features_bytes,
)
from harness.kernels.landmark_problem import LandmarkProblem
from harness.kernels.landmarks import (
    SELECTORS,
    Selector,
    select_landmarks,
    selection_bytes,
    uniform_landmarks,
)
from harness.kernels.landmarks.sampling import spread_rows
from harness.kernels.laplacian import SOLVE_COLUMNS, GroundedLaplacian, ReducedLaplacian
from harness.kernels.least_squares import (
    RidgeOnFeatures,
    SplitLeastSquares,
    SquaredLossMixin,
    Targets,
    centered_kernel_ridge,
    centered_ridge,
    read_targets,
)
from harness.kernels.low_rank import LowRankKernel, step_bytes
from harness.kernels.machines import train_linear_machines, train_machines
from harness.kernels.packed import (
    TILE,
    PackedSymmetric,
    factoring_bytes,
    filling_bytes,
    packed_bytes,
)
from harness.kernels.products import (
    BAND,
    CenteredProduct,
    GaussianTriangle,
    GramProduct,
    KernelProduct,
    LinearProduct,
    triangle_bytes,
)
from harness.kernels.ridge_machines import (
    ROUNDINGS,
    RidgeMachines,
    refine_ridge_machines,
    train_ridge_machines,
)
from harness.kernels.smooth_hinge import SmoothHinge
from harness.kernels.squared_hinge import Expansion, HingeLosses, minimise, newton_step
from harness.kernels.symmetric import (
    eigensystem,
    eigenvalues,
    restore_lower,
    solve_indefinite,
    solve_positive_definite,
)
from harness.kernels.transduction import (
    TransductionProblem,
    concave_convex,
    inductive,
    switching,
)
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
    "BAND",
    "BLOCK_BYTES",
    "CENTER_SAMPLE",
    "DEGREE_TILE",
    "KERNELS",
    "NEAR",
    "ROUNDINGS",
    "SELECTORS",
    "SOLVE_COLUMNS",
    "TILE",
    "TRANSFERS",
    "BoundKernel",
    "CanonicalCorrelations",
    "CanonicalPairs",
    "CenteredProduct",
    "CompleteGraph",
    "Expansion",
    "Factorisation",
    "FeatureCache",
    "FeatureMap",
    "GaussianTriangle",
    "GramProduct",
    "GramSum",
    "GroundedLaplacian",
    "HingeLosses",
    "HingeMachine",
    "HingeMachines",
    "KernelFeatures",
    "KernelFunction",
    "KernelProduct",
    "Labels",
    "LandmarkFeatures",
    "LandmarkProblem",
    "LinearProduct",
    "LowRankKernel",
    "Moments",
    "NeighborGraph",
    "NeighborSearch",
    "NystromFeatures",
    "PackedSymmetric",
    "RandomFourierFeatures",
    "ReducedLaplacian",
    "RidgeMachines",
    "RidgeOnFeatures",
    "RowSketch",
    "Selector",
    "SmoothHinge",
    "SplitLeastSquares",
    "SquaredLossMixin",
    "Targets",
    "TransductionProblem",
    "add_gram",
    "as_decision",
    "bind_kernel",
    "binding_bytes",
    "blas_bytes",
    "block_rows",
    "bounds_bytes",
    "building_bytes",
    "cache_bytes",
    "canonical_bytes",
    "centered_kernel_ridge",
    "centered_ridge",
    "concave_convex",
    "decide",
    "descend",
    "descent_bytes",
    "eigensystem",
    "eigenvalues",
    "exact_degrees",
    "extend_harmonically",
    "factoring_bytes",
    "feature_block_bytes",
    "feature_degrees",
    "features_bytes",
    "filling_bytes",
    "gaussian_expansion",
    "gaussian_kernel",
    "gaussian_rows",
    "gaussian_tiles",
    "gram_block_bytes",
    "gram_blocks",
    "has_width",
    "inductive",
    "kernel_bytes",
    "kernel_width",
    "landmark_degree_weights",
    "landmark_degrees",
    "landmark_spectrum",
    "linear",
    "median_distance",
    "middle",
    "minimise",
    "mirror",
    "moved",
    "newton_bytes",
    "newton_step",
    "objective_bounds",
    "packed_bytes",
    "poly_step",
    "polynomial",
    "principal_factors",
    "read_labels",
    "read_targets",
    "refine_ridge_machines",
    "regularized_laplacian",
    "restore_lower",
    "row_blocks",
    "select_landmarks",
    "selection_bytes",
    "solve_indefinite",
    "solve_positive_definite",
    "spread_rows",
    "spread_scores",
    "square_product_bytes",
    "squared_norms",
    "step",
    "step_bytes",
    "stream_bytes",
    "switching",
    "tile_bytes",
    "train_hinge",
    "train_hinge_machines",
    "train_linear_machines",
    "train_machines",
    "train_ridge_machines",
    "transferred",
    "triangle_bytes",
    "uniform_landmarks",
    "unit_rows",
    "width_bytes",
]
