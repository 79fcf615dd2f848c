"""One thread for BLAS, which has to be said before NumPy is imported.

A trial forked from a process whose BLAS has had threads starts them again, at 60 ms of CPU each
time, and is charged for buffers that BLAS makes anew: 1.2 MB in an LU factorisation. A trial that
may use more threads raises the number for itself.
"""

from __future__ import annotations

import os

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def one_thread() -> None:
    """Set the environment of this process and of those that it starts."""
    os.environ.update(dict.fromkeys(THREAD_VARIABLES, "1"))
