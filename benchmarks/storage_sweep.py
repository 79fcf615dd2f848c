"""Storage models against measured peaks on shapes that nobody chose.

    python benchmarks/storage_sweep.py [--trials 100] [--methods svm nysck ...] [--csv FILE]

Draws so many trials of each method: points, features (2 to 12,000), classes (2 to 100), float32 or
float64, task, transductive or not, checkpoints, a search, a budget. Each is planned for its budget
and run in the sandbox without a limit, so that a peak above the plan is measured in full. Printed
for each method: trials, the worst and the median ratio of measured to planned bytes (the median of
those planned above 5 MB), and trials above their plan by more than the calibrated error.

A plan must hold whatever the values are. Points of few columns have kernel matrices of low rank,
and a plan cannot know how many features are left (`xnv`, `laprls-landmarks`, `sssl-m`). So half of
the trials of methods with a kernel have one so narrow that no two points are near (`narrow`): its
matrix has full rank, and there the median says how much a model charges too much. Nor can a plan
know how many points self-training will label. 0.3 MB of every plan are for the interpreter: a
sixteenth of 5 MB.

A trial is a matter of its method, its number and `--seed` alone: `--first` and `--trials` go on
where another run stopped.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import median

import numpy as np
import threadpoolctl

from harness import Method, Search, Shape
from harness.estimator import parameters
from harness.planning.size import plan
from harness.plugin.registry import Registry
from harness.sandbox import Limits, Sandbox
from harness.study.schema import Tuning
from harness.trial.generated import assign
from harness.trial.run import run_trial
from harness.trial.search import grid
from harness.trial.searched_space import searched_space
from harness.trial.warm_up import warm_up

SLACK = 25_000
"""Bytes by which known allocations are measured wrong at most."""

PART = 0.002
"""Of the plan: what the peak may be above it besides `SLACK`."""

LARGE = 5_000_000
"""Bytes from which on a plan should be used."""

MOST_POINTS = 20_000
NARROW = 0.05
"""Width of a narrow kernel, in what a method counts its own width in: medians."""

_TUNING = Tuning(search="grid", trials=3, folds=2)
_DRAWS = 40


@dataclass(frozen=True)
class Drawn:
    """One trial as it was drawn, and what became of it."""

    method: str
    number: int
    task: str
    n_labeled: int
    n_unlabeled: int
    n_test: int
    n_features: int
    n_classes: int
    itemsize: int
    tuned: bool
    checkpoints: bool
    narrow: bool
    budget: int
    size: int | None
    n_kept: int | None
    planned: int
    peak: int | None = None
    stage: str = ""
    outcome: str = ""
    reason: str = ""
    seconds: float = 0.0

    @property
    def shape(self) -> Shape:
        """What the plan is told."""
        return Shape(
            self.n_labeled,
            self.n_unlabeled,
            self.n_features,
            self.n_classes,
            n_test=self.n_test,
            itemsize=self.itemsize,
        )

    @property
    def params(self) -> dict[str, float]:
        """What a study would fix."""
        return {"sigma": NARROW} if self.narrow else {}

    @property
    def is_over(self) -> bool:
        """Whether the peak was above the plan by more than measuring explains."""
        return self.peak is not None and self.peak > self.planned * (1 + PART) + SLACK


def draw(method: Method, number: int, seed: int = 0) -> Drawn | None:
    """Draw a trial that is feasible; None where none of many was."""
    rng = np.random.default_rng([seed, number, zlib.crc32(method.name.encode())])
    for _ in range(_DRAWS):
        budget = int(_log_uniform(rng, 1.5e6, 4e7))
        task = str(rng.choice(sorted(method.tasks)))
        itemsize = int(rng.choice([4, 8]))
        d = int(_log_uniform(rng, 2, 12_000))
        most = min(MOST_POINTS, max(30, budget // (d * itemsize)))
        n = int(_log_uniform(rng, 30, most + 1))
        classes = {"binary": 2, "regression": 0}.get(task)
        if classes is None:
            classes = int(_log_uniform(rng, 3, min(100, n // 3) + 1))
        inductive = task != "clustering" and rng.random() < 0.5
        n_test = int(_log_uniform(rng, 1, 5_000)) if inductive else 0
        least = max(4, 2 * classes)
        labeled = min(n, int(_log_uniform(rng, least, max(least + 1, n // 2))))
        if task == "clustering":
            labeled = 0
        narrow = "sigma" in parameters(method.estimator) and bool(number % 2)
        params = {"sigma": NARROW} if narrow else {}
        tuned = task != "clustering" and rng.random() < 0.2
        space = searched_space(method, params) if tuned else {}
        paused = bool(hasattr(method.estimator, "fit_steps") and rng.random() < 0.4)
        shape = Shape(labeled, n - labeled, d, classes, n_test=n_test, itemsize=itemsize)
        planned = plan(method, shape, budget, params, space=space, paused=paused)
        if not planned.feasible or not shape.scored:
            continue
        return Drawn(
            method.name,
            number,
            task,
            labeled,
            n - labeled,
            n_test,
            d,
            classes,
            itemsize,
            bool(space),
            paused,
            narrow,
            budget,
            planned.size,
            planned.n_kept,
            planned.planned_bytes,
        )
    return None


def measure(method: Method, drawn: Drawn, sandbox: Sandbox, seconds: float = 60) -> Drawn:
    """Run a drawn trial without a limit on memory."""
    with tempfile.TemporaryDirectory() as folder:
        assignment = assign(
            method,
            drawn.task,
            drawn.shape,
            drawn.size,
            Path(folder),
            inductive=bool(drawn.n_test),
            checkpoints=(1, 2) if drawn.checkpoints else (),
            n_kept=drawn.n_kept,
            params=drawn.params,
        )
        if drawn.tuned:
            assignment = replace(assignment, tuning=_TUNING, search=Search("grid", grid))
        result = sandbox.run(partial(run_trial, assignment), Limits(seconds=seconds))
    stages = {s.name: s.peak_bytes for s in result.stages.values() if s.peak_bytes is not None}
    return replace(
        drawn,
        # of its stages: in this process, which has all plugins, references are counted on more
        # pages than a worker has
        peak=max(stages.values(), default=None) if result.outcome == "ok" else None,
        stage=max(stages, key=stages.get, default=""),
        outcome=result.outcome,
        reason=result.reason[:200],
        seconds=round(result.seconds, 2),
    )


def sweep(
    methods: list[Method], first: int, trials: int, seed: int, sandbox: Sandbox
) -> Iterator[Drawn]:
    """Draw and measure trials, one of each method in turn."""
    for number in range(first, first + trials):
        for method in methods:
            drawn = draw(method, number, seed)
            if drawn is None:
                continue
            drawn = measure(method, drawn, sandbox)
            if drawn.is_over:
                # file pages that come and go while a trial runs can move one reading by 1 MB
                again = [measure(method, drawn, sandbox) for _ in range(2)]
                drawn = sorted([drawn, *again], key=lambda one: one.peak or 0)[1]
            yield drawn


def start() -> Sandbox:
    """Make this process what a worker's is before its first trial."""
    threadpoolctl.threadpool_limits(1)
    warm_up()
    return Sandbox()


