"""Reading prepared features, beside `numpy.load` and `scipy.sparse.load_npz`: seconds and bytes.

`python benchmarks/prepared_reading.py a9a w8a-sparse` prepares these data sets in a temporary
folder. Rows are read in the order of the file, and permuted as a random split has them.
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
from scipy.sparse import load_npz

from harness.datasets import features_file, load_catalog, prepare, read_rows, x_bytes

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
    """Print a line for rows in their order, and one for rows permuted, of each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="+")
    print("data set     rows      s       load s  peak bytes   load peak    features")
    for name in parser.parse_args().names:
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder) / "prepared"
            prepare(load_catalog().entry(name), place)
            measure(name, features_file(place))


def measure(name: str, path: Path) -> None:
    """Print the two lines of a data set."""
    load: Callable[[Path], Any] = load_npz if path.suffix == ".npz" else np.load
    X = load(path)
    n, features = X.shape[0], x_bytes(X)
    del X
    order = np.random.default_rng(0).permutation(n)
    ways: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
        "in order": (lambda: read_rows(path, np.arange(n)), lambda: load(path)),
        "permuted": (lambda: read_rows(path, order), lambda: load(path)[order]),
    }
    for rows, (ours, theirs) in ways.items():
        told = f"{name:11}  {rows:8}  {best(ours):.4f}  {best(theirs):.4f}  {peak(ours):11,}"
        print(f"{told}  {peak(theirs):11,}  {features:,}", flush=True)


if __name__ == "__main__":
    main()
