"""Scores and bytes of each method by the type of its numbers: small integers, float32, float64.

`python benchmarks/item_types.py mnist-uint8 --points 2000` prepares that data set in a temporary
folder, runs every method that has a storage model on one split in each type, and prints a line a
method: by how much scores differ from those of float64, in parts of the largest one; on how many
points in a hundred labels differ; and the measured peak of each run.
"""

from __future__ import annotations

import argparse
import tempfile
import timeit
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import threadpoolctl

from harness.datasets import features_file, load_catalog, prepare, read_rows, split
from harness.datasets.item_types import ItemType
from harness.metrics.functions import BUILT_IN, primary_metric
from harness.plugin.method import N_UNLABELED, Method
from harness.plugin.registry import Registry
from harness.sandbox import Limits, Sandbox
from harness.sandbox.limits import Result
from harness.trial.assignment import Assignment
from harness.trial.run import run_trial
from harness.trial.warm_up import warm_up

SIZE = 100
"""Landmarks, features or rank of methods that have one."""


def trials(
    method: Method, task: str, n_classes: int, features: Path, y: np.ndarray, points: int
) -> Assignment:
    """Put together the trial of a method on some points, a tenth of them labeled."""
    rng = np.random.default_rng(0)
    rows = np.sort(rng.choice(len(y), points, replace=False))
    drawn = split(y[rows], task, 0.1, "transductive", 0)
    labeled, unlabeled = rows[drawn.labeled], rows[drawn.unlabeled]
    return Assignment(
        method=method,
        params={},
        size=SIZE if method.size not in (None, N_UNLABELED) else None,
        task=task,
        n_classes=n_classes,
        features=features,
        labeled=labeled,
        unlabeled=unlabeled,
        test=labeled[:0],
        y_labeled=y[labeled],
        transductive=True,
        mapped=None,
        tuning=None,
        metric=primary_metric(task, (), BUILT_IN),
        seed=np.random.SeedSequence(0),
    )


def told(results: dict[str, Result]) -> list[str]:
    """Describe the runs of one method."""
    failed = [f"{name}: {r.outcome} {r.reason[:40]}" for name, r in results.items() if r.reason]
    if failed:
        return ["; ".join(failed)]
    exact = results["float64"].arrays
    cells = []
    for name, result in results.items():
        cells.append(f"{result.peak_bytes / 1e6:.1f} MB")
        if name == "float64":
            continue
        if "scores" in exact and "scores" in result.arrays:
            gap = np.abs(result.arrays["scores"] - exact["scores"]).max()
            cells.append(f"{gap / np.abs(exact['scores']).max():.1e}")
        else:
            cells.append("no scores")
        cells.append(f"{100 * np.mean(result.arrays['labels'] != exact['labels']):.2f} %")
    return cells


def reading(features: Path, divide_by: float) -> None:
    """Print seconds and bytes of reading all rows, beside `numpy.load`."""
    n = len(np.load(features, mmap_mode="r"))
    order, permuted = np.arange(n), np.random.default_rng(0).permutation(n)
    kept, numbers = ItemType("float32", divide_by, True), ItemType("float32", divide_by)
    divisor = np.float32(divide_by)
    works: dict[str, Callable[[], Any]] = {
        "as they are, in order": lambda: read_rows(features, order, kept),
        "numpy.load": lambda: np.load(features),
        "as they are, permuted": lambda: read_rows(features, permuted, kept),
        "numpy.load, permuted": lambda: np.load(features)[permuted],
        "as float32, in order": lambda: read_rows(features, order, numbers),
        "numpy.load as float32": lambda: np.load(features).astype(np.float32) / divisor,
    }
    for name, work in works.items():
        seconds = min(timeit.repeat(work, number=1, repeat=5))
        tracemalloc.start()
        held = work()
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        del held
        print(f"{name:22} {seconds:.3f} s {most / 1e6:.1f} MB", flush=True)


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--methods", nargs="*", help="all by default")
    parser.add_argument("--reading", action="store_true", help="no method, but reading alone")
    asked = parser.parse_args()
    entry = load_catalog().entry(asked.name)
    if asked.reading:
        with tempfile.TemporaryDirectory() as folder:
            prepare(entry, Path(folder) / "prepared")
            reading(features_file(Path(folder) / "prepared"), entry.divide_by)
        return
    threadpoolctl.threadpool_limits(1)
    warm_up()
    kinds = {"float64": ItemType("float64", entry.divide_by if entry.small_integers else 1)}
    kinds["float32"] = ItemType("float32", kinds["float64"].divide_by)
    print("| method | float64 | float32 | scores | labels | small integers | scores | labels |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder, Sandbox() as sandbox:
        meta = prepare(entry, Path(folder) / "prepared")
        features = features_file(Path(folder) / "prepared")
        y = np.load(features.with_name("y.npy"))
        for method, _ in Registry.load([]).items("methods"):
            wanted = asked.methods is None or method.name in asked.methods
            if method.learns_storage or entry.task not in method.tasks or not wanted:
                continue
            if method.control or not method.features:
                continue
            made = trials(method, entry.task, meta.n_classes, features, y, asked.points)
            types = dict(kinds)
            if entry.small_integers and method.takes_scaled_integers({}):
                types["small integers"] = ItemType("float32", entry.divide_by, True)
            results = {}
            for name, item in types.items():
                trial = Assignment(**{**vars(made), "item": item})
                results[name] = sandbox.run(partial(run_trial, trial), Limits(seconds=600))
            print(f"| `{method.name}` | {' | '.join(told(results))} |", flush=True)


if __name__ == "__main__":
    main()
