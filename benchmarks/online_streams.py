"""Online kernel machines on streams of any length: peak under a budget, and seconds a point.

`python benchmarks/online_streams.py peak 4 5 6` generates 10^4, 10^5 and 10^6 points, a chunk at a
time, under an enforced budget of 4 MB. `python benchmarks/online_streams.py disk 4 5 6 7` writes
that many to a file, and runs whole trials with `data: streamed` on it: reading, learning, and
predicting 100,000 other points. `python benchmarks/online_streams.py step` compares the CPU time
of a point with that of the product that scores it, in the same process.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl

import harness
from harness.datasets import read_header
from harness.datasets.streams import in_runs
from harness.metrics.functions import BUILT_IN, primary_metric
from harness.plugin.shape import block_rows
from harness.sandbox import Limits, Result, Sandbox
from harness.trial.assignment import Assignment
from harness.trial.run import run_trial
from harness.trial.warm_up import warm_up
from harness.units import parse_bytes

sys.path.insert(0, str(Path(__file__).parents[1] / "plugins"))
online_kernels = importlib.import_module("online_kernels")

controls, tabular = importlib.import_module("controls"), importlib.import_module("tabular")

METHODS = {method.name: method for method in online_kernels.harness_methods()}
ON_DISK = METHODS | {
    method.name: method
    for method in (*controls.harness_methods(), *tabular.harness_methods())
    if method.name in ("prior", "random", "sgd", "mlp")
}
CHUNK = 1024
TESTED = 100_000


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


def report_trials(names: list[str], powers: list[int], size: int, d: int, budget: int) -> None:
    """Print peak, seconds of each stage, and accuracy of trials on points in a file."""
    print(f"B or D = {size}, {d} features, budget {budget / 1e6:g} MB; us a point")
    head = f"{'method':14} {'points':>9} {'outcome':>11} {'peak':>9} {'read':>6} {'learn':>7}"
    print(f"{head} {'predict':>7} {'accuracy':>8}")
    warm_up()
    with tempfile.TemporaryDirectory() as folder, Sandbox() as sandbox:
        for power in powers:
            n = 10**power
            path = Path(folder) / "X.npy"
            y = _written(path, n + TESTED, d)
            for name in names:
                trial = partial(run_trial, _streamed(ON_DISK[name], size, path, y, n))
                result = sandbox.run(trial, Limits(memory=budget))
                _print_trial(name, n, result, y[n:])


def _written(path: Path, n: int, d: int) -> np.ndarray:
    """Write the points of a stream to a file, and return their classes."""
    X = np.lib.format.open_memmap(path, "w+", np.float32, (n, d))
    y, start = np.empty(n, np.int8), 0
    for points, classes in stream(n, d):
        place = slice(start, start + len(points))
        X[place], y[place], start = points, classes, place.stop
    X.flush()
    return y


def _streamed(method: harness.Method, size: int, path: Path, y: np.ndarray, n: int) -> Assignment:
    """Put a trial together that learns from the first n points of a file."""
    kernel = {"sigma": 2.0, "sigma_unit": "absolute"}
    part = block_rows(read_header(path).row_bytes)
    order = in_runs(n, part, np.random.default_rng(0))
    return Assignment(
        method=method,
        params={key: value for key, value in kernel.items() if key in method.parameters},
        size=size if method.size else None,
        task="binary",
        n_classes=2,
        features=path,
        labeled=order,
        unlabeled=order[:0],
        test=np.arange(n, n + TESTED),
        y_labeled=y[order],
        transductive=False,
        mapped=None,
        tuning=None,
        metric=primary_metric("binary", (), BUILT_IN),
        seed=np.random.SeedSequence(0),
        part=part,
    )


def _print_trial(name: str, n: int, result: Result, truth: np.ndarray) -> None:
    us = {stage.name: 1e6 * stage.seconds for stage in result.stages.values()}
    peak = f"{result.peak_bytes / 1e6:6.2f} MB" if result.peak_bytes else "?"
    line = f"{name:14} {n:9} {result.outcome:>11} {peak:>9} {us.get('load', 0) / n:6.2f}"
    line += f" {us.get('fit', 0) / n:7.2f} {us.get('predict', 0) / TESTED:7.2f}"
    right = np.mean(result.arrays["labels"] == truth) if result.outcome == "ok" else np.nan
    print(f"{line} {right:8.4f}", flush=True)


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
    parser.add_argument("what", choices=["peak", "disk", "step"])
    parser.add_argument("powers", nargs="*", type=int, default=[4, 5], help="of 10")
    parser.add_argument("--methods", nargs="*", choices=ON_DISK, default=list(METHODS))
    parser.add_argument("--sizes", nargs="*", type=int, default=[100])
    parser.add_argument("--features", type=int, default=10)
    parser.add_argument("--points", type=int, default=20_000)
    parser.add_argument("--budget", default="4MB")
    asked = parser.parse_args()
    with threadpoolctl.threadpool_limits(1):
        if asked.what == "peak":
            sizes = asked.sizes[0]
            report_peaks(asked.methods, asked.powers, sizes, asked.features, asked.budget)
        elif asked.what == "disk":
            budget = parse_bytes(asked.budget)
            report_trials(asked.methods, asked.powers, asked.sizes[0], asked.features, budget)
        else:
            report_steps(asked.methods, asked.sizes, asked.features, asked.points)


if __name__ == "__main__":
    main()
