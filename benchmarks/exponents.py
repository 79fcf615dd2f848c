"""How CPU seconds grow with the number of points, beside table 1 of Hou, Zhang & Zhou (2017).

`python benchmarks/exponents.py` fits each method on generated points at sizes that double, at one
rank and one number of labeled points, and prints the slope of log seconds against log n: over all
sizes, and over the last doubling. The paper's orders in n are 3 for ClusK, and 2 for NysCK and
SoCK, whose exact degrees take n^2 d. Here SoCK has degrees from its features by default, and NysCK
those of its landmarks, so both are linear; `sock-exact` has the paper's degrees. `--csv FILE`
writes the seconds.
"""

import argparse
import importlib
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import threadpoolctl

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))
clusk = importlib.import_module("cluster_kernel")
nysck = importlib.import_module("nysck")
sock = importlib.import_module("sock")

LABELED = 100
METHODS = {
    "clusk": (3, 500, 4, lambda: clusk.ClusterKernelSVM()),
    "nysck": (2, 16_000, 5, lambda: nysck.NystromClusterKernelSVM(200, random_state=0)),
    "sock": (2, 8000, 5, lambda: sock.StochasticClusterKernelSVM(100, n_iter=5, random_state=0)),
    "sock-exact": (
        2,
        4000,
        4,
        lambda: sock.StochasticClusterKernelSVM(100, n_iter=5, degrees="exact", random_state=0),
    ),
}
"""The paper's order, the smallest number of points, how often it doubles, and the estimator."""


def points(n: int, d: int = 50) -> tuple[np.ndarray, np.ndarray]:
    """Return two clouds of points, 100 of them labeled."""
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    X = rng.standard_normal((n, d)) + y[:, None]
    known = np.full(n, -1)
    known[:LABELED] = y[:LABELED]
    return X, known


def seconds(make: object, n: int, repeats: int) -> float:
    """Return the least CPU seconds of a fit: what disturbs a machine only adds to them."""
    X, y = points(n)
    found = []
    for _ in range(repeats):
        model = make()
        start = time.process_time()
        model.fit(X, y)
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    """Print a line a method."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS))
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of points")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--csv", type=Path)
    options = parser.parse_args()
    rows = []
    print(f"{'method':12}{'paper':>6}{'slope':>8}{'last':>8}   n: CPU seconds")
    with threadpoolctl.threadpool_limits(1):
        seconds(METHODS["clusk"][-1], 200, 1)  # what is imported or compiled at a first call
        for name in options.methods:
            order, least, doublings, make = METHODS[name]
            sizes = [int(least * options.scale) * 2**power for power in range(doublings)]
            spent = [seconds(make, n, options.repeats) for n in sizes]
            slope = np.polyfit(np.log(sizes), np.log(spent), 1)[0]
            last = np.log2(spent[-1] / spent[-2])
            told = ", ".join(f"{n:,}: {s:.3g}" for n, s in zip(sizes, spent, strict=True))
            print(f"{name:12}{order:6}{slope:8.2f}{last:8.2f}   {told}", flush=True)
            rows += [
                {"method": name, "paper": order, "n": n, "cpu_s": s}
                for n, s in zip(sizes, spent, strict=True)
            ]
    if options.csv:
        pd.DataFrame(rows).to_csv(options.csv, index=False, float_format="%.4g")


if __name__ == "__main__":
    main()
