"""What is tried with damaged files: every way in which a user's command or a job reads one."""

import contextlib
import json
import shutil
from types import SimpleNamespace

import pyarrow
import pyarrow.parquet
from click.testing import CliRunner
from mutations import damaged_bytes, damaged_json, damaged_tree, damaged_yaml, value

from harness.datasets import Meta, load_catalog, missing_bytes, open_mapped, prepare, unobtainable
from harness.errors import HarnessError
from harness.jobs.mending import put_damaged_aside
from harness.planning import bundles
from harness.planning.job_files import load_job, study_bundles, write_jobs
from harness.planning.study_plan import plan_study
from harness.planning.workload import load_workload
from harness.records.columns import COLUMNS
from harness.records.journal import Journal
from harness.records.table import (
    finished_rows,
    read_rows,
    rows_of_trials,
    writable_row,
)
from harness.records.table_writer import write_table
from harness.report.results import read_results

STUDY = {
    "title": "Fuzzed",
    "datasets": ["wine", "iris"],
    "methods": ["prior", {"random": None, "as": "by chance"}],
    "labeled": [20, 0.2],
    "budgets": ["30MB", "none", "64 landmarks"],
    "seeds": 3,
    "evaluation": {"test": 0.2, "unlabeled_per_labeled": 2.0, "stratified": True},
    "metrics": ["accuracy"],
    "tuning": {"search": "grid", "folds": 3, "trials": 4},
    "limits": {"time": "90s", "threads": 1, "memory": "1GB"},
    "seeds_per_job": "auto",
    "data": "counted",
    "checkpoints": "none",
    "plugins": [],
    "catalogs": ["mine.yaml"],
    "published": ["hou2017/table3"],
    "seed": 1,
    "cases": [{"datasets": ["wine"], "labeled": [30], "seeds": [4, 5]}],
}
CATALOG = {
    "mine": {
        "task": "binary",
        "n": 4,
        "d": 2,
        "classes": {"no": 2, "yes": 2},
        "positive": "yes",
        "missing": "error",
        "scaling": "minmax",
        "read": {"format": "csv", "separator": ",", "target": -1, "missing_values": ["?"]},
        "files": [{"path": "data.csv", "sha256": None}],
    },
    "theirs": {
        "task": "regression",
        "n": 4,
        "d": 2,
        "read": {"format": "svmlight", "zero_based": False},
        "files": [
            {
                "name": "x.txt",
                "urls": ["http://127.0.0.1:9/x.txt"],
                "mirror": "theirs/x.txt",
                "sha256": "0" * 64,
                "bytes": 10,
            }
        ],
    },
}
CSV = "1,2,no\n3,4,yes\n5,6,no\n7,9,yes\n"


def study(rng, sandbox):
    """A study, sometimes with a damaged catalog beside it, up to its plan."""
    with sandbox.fresh() as folder:
        (folder / "mine.yaml").write_bytes(yaml_of(CATALOG, rng, sandbox, rng.integers(4) == 0))
        (folder / "data.csv").write_text(CSV)
        name = (
            "study.yaml" if rng.integers(8) else ["..yaml", "...yaml", "ü.yaml"][rng.integers(3)]
        )
        path = folder / name
        path.write_bytes(damaged_yaml(STUDY, rng, sandbox))
        workload = load_workload(path)
        for bundle in (jobs := study_bundles(workload))[:50]:
            bundles.published(workload, bundle), bundles.pictures(workload, bundle)
        if len(workload.blocks) < 60:
            write_jobs(workload, jobs)
            for bundle in jobs:
                load_job(path, bundle.id)
            plan_study(workload)
            put_damaged_aside(workload)


def yaml_of(tree, rng, sandbox, damaged):
    return damaged_yaml(tree, rng, sandbox) if damaged else json.dumps(tree).encode()


