"""What the supervised baselines hold, phase by phase."""

from __future__ import annotations

from harness import Arrays, Shape, Storage, beside, kernels

from . import sparse_linear
from .libsvm import GROUP_ROWS, nodes_bytes

# LIBSVM keeps two rows at least; of its cache that much is its head of each point.
_CACHE_ROWS = 2
_CACHE_HEAD = 32
# The solver's heap as the model finds it: a part of so many is still there.
_CACHE_LEFT = 4
# Blocks of so many bytes are never taken from the heap.
_MAPPED_FROM = 1 << 16
# What LIBSVM and scikit-learn have for each point, and for each point of the pair of classes that
# is being learned: nodes, labels, weights, dual variables, gradients, squares.
_POINT_BYTES, _PAIR_POINT_BYTES = 112, 152
# A pair of classes besides its dual variables: its function, threshold and count, each by itself.
_PAIR_BYTES = 64
# All rows of 2,000 points. More would save up to half of the time where C and labels are many, and
# fill any budget; a study may ask for it.
_CACHE_BYTES = 16_000_000
# Kernels that LIBSVM computes row by row, as it needs them.
OF_LIBSVM = ("rbf", "linear", "poly2")
# Points whose kernel values tell by how much scores can differ.
SPREAD_SAMPLE = 128
# Points whose scores without their own term tell where the threshold is.
SCORED_ALONE = 512


def cache_bytes(n: int, n_classes: int, rows: int) -> int:
    """Bytes of LIBSVM's kernel cache: rows of a pair of classes in float32, and their heads."""
    pair = _pair(n, n_classes)
    return 4 * min(rows, pair) * pair + _CACHE_HEAD * pair


def _hole_bytes(cache: int, rows: int, pair: int) -> int:
    """Bytes between the rows of a cache: 5/16 of it, and 1/8 where all rows are kept.

    As LIBSVM leaves points out and takes them in again, rows change their length. The fewer it
    keeps, the more often they move.
    """
    kept = min(rows, pair) / max(1, pair)
    return int(cache * (5 - 3 * kept) / 16)


