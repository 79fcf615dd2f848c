"""A study as a dict becomes files that every command reads, or a sentence says why not."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC

import harness
from harness.errors import HarnessError
from harness.jobs.only_run import only_run
from harness.planning.workload import load_workload
from harness.python.study import written
from harness.sandbox import landlock
from harness.strict_yaml import read_yaml

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
DATA = (X, (X[:, 0] > 0).astype(int))
STUDY = {
    "datasets": {"mine": DATA},
    "methods": ["prior"],
    "labeled": 20,
    "budgets": ["30MB", None],
    "seeds": 2,
}


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def content_of(study, name="notebook"):
    with written(study, name) as path:
        return read_yaml(path.read_text())


def test_it_says_what_the_dict_says():
    plain = {"datasets": ["digits"], "methods": ["prior"], "labeled": [20], "seeds": [0, 1]}
    assert content_of(plain) == plain
    of_numpy = plain | {"labeled": np.array([20]), "seeds": range(2), "datasets": ("digits",)}
    assert content_of(of_numpy) == plain
    assert not Path("studies/notebook").exists()


def test_objects_stand_beside_it_and_the_same_are_not_written_again():
    given = STUDY | {"methods": ["prior", SVC, {"c10": LogisticRegression(C=10)}]}
    content = content_of(given, "trees")
    assert content["datasets"] == ["mine"]
    assert content["methods"] == ["prior", "svc", "c10"]
    assert content["budgets"] == ["30MB", None]
    beside = Path("studies/trees")
    assert {path.name for path in (beside / "plugins").iterdir()} == {"svc.py", "c10.py"}
    files = [path for path in Path().rglob("*") if path.is_file() and path.name != ".running"]
    stamps = {path: path.stat().st_mtime_ns for path in files}
    content_of(given, "trees")
    assert {path: path.stat().st_mtime_ns for path in files} == stamps
    content_of(given | {"methods": ["prior", SVC]}, "trees")
    assert {path.name for path in (beside / "plugins").iterdir()} == {"svc.py"}


def test_cases_may_have_objects_of_their_own():
    case = {"datasets": {"other": (X[:40], DATA[1][:40])}, "methods": [SVC]}
    content = content_of(STUDY | {"cases": [case]})
    assert content["cases"] == [{"datasets": ["other"], "methods": ["svc"]}]
    assert set(read_yaml(Path("studies/notebook/datasets.yaml").read_text())) == {"mine", "other"}


def test_paths_are_relative_to_the_current_folder(built_in):
    built_in("controls")
    Path("own").mkdir()
    Path("own/mine.py").write_text("")
    Path("own.yaml").write_text("{}")
    content = content_of(STUDY | {"plugins": "own", "catalogs": ["own.yaml"]})
    assert content["plugins"] == ["../own"]
    assert content["catalogs"] == ["../own.yaml", "notebook/datasets.yaml"]
    assert load_workload("notebook").n_trials == 4


def test_a_study_of_someone_else_is_not_written_over():
    Path("studies").mkdir()
    Path("studies/first.yaml").write_text("datasets: [digits]\n")
    with pytest.raises(HarnessError, match=r"studies/first.yaml: is there, and harness.run did"):
        content_of(STUDY, "first")
    assert Path("studies/first.yaml").read_text() == "datasets: [digits]\n"


REFUSED = {
    "key": ({"budget": "3MB"}, "the study: unknown key 'budget'; did you mean 'budgets'?"),
    "value": ({"seeds": "many"}, "the study: seeds: 'many' is neither a count of seeds"),
    "object": ({"title": object()}, "study.title: <object object at .*> is nothing that a"),
    "no methods": ({"methods": 3}, "the study: methods.*3 is not a method"),
    "data": ({"datasets": {"mine": 3}}, "data set 'mine': int is no data set"),
    "frame": ({"datasets": {"mine": (X, DATA[1][:9])}}, "X has 60 rows, but y has 9 values"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_study_can_say_is_refused_before_anything_is_written(case):
    changed, told = REFUSED[case]
    with pytest.raises(HarnessError, match=told) as caught:
        harness.run(STUDY | changed)
    assert "\n" not in str(caught.value)
    assert not Path("studies").exists()


def test_cases_are_checked_too():
    case = {"method": "svm", "datasets": {"mine": DATA}}
    with pytest.raises(HarnessError, match=r"notebook.yaml: cases.0: unknown key 'method'"):
        harness.run(STUDY | {"cases": [case]})
    assert case["datasets"] == {"mine": DATA}
    with pytest.raises(HarnessError, match="the study: cases"):
        harness.run(STUDY | {"cases": 3})


@pytest.mark.parametrize("name", ["", "../up", "a/b", "x\n"])
def test_a_name_is_that_of_a_file(name):
    with pytest.raises(HarnessError, match="names no study"):
        harness.run(STUDY, name=name)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((STUDY, 0), "cores = 0: give a whole number above zero"),
        ((STUDY, "2"), "cores = '2': give"),
        ((3,), "3 is no study: give its file, its name, or a dict with its keys"),
        (("frist",), "no study 'frist'"),
    ],
)
def test_other_arguments_are_checked(arguments, told):
    with pytest.raises(HarnessError, match=told):
        harness.run(*arguments)
    with pytest.raises(HarnessError, match="a study in a file is called as its file is"):
        harness.run("quickstart", name="mine")


def test_a_study_that_runs_is_left_alone():
    content_of(STUDY)
    before = Path("studies/notebook.yaml").read_text()
    told = f"results/notebook: the study runs already, in process {os.getpid()} on .*: wait for it"
    with only_run(Path("results/notebook")), pytest.raises(HarnessError, match=told):
        harness.run(STUDY | {"seeds": 9})
    assert Path("studies/notebook.yaml").read_text() == before


def run_alone(code):
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False)


READ_ONLY = """
from harness.sandbox import landlock
import harness
rules = landlock.Ruleset(landlock.abi())
rules.allow("/", landlock.READ)
rules.restrict()
harness.run({"datasets": "digits", "methods": "prior", "labeled": 20})
"""


def test_a_folder_without_permission_is_told_in_a_sentence(tmp_path):
    """Root may write everywhere, but not where Landlock says no."""
    if not landlock.abi():
        pytest.skip("this kernel has no Landlock")
    done = run_alone(READ_ONLY)
    told = f"{tmp_path}/results: cannot be made: Permission denied"
    assert done.stderr.splitlines()[-1] == f"harness.errors.HarnessError: {told}"


@pytest.mark.parametrize("in_the_way", ["results", "studies", "prepared"])
def test_a_folder_that_cannot_be_written_is_named(tmp_path, in_the_way):
    Path(in_the_way).write_text("")
    with pytest.raises(HarnessError, match=rf"{in_the_way}.*: cannot be (made|written): ") as told:
        harness.run(STUDY)
    assert "\n" not in str(told.value)


def test_a_file_may_be_the_study(built_in):
    """As `harness run` takes it: what is wrong with it is told alike."""
    Path("mine.yaml").write_text("datasets: [digits]\nmethods: [prior]\nlabelled: 3\n")
    with pytest.raises(HarnessError, match=r"mine.yaml: unknown key 'labelled'; did you mean"):
        harness.run(Path("mine.yaml"))


def test_plain_python_is_told_too(tmp_path):
    code = "import harness; harness.run({'data': 3})"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines()[-1].startswith("harness.errors.HarnessError: the study: ")
