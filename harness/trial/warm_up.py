"""What a process does before its first trial, so that no trial pays for it."""

from __future__ import annotations

import os

from harness.sandbox.heap import fill_small_holes


def warm_up(sparse: bool = False) -> None:
    """Let libraries set up their buffers and caches here, or every child pays for its own.

    Those of BLAS and LAPACK, in NumPy's library and in SciPy's, and those of scikit-learn's
    validation of data: it reads the entry points of all installed packages when first called.
    joblib asks another program, once, how many cores there are: a trial may not start any.

    Parameters
    ----------
    sparse : bool, default False
        Whether trials have sparse data, of which libraries take a small block for each row: those
        shall not lie in holes of this process. All else would hold some 100 kB more for it.
    """
    import numpy as np
    from joblib import cpu_count
    from sklearn.base import BaseEstimator
    from sklearn.utils.validation import validate_data
    from threadpoolctl import threadpool_limits

    # Setting the threads of OpenBLAS takes a buffer of 32 MiB for them, and a product the next;
    # forking gives the first one back. A trial in which scikit-learn sets them needs both, and
    # OpenBLAS tries for ever to get one that the limit on data forbids.
    with threadpool_limits(1, user_api="blas"):
        _fill_blas_buffers()
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    _fill_blas_buffers()
    validate_data(BaseEstimator(), np.ones((2, 1)))
    cpu_count(only_physical_cores=True)
    if sparse:
        fill_small_holes()


def _fill_blas_buffers() -> None:
    import numpy as np
    import scipy.linalg

    from harness.kernels.gram import PACKED_COLUMNS, PACKED_ROWS

    for dtype in (np.float32, np.float64):
        rows = np.ones((PACKED_ROWS, PACKED_ROWS), dtype)
        columns = rows[:PACKED_COLUMNS]
        # BLAS sees the transposed product: the rows of its first factor are columns here
        columns @ rows
        scipy.linalg.get_blas_funcs("gemm", dtype=dtype)(1, rows.T, columns.T)
        definite = columns[:, :PACKED_COLUMNS] + np.eye(PACKED_COLUMNS, dtype=dtype)
        scipy.linalg.eigh(definite)
        scipy.linalg.cho_factor(definite)
