"""A user's mistakes: one clear message before any trial starts, and no traceback of ours."""

import subprocess
import sys

import pytest
import yaml
from project import TABLE

from harness.datasets import prepare
from harness.errors import HarnessError
from harness.planning.workload import PREPARED, load_workload

GOOD = {
    "datasets": ["wine"],
    "methods": ["prior"],
    "labeled": 20,
    "budgets": "30MB",
    "seeds": 1,
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"datasets": ["wyne"]}, "unknown data set 'wyne'; did you mean 'wine'?"),
        ({"methods": ["nycsk"]}, "unknown method 'nycsk'"),
        ({"metrics": ["acuracy"]}, "unknown metric 'acuracy'; did you mean 'accuracy'?"),
        (
            {"tuning": {"search": "gird"}},
            "tuning.search: unknown search 'gird'; did you mean 'grid'?",
        ),
        (
            {"cases": [{"tuning": {"search": "cas"}}]},
            "did you mean 'csa'? known: csa, grid, random",
        ),
        ({"budgets": "200 MBB"}, "'200 MBB' is not bytes: unit 'MBB'"),
        ({"seeds": "ten"}, "'ten' is neither a count of seeds"),
        ({"labeled": 500}, "labeled 500 is 500 points; allowed: at most 177"),
        ({"labeled": 2}, "fewer than the 3 classes"),
        (
            {"cases": [{"tuning": {"search": "grid"}}]},
            "study.yaml: prior on wine with 20 labeled points, budget 30MB and seed 0 is asked",
        ),
        (
            {"methods": [{"svm": {"sigmma": 1}}]},
            "unknown parameter of svm: 'sigmma'; did you mean",
        ),
        ({"plugins": "nowhere"}, "there is no folder"),
        ({"enforcement": "magic"}, "enforcement: Input should be"),
    ],
)
def test_mistakes_of_a_study(project, monkeypatch, changes, message):
    study = project.write(**GOOD | changes)
    monkeypatch.chdir(project.folder)
    with pytest.raises(HarnessError) as caught:
        load_workload(study)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("method", "message"),
    [
        ({"rff-mssksc": {"n_components": 0}}, "'n_components' parameter of rff-mssksc must be"),
        ({"svm": {"C": "big"}}, "'C' parameter of svm must be"),
        ({"svm": {"as": "mine"}}, "svm: write 'as' beside the name"),
    ],
)
def test_values_that_a_method_does_not_allow_are_refused(project, monkeypatch, method, message):
    study = project.write(**GOOD | {"methods": [method]})
    monkeypatch.chdir(project.folder)
    with pytest.raises(HarnessError) as caught:
        load_workload(study)
    assert str(caught.value).startswith("study.yaml: methods: ")
    assert message in str(caught.value)


ENTRY = {
    "task": "binary",
    "n": 40,
    "d": 2,
    "classes": {"bad": 20, "good": 20},
    "positive": "good",
    "read": {"format": "csv"},
    "files": [{"path": "mine.csv"}],
}


@pytest.fixture
def catalogued(project, monkeypatch):
    """Write a catalog of one data set, with changes, and read a study that names it."""
    monkeypatch.chdir(project.folder)
    (project.folder / "mine.csv").write_text("1,2,bad\n3,4,good\n" * 20)

    def load(**changes):
        (project.folder / "sets.yaml").write_text(yaml.safe_dump({"mine": ENTRY | changes}))
        return load_workload(project.write(**GOOD | {"datasets": "mine"}, catalogs="sets.yaml"))

    return load


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n": 46, "classes": ["bad", "good"]}, "n is 46, but the data prepared in"),
        ({"d": 3}, "d is 3, but the data prepared in"),
        ({"classes": {"bad": 1, "good": 39}}, "classes is {'bad': 1, 'good': 39}, but the data"),
    ],
)
def test_an_entry_that_its_prepared_data_contradict_is_refused(catalogued, changes, message):
    right = catalogued()
    prepare(right.catalog["mine"], right.prepared("mine"))
    assert catalogued().blocks == right.blocks
    assert catalogued(classes=["bad", "good"]).prepared("mine") == right.prepared("mine")
    with pytest.raises(HarnessError) as caught:
        catalogued(**changes)
    told = str(caught.value)
    assert told.startswith(f"{right.study.catalogs[0]}: mine: {message}")
    assert f"{PREPARED}/mine-" in told
    assert "mend the entry, or remove that folder" in told
    assert len(told.splitlines()) == 1


