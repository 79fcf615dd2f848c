"""Jobs on disk: kept while a study grows, dropped when it changes, and enough to run them."""

import json
import subprocess
import sys

import pytest
import yaml

from harness.errors import HarnessError
from harness.planning.job_files import StudyJobs, load_job, study_bundles
from harness.planning.workload import load_workload

STUDY = {"datasets": ["iris", "wine"], "methods": ["prior", "random"], "labeled": 20, "seeds": 3}


@pytest.fixture
def jobs(tmp_path, monkeypatch, built_in):
    """Write down the jobs of a study and return them."""
    built_in("controls", "supervised")
    monkeypatch.chdir(tmp_path)

    def jobs(**changes):
        (tmp_path / "study.yaml").write_text(yaml.safe_dump(STUDY | changes))
        made = StudyJobs("study.yaml")
        made.write()
        return made.bundles

    return jobs


def trials(bundles):
    return sorted(trial for bundle in bundles for trial in bundle.trials())


def test_a_job_is_read_back_whole(jobs):
    for bundle in jobs(cases=[{"labeled": 0.2, "budgets": "1 MB", "seeds": [0, 4, 5, 9]}]):
        workload, read = load_job("study.yaml", bundle.id)
        assert read == bundle
        assert workload.blocks == bundle.blocks
        assert workload.left_out == ()


def test_jobs_stay_as_they_are_when_a_study_grows(jobs):
    before = jobs()
    assert len(before) == 2
    after = jobs(seeds=5, methods=["prior", "random", "1nn"])
    assert {bundle.id for bundle in before} < {bundle.id for bundle in after}
    again = jobs(seeds=5, methods=["prior", "random", "1nn"])
    assert [b.id for b in again] != []
    assert {b.id for b in again} == {b.id for b in after}
    assert len(trials(after)) == len(set(trials(after))) == 2 * 3 * 5


def test_jobs_of_what_is_not_asked_for_any_more_go(jobs, tmp_path):
    before = jobs(seeds=5)
    after = jobs(seeds=5, methods=["prior"])
    assert {bundle.id for bundle in before}.isdisjoint(bundle.id for bundle in after)
    written = sorted((tmp_path / "results" / "study" / "jobs").rglob("*.json"))
    assert [f"{path.parent.name}/{path.stem}" for path in written] == sorted(b.id for b in after)
    with pytest.raises(HarnessError, match="run the study again, which writes it anew"):
        load_job("study.yaml", before[0].id)


@pytest.mark.parametrize(
    "changes",
    [
        {"seed": 1},
        {"datasets": ["iris"]},
        {"budgets": "5MB"},
        {"methods": ["prior"]},
        {"cases": []},
    ],
)
def test_a_job_of_a_study_that_was_edited_is_refused_in_a_sentence(jobs, tmp_path, changes):
    content = STUDY | {"methods": ["random"], "cases": [{"datasets": ["wine"], "labeled": 30}]}
    content["datasets"] = ["iris"] if "cases" in changes else content["datasets"]
    bundle = next(b for b in jobs(**content) if b.dataset == "wine")
    (tmp_path / "study.yaml").write_text(yaml.safe_dump(content | changes))
    if changes == {"datasets": ["iris"]}:
        content["cases"] = []
        (tmp_path / "study.yaml").write_text(yaml.safe_dump(content | changes))
    with pytest.raises(HarnessError, match=r"study.yaml: the study, a plugin or a data set has"):
        load_job("study.yaml", bundle.id)


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"needs": {}, "blocks": [{"case": 9}]}'])
def test_a_damaged_job_is_told_and_cut_again(jobs, tmp_path, content):
    bundle = jobs()[0]
    path = tmp_path / "results" / "study" / "jobs" / f"{bundle.id}.json"
    path.write_text(content)
    with pytest.raises(HarnessError, match=r"run the\s+study again"):
        load_job("study.yaml", bundle.id)
    assert bundle.id in {b.id for b in jobs()}
    path.write_text(content)
    jobs(seeds=4)
    assert not path.exists() or json.loads(path.read_text())["blocks"]


def test_the_workflow_knows_what_a_job_needs_from_its_file_alone(jobs, tmp_path):
    bundle = jobs(limits={"threads": 2})[0]
    asked = StudyJobs("study.yaml")
    told = asked.needs(bundle.id)
    assert "workload" not in asked.__dict__
    assert told["threads"] == 2
    assert told["prepared"].startswith(f"prepared/{bundle.dataset}")
    assert told == StudyJobs("study.yaml").needs(bundle.id)
    whole = StudyJobs("study.yaml")
    assert whole.outputs
    assert whole.needs(bundle.id) == told


def test_what_a_job_may_take_stays_as_it_was_when_the_job_was_cut(jobs, tmp_path):
    hour = {"limits": {"time": "1h"}}
    bundle = jobs(**hour)[0]
    told = StudyJobs("study.yaml").needs(bundle.id)
    assert (told["minutes"], told["most_minutes"]) == (10, 5 + 60 * bundle.n_trials)
    kept = next(b for b in jobs(**hour, seeds=4) if b.id == bundle.id)
    assert kept.seconds == bundle.seconds > 0
    # as an earlier version wrote it
    path = tmp_path / "results" / "study" / "jobs" / f"{bundle.id}.json"
    content = json.loads(path.read_text())
    del content["seconds"]
    path.write_text(json.dumps(content))
    workload = load_workload("study.yaml")
    kept = next(b for b in study_bundles(workload) if b.id == bundle.id)
    assert kept.seconds is None


def test_reading_a_job_needs_no_library_that_computes(jobs):
    bundle = jobs()[0]
    code = """
import sys
from harness.planning.job_files import load_job
load_job("study.yaml", sys.argv[1])
print(sorted({"numpy", "sklearn", "pandas", "pyarrow", "scipy"} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", code, bundle.id], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
