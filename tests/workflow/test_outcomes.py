"""One real run of a study whose methods end in every way there is."""

import json
import shutil
import subprocess

import numpy as np
import pytest
from project import PLUGINS, Project
from sklearn.datasets import load_breast_cancer

pytestmark = pytest.mark.slow

TIME = 2
EXPECTED = {
    "behaves": ("ok", ""),
    "segfaults": ("crashed", "SIGSEGV"),
    "loops-in-python": ("timeout", "2 s"),
    "loops-in-c": ("timeout", "2 s"),
    "fork-bomb": ("ok", "20 processes"),
    "closes-files": ("crashed", "channel|result|pipe"),
    "predicts-nan": ("error", "NaN"),
    "wrong-shape": ("error", r"shape \(\d+, 7\), expected \(\d+,"),
    "wrong-type": ("error", "not numbers"),
    "raises": ("error", r"RuntimeError: this method has a bug \(misbehaving.py, line \d+\)$"),
    "takes-too-much": ("over_budget", "budget|memory|limit"),
    "kills-its-parent": ("error", "PermissionError.* reaches no process but its own"),
    "writes-its-input": ("error", "read-only"),
    # hidden labels are nowhere in a trial's memory, and the search would have found them
    "searches-for-labels": ("ok", ""),
    "plants-labels": ("error", "labels in memory"),
    "opens-labels": ("error", r"PermissionError: .*/y\.npy'.* reads code and its own features"),
    "loads-the-source": (
        "error",
        r"PermissionError: .*/sklearn/datasets/.* reads code and",
    ),
    "alters-features": ("error", r"(?:Permission denied|Read-only file system): .*/X\.npy'"),
    "no-storage": ("error", r"sizes failed: KeyError: 'no such constant' \(misbehaving.py, line"),
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory, index_cache):
    project = Project(tmp_path_factory.mktemp("outcomes"), index_cache)
    (project.folder / "mine").mkdir()
    shutil.copy(PLUGINS / "misbehaving.py", project.folder / "mine")
    labels = load_breast_cancer().target[:300]
    np.save(
        project.folder / "mine" / "inverted.npy", ~(1 - labels)
    )  # malignant is the positive class
    study = project.write(
        datasets=["breast_cancer"],
        methods=list(EXPECTED),
        labeled=40,
        budgets="100MB",
        seeds=2,
        limits={"time": TIME},
        plugins=["mine"],
    )
    status, said = project.run(study)
    assert status == 0, said[-3000:]
    return project


def test_the_table_is_complete(finished):
    rows = finished.rows()
    assert sorted(zip(rows["method"], rows["seed"], strict=True)) == sorted(
        (method, seed) for method in EXPECTED for seed in (0, 1)
    )


@pytest.mark.parametrize("method", EXPECTED)
def test_each_ends_as_it_should_and_says_why(finished, method):
    outcome, reason = EXPECTED[method]
    rows = finished.rows()
    mine = rows[rows["method"] == method]
    assert set(mine["outcome"]) == {outcome}, list(mine["reason"])
    assert mine["reason"].str.contains(reason).all(), list(mine["reason"])


def test_a_plan_tells_of_a_storage_model_that_fails(finished):
    plan = json.loads(finished.harness("plan", finished.folder / "study.yaml", "--json"))
    (cell,) = [cell for cell in plan["cells"] if cell["method"] == "no-storage"]
    assert "KeyError: 'no such constant'" in cell["reason"]


def test_time_limits_are_hard(finished):
    rows = finished.rows()
    late = rows[rows["outcome"] == "timeout"]["wall_s"]
    assert len(late) == 4
    assert late.between(TIME, TIME + 1).all()


def test_nothing_is_left_running(finished):
    listed = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True)
    assert str(finished.folder.name) not in listed.stdout


def test_the_traceback_is_in_the_log_of_the_job_below_the_name_of_its_trial(finished):
    logs = finished.folder / "results" / "study" / "logs" / "breast_cancer"
    (text,) = (log.read_text() for log in logs.rglob("*.log") if "has a bug" in log.read_text())
    trial = text.partition("RuntimeError: this method has a bug")[0].rpartition("--- ")[2]
    assert trial.startswith("breast_cancer/raises/")
    assert ", seed 0: error\n" in trial


def test_the_log_of_a_job_tells_how_each_of_its_trials_ended(finished):
    logs = finished.folder / "results" / "study" / "logs" / "breast_cancer"
    told = "".join(log.read_text() for log in logs.rglob("*.log"))
    for row in finished.rows().itertuples():
        trial = (
            f"{row.dataset}, {row.method}, {row.n_labeled} labeled, {row.budget}, seed {row.seed}"
        )
        assert told.count(f"{trial}: {row.outcome}\n") == 1


def test_the_report_shows_every_outcome(finished):
    page = (finished.folder / "results" / "study" / "report.html").read_text()
    for method, (outcome, _) in EXPECTED.items():
        assert method in page
        assert outcome in page


def test_one_trial_of_each_cell_has_a_picture(finished):
    results = finished.folder / "results" / "study"
    pictures = json.loads((results / "timelines.json").read_text())
    without = {"no-storage"}  # it never ran
    assert sorted(p["method"] for p in pictures) == sorted(set(EXPECTED) - without)
    rows = finished.rows().set_index("fingerprint")
    for picture in pictures:
        row = rows.loc[picture["fingerprint"]]
        assert (picture["seed"], picture["outcome"]) == (0, row["outcome"])
        assert picture["peak_bytes"] == row["peak_bytes"] or picture["peak_bytes"] is None
        assert len(picture["samples"]) <= 200
    loops = next(p for p in pictures if p["method"] == "loops-in-python")
    assert len(loops["samples"]) > 40
    assert loops["stages"]["fit"][1] == pytest.approx(TIME, abs=1)
    assert "have no picture here" in (results / "report.html").read_text()
