"""Scores and bytes of each method that takes sparse data, of the same points with their zeros.

`python benchmarks/sparse_agreement.py w8a --points 4000` prepares that data set twice in a
temporary folder, as a sparse matrix and as a dense one. Every method that takes sparse points runs
on one split of each, a tenth labeled. A line a method has the measured peaks, what the sparse rows
that it is given take by themselves, by how much scores differ in parts of the largest one, and on
how many points in a hundred labels differ.
"""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import threadpoolctl
from item_types import trials

from harness.datasets import Entry, features_file, load_catalog, prepare, read_rows
from harness.datasets.rows import x_bytes
from harness.plugin.registry import Registry
from harness.sandbox import Limits, Sandbox
from harness.sandbox.limits import Result
from harness.trial.run import run_trial
from harness.trial.warm_up import warm_up


def both(entry: Entry, folder: Path) -> tuple[Path, Path]:
    """Prepare a data set with its zeros and without, and return the two files of features."""
    dense = entry.model_copy(update={"sparse": False, "nnz": None})
    prepare(dense, folder / "dense")
    held = np.load(folder / "dense/X.npy", mmap_mode="r")
    sparse = entry.model_copy(update={"sparse": True, "nnz": int(np.count_nonzero(held))})
    prepare(sparse, folder / "sparse")
    return features_file(folder / "dense"), features_file(folder / "sparse")


def told(dense: Result, sparse: Result, rows: int) -> list[str]:
    """Describe the two runs of one method."""
    failed = [f"{r.outcome} {r.reason[:60]}" for r in (dense, sparse) if r.outcome != "ok"]
    if failed:
        return ["; ".join(failed)]
    held = (dense.peak_bytes or 0, sparse.peak_bytes or 0, rows)
    cells = [f"{number / 1e6:.2f} MB" for number in held]
    kind = next(kind for kind in ("scores", "probabilities") if kind in dense.arrays)
    exact = dense.arrays[kind]
    gap = np.abs(sparse.arrays[kind] - exact).max() / np.abs(exact).max()
    other = np.mean(sparse.arrays["labels"] != dense.arrays["labels"])
    return [*cells, f"{gap:.1e}", f"{100 * other:.2f} %"]


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="a data set whose scaling is none, unit or maxabs")
    parser.add_argument("--points", type=int, default=2000)
    parser.add_argument("--methods", nargs="*", help="all by default")
    asked = parser.parse_args()
    entry = load_catalog().entry(asked.name)
    threadpoolctl.threadpool_limits(1)
    warm_up()
    print("| method | dense | sparse | its rows | scores | labels |")
    print("| --- | --- | --- | --- | --- | --- |")
    with tempfile.TemporaryDirectory() as folder, Sandbox() as sandbox:
        files = both(entry, Path(folder))
        y = np.load(files[0].with_name("y.npy"))
        for method, _ in Registry.load([]).items("methods"):
            wanted = asked.methods is None or method.name in asked.methods
            if not wanted or method.control or entry.task not in method.tasks:
                continue
            if not (method.features and method.takes_sparse({})):
                continue
            made = [trials(method, entry.task, entry.n_classes, f, y, asked.points) for f in files]
            dense, sparse = (
                sandbox.run(partial(run_trial, trial), Limits(seconds=900)) for trial in made
            )
            held = made[1].labeled
            if method.uses_unlabeled:
                held = np.concatenate([held, made[1].unlabeled])
            rows = x_bytes(read_rows(files[1], held, made[1].item))
            print(f"| `{method.name}` | {' | '.join(told(dense, sparse, rows))} |", flush=True)


if __name__ == "__main__":
    main()
