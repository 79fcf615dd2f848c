"""Online kernel machines on streams of any length: peak under a budget, and seconds a point.

`python benchmarks/online_streams.py peak 4 5 6` generates 10^4, 10^5 and 10^6 points, a chunk at a
time, under an enforced budget of 4 MB. `python benchmarks/online_streams.py step` compares the CPU
time of a point with that of the product that scores it, in the same process.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl

import harness

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))
online_kernels = importlib.import_module("online_kernels")

METHODS = {method.name: method for method in online_kernels.harness_methods()}
CHUNK = 1024


def stream(n: int, d: int, seed: int = 0) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield n points in chunks: two classes told apart by a curved rule, a tenth of them noise."""
    rng = np.random.default_rng(seed)
    directions, phases = rng.normal(0, d**-0.5, (d, 8)), rng.uniform(0, 2 * np.pi, 8)
    for start in range(0, n, CHUNK):
        X = rng.standard_normal((min(CHUNK, n - start), d), dtype=np.float32)
        y = np.sin(X @ directions * 1.5 + phases).sum(axis=1) > 0
        yield X, (y ^ (rng.random(len(X)) < 0.1)).astype(np.int8)


def made(name: str, size: int) -> Any:
    """Return a machine of a size, with a kernel two units wide."""
    method = METHODS[name]
    sized = {method.size: size}
    return method.estimator(**sized, sigma=2.0, sigma_unit="absolute", random_state=0)


def learn(name: str, size: int, n: int, d: int) -> tuple[float, float, int]:
    """Learn from a stream; return the share of mistakes, CPU seconds of learning, and n."""
    machine, spent = made(name, size), 0.0
    for X, y in stream(n, d):
        start = time.process_time()
        machine.partial_fit(X, y, classes=[0, 1])
        spent += time.process_time() - start
    return machine.mistakes_ / machine.n_seen_, spent, machine.n_seen_


def report_peaks(names: list[str], powers: list[int], size: int, d: int, budget: str) -> None:
    """Print peak, seconds and mistakes of streams of several lengths."""
    print(f"B or D = {size}, {d} features, budget {budget}")
    print(
        f"{'method':14} {'points':>9} {'outcome':>11} {'peak':>9} {'us a point':>10} {'error':>7}"
    )
    for name in names:
        for power in powers:
            found = harness.measure(learn, name, size, 10**power, d, budget=budget)
            error, spent, n = found.get() if found.outcome == "ok" else (np.nan, np.nan, 1)
            peak = f"{found.peak_bytes / 1e6:6.2f} MB" if found.peak_bytes else "?"
            line = f"{name:14} {10**power:9} {found.outcome:>11} {peak:>9}"
            print(f"{line} {1e6 * spent / n:10.1f} {error:7.4f}", flush=True)


def report_steps(names: list[str], sizes: list[int], d: int, n: int) -> None:
    """Print CPU time a point beside that of the product of a window with the support vectors."""
    points = np.vstack([X for X, _ in stream(n, d)])
    labels = np.concatenate([y for _, y in stream(n, d)])
    print(f"{n} points, {d} features; us a point")
    print(f"{'method':14} {'size':>5} {'all':>8} {'product':>8} {'updates':>8} {'error':>7}")
    for size in sizes:
        product = _product_seconds(size, d) / 128
        for name in names:
            machine = made(name, size)
            start = time.process_time()
            machine.partial_fit(points, labels, classes=[0, 1])
            spent = (time.process_time() - start) / n
            line = f"{name:14} {size:5} {1e6 * spent:8.2f} {1e6 * product:8.2f}"
            error = machine.mistakes_ / machine.n_seen_
            updates = 1e6 * (spent - product) / max(error, 1 / n)
            print(f"{line} {updates:8.1f} {error:7.4f}", flush=True)


def _product_seconds(size: int, d: int) -> float:
    """CPU seconds of the product of 128 points with so many, the least of some repeats."""
    rng = np.random.default_rng(0)
    A, B = (rng.standard_normal((m, d), dtype=np.float32) for m in (128, size))
    least = np.inf
    for _ in range(7):
        start = time.process_time()
        for _ in range(20):
            A @ B.T
        least = min(least, (time.process_time() - start) / 20)
    return least


def main() -> None:
    """Print one of the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["peak", "step"])
    parser.add_argument("powers", nargs="*", type=int, default=[4, 5], help="of 10")
    parser.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS))
    parser.add_argument("--sizes", nargs="*", type=int, default=[100])
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--budget", default="4MB")
    asked = parser.parse_args()
    with threadpoolctl.threadpool_limits(1):
        if asked.what == "peak":
            sizes = asked.sizes[0]
            report_peaks(asked.methods, asked.powers, sizes, asked.features, asked.budget)
        else:
            report_steps(asked.methods, asked.sizes, asked.features, asked.points)


if __name__ == "__main__":
    main()
