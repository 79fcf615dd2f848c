"""A million points on an anchor graph, in a budget that the kernel enforces.

    python benchmarks/anchor_graph.py [--points 1000000] [--anchors 1000] [--budget 200MB]

Two normal classes in 18 columns of float32, 100 labels, 10,000 other points to predict. Prints the
plan, and for each stage of the trial its peak and seconds.
"""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path

import threadpoolctl

from harness import Shape
from harness.planning.size import plan
from harness.plugin.registry import Registry
from harness.sandbox import Limits, Sandbox
from harness.trial.generated import assign
from harness.trial.run import run_trial
from harness.trial.warm_up import warm_up
from harness.units import format_bytes, parse_bytes

LABELED, TEST = 100, 10_000


def main() -> None:
    """Generate, plan, run and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--points", type=int, default=1_000_000)
    parser.add_argument("--anchors", type=int, default=1_000)
    parser.add_argument("--budget", type=parse_bytes, default=parse_bytes("200MB"))
    arguments = parser.parse_args()
    registry = Registry.load()
    method, _ = registry.get("methods", "anchor-graph")
    n, budget = arguments.points, arguments.budget
    shape = Shape(LABELED, n - LABELED, 18, 2, n_test=TEST, itemsize=4)
    planned = plan(method, shape, budget, largest=arguments.anchors)
    print(f"planned {format_bytes(planned.planned_bytes)} for {planned.size} anchors")

    with tempfile.TemporaryDirectory() as folder:
        assignment = assign(method, "binary", shape, planned.size, Path(folder), inductive=True)
        threadpoolctl.threadpool_limits(1)
        warm_up()
        limits = Limits(memory=budget, seconds=7200)
        result = Sandbox().run(partial(run_trial, assignment), limits)
    print(f"{result.outcome} {result.reason}".strip())
    for stage in result.stages.values():
        peak = format_bytes(stage.peak_bytes) if stage.peak_bytes else "-"
        print(f"{stage.name:8} {stage.cpu_seconds:8.1f} CPU s  peak {peak}")


if __name__ == "__main__":
    main()