def catalog(rng, sandbox):
    """A catalog, and all that is done with its entries: digests, downloads, preparation."""
    with sandbox.fresh() as folder:
        csv = CSV.encode() if rng.integers(3) else damaged_bytes(CSV.encode(), rng)
        (folder / "data.csv").write_bytes(csv)
        (folder / "cache" / "theirs").mkdir(parents=True)
        (folder / "cache" / "theirs" / "x.txt").write_text("1 1:2\n")
        (folder / "cache" / "out").symlink_to(sandbox.theirs)
        (folder / "mine.yaml").write_bytes(damaged_yaml(CATALOG, rng, sandbox))
        known = load_catalog([folder / "mine.yaml"])
        refused = []
        for name in sorted(known.keys() - load_catalog().keys()):
            entry = known[name]
            try:
                missing_bytes(entry), unobtainable(entry)
                if entry.n * entry.d < 10**6:
                    prepare(entry, folder / "prepared" / entry.directory)
            except HarnessError as error:
                refused.append(error)
        if len(refused) > 1:  # no one answers for "theirs"
            raise refused[0]


def rows():
    made = dict.fromkeys(COLUMNS) | {
        "study": "study",
        "dataset": "wine",
        "task": "multiclass",
        "method": "prior",
        "plugin_method": "prior",
        "budget": "30MB",
        "budget_bytes": 30_000_000,
        "n_labeled": 20,
        "n_unlabeled": 100,
        "n_test": 58,
        "n_features": 13,
        "n_classes": 3,
        "outcome": "ok",
        "reason": "",
        "size": 3,
        "planned_bytes": 10**6,
        "peak_bytes": 900_000,
        "fit_s": 0.1,
        "predict_s": 0.1,
        "tune_s": 0.0,
        "accuracy": 0.9,
        "params": '{"C": 1.0}',
        "versions": "{}",
        "threads": 1,
        "git_dirty": False,
        "started_at": "2026-01-02T03:04:05+00:00",
    }
    return [made | {"seed": seed, "fingerprint": f"aa-{seed}"} for seed in range(4)]


def journal(rng, sandbox):
    """A journal as a method that says anything, or a disk that fails, may leave it."""
    with sandbox.fresh() as folder:
        path = folder / "journal" / "b.jsonl"
        path.parent.mkdir()
        written = damaged_tree(rows(), rng, sandbox)
        with Journal(path) as kept:
            for row in written if isinstance(written, list) else []:
                if isinstance(row, dict) and isinstance(row.get("fingerprint"), str):
                    kept.append(row)
        lines = [json.dumps(row, skipkeys=True) for row in damaged_tree(rows(), rng, sandbox)]
        raw = "\n".join([*lines, ""]).encode("utf-8", "surrogatepass")
        path.write_bytes(damaged_bytes(raw, rng) if rng.integers(2) else raw)
        read_rows(path)
        finished_rows(path.parent)
        with Journal(path) as kept:
            for row in rows():
                if row["fingerprint"] not in kept.rows:
                    kept.append(row)
            kept.publish(folder / "blocks" / "b.jsonl")
        found, lack = rows_of_trials(folder / "blocks" / "b.jsonl", [f"aa-{s}" for s in range(4)])
        assert not lack, lack
        write_table([*found, writable_row(rows()[0] | {"seed": None})], folder / "trials.parquet")


def results(rng, sandbox):
    """The files of a finished study, some of them damaged, and the commands that read them."""
    with sandbox.fresh() as folder:
        place = folder / "results" / "study"
        (folder / "study.yaml").write_text(json.dumps(STUDY | {"catalogs": []}))
        place.mkdir(parents=True)
        write_table(rows(), place / "trials.parquet")
        trees = {
            "calibration.json": [{"kind": "numpy", "allocated_bytes": 10, "measured_bytes": 11}],
            "provenance.json": {"versions": {"a": "1"}, "metrics": {"m": {"tasks": ["binary"]}}},
            "timelines.json": [
                {"fingerprint": "aa-0", "stages": {"fit": [0, 1]}, "samples": [[0.1, 5]]}
            ],
        }
        for name, tree in trees.items():
            (place / name).write_text(json.dumps(tree))
        (place / "study.yaml").write_text(json.dumps(STUDY))
        for _ in range(rng.integers(1, 3)):
            damage_one(place, trees, rng, sandbox)
        command(rng)
        read_results(place)


