"""The search for nearest neighbors against the machine's own GEMM, in one run.

`python benchmarks/neighbors.py [--points 5000 30000] [--features 8 123 784]` prints a row for each
number of points and columns: CPU seconds of a search for every point's neighbors and for those of
as many new points, the planned bytes, and the share of GEMM's rate. All pairs of new points are
multiplied, of a set's own points half. Points are in clusters, as data are.
"""

import argparse
import time

import numpy as np
import threadpoolctl

from harness.kernels.neighbors import NeighborSearch

TILE = 256


def gemm_rate(d: int) -> float:
    """Return multiplications a CPU second of a product of 256 rows with 256, in float64."""
    A, B = np.ones((TILE, d)), np.ones((TILE, d))
    out = np.empty((TILE, TILE))
    repeats = max(8, int(2e9 / out.size / d))
    start = time.process_time()
    for _ in range(repeats):
        np.matmul(A, B.T, out=out)
    return repeats * out.size * d / (time.process_time() - start)


def clusters(n: int, d: int) -> np.ndarray:
    """Return points around 50 centers, float32."""
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((50, d), dtype=np.float32)
    return centers[rng.integers(50, size=n)] + rng.standard_normal((n, d), dtype=np.float32) / 2


def main() -> None:
    """Print a row a shape."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, nargs="+", default=[5_000, 10_000, 30_000])
    parser.add_argument("--features", type=int, nargs="+", default=[8, 123, 784])
    parser.add_argument("--neighbors", type=int, default=10)
    options = parser.parse_args()
    head = f"{'n':>8}{'d':>6}{'own s':>9}{'share':>7}{'new s':>9}{'share':>7}{'planned MB':>12}"
    print(head)
    with threadpoolctl.threadpool_limits(1):
        for d in options.features:
            rate = gemm_rate(d)
            for n in options.points:
                X = clusters(n, d)
                search = NeighborSearch(X, options.neighbors, None)
                start = time.process_time()
                search.nearest_others()
                own = time.process_time() - start
                search.nearest(X)
                new = time.process_time() - start - own
                pairs = n * n * d / rate
                planned = NeighborSearch.bytes(n, d, options.neighbors) / 1e6
                shares = f"{own:9.2f}{pairs / 2 / own:7.2f}{new:9.2f}{pairs / new:7.2f}"
                print(f"{n:8}{d:6}{shares}{planned:12.1f}", flush=True)


if __name__ == "__main__":
    main()
