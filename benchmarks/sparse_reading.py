"""Reading prepared sparse features, beside `scipy.sparse.load_npz`: seconds and bytes.

`python benchmarks/sparse_reading.py w8a-sparse` prepares that data set in a temporary folder.
Without a name the matrix is random.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import load_npz, random_array

from harness.datasets import load_catalog, prepare, read_rows, write_sparse, x_bytes
from harness.datasets.sparse_rows import compressed

REPEATS = 15


def best(work: Callable[[], Any]) -> float:
    """Return the seconds of the fastest of some calls."""
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def peak(work: Callable[[], Any]) -> int:
    """Return the bytes that a call holds at most, its result included."""
    tracemalloc.start()
    found = work()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    del found
    return most


def main() -> None:
    """Print a line for rows in their order, and one for rows permuted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", nargs="?")
    parser.add_argument("--rows", type=int, default=50_000, help="of a random matrix")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "prepared" / "X.npz"
        if asked.name:
            prepare(load_catalog().entry(asked.name), path.parent)
        else:
            path.parent.mkdir()
            shape = (asked.rows, 300)
            write_sparse(path, compressed(random_array(shape, density=0.04, rng=0)))
        X = load_npz(path)
        n = X.shape[0]
        order = np.random.default_rng(0).permutation(n)
        ways: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
            "in order": (lambda: read_rows(path, np.arange(n)), lambda: load_npz(path)),
            "permuted": (lambda: read_rows(path, order), lambda: load_npz(path)[order]),
        }
        print("rows      s       load_npz s  peak bytes  load_npz peak  features")
        for name, (ours, theirs) in ways.items():
            told = f"{name:8}  {best(ours):.4f}  {best(theirs):10.4f}  {peak(ours):10,}"
            print(f"{told}  {peak(theirs):13,}  {x_bytes(X):,}")


if __name__ == "__main__":
    main()
