"""Bytes of ridge regression on random Fourier features, phase by phase."""

from __future__ import annotations

from harness import Arrays, Shape, Storage, beside, kernels


def is_direct(
    n: int, m: int, d: int, n_columns: int, itemsize: int, frequencies: str, bits: int
) -> bool:
    """Whether summing up the Gram matrix of m features holds no more than keeping them.

    Both grow with m, so that the smaller of them does, and with n: a fold takes no more.

    Parameters
    ----------
    n, m, d, n_columns : int
        Labeled points, features, features of a point as it is given, and columns of targets.
    itemsize : int
        Bytes of a number of a point.
    frequencies : str
    bits : int
    """
    direct = direct_phases(n, m, d, n_columns, itemsize, frequencies)
    kept = kept_phases(n, m, d, n_columns, itemsize, frequencies, bits)
    least = max(arrays.bytes for arrays in kept.values())
    return max(arrays.bytes for arrays in direct.values()) <= least


def direct_phases(
    n: int, m: int, d: int, n_columns: int, itemsize: int, frequencies: str
) -> dict[str, Arrays]:
    """Return phases of a solution from the Gram matrix."""
    # in SciPy's library of sums of 64 rows in float64, and of the factor
    packed = max(kernels.blas_bytes(m, terms=64), kernels.cholesky_blas_bytes(m))
    vectors = Arrays(vectors=8 * m * (n_columns + 1), packed=packed)
    summing = Arrays(
        gram=kernels.GramSum.bytes(m),
        in_float64=8 * 64 * m,
        block=kernels.stream_bytes(n, made_row(m, d, itemsize), 1),
        phases=kernels.phase_bytes(frequencies, n, d, 4),
    )
    return {
        "Gram matrix": vectors + summing,
        "solution": vectors + Arrays(gram=8 * m * m, solution=8 * m * (n_columns + 2)),
    }


def kept_phases(
    n: int, m: int, d: int, n_columns: int, itemsize: int, frequencies: str, bits: int
) -> dict[str, Arrays]:
    """Return phases of conjugate gradients on features that are kept."""
    features, rounded = Arrays(kept=n * m * bits // 8), bits < 32
    row = made_row(m, d, itemsize, rounded)
    vectors = kernels.conjugate_gradient_bytes(m, n_columns) + 24 * m * n_columns + 8 * m
    return {
        "features": features
        + Arrays(
            block=kernels.stream_bytes(n, row, 1),
            phases=kernels.phase_bytes(frequencies, n, d, 4),
        ),
        "iterations": features
        + Arrays(
            vectors=vectors,
            block=kernels.stream_bytes(n, 4 * m, 1) if rounded else 0,
            values=min(n, kernels.block_rows(4 * m, 1)) * 12 * n_columns,
        ),
    }


def made_row(m: int, d: int, itemsize: int, rounded: bool = False) -> int:
    """Return bytes of a row on its way to features: picked, moved, its features, what is drawn."""
    return 4 * m * (2 if rounded else 1) + (itemsize + 4) * d


def ridge_storage(
    shape: Shape, size: int, frequencies: str = "orthogonal", bits: int = 8, tuned: bool = False
) -> Storage:
    """Count frequencies, a block of features, and the smaller of Gram matrix and features."""
    n, d, i, Q = shape.n_labeled, shape.n_features, shape.itemsize, max(1, shape.n_machines)
    m = max(2, size - size % 2)
    data = Arrays(X=shape.data_bytes, targets=8 * n * (1 + 2 * Q))
    at_once = kernels.block_rows((i + 4) * d, 1)
    # of the product of a block with frequencies
    blas = Arrays(blas=kernels.blas_bytes(min(at_once, max(n, shape.block_rows)), 4, terms=d))
    drawn = kernels.frequency_bytes(frequencies, d, m // 2, 4)
    features = Arrays(frequencies=drawn, middle=16 * d) + blas
    held = max(shape.data_bytes if tuned else 0, shape.predict_data_bytes)
    if is_direct(n, m, d, Q, i, frequencies, bits):
        phases = direct_phases(n, m, d, Q, i, frequencies)
    else:
        phases = kept_phases(n, m, d, Q, i, frequencies, bits)
    return Storage(
        fit={
            "width": data
            + (features if tuned else Arrays())
            + Arrays(sample=kernels.width_bytes(shape.n, d, i)),
            **beside(data + features, phases),
        },
        predict={
            "a block": features
            + Arrays(
                coefficients=4 * m * Q,
                X_and_block=held,
                block=kernels.stream_bytes(shape.block_rows, made_row(m, d, 0), 1),
                phases=kernels.phase_bytes(frequencies, shape.block_rows, d, 4),
                values=8 * 2 * Q * shape.block_rows,
            )
        },
    )
