"""Run a study while processes of it are killed and its disk is full, and count its trials.

    python benchmarks/faults.py [--trials 10000] [--per-job 100] [--faults 100] [--every 5]

Runs a study of a method that only guesses by the real `snakemake`, again and again. Meanwhile a
seeded generator strikes at random moments:

kill, term, stop
    SIGKILL, SIGTERM, or SIGSTOP and later SIGCONT, to a random process: Snakemake, a job's shell,
    watcher, keeper, worker, runner or trial.
node
    All processes of a job, or of the whole run, are killed at once. The last line of the job's
    journal is then cut short, replaced by zeros, or followed by half a line.
disk
    The file system of the study is full for some seconds; needs root, which mounts one.
late
    A published file is away for some seconds, as another node may see it.
clock
    Files are a day older or younger than they are.

After the last of `--faults` strikes a run must end well by itself. Then every trial has one row,
each trial that had a row never began again, scores are those of a study that nothing disturbed,
and no process or temporary file is left. The status is 1 if any of that fails.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from faulty.chaos import Chaos
from faulty.study import SEEDS, Study

from harness.records.table import read_table

SAME = ["outcome", "size", "auc", "accuracy"]
TABLE = "results/study/trials.parquet"
MOST_RUNS = 3
"""In which a study ends well that nothing disturbs any more: one may find what is damaged."""


def run_disturbed(study: Study, chaos: Chaos, trials: int, faults: int, every: float) -> list[int]:
    """Run a study until a run ends well that nothing disturbed; return the runs' statuses."""
    ended: list[int] = []
    undisturbed = 0
    while True:
        before = chaos.count
        process = study.start()
        while process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(chaos.rng.expovariate(1 / every))
                break
            study.look()
            # however slow the machine is, faults come as trials do
            if chaos.count < min(faults, 2 + faults * len(study.seen) / trials):
                chaos.strike()
        study.look()
        ended.append(process.returncode)
        tell = f"run {len(ended)}: status {process.returncode}, {len(study.seen)} rows, "
        print(f"{tell}{chaos.count} faults", flush=True)
        if process.returncode == 0:
            faults = min(faults, chaos.count)  # there is nothing left to strike at
        undisturbed = undisturbed + 1 if chaos.count == before else 0
        if undisturbed and (process.returncode == 0 or undisturbed == MOST_RUNS):
            return ended


def take_crashed_again(study: Study) -> list[str]:
    """Have trials run again that were struck twice; return those that are not known to be."""
    table, begun = read_table(study.folder / TABLE), study.begun()
    crashed = table[table["outcome"] == "crashed"]
    keys = [f"{row.dataset}/{row.budget}/{row.seed}" for row in crashed.itertuples()]
    if keys:
        print(f"crashed and taken again: {', '.join(crashed['reason'])}")
        command = [sys.executable, "-m", "harness.cli", "retry", "study.yaml"]
        subprocess.run([*command, "--outcome", "crashed"], cwd=study.folder, check=True)
        for key in keys:
            study.seen.pop(key, None)
        study.start().wait()
    return [key for key in keys if len(begun[key]) < 2]


def faults_of(study: Study, reference: Study, trials: int) -> dict[str, list[str]]:
    """Say what is wrong at the end: lists of what should not be there, by name."""
    table = read_table(study.folder / TABLE)
    wanted = {row[0]: list(row[1:]) for row in _scores(reference)}
    other = [f"seed {seed}: {row}" for seed, *row in _scores(study) if row != wanted[seed]]
    run_again = [
        key
        for key, times in study.begun().items()
        if key in study.seen and times[-1] > study.seen[key] + 0.01
    ]
    folder = study.folder
    notes = [*folder.glob("results/**/*.part"), *folder.glob("prepared/*.part")]
    notes += folder.glob("results/study/journal/**/*.running")
    scratch = [
        path for path in Path(tempfile.gettempdir()).glob("harness-scratch-*") if _is_stale(path)
    ]
    return {
        "trials without a row": ["some"] * (trials - table["fingerprint"].nunique()),
        "trials with two rows": list(table["fingerprint"][table["fingerprint"].duplicated()]),
        "trials that began again though they had a row": run_again,
        "scores that differ from an undisturbed run": other,
        "processes left": [text for _, text in study.processes().values()],
        "temporary files left": [str(path) for path in notes],
        "scratch folders left": [str(path) for path in scratch],
    }