def table(found: list[Drawn]) -> str:
    """Return a line for each method: trials, worst, median, over."""
    lines = [f"{'method':20} trials   ok  worst  worst excess  median >5MB  narrow  over plan"]
    for name in dict.fromkeys(one.method for one in found):
        mine = [one for one in found if one.method == name]
        ok = [one for one in mine if one.peak is not None]
        if not ok:
            lines.append(f"{name:20} {len(mine):6}    0")
            continue
        large = [one for one in ok if one.planned > LARGE]
        worst = max(one.peak / one.planned for one in ok)
        excess = max(one.peak - one.planned for one in ok)
        over = sum(one.is_over for one in ok)
        lines.append(
            f"{name:20} {len(mine):6} {len(ok):4}  {worst:.3f} {excess / 1000:10.0f} kB "
            f"{_median(large):>12} {_median([one for one in large if one.narrow]):>7}  {over:9}"
        )
    return "\n".join(lines)


def _median(trials: list[Drawn]) -> str:
    return f"{median(one.peak / one.planned for one in trials):.3f}" if trials else "-"


def _log_uniform(rng: np.random.Generator, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def main() -> None:
    """Sweep, write the CSV as it goes, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=100, help="of each method")
    parser.add_argument("--first", type=int, default=0, help="number of the first trial")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--methods", nargs="*", help="all by default")
    parser.add_argument("--csv", type=Path, help="a line for each trial")
    arguments = parser.parse_args()
    registry = Registry.load()
    # what learns its storage has no formula to hold a peak against
    known = (method for method, _ in registry.items("methods"))
    methods = [method for method in known if not method.learns_storage]
    if arguments.methods:
        methods = [registry.get("methods", name)[0] for name in arguments.methods]
    found: list[Drawn] = []
    sandbox = start()
    stream = arguments.csv.open("w", newline="") if arguments.csv else None
    writer = csv.DictWriter(stream, Drawn.__dataclass_fields__) if stream else None
    if writer:
        writer.writeheader()
    for one in sweep(methods, arguments.first, arguments.trials, arguments.seed, sandbox):
        found.append(one)
        if writer:
            writer.writerow(asdict(one))
            stream.flush()
        if one.is_over or one.outcome != "ok":
            print(one, file=sys.stderr)
    print(table(found))


if __name__ == "__main__":
    main()
