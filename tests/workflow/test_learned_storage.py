"""Studies of methods without a storage model, as a user runs them."""

import json
import shutil

import pytest
import yaml
from own_table import own_table
from project import PLUGINS, TABLE

pytestmark = pytest.mark.slow

STUDY = {
    "datasets": ["breast_cancer"],
    "labeled": 50,
    "budgets": ["4MB", "12MB"],
    "seeds": 2,
    "metrics": ["accuracy"],
}


@pytest.fixture
def measured(project):
    """A project with the plugin of methods without a storage model."""
    folder = project.folder / "my-plugins"
    folder.mkdir()
    shutil.copy(PLUGINS / "unmeasured.py", folder)
    return project


def test_a_method_of_one_line_is_planned_and_fits(measured):
    study = measured.write(methods=["spread", "held"], plugins=["my-plugins"], **STUDY)
    told = measured.harness("plan", study)
    assert "planned by measured trials: spread, held\n" in told
    assert "planned beyond" not in told
    plans = json.loads(measured.harness("plan", study, "--json"))["cells"]
    assert all(not plan["reason"] for plan in plans)
    status, told = measured.run(study)
    assert status == 0, told
    rows = measured.rows()
    assert set(rows["storage_model"]) == {"learned"}
    assert set(rows["outcome"]) == {"ok"}
    assert (rows["peak_bytes"] <= rows["budget_bytes"]).all()
    held = rows[rows["method"] == "held"]
    assert (held["peak_bytes"] >= 0.8 * held["planned_bytes"]).all()
    assert (held["planned_bytes"] >= 0.9 * held["budget_bytes"]).all()
    # Peaks may differ by some pages from run to run, which the phase then says.
    phases = {phase.split(", peaks")[0] for phase in held["planned_phase"]}
    assert phases <= {"fit: measured", "predict: measured"}
    files = {path: path.stat().st_mtime_ns for path in kept(measured)}
    assert len(files) == 2
    assert "learned; " in (measured.folder / "results/study/report.html").read_text()

    # more seeds measure nothing
    study = measured.write(methods=["held"], plugins=["my-plugins"], **STUDY | {"seeds": 3})
    assert measured.run(study, *TABLE)[0] == 0
    assert {path: path.stat().st_mtime_ns for path in kept(measured)} == files


def kept(project):
    return list((project.folder / ".harness" / "storage").glob("*.json"))


def test_a_trial_that_runs_over_is_taken_again_at_a_smaller_size(measured):
    settings = STUDY | {"budgets": ["12MB"]}
    study = measured.write(methods=["held"], plugins=["my-plugins"], **settings | {"seeds": 1})
    assert measured.run(study, *TABLE)[0] == 0
    (measured.folder / "my-plugins" / "grown").touch()
    study = measured.write(methods=["held"], plugins=["my-plugins"], **settings)
    status, told = measured.run(study, *TABLE)
    assert status == 0, told
    first, again = measured.rows().sort_values("seed").to_dict("records")
    assert (first["outcome"], first["taken_again"]) == ("ok", 0)
    assert (again["outcome"], again["size_name"]) == ("ok", "rank")
    assert again["taken_again"] >= 1
    assert again["reason"].startswith("ran over the ")
    assert f"rank = {first['size']}" in again["reason"]
    # what is held for each number of a rank is a third more
    assert 0.6 * first["size"] < again["size"] < 0.9 * first["size"]
    # what a reading may be wrong by is granted
    assert again["peak_bytes"] <= 1.002 * again["budget_bytes"] + 50_000


def test_the_test_part_that_data_came_with_is_held_out_of_what_is_measured(measured):
    own_table(measured.folder)
    catalog = measured.folder / "own-datasets.yaml"
    (entry,) = yaml.safe_load(catalog.read_text()).values()
    catalog.write_text(yaml.safe_dump({"own-table": entry | {"n_train": 200}}))
    changes = {"datasets": ["own-table"], "catalogs": [catalog.name], "evaluation": "official"}
    study = measured.write(methods=["svm", "held"], plugins=["my-plugins"], **STUDY | changes)
    status, told = measured.run(study, *TABLE)
    assert status == 0, told
    rows = measured.rows()
    assert set(rows["n_test"]) == {40}
    assert set(rows["n_unlabeled"]) == {150}
    assert set(rows["outcome"]) == {"ok"}
    assert set(rows[rows["method"] == "held"]["storage_model"]) == {"learned"}


def test_a_method_that_cannot_be_measured_says_why(measured):
    study = measured.write(methods=["held", "unlucky"], plugins=["my-plugins"], **STUDY)
    status, told = measured.run(study, *TABLE)
    assert status == 0, told
    rows = measured.rows()
    unlucky = rows[rows["method"] == "unlucky"]
    assert set(unlucky["outcome"]) == {"error"}
    (reason,) = set(unlucky["reason"])
    assert reason.startswith("its storage could not be learned: a trial with n = ")
    assert "ValueError: y holds labels below zero" in reason
    assert set(rows[rows["method"] == "held"]["outcome"]) == {"ok"}