def _pair(n: int, n_classes: int) -> int:
    """Points of two classes out of `n_classes`."""
    return min(n, -(-2 * n // n_classes))


def _float64_bytes(shape: Shape) -> int:
    return shape.matrix_bytes(shape.n, 8)


def _converted_bytes(shape: Shape) -> int:
    """Bytes of the float64 copy that scikit-learn makes of float32 data."""
    return 0 if shape.itemsize == 8 else _float64_bytes(shape)


def _block_arrays(shape: Shape) -> Arrays:
    """Return a block of rows, and its float64 copies if it is float32."""
    copies = 0 if shape.itemsize == 8 else 2 * shape.block_bytes
    return Arrays(block=shape.block_bytes, converted_block=copies)


def _nodes(shape: Shape, rows: int) -> int:
    """Bytes of LIBSVM's own copy of sparse points; of dense ones it takes the arrays."""
    return nodes_bytes(rows, shape.nonzeros(rows)) if shape.is_sparse else 0


def nearest_storage(shape: Shape, size: int) -> Storage:
    """Count one block of rows, and distances to all labeled points in blocks."""
    d, i = shape.n_features, shape.itemsize
    return Storage(
        held=Arrays(X=shape.data_bytes, labels=24 * shape.n),
        fit={"check": Arrays(checked=kernels.stream_bytes(shape.n, d, i))},
        predict={
            "a block": Arrays(
                block=shape.block_bytes,
                distances=kernels.stream_bytes(shape.block_rows, shape.n + d, i),
                nearest=16 * shape.block_rows * (1 + shape.n_classes),
            )
        },
    )


def svm_cache_rows(shape: Shape) -> tuple[int, int]:
    """Rows that LIBSVM's cache may have: all of two classes, or 16 MB of them."""
    pair = max(1, _pair(shape.n, shape.n_classes))
    return _CACHE_ROWS, max(_CACHE_ROWS, min(pair, _CACHE_BYTES // (4 * pair)))


def svm_storage(
    shape: Shape,
    size: int,
    kernel: str | kernels.KernelFunction = "rbf",
    tuned: bool = False,
) -> Storage:
    """Count the solver's nodes and cache; then what predicts.

    Support vectors are at most all points again, copied when the cache is gone; votes are those
    of all pairs of classes for a block of predictions. 8 n^2 with a kernel that is not LIBSVM's.
    """
    n, d, i, Q = shape.n, shape.n_features, shape.itemsize, shape.n_classes
    pairs, pair = Q * (Q - 1) // 2, _pair(n, Q)
    cache, sampled = cache_bytes(n, Q, size), min(n, SPREAD_SAMPLE)
    if shape.is_sparse:
        width_sample = kernels.sparse_width_bytes(n, shape.row_bytes)
        working = 12 * sampled**2  # products, before their zeros are written
    else:
        width_sample = kernels.binding_bytes(kernel, n, d, i)
        working = kernels.kernel_bytes(kernel, sampled, sampled, d, i)
    width = {
        "width": Arrays(sample=width_sample),
        "spread": Arrays(
            rows=2 * shape.matrix_bytes(sampled), kernel=working, values=32 * sampled**2
        ),
    }
    # of more than two classes LIBSVM's coefficients, and the copy that scikit-learn makes of them
    coefficients = Arrays(coefficients=16 * (Q - 1) * n if Q > 2 else 0)
    of_pairs = (8 * pair + _PAIR_BYTES) * pairs
    solver = coefficients + Arrays(
        cache=cache,
        holes=_hole_bytes(cache, size, pair),
        points=_POINT_BYTES * n,
        points_of_a_pair=_PAIR_POINT_BYTES * pair,
        pairs=of_pairs,
    )
    # large support vectors are mapped beside what is left of the solver's heap
    left = cache // _CACHE_LEFT + _PAIR_POINT_BYTES * pair
    model = coefficients + Arrays(
        left_in_the_heap=left if _float64_bytes(shape) >= _MAPPED_FROM else 0, dual=24 * n
    )
    # what stands between coefficients keeps the heap as long as it was, until points are predicted
    fresh = Arrays(heap_of_pairs=of_pairs + min(of_pairs, _POINT_BYTES * n) if Q > 2 else 0)
    scored_alone = min(n, SCORED_ALONE) if Q == 2 else 0
    # rows as they are picked, and in float64
    picked = shape.matrix_bytes(scored_alone)
    picked += (shape.matrix_bytes(scored_alone, 8) if i != 8 else 0) + 64 * scored_alone
    threshold = Arrays(
        scored_alone=picked + _nodes(shape, n) + _nodes(shape, scored_alone),
        scores=8 * n if Q == 2 else 0,
    )
    # of each pair the value, less it, and its sign; of each class votes, sums, and two steps
    votes = Arrays(votes=shape.block_rows * (17 * pairs + 32 * Q))
    if kernel in OF_LIBSVM:
        converted = Arrays(converted=_converted_bytes(shape), nodes=_nodes(shape, n))
        # of support vectors too, whenever points are predicted
        votes += Arrays(nodes=_nodes(shape, n) + _nodes(shape, shape.block_rows))
        model += Arrays(support_vectors=_float64_bytes(shape))
        training = {
            **width,
            "solver": converted + solver,
            "model": converted + model + fresh,
            "threshold": model + threshold,
        }
        return _storage(shape, training, model + _block_arrays(shape) + votes, tuned)
    rows = min(GROUP_ROWS, max(n, shape.n_test))
    group = Arrays(rows=rows * n * i, working=kernels.kernel_bytes(kernel, rows, n, d, i))
    matrix, points = Arrays(kernel_matrix=8 * n * n), Arrays(points=n * d * i)
    kernel_rows = Arrays(kernel_rows=8 * rows * n)
    training = {
        **width,
        "kernel matrix": matrix + group,
        "solver": matrix + solver,
        "model": model + fresh,
        "threshold": model + points + threshold + kernel_rows + group,
    }
    block = Arrays(block=shape.block_bytes)
    return _storage(shape, training, model + points + block + kernel_rows + group + votes, tuned)


def linear_svm_storage(shape: Shape, size: int, tuned: bool = False) -> Storage:
    """Count points centred in float64, and LIBLINEAR's copy with 16 bytes for each element."""
    machines = shape.n_machines
    weights = 8 * (shape.n_features + 1) * (machines + 1)
    if shape.is_sparse:
        new = Arrays(
            weights=weights, block=shape.block_bytes, scores=16 * shape.block_rows * machines
        )
        working = sparse_linear.training_bytes(shape.n, shape.n_features, machines)
        working += 8 * shape.nonzeros(shape.n) if shape.itemsize != 8 else 0
        return _storage(shape, {"solver": Arrays(vectors=working)}, new, tuned)
    training = Arrays(
        centred=_float64_bytes(shape),
        nodes=16 * shape.n * (shape.n_features + 2) + 96 * shape.n,
        weights=2 * weights,
    )
    new = Arrays(
        weights=weights,
        block=shape.block_bytes,
        centred=8 * shape.block_rows * (shape.n_features + 3 * machines),
    )
    return _storage(shape, {"solver": training}, new, tuned)


def _storage(
    shape: Shape, training: dict[str, Arrays], predicting: Arrays, tuned: bool
) -> Storage:
    """Return phases with the data, which are let go before prediction but in a search."""
    X = Arrays(X=shape.data_bytes)
    fit = beside(X, training)
    return Storage(fit, {"a block": predicting + (X if tuned else Arrays())})
