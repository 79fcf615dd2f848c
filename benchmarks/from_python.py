"""What `harness.run` costs beyond `harness run`: CPU seconds of the same small study, both ways.

python benchmarks/from_python.py [--repeats 3]

Each run has an empty folder; the index of plugins, which the first run of all makes, is shared.
All processes count: the command, Snakemake, its jobs and the trials.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

FILE = """
datasets: [wine]
methods: [prior, random]
labeled: [20]
budgets: [30MB]
seeds: 5
"""

SCRIPT = """
import harness
from sklearn.datasets import load_wine
wine = load_wine(return_X_y=True, as_frame=True)
study = {"methods": ["prior", "random"], "labeled": 20, "budgets": "30MB", "seeds": 5}
harness.run(study | {"datasets": %s}, 2, progress=False)
"""

WAYS = {
    "harness run": ["-m", "harness.cli", "run", "small", "--cores", "2"],
    "harness.run, named data": ["-c", SCRIPT % "'wine'"],
    "harness.run, a data frame": ["-c", SCRIPT % "{'mine': wine}"],
}


def cpu_seconds(arguments: list[str], index: Path) -> tuple[float, float]:
    """Run one way in an empty folder; return CPU and wall-clock seconds."""
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / ".harness").symlink_to(index)
        (here / "studies").mkdir()
        (here / "studies" / "small.yaml").write_text(FILE)
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        command = [sys.executable, *arguments]
        subprocess.run(command, cwd=here, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return cpu, time.monotonic() - started


def main() -> None:
    """Print a row for each way."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=3)
    repeats = parser.parse_args().repeats
    with tempfile.TemporaryDirectory() as index:
        cpu_seconds(WAYS["harness run"], Path(index))
        taken = {way: [] for way in WAYS}
        for _ in range(repeats):  # in turn, so that what else runs here meets all alike
            for way, arguments in WAYS.items():
                taken[way].append(cpu_seconds(arguments, Path(index)))
    print(f"{'':28}{'CPU s':>8}{'least':>8}{'most':>8}{'wall s':>8}")
    for way, runs in taken.items():
        cpu, wall = zip(*runs, strict=True)
        middle = statistics.median(cpu)
        print(f"{way:28}{middle:8.1f}{min(cpu):8.1f}{max(cpu):8.1f}{statistics.median(wall):8.1f}")


if __name__ == "__main__":
    main()
