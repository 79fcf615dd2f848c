"""How fast a trial's rows come from disk, beside a plain copy in memory.

    python benchmarks/row_reading.py [--rows 100000] [--repeats 7]

Reads 90 % of a file of 1 kB a row, 100 MB by default (cached by the system), in increasing and in
shuffled order, and prints each as a multiple of copying as many bytes in memory, and the memory
held besides the result.
"""

import argparse
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np

from harness.datasets import read_rows

COLUMNS, SHARE = 125, 0.9


def seconds(function: Callable[[], object], repeats: int) -> float:
    """Return the least CPU time of several calls."""
    least = np.inf
    for _ in range(repeats):
        start = time.process_time()
        function()
        least = min(least, time.process_time() - start)
    return least


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--repeats", type=int, default=7)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.random((options.rows, COLUMNS))
    shuffled = rng.permutation(options.rows)[: int(SHARE * options.rows)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "X.npy"
        np.save(path, X)
        copy = seconds(X[: len(shuffled)].copy, options.repeats)
        print(f"copy in memory: {1000 * copy:.0f} ms")
        for order, rows in (("increasing", np.sort(shuffled)), ("shuffled", shuffled)):
            read = seconds(lambda rows=rows: read_rows(path, rows), options.repeats)
            index = seconds(lambda rows=rows: X[rows], options.repeats)
            tracemalloc.start()
            result = read_rows(path, rows)
            extra = tracemalloc.get_traced_memory()[1] - result.nbytes
            tracemalloc.stop()
            print(
                f"{order}: {1000 * read:.0f} ms, {read / copy:.1f} x copy, "
                f"{read / index:.1f} x X[rows], {extra / 1e6:.2f} MB besides the result"
            )


if __name__ == "__main__":
    main()
