"""CPU time that the sandbox itself takes for one trial.

A block of trials that do nothing, in a process that has imported scikit-learn and warmed BLAS up,
as a worker has. Counted are the user and system time of the worker and of all its children. The
whole harness is to stay below 30 ms a trial, the sandbox below 18 ms. A bare fork of the same
process is timed in the same run: it bounds from below what isolation costs.

    python benchmarks/trial_cost.py [--trials 100] [--backend auto] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable

TARGET_MS = 18.0


def measure(trial: Callable[[], object], count: int) -> dict[str, float]:
    """Return milliseconds a call: CPU of this process, of its children, of both, and wall."""
    trial()
    wall, before = time.perf_counter(), os.times()
    for _ in range(count):
        trial()
    after, wall = os.times(), time.perf_counter() - wall
    parent = after.user + after.system - before.user - before.system
    children = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    scale = 1000 / count
    return {
        "parent": parent * scale,
        "child": children * scale,
        "cpu": (parent + children) * scale,
        "wall": wall * scale,
    }


def bare_fork() -> None:
    """Fork, exit, wait: what no sandbox can do without."""
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)


def main() -> None:
    """Measure every backend that this machine has, or the one that is named."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--backend", default="all")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")

    import numpy as np
    import scipy.linalg
    import sklearn.cluster
    import sklearn.linear_model
    import sklearn.metrics
    import sklearn.svm  # noqa: F401

    from harness.sandbox import Limits, Sandbox, backends

    square = np.eye(256)
    scipy.linalg.eigh(square @ square)
    names = [options.backend]
    if options.backend == "all":
        names = [report.name for report in backends() if report.available]
    limits = Limits(memory=100_000_000, seconds=60)
    rows = {}
    for name in names:
        with Sandbox(name) as sandbox:
            rows[sandbox.backend] = measure(
                lambda sandbox=sandbox: sandbox.run(lambda monitor: ({}, {}), limits),
                options.trials,
            )
    rows = {"bare fork": measure(bare_fork, options.trials), **rows}
    if options.json:
        print(json.dumps({"trials": options.trials, "target_ms": TARGET_MS, "ms": rows}, indent=1))
        return
    print(f"ms a trial, {options.trials} trials   parent   child     CPU    wall  above a fork")
    for name, row in rows.items():
        figures = "".join(f"{row[key]:8.1f}" for key in ("parent", "child", "cpu", "wall"))
        if name != "bare fork":
            verdict = "within" if row["cpu"] < TARGET_MS else "above"
            extra = row["cpu"] - rows["bare fork"]["cpu"]
            figures += f"{extra:14.1f}  {verdict} the target of {TARGET_MS:g}"
        print(f"{name:<26}{figures}")


main()
