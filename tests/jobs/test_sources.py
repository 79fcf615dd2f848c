"""What jobs on other machines are sent: all of it, nothing else, and nowhere else than it was."""

import os
import zipfile
from pathlib import Path

import pytest

from harness.errors import DamagedFileError, HarnessError
from harness.jobs.sources import earlier_rows, pack, source_files, unpack
from harness.planning.job_files import StudyJobs
from harness.records.columns import NEVER_NULL
from harness.records.journal import Journal
from harness.records.table import read_rows

STUDY = """
datasets: [own, wine]
methods: [mine, prior]
labeled: 20
budgets: 3MB
seeds: 2
catalogs: [more.yaml]
plugins: [shared/mine.py]
"""

PLUGIN = '''"""One."""
from sklearn.dummy import DummyClassifier

from harness import Method, hookimpl


@hookimpl
def harness_methods():
    yield Method("mine", DummyClassifier, tasks={"binary", "multiclass"}, storage=lambda s, n: 9)
'''

CATALOG = """
own:
  task: binary
  n: 40
  d: 1
  classes: {a: 20, b: 20}
  positive: b
  read: {format: csv, header: true, target: label}
  files: [{path: data/own.csv}]
"""


@pytest.fixture
def jobs(tmp_path, monkeypatch):
    """A study in a folder, with a plugin, a catalog and data of its own, and its jobs."""
    monkeypatch.chdir(tmp_path)
    lines = ["value,label", *(f"{number},{'ab'[number % 2]}" for number in range(40))]
    for name, text in {
        "studies/first.yaml": STUDY,
        "studies/shared/mine.py": PLUGIN,
        "studies/shared/other.py": "",
        "studies/more.yaml": CATALOG,
        "studies/data/own.csv": "\n".join(lines) + "\n",
        "plugins/extra/__init__.py": "",
        "plugins/extra/table.csv": "1",
        "plugins/extra/__pycache__/x.pyc": "",
    }.items():
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text(text)
    made = StudyJobs("first")
    made.write()
    return made


def test_a_study_goes_with_its_catalogs_plugins_data_and_jobs(jobs):
    found = {path.as_posix() for path in source_files(jobs.workload, jobs.bundles)}
    written = {f"results/first/jobs/{bundle.id}.json" for bundle in jobs.bundles}
    assert len(written) == 2
    assert found == written | {
        "studies/first.yaml",
        "studies/shared/mine.py",
        "studies/more.yaml",
        "studies/data/own.csv",
        "plugins/extra/__init__.py",
        "plugins/extra/table.csv",
    }


def test_a_study_that_came_along_needs_only_its_jobs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    jobs = StudyJobs("quickstart")
    jobs.write()
    found = source_files(jobs.workload, jobs.bundles)
    assert {path.parts[:3] for path in found} == {("results", "quickstart", "jobs")}


def edited(plugin):
    Path("studies/first.yaml").write_text(STUDY.replace("shared/mine.py", plugin))
    return StudyJobs("first")


def test_a_file_outside_of_the_folder_is_refused_by_name(jobs, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "mine.py"
    elsewhere.write_text(PLUGIN)
    jobs = edited(os.path.relpath(elsewhere, "studies"))
    with pytest.raises(HarnessError, match=r"mine\.py: outside of .* move it there"):
        source_files(jobs.workload, jobs.bundles)


def test_a_whole_path_is_refused_where_the_file_is_not_installed(jobs):
    jobs = edited(str(Path("studies/shared/mine.py").absolute()))
    with pytest.raises(HarnessError, match=r"mine\.py: other machines have no such path"):
        source_files(jobs.workload, jobs.bundles)
    jobs = StudyJobs(Path("studies/first.yaml").absolute())
    with pytest.raises(HarnessError, match=r"first\.yaml: other"):
        source_files(jobs.workload, jobs.bundles)


def test_a_file_of_splits_goes_along(jobs):
    rows = [f"{seed},{row},labeled" for seed in (0, 1) for row in range(10)]
    Path("studies/own-splits.csv").write_text("\n".join(["seed,row,part", *rows]) + "\n")
    text = STUDY.replace("[own, wine]", "[own]").replace("labeled: 20\n", "")
    evaluation = "evaluation: {splits: '{dataset}-splits.csv', transductive: true}\n"
    Path("studies/first.yaml").write_text(text + evaluation)
    jobs = StudyJobs("first")
    assert Path("studies/own-splits.csv") in source_files(jobs.workload, jobs.bundles)


def test_what_is_unpacked_is_what_was_packed_and_the_same_is_packed_the_same(tmp_path, jobs):
    found = source_files(jobs.workload, jobs.bundles)
    pack(found, Path("one.zip"), {Path("rows/a.jsonl"): b"1\n"})
    pack([*found, Path("gone")], Path("two.zip"), {Path("rows/a.jsonl"): b"1\n"})
    assert Path("one.zip").read_bytes() == Path("two.zip").read_bytes()
    unpack(Path("one.zip"), tmp_path / "there")
    for path in found:
        assert (tmp_path / "there" / path).read_bytes() == path.read_bytes()
    assert (tmp_path / "there" / "rows" / "a.jsonl").read_bytes() == b"1\n"
    files = [path for path in (tmp_path / "there").rglob("*") if path.is_file()]
    assert len(files) == len(found) + 1


def test_unpacking_leaves_what_is_there_alone(tmp_path):
    (tmp_path / "a").write_text("same")
    (tmp_path / "b").write_text("other")
    before = (tmp_path / "a").stat()
    pack([], tmp_path / "x.zip", {Path("a"): b"same", Path("b"): b"new"})
    unpack(tmp_path / "x.zip", tmp_path)
    assert (tmp_path / "a").stat().st_ino == before.st_ino
    assert (tmp_path / "b").read_text() == "new"


@pytest.mark.parametrize("name", ["../out", "/out", "a/../../out"])
def test_nothing_is_unpacked_outside(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as packed:
        packed.writestr(name, b"x")
    with pytest.raises(HarnessError):
        unpack(tmp_path / "x.zip", tmp_path / "in")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("cut", [0, 10, -5])
def test_a_damaged_file_is_told(tmp_path, cut):
    pack([], tmp_path / "x.zip", {Path("a"): b"same"})
    content = (tmp_path / "x.zip").read_bytes()
    (tmp_path / "x.zip").write_bytes(content[:cut])
    with pytest.raises(DamagedFileError, match=r"x\.zip: is no file of sources"):
        unpack(tmp_path / "x.zip", tmp_path)


def test_rows_of_other_jobs_go_along_where_a_job_has_their_trials(jobs):
    (bundle,) = [bundle for bundle in jobs.bundles if bundle.dataset == "wine"]
    trials = list(bundle.trials())
    row = dict.fromkeys(NEVER_NULL, "x") | {"dataset": "wine", "outcome": "ok"}
    with Journal(Path("results/first/journal/wine/old.jsonl")) as journal:
        for name in (trials[0], "other-0"):
            journal.append(row | {"fingerprint": name, "seed": int(name.rpartition("-")[2])})
        journal.publish(Path("results/first/rows/wine/old.jsonl"))
    found = earlier_rows(jobs.workload, [bundle])
    assert list(found) == [Path("results/first/rows/wine/earlier.jsonl")]
    pack([], Path("x.zip"), found)
    unpack(Path("x.zip"), Path("there"))
    (read,) = read_rows(Path("there/results/first/rows/wine/earlier.jsonl"))
    assert read["fingerprint"] == trials[0]
    assert earlier_rows(jobs.workload, []) == {}