def damage_one(place, trees, rng, sandbox):
    names = [*trees, "study.yaml", "trials.parquet"]
    path = place / names[rng.integers(len(names))]
    if rng.integers(12) == 0:
        path.unlink(missing_ok=True) if not path.is_dir() else None
        path.mkdir(exist_ok=True)
    elif path.is_dir():
        return
    elif path.name in trees:
        path.write_bytes(damaged_json(trees[path.name], rng, sandbox))
    elif path.name == "study.yaml":
        path.write_bytes(damaged_yaml(STUDY, rng, sandbox))
    elif rng.integers(2):
        path.write_bytes(damaged_bytes(path.read_bytes(), rng))
    else:
        write_odd_table(path, rng, sandbox)


def write_odd_table(path, rng, sandbox):
    table = pyarrow.Table.from_pylist(rows())
    names = table.column_names
    for _ in range(rng.integers(1, 4)):
        name = names[rng.integers(len(names))]
        try:
            column = pyarrow.array([value(rng, sandbox)] * len(table))
            position = table.column_names.index(name)
            table = table.set_column(position, name, column)
        except (pyarrow.ArrowException, OverflowError, ValueError, UnicodeError):
            continue
    with contextlib.suppress(pyarrow.ArrowException):  # not every type has a form in Parquet
        pyarrow.parquet.write_table(table, path)


COMMANDS = [
    ["show", "study.yaml", "--json"],
    ["show", "study.yaml"],
    ["best", "study.yaml"],
    ["compare", "study.yaml", "hou2017/table3"],
    ["reproduce", "study.yaml", "0"],
    ["reproduce", "study.yaml", "9" * 5000],
    ["plan", "study.yaml"],
]


def command(rng):
    from harness.cli import main

    arguments = COMMANDS[rng.integers(len(COMMANDS))]
    if arguments[0] == "reproduce" and arguments[2] == "0":
        arguments = [*arguments[:2], "zz-0"]  # what is found would run a trial
    done = CliRunner().invoke(main, arguments)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception


def report(rng, sandbox):
    """The page of odd but whole rows."""
    from harness.report import write_report

    with sandbox.fresh() as folder:
        odd = [row for row in damaged_tree(rows(), rng, sandbox) if isinstance(row, dict)]
        path = folder / "b.jsonl"
        path.write_text("".join(json.dumps(row, skipkeys=True) + "\n" for row in odd))
        write_table(read_rows(path), folder / "trials.parquet")
        (folder / "study.yaml").write_text(json.dumps(STUDY))
        (folder / "provenance.json").write_text("{}")
        (folder / "calibration.json").write_text("[]")
        write_report(folder)


def prepared(rng, sandbox):
    """Prepared data of which one file is damaged."""
    with sandbox.fresh() as folder:
        place = folder / "prepared" / "wine-1"
        shutil.copytree(sandbox.around / "wine", place)
        path = place / ["meta.json", "X.npy", "y.npy"][rng.integers(3)]
        if path.name == "meta.json" and rng.integers(2):
            path.write_bytes(damaged_json(json.loads(path.read_text()), rng, sandbox))
        else:
            path.write_bytes(damaged_bytes(path.read_bytes(), rng))
        workload = SimpleNamespace(
            results=folder / "none",
            blocks=[],
            datasets=lambda: ["wine"],
            prepared=lambda name: place,
        )
        put_damaged_aside(workload)
        Meta.read(place)
        open_mapped(place / "X.npy")


COMMON = (study, catalog, journal, results, prepared)
"""Of each as many; the page takes ten times as long as any."""
TARGETS = [*COMMON * 12, report]