def test_a_file_that_is_not_there_is_told_with_its_catalog_and_data_set(catalogued):
    catalog = catalogued().study.catalogs[0]
    with pytest.raises(HarnessError) as caught:
        catalogued(files=[{"path": "b.csv"}])
    file = catalog.parent / "b.csv"
    reason = "cannot be read: there is no such file"
    assert str(caught.value) == f"{catalog}: mine: files: {file} {reason}"


def test_all_wrong_values_are_told_before_anything_runs(project):
    wrong = [{"svm": {"C": -1, "sigma": "wide"}, "as": "mine"}]
    status, said = project.run(project.write(**GOOD | {"methods": wrong}))
    assert status != 0
    for name in ("C", "sigma"):
        assert f"study.yaml: methods: mine: The '{name}' parameter of svm must be" in said
    assert "Traceback" not in said
    assert not (project.folder / "results").exists()


def test_snakemake_tells_mistakes_without_a_traceback_before_it_does_anything(project):
    status, said = project.run(project.write(**GOOD | {"datasets": ["wyne"], "seeds": "ten"}))
    assert status != 0
    assert "harness: study.yaml: seeds: 'ten' is neither a count of seeds" in said
    assert "Traceback" not in said
    assert not (project.folder / "results").exists()


def test_a_broken_plugin_stops_only_studies_that_use_it(project):
    folder = project.folder / "mine"
    folder.mkdir()
    (folder / "broken.py").write_text("import nothing_of_that_name\n")
    study = project.write(**GOOD, plugins="mine")
    assert project.run(study, "--dry-run")[0] == 0
    status, said = project.run(project.write(**GOOD | {"methods": ["theirs"]}, plugins="mine"))
    assert status != 0
    assert "broken.py: ModuleNotFoundError: No module named 'nothing_of_that_name'" in said
    assert "Traceback" not in said


def test_a_search_of_one_name_with_another_is_refused_with_both_places(
    project, monkeypatch, built_in
):
    built_in("controls")
    folder = project.folder / "mine"
    folder.mkdir()
    code = "from harness import Search, hookimpl\n\n\n@hookimpl\ndef harness_searches():\n"
    (folder / "searches.py").write_text(code + "    return [Search('grid', print)]\n")
    monkeypatch.chdir(project.folder)
    with pytest.raises(HarnessError, match=r"'grid' is provided twice, by the harness .*searches"):
        load_workload(project.write(**GOOD, plugins="mine", tuning={"search": "grid"}))
    load_workload(project.write(**GOOD, plugins="mine", tuning={"search": "random"}))


def test_no_permission_to_write(project):
    study = project.write(**GOOD)
    (project.folder / "results").write_text("a file where the folder should be")
    status, said = project.run(study)
    assert status != 0
    assert "results" in said


def test_a_tight_budget_is_infeasible_and_says_why(project):
    study = project.write(**GOOD | {"methods": ["svm"], "budgets": "10kB"})
    assert project.run(study, *TABLE)[0] == 0
    rows = project.rows()
    assert list(rows["outcome"]) == ["infeasible"]
    assert "the budget is 10 kB" in rows["reason"][0]
    assert rows["peak_bytes"].isna().all()


HOLDS = """
import sys
from pathlib import Path
from harness.jobs.only_run import only_run
with only_run(Path("results/study")):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_study_that_runs_is_refused_by_a_plain_snakemake_too(project):
    study = project.write(**GOOD)
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDS],
        cwd=project.folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout.readline() == "held\n"
    status, said = project.run(study)
    assert status == 1
    assert f"harness: results/study: the study runs already, in process {holder.pid} on " in said
    status, said = project.run(study, "-n")
    assert status == 0, said
    holder.communicate()