def _scores(study: Study) -> Iterator[list[object]]:
    table = read_table(study.folder / TABLE)
    yield from table[["seed", *SAME]].to_numpy().tolist()


def _is_stale(path: Path) -> bool:
    owner = path.name.split("-")[-2]
    return owner.isdigit() and not Path("/proc", owner).exists()


@contextlib.contextmanager
def small_disk(folder: Path, trials: int) -> Iterator[bool]:
    """Mount a file system of its own on a folder; tell whether that is permitted."""
    size = f"size={300 + trials // 100}m"
    command = ["mount", "-t", "tmpfs", "-o", size, "tmpfs", str(folder)]
    mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=False)


def main() -> int:
    """Disturb a study and print what became of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, default=10_000, help=f"a multiple of {SEEDS}")
    parser.add_argument("--per-job", type=int, default=100, help="trials of a job")
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument(
        "--every", type=float, default=5.0, help="seconds between faults, at least"
    )
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", help="a new folder that keeps all but the study's disk")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory() as made:
        base = Path(options.keep or made)
        (base / "alone").mkdir(parents=True)
        (base / "struck").mkdir()
        reference = Study(base / "alone", min(SEEDS, options.trials), SEEDS, options.cores)
        if reference.start().wait():
            sys.exit(reference.log.with_suffix(".said").read_text(encoding="utf-8"))
        with contextlib.ExitStack() as stack:
            disk = stack.enter_context(small_disk(base / "struck", options.trials))
            study = Study(base / "struck", options.trials, options.per_job, options.cores)
            stack.callback(study.end)
            # made once: the index of plugins takes as long as 200 trials
            shutil.copytree(reference.folder / ".harness", study.folder / ".harness")
            chaos = Chaos(study, random.Random(options.seed), disk)
            began = time.time()
            ended = run_disturbed(study, chaos, options.trials, options.faults, options.every)
            seconds = time.time() - began
            wrong = tell(study, reference, options.trials, ended, chaos, seconds)
            if options.keep:
                shutil.copytree(study.folder, base / "kept", dirs_exist_ok=True, symlinks=True)
    return wrong


def tell(
    study: Study, reference: Study, trials: int, ended: list[int], chaos: Chaos, seconds: float
) -> int:
    """Print the table; return 1 if something is wrong."""
    if ended[-1]:
        print(study.log.with_suffix(".said").read_text(encoding="utf-8")[-3000:])
        print(f"a run that nothing disturbed ended with status {ended[-1]}")
        return 1
    blameless = take_crashed_again(study)
    begun = study.begun()
    told = study.log.read_bytes()
    again = study.start().wait() or study.log.read_bytes() != told
    table = read_table(study.folder / TABLE)
    for kind in sorted({kind for kind, _ in chaos.struck}):
        on = (
            f"{role} {count}"
            for (what, role), count in sorted(chaos.struck.items())
            if what == kind
        )
        print(f"{kind:6} {', '.join(on)}")
    jobs = len(study.journals())
    twice = sum(len(times) - 1 for times in begun.values())
    print(
        f"{trials} trials in {jobs} jobs: {len(ended)} runs, {chaos.count} faults, {seconds:.0f} s"
    )
    print(f"rows that a fault took: {sum(study.lost.values())}; trials that began again: {twice}")
    print("outcomes:", ", ".join(f"{k} {v}" for k, v in Counter(table["outcome"]).items()))
    wrong = faults_of(study, reference, trials)
    wrong["trials that crashed and had begun once"] = blameless
    wrong["runs that did more after all was done"] = ["the last"] * bool(again)
    for name, found in wrong.items():
        print(f"{name}: {len(found)}{''.join(f'{chr(10)}    {one}' for one in found[:5])}")
    return int(any(wrong.values()))


if __name__ == "__main__":
    sys.exit(main())
