"""Kept results against what the code of today gives: cells drawn from docs/results, run again.

    HARNESS_MIRROR=dir python benchmarks/kept_sample.py [--cells 20] [--seed 0] [--cores 2]
        [--datasets NAME ...]

Draws cells (data set, method, budget, number of labeled points) over all kept studies, as many of
each as can be, and runs all their seeds, with data in `prepared/` of the current folder. Then it
prints how many means are equal to the kept ones, and how far the others are apart, in units of the
metric and of the kept standard error. What takes longer than `--minutes` is named and left out.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

from harness.jobs.block import run_trials
from harness.jobs.prepared import prepare_named
from harness.planning.workload import Workload, load_workload
from harness.records.journal import Journal
from harness.report.display_names import method_names
from harness.study.study import Block

KEPT = Path(__file__).parents[1] / "docs/results"
SAME = 1e-12


def cells(workload: Workload) -> dict[tuple[str, str, str, str], list[Block]]:
    """Return the blocks of each cell of a study."""
    found: dict[tuple[str, str, str, str], list[Block]] = {}
    for block in workload.blocks:
        cell = (block.dataset, block.method.label, str(block.labeled), block.budget.text)
        found.setdefault(cell, []).append(block)
    return found


def draw(
    count: int, seed: int, datasets: Sequence[str]
) -> list[tuple[Path, tuple[str, str, str, str]]]:
    """Return studies and cells, in turn one of each study."""
    rng = np.random.default_rng(seed)
    folders = [path.parent for path in sorted(KEPT.glob("*/means.csv"))]
    orders = []
    for folder in folders:
        found = list(cells(load_workload(str(folder / "study.yaml"))))
        found = [cell for cell in found if not datasets or cell[0] in datasets]
        orders.append([found[i] for i in rng.permutation(len(found))])
    turns = [
        (folders[i], orders[i][turn])
        for turn in range(count)
        for i in rng.permutation(len(folders))
        if turn < len(orders[i])
    ]
    return turns[:count]


def run_again(folder: Path, cell: tuple[str, str, str, str], minutes: float) -> str:
    """Run a cell and say how its means stand beside the kept ones."""
    dataset, method, labeled, budget = cell
    told = f"{folder.name}: {method} on {dataset}, {labeled} labeled, {budget}"
    workload = load_workload(str(folder / "study.yaml"))
    if not (workload.prepared(dataset) / "meta.json").exists():
        prepare_named(workload, dataset)
    rows: list[dict[str, object]] = []
    until = time.monotonic() + 60 * minutes
    with tempfile.TemporaryDirectory() as name:
        for number, block in enumerate(cells(workload)[cell]):
            with Journal(Path(name) / f"{number}.jsonl") as journal:
                for seed in block.seeds:
                    if time.monotonic() > until:
                        return f"{told}: left out, takes more than {minutes:g} minutes"
                    run_trials(workload, block, journal, [seed])
                rows += journal.rows.values()
    today = pd.DataFrame([row for row in rows if row["outcome"] == "ok"])
    if today.empty:
        return f"{told}: no trial is ok today ({rows[0]['reason']})"
    kept = pd.read_csv(folder / "means.csv", keep_default_na=False)
    # tables have the shortest names that tell methods apart
    named = {b.method.label: b.method.name for b in workload.blocks}
    methods = pd.DataFrame({"label": list(named), "plugin_method": list(named.values())})
    names = {method, method_names(methods)[method]}
    kept = kept[(kept.dataset == dataset) & kept.method.isin(names) & (kept.budget == budget)]
    kept = kept[kept.n_labeled.map(_number) == today.n_labeled.iloc[0]]
    return f"{told}: {compared(kept, today)}"


def compared(kept: pd.DataFrame, today: pd.DataFrame) -> str:
    """Say how many kept means of a cell are today's."""
    if kept.empty:
        return "means.csv has no such cell"
    apart, errors = [], []
    for one in kept.itertuples():
        if one.metric not in today or int(one.n_ok) != len(today):
            return f"{one.n_ok} trials with {one.metric} were ok, today {len(today)}"
        apart.append(abs(today[one.metric].mean() - float(one.mean)))
        spread = float(one.std) if one.std != "" else 0.0
        errors.append(apart[-1] / (spread / np.sqrt(len(today))) if spread else np.nan)
    equal = sum(value <= SAME for value in apart)
    line = f"{equal} of {len(apart)} means equal"
    if equal < len(apart):
        line += f", else up to {max(apart):.2g} apart, {np.nanmax(errors):.2g} standard errors"
    return line


def _number(text: object) -> float:
    return float(str(text)) if str(text) else np.nan


def _told(arguments: Sequence[object]) -> str:
    try:
        return run_again(*arguments)
    except Exception as error:
        return f"{arguments[0].name}: {arguments[1]}: {type(error).__name__}: {error}"


def main() -> None:
    """Draw, run, compare, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--datasets", nargs="*", default=[], help="all by default")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=5, help="of one cell at most")
    arguments = parser.parse_args()
    drawn = [
        (*one, arguments.minutes)
        for one in draw(arguments.cells, arguments.seed, arguments.datasets)
    ]
    context = get_context("spawn")
    with ProcessPoolExecutor(arguments.cores, context, max_tasks_per_child=1) as pool:
        for line in pool.map(_told, drawn):
            print(line, flush=True)


if __name__ == "__main__":
    main()
