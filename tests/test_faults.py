"""The benchmark of faults notices what would be wrong, each by its name."""

import importlib
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.records.columns import COLUMNS
from harness.records.table import writable_row
from harness.records.table_writer import write_table

BENCHMARKS = str(Path(__file__).resolve().parent.parent / "benchmarks")


def benchmark():
    """Import it; others are called like the plugins that they measure: they stay away."""
    sys.path.append(BENCHMARKS)
    try:
        return importlib.import_module("faults")
    finally:
        sys.path.remove(BENCHMARKS)


faults_of = benchmark().faults_of

SEEDS = 3
RESULTS = "results/study"


def finished(folder, rows, begun=()):
    """Return a study with these rows, and a trial that began once unless told otherwise."""
    (folder / RESULTS / "journal/iris").mkdir(parents=True)
    (folder / "scratch").mkdir()
    write_table(rows, folder / RESULTS / "trials.parquet")
    return SimpleNamespace(
        folder=folder,
        scratch=folder / "scratch",
        seen={"iris/1MB/0": 10.0},
        begun=lambda: {"iris/1MB/0": [9.0, *begun]},
        processes=dict,
    )


def row(seed, **changes):
    around = {"study": "study", "dataset": "iris", "method": "guesses", "outcome": "ok"}
    around |= {"seed": seed, "fingerprint": f"ab-{seed}", "size": 7, "auc": 0.5 + seed / 10}
    return writable_row(dict.fromkeys(COLUMNS) | around | {"accuracy": 0.25} | changes)


ROWS = [row(seed) for seed in range(SEEDS)]


@pytest.fixture
def wrong(tmp_path):
    def wrong(rows=ROWS, processes=None, left=(), **changes):
        reference = finished(tmp_path / "alone", ROWS)
        study = finished(tmp_path / "struck", rows, **changes)
        study.processes = lambda: processes or {}
        for name in left:
            (study.folder / name).write_text("x")
        return [name for name, found in faults_of(study, reference, SEEDS).items() if found]

    return wrong


def test_nothing_is_wrong_with_a_study_that_is_whole(wrong):
    # begun before it was seen to have a row: its end was not seen at once
    assert wrong(begun=[10.005]) == []


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"rows": ROWS[:2]}, "trials without a row"),
        ({"rows": [*ROWS, row(1)]}, "trials with two rows"),
        ({"begun": [11.0]}, "trials that began again though they had a row"),
        ({"rows": [*ROWS[:2], row(2, auc=0.1)]}, "scores that differ from an undisturbed run"),
        ({"rows": [*ROWS[:2], row(2, outcome="crashed")]}, "scores that differ from an"),
        ({"processes": {7: ("trial", "python")}}, "processes left"),
        ({"left": [f"{RESULTS}/.vm-7-ab.part"]}, "temporary files left"),
        ({"left": [f"{RESULTS}/journal/iris/ab.running"]}, "temporary files left"),
        ({"left": ["scratch/harness-scratch-vm-7-ab"]}, "scratch folders left"),
    ],
)
def test_what_is_wrong_is_named(wrong, changes, told):
    (found,) = wrong(**changes)
    assert found.startswith(told)
