"""What measuring fitted models costs a trial, and their bytes beside those of their files.

    python benchmarks/model_costs.py [--methods svm nysck ...] [--repeats 5] [--budget 10MB]

Each registered method is run on generated points of 20 features at the size that its plan gives
the budget. Printed are the CPU time of the trial, the CPU time of measuring its model afterwards
(medians of the repeats, in ms), the seconds of one row, `model_bytes` and the bytes of the file
that `harness fit` writes without a preparation of rows.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median

import threadpoolctl

from harness import Method, Shape
from harness.planning.size import plan
from harness.plugin.registry import Registry
from harness.sandbox import Limits, Monitor, Sandbox
from harness.trial.generated import assign
from harness.trial.model_costs import percentiles
from harness.trial.run import run_trial
from harness.trial.taken_home import ARRAY, Label
from harness.trial.warm_up import warm_up
from harness.units import format_latency, parse_bytes

POINTS = {"n_labeled": 50, "n_unlabeled": 450, "n_test": 200, "n_features": 20}


def trial(assignment, monitor: Monitor):
    """Run a trial, and time what is done when its outcome is settled."""
    answer = run_trial(assignment, monitor)
    measure = monitor.afterwards

    def timed():
        before = time.process_time()
        costs = measure()
        return costs | {"cpu_s": time.process_time() - before}

    monitor.afterwards = timed
    return answer


def measured(sandbox: Sandbox, method: Method, budget: int, repeats: int, folder: Path) -> str:
    """Return a line on one method."""
    task = min(method.tasks)
    shape = Shape(**POINTS, n_classes=0 if task == "regression" else 2, itemsize=8)
    if task == "clustering":
        shape = replace(shape, n_labeled=0, n_unlabeled=700, n_test=0)
    planned = plan(method, shape, budget)
    if not planned.feasible:
        return f"{method.name:<20}infeasible"
    made = assign(
        method,
        task,
        shape,
        planned.size,
        folder,
        inductive=task != "clustering",
        n_kept=planned.n_kept,
    )
    row = {"method": method.name, "dataset": "generated", "size": planned.size}
    made = replace(made, costs=True, label=Label(("a", "b"), None, row))
    cpu, extra, last = [], [], None
    for _ in range(repeats):
        last = sandbox.run(partial(trial, made), Limits(seconds=600))
        if last.outcome != "ok" or last.afterwards is None:
            return f"{method.name:<20}{last.outcome}: {last.reason}"
        cpu.append(1000 * last.cpu_seconds)
        extra.append(1000 * last.afterwards["cpu_s"])
    costs = last.afterwards
    times = costs["row_seconds"]
    one = format_latency(percentiles(times)[0]) if times else "-"
    size = costs["model_bytes"]
    written = len(last.arrays[ARRAY])
    more = "-" if size is None else written - size
    return (
        f"{method.name:<20}{median(cpu):9.1f}{median(extra):9.1f}{len(times):7}  {one:<10}"
        f"{size or '-':>10}{written:>10}{more:>7}"
    )


def main() -> None:
    """Print a line for each method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", nargs="*")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--budget", default="10MB")
    options = parser.parse_args()
    threadpoolctl.threadpool_limits(1)
    warm_up()
    methods = {item.name: item for item, _ in Registry.load().items("methods")}
    print(
        f"{'method':<20}{'trial ms':>9}{'after ms':>9}{'calls':>7}  {'one row':<10}"
        f"{'model':>10}{'file':>10}{'more':>7}"
    )
    with tempfile.TemporaryDirectory() as folder, Sandbox() as sandbox:
        for name in options.methods or sorted(methods):
            budget = parse_bytes(options.budget)
            line = measured(sandbox, methods[name], budget, options.repeats, Path(folder))
            print(line, flush=True)


if __name__ == "__main__":
    main()
