"""What reading rows holds besides the rows, as plans count it: no NumPy is needed for that."""

BUFFER_BYTES = 1 << 17
"""Of the buffer through which rows are picked, unless a row is larger."""

BUFFER_NONZEROS = 1 << 13
"""Of sparse rows that are picked at a time, unless a row has more."""

ROWS_AT_ONCE = 1 << 11
"""Sparse rows whose bounds are known at a time."""

CHUNK_ROWS = 69 << 10
"""Rows that are put in order at a time, unless the file was then passed over too often."""

ROWS_TAKEN = 1 << 10
"""Of those that are in order, how many are read at a time."""

MOST_PASSES = 3
"""Times that the file is passed over at most."""


def chunk_rows(n_rows: int) -> int:
    """Return how many of `n_rows` are put in order at a time."""
    return max(CHUNK_ROWS, -(-n_rows // MOST_PASSES))


def reading_bytes(n_rows: int, row_bytes: int) -> int:
    """Bytes that `read_rows` holds besides its result: the buffer, what is picked, the order."""
    buffered = min(max(BUFFER_BYTES, row_bytes), n_rows * row_bytes)
    return 2 * buffered + 8 * min(n_rows, chunk_rows(n_rows)) + 16 * min(n_rows, ROWS_TAKEN)


def sparse_reading_bytes(n_rows: int, nnz: int) -> int:
    """Bytes that `read_sparse_rows` holds besides its result.

    A buffer of values and of columns, and in 64 bits where each is from and where it goes; the
    order of all rows, and the bounds of some.
    """
    buffered = 64 * min(BUFFER_NONZEROS, nnz) + min(BUFFER_BYTES, 8 * n_rows + 8)
    return buffered + 8 * n_rows + 64 * min(n_rows, ROWS_AT_ONCE)
