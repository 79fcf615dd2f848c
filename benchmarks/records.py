"""What a study's rows cost when they are read: table, report and commands, up to 10^6 trials.

    python benchmarks/records.py [--trials 10000 100000 1000000] [--seeds 100 5] [--jobs table]

Makes the rows that trials would have written, in files of their jobs: about 2.2 kB each, of two
hosts with different CPUs, the second 3 times slower. Then runs the job or the command that reads
them, a process each. Prints CPU seconds of all threads, the high-water mark of resident memory,
and number and bytes of the files that it left; at the end how each grows, as the exponent between
the two largest sizes. 1 is linear; what is paid once makes it less.

A cell has 100 seeds, or 5, or 20,000 (or as many as make 50 cells). There are 5 methods and 10
budgets, one number of labeled points (20 with 5 seeds), and as many data sets as that takes.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

METHODS = {"1nn": 1, "svm": 7, "harmonic": 5, "nysck": 9, "rff-mssksc": 8}
"""Each with what its scores gain by, in hundredths."""
BUDGETS = [f"{10 * k}MB" for k in range(1, 11)]
HOSTS = (
    ("node-1", "AMD EPYC 9454P 48-Core Processor", 1.0),
    ("node-2", "Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz", 3.0),
)
STUDY = "records"
KEPT = f"results/{STUDY}/tables/rows.parquet"
"""What the report leaves: `compare` puts the study beside itself, trial by trial."""
PLUGIN = '''"""Data sets that nobody trains on: their rows are made up."""

from harness import GeneratedDataset, hookimpl


def points(rng):
    return rng.random((1000, 8)), rng.permutation(1000) % 2


@hookimpl
def harness_datasets():
    for number in range({datasets}):
        yield GeneratedDataset(f"set-{{number:04}}", points, "binary", 1000, 8, 2)
'''
JOBS = {
    "table": ["-m", "harness.jobs", "table", f"{STUDY}.yaml"],
    "report": ["-m", "harness.jobs", "report", f"{STUDY}.yaml"],
    "show": ["-m", "harness.cli", "show", f"{STUDY}.yaml"],
    "best": ["-m", "harness.cli", "best", f"{STUDY}.yaml"],
    "compare": ["-m", "harness.cli", "compare", f"{STUDY}.yaml", "--with", KEPT],
}


def main() -> None:
    """Make studies of each size and shape, run each job on them, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--trials", type=int, nargs="+", default=[10**4, 10**5, 10**6])
    parser.add_argument("--seeds", type=int, nargs="+", default=[100, 5], choices=[20000, 100, 5])
    parser.add_argument("--jobs", nargs="+", default=list(JOBS), choices=list(JOBS))
    parser.add_argument("--folder", type=Path, help="keep the studies here, and take them again")
    parser.add_argument("--make", type=int, nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.make:
        make(*options.make)
    elif options.folder:
        compare_sizes(options, options.folder.absolute())
    else:
        with tempfile.TemporaryDirectory() as folder:
            compare_sizes(options, Path(folder))


def compare_sizes(options: argparse.Namespace, folder: Path) -> None:
    """Run every job at every size, and print what it takes and how that grows."""
    print("seeds  trials     job       CPU s  peak MB    files        MB")
    for seeds in options.seeds:
        taken: dict[str, list[tuple[int, dict[str, float]]]] = {job: [] for job in options.jobs}
        for trials in sorted(options.trials):
            place = folder / f"{trials}-{seeds}"
            if not (place / "made").exists():
                place.mkdir(parents=True, exist_ok=True)
                command = [sys.executable, str(Path(__file__).resolve()), "--make"]
                subprocess.run([*command, str(trials), str(seeds)], cwd=place, check=True)
            leaves = {"table": f"results/{STUDY}/trials.parquet"}
            if "compare" in options.jobs:
                leaves["report"] = KEPT
            for job in JOBS:
                needed = leaves.get(job)
                if job in options.jobs:
                    found = measure(JOBS[job], place)
                    taken[job].append((trials, found))
                    print(
                        f"{seeds:5}  {trials:9,}  {job:8} {found['cpu']:6.1f} "
                        f"{found['peak']:8.0f} {found['files']:8.0f} {found['bytes']:9.1f}",
                        flush=True,
                    )
                elif needed and not (place / needed).exists():
                    measure(JOBS[job], place)
        for job, rows in taken.items():
            if len(rows) > 1:
                (few, before), (many, after) = rows[-2:]
                grows = {
                    name: math.log(after[name] / before[name]) / math.log(many / few)
                    for name in ("cpu", "peak", "files", "bytes")
                    if before[name] and after[name]
                }
                words = ", ".join(f"{name} {power:.2f}" for name, power in grows.items())
                print(f"{seeds:5}  exponents  {job:8} {words}", flush=True)


def measure(arguments: list[str], folder: Path) -> dict[str, float]:
    """Run a job in processes of its own, its output to a file; return what it took."""
    said = folder / "said.txt"
    before, began = state(folder), time.time()
    with said.open("w") as file:
        job = subprocess.Popen([sys.executable, *arguments], cwd=folder, stdout=file)
        # the figures of one job and of what it waited for, not of all that came before
        _, status, used = os.wait4(job.pid, 0)
    job.returncode = os.waitstatus_to_exitcode(status)
    if job.returncode:
        raise subprocess.CalledProcessError(job.returncode, job.args)
    after = state(folder)
    new = [path for path, (changed, _) in after.items() if changed >= began or path not in before]
    return {
        "cpu": used.ru_utime + used.ru_stime,
        "peak": used.ru_maxrss * 1024 / 1e6,
        "files": len(new),
        "bytes": (sum(after[path][1] for path in new) + said.stat().st_size) / 1e6,
    }


def state(folder: Path) -> dict[str, tuple[float, int]]:
    """Return when each joined file was written, and its bytes."""
    results = folder / "results" / STUDY
    found = [*results.glob("*"), *results.glob("tables/*")]
    status = {str(path): path.stat() for path in found if path.is_file()}
    return {path: (known.st_mtime, known.st_size) for path, known in status.items()}


def make(trials: int, seeds: int) -> None:
    """Write a study in the current folder as if all of its trials had been run."""
    import numpy as np
    import yaml

    from harness.jobs.prepared import prepare_named
    from harness.planning.bundles import pictures, published
    from harness.planning.job_files import study_bundles, write_jobs
    from harness.planning.workload import load_workload

    labeled = [20 * k for k in range(1, 21)] if seeds == 5 else [50]
    cells = len(METHODS) * len(BUDGETS) * len(labeled)
    seeds = min(seeds, trials // cells)
    datasets = max(1, round(trials / (cells * seeds)))
    Path("plugins").mkdir(exist_ok=True)
    Path("plugins/points.py").write_text(PLUGIN.format(datasets=datasets))
    names = [f"set-{number:04}" for number in range(datasets)]
    content = {"datasets": names, "methods": list(METHODS), "labeled": labeled}
    content |= {"budgets": BUDGETS, "seeds": seeds, "evaluation": {"test": 0.5}}
    content |= {"plugins": ["plugins"], "metrics": ["auc", "accuracy"]}
    Path(f"{STUDY}.yaml").write_text(yaml.safe_dump(content))
    workload = load_workload(f"{STUDY}.yaml")
    for name in names:
        prepare_named(workload, name)
    bundles = study_bundles(workload)
    write_jobs(workload, bundles)
    rng = np.random.default_rng(0)
    cells = set()
    for bundle in bundles:
        path, kept = published(workload, bundle), pictures(workload, bundle)
        for place in (path, kept):
            place.parent.mkdir(parents=True, exist_ok=True)
        with path.open("w") as rows, kept.open("w") as drawn:
            for block in bundle.blocks:
                lines = block_rows(workload, block, rng)
                rows.writelines(lines)
                if block.fingerprint not in cells:
                    cells.add(block.fingerprint)
                    drawn.write(picture(json.loads(lines[0])) + "\n")
    (workload.results / "calibration.json").write_text("[]")
    Path("made").touch()


def block_rows(workload: object, block: object, rng: object) -> list[str]:
    """Return the rows of a block, a line each."""
    from harness.records.columns import COLUMNS

    sizes = workload.sizes(block)
    budget, gain = block.budget.bytes, METHODS[block.method.name] / 100
    ease = 0.6 + 0.2 * (zlib.crc32(block.dataset.encode()) % 97) / 97
    mean = ease + gain * math.log10(budget / 1e6)
    decided_by = block.decided_by
    versions = '{"numpy": "2.4.6", "pandas": "3.1.1", "python": "3.11.7", "scikit-learn": "1.9.1"}'
    params = {"sigma": 1.0, "sigma_unit": "median", "kernel": "gaussian", "normalize": False}
    fixed = dict.fromkeys(COLUMNS) | {
        "study": STUDY,
        "dataset": block.dataset,
        "task": "binary",
        "method": block.method.label,
        "plugin_method": block.method.name,
        "control": "",
        "n_labeled": sizes.n_labeled,
        "n_unlabeled": sizes.n_unlabeled,
        "n_test": sizes.n_test,
        "n_features": 8,
        "n_classes": 2,
        "budget": block.budget.text,
        "budget_bytes": budget,
        "reason": "",
        "size_name": "n_components",
        "n_kept": sizes.n_unlabeled,
        "planned_phase": "search",
        "storage_model": "written",
        "taken_again": 0,
        "baseline_bytes": 143060992,
        "data_bytes": 137129,
        "enforced_by": "cgroup-v1+rlimit-data",
        "measured_by": "VmHWM",
        "isolation": "landlock-7+namespace",
        "decided_by": decided_by,
        "dataset_sha256": "96192d065973ffd01777d5e723c51aa96d3b41269c017571dc18861753229a8e",
        "plugin_sha256": "a59ea36cfce076a1c58c2bbddd10b039471e1e55c64b228c00fc430dd9c17df8",
        "git_sha": "6651f2d384b80de8d4d6cb52d35aefb86fdc9b3f",
        "git_dirty": False,
        "versions": versions,
        "threads": 1,
    }
    rows = []
    noise = rng.normal(0, 0.02, len(block.seeds))
    share = rng.random(len(block.seeds))
    for seed, shift, part in zip(block.seeds, noise.tolist(), share.tolist(), strict=True):
        host, cpu, slower = HOSTS[seed % 2]
        fingerprint = f"{block.fingerprint}-{seed}"
        over = part > 0.97
        planned = int(budget * (0.9 + part / 20))
        row = fixed | {
            "seed": seed,
            "outcome": "over_budget" if over else "ok",
            "reason": "MemoryError in fit: could not allocate 2.1 MB" if over else "",
            "size": int(planned // 20000),
            "planned_bytes": planned,
            "peak_bytes": budget if over else int(planned * (0.8 + part / 6)),
            "host": host,
            "cpu": cpu,
            "params": json.dumps(params | {"random_state": int(part * 2**31)}),
            "fingerprint": fingerprint,
            "started_at": f"2026-11-26T04:{seed % 60:02}:{int(59 * part):02}+00:00",
            "command": f"harness reproduce {STUDY} {fingerprint}",
        }
        if not over:
            accuracy = min(1.0, mean + shift)
            row |= {
                "load_peak_bytes": 331776,
                "tune_peak_bytes": row["peak_bytes"],
                "fit_peak_bytes": row["peak_bytes"] // 2,
                "predict_peak_bytes": row["peak_bytes"] // 5,
                "model_bytes": planned // 10,
                "predict_row_peak_bytes": 331776,
                "predict_row_s": slower * (2e-4 + part / 1e4),
                "predict_row_p99_s": slower * (3e-4 + part / 1e4),
                "predict_row_calls": 200,
                "load_s": slower * (0.0018 + part / 1e4),
                "tune_s": slower * (0.5306 + part / 10),
                "fit_s": slower * (0.0391 + part / 100),
                "predict_s": slower * (0.0028 + part / 1e3),
                "wall_s": slower * (0.6373 + part / 10),
                "cpu_s": slower * (0.378096 + part / 10),
                "auc": min(1.0, accuracy + part / 20),
                "accuracy": accuracy,
                "balanced_accuracy": accuracy - part / 200,
                "error_rate": 1 - accuracy,
                "f1_macro": accuracy - part / 100,
            }
        rows.append(json.dumps(row, separators=(",", ":")) + "\n")
    return rows


def picture(row: dict[str, object]) -> str:
    """Return a picture of one trial, as one of each cell leaves it."""
    names = ("fingerprint", "dataset", "method", "n_labeled", "budget", "budget_bytes", "seed")
    names += ("planned_bytes", "peak_bytes", "outcome")
    samples = [[round(0.03 + k / 90, 4), row["peak_bytes"] * k // 60] for k in range(60)]
    stages = {"load": [0.03, 0.04], "tune": [0.04, 0.5], "fit": [0.5, 0.6], "predict": [0.6, 0.69]}
    content = {name: row[name] for name in names} | {"stages": stages, "samples": samples}
    return json.dumps(content, separators=(",", ":"))


if __name__ == "__main__":
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    main()
