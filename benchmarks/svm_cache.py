"""Seconds of the RBF-SVM by rows of LIBSVM's kernel cache, on real data.

`python benchmarks/svm_cache.py a9a:3000 w8a:3000` takes data sets with their numbers of labeled
points.
"""

import argparse
import importlib
import sys
import time
from pathlib import Path

import threadpoolctl

from harness.datasets import load_catalog, split
from harness.datasets.preparation import load

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))
supervised = importlib.import_module("supervised")


def report(name: str, n_labeled: int, rows: list[int], costs: list[float]) -> None:
    """Print one data set's lines: one for each C."""
    X, y = load(load_catalog()[name])
    labeled = split(y, "binary", n_labeled, "transductive", 0).labeled
    X, y = X[labeled].astype(float), y[labeled]
    print(f"{name}, {n_labeled} labeled; CPU seconds with a cache of so many rows")
    print(f"{'C':>6}" + "".join(f"{count:8}" for count in rows))
    for C in costs:
        print(f"{C:6g}", end="")
        for count in rows:
            start = time.process_time()
            supervised.KernelSVM(C=C, cache_rows=count).fit(X, y)
            print(f"{time.process_time() - start:8.2f}", end="", flush=True)
        print()


def main() -> None:
    """Print a table for each data set."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="+", metavar="NAME:LABELED")
    parser.add_argument("--rows", type=int, nargs="+", default=[2, 32, 128, 512, 1024, 4096])
    parser.add_argument("--C", type=float, nargs="+", default=[1.0, 100.0])
    options = parser.parse_args()
    with threadpoolctl.threadpool_limits(1):
        for item in options.sets:
            name, _, labeled = item.partition(":")
            report(name, int(labeled), options.rows, options.C)


if __name__ == "__main__":
    main()
