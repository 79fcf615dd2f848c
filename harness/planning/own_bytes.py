"""What the harness itself holds in a trial, beside the method: targets, predictions, reading."""

from __future__ import annotations

from harness.datasets.buffers import reading_bytes, sparse_reading_bytes
from harness.plugin.shape import Shape, score_rows

# What the interpreter allocates around any fit, and what a heap has between its blocks.
_FIXED_OVERHEAD = 1 << 18
_SEARCH_OVERHEAD = 1 << 16  # settings, scores, and the heap between two fits


_BLOCK_BYTES, _TILE_ROWS, _PICKED_ROWS = 1 << 20, 512, 256
"""Of the blocks in which kernels look at X: by bytes, or by rows; and of rows that are picked."""


def overhead_bytes(shape: Shape, tuned: bool = False) -> int:
    """Bytes that the harness itself holds in a trial: targets and predictions."""
    return standing_bytes(shape, tuned) + max(handed_bytes(shape), folded_bytes(shape, tuned))


def standing_bytes(shape: Shape, tuned: bool) -> int:
    """Bytes of targets and of what has a fixed size, held from the first stage to the last."""
    fixed = _FIXED_OVERHEAD + (_SEARCH_OVERHEAD if tuned else 0)
    return shape.n_at_once * (shape.label_bytes or 8) + fixed


def handed_bytes(shape: Shape) -> int:
    """Bytes of a block of predictions, or of reading the block of points that is next."""
    reading = _reading_bytes(shape, min(shape.block_rows, shape.n_test))
    return max(prediction_bytes(shape), reading)


def folded_bytes(shape: Shape, tuned: bool) -> int:
    """Bytes of what a search predicts at once: at most half of the labeled points."""
    return _predicted_bytes(shape, -(-shape.n_searched // 2)) if tuned else 0


def fold_bytes(shape: Shape) -> int:
    """Bytes of the labeled points that cross-validation copies where a fit is not split in two."""
    return shape.matrix_bytes(shape.n_searched)


def converting_bytes(shape: Shape) -> int:
    """Bytes of a block of numbers, where the X of `fit` is held as small integers.

    Rows of an ordinary array are not copied where they are looked at, so no storage model of a
    method counts them.
    """
    if shape.held_itemsize is None:
        return 0
    n, d = shape.n, shape.n_features
    block = max(_BLOCK_BYTES, _TILE_ROWS * d * shape.itemsize)
    return min(n * d * shape.itemsize, block) + min(n, _PICKED_ROWS) * d


def loading_bytes(shape: Shape) -> int:
    """Bytes of X and of what reading it holds; no method holds anything yet."""
    return shape.data_bytes + part_bytes(shape)


def part_bytes(shape: Shape) -> int:
    """Bytes that reading X holds besides X; of streamed points beside the method each time."""
    return _reading_bytes(shape, shape.n_at_once) if shape.is_read else 0


def _reading_bytes(shape: Shape, rows: int) -> int:
    if shape.is_sparse:
        return sparse_reading_bytes(rows, shape.nonzeros(rows))
    return reading_bytes(rows, shape.row_bytes)


def prediction_bytes(shape: Shape) -> int:
    """Bytes of predictions, a part of `overhead_bytes` that the harness holds after the fit.

    They are handed over block by block: scores and labels of one, in the estimator's type and in
    float64, whatever the number of points. A storage model that tells its phases apart
    is charged for them beside its prediction alone.
    """
    return _predicted_bytes(shape, min(shape.scored, predicted_rows(shape)))


def predicted_rows(shape: Shape) -> int:
    """Rows of one block of predictions, of points that fit saw or of others."""
    return max(score_rows(shape.n_classes), shape.block_rows)


def _predicted_bytes(shape: Shape, rows: int) -> int:
    columns = shape.n_classes if shape.n_classes > 2 else 1
    return rows * (2 * 8 * columns + 16 + shape.label_bytes)
