"""A study's files on their way through a storage, without Snakemake and without a network."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.errors import HarnessError
from harness.jobs.default_storage import DefaultStorage, leaves, left_files, unpack_left
from harness.jobs.failures import failures
from harness.jobs.only_run import hold
from harness.jobs.sources import pack
from harness.planning.job_files import StudyJobs
from harness.records.columns import NEVER_NULL

STUDY = "datasets: wine\nmethods: [prior]\nlabeled: 20\nbudgets: 3MB\nseeds: {}\n"
LOCAL = "local/s3/bucket"


class Stored:
    """One object, as a plugin of Snakemake gives it."""

    def __init__(self, objects, name):
        self._objects, self._name = objects, name

    def set_local_path(self, path):
        self._path = Path(path)

    def managed_exists(self):
        return self._name in self._objects

    def managed_retrieve(self):
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._path.write_bytes(self._objects[self._name])

    def managed_store(self):
        self._objects[self._name] = self._path.read_bytes()


class Named(str):
    storage_object: Stored


def workflow(objects, main=True, usage=()):
    """A workflow whose files go through a storage, or through none."""

    def inputfile(name):
        named = Named(name if objects is None else f"{LOCAL}/{name}")
        if objects is not None:
            named.storage_object = Stored(objects, name)
        return named

    settings = SimpleNamespace(
        default_storage_provider=None if objects is None else "s3",
        default_storage_prefix="s3://bucket/",
        shared_fs_usage=usage,
    )
    return SimpleNamespace(
        storage_settings=settings,
        inputfile=inputfile,
        async_run=lambda done: done,
        is_main_process=main,
    )


@pytest.fixture
def user(tmp_path, monkeypatch):
    folder = tmp_path / "user"
    folder.mkdir()
    monkeypatch.chdir(folder)
    (folder / "first.yaml").write_text(STUDY.format(2))
    return folder


def planned(name="first.yaml"):
    jobs = StudyJobs(name)
    jobs.write(keep_others=True)
    return jobs


def test_without_a_storage_all_is_where_it_was(user):
    storage, jobs = DefaultStorage(workflow(None)), planned()
    assert not storage.is_used
    assert storage.folder == "."
    storage.send_sources(jobs)
    storage.bring_sources("first.yaml")
    storage.bring_home(jobs.results)
    assert storage.study(jobs) == ["first.yaml"]
    assert {path.name for path in user.iterdir()} <= {"first.yaml", "results", ".harness"}


def test_a_job_finds_the_study_in_the_folder_of_the_storage_and_in_its_own(
    user, tmp_path, monkeypatch
):
    objects, jobs = {}, planned()
    storage = DefaultStorage(workflow(objects))
    assert storage.folder == LOCAL
    assert storage.study(jobs) == []
    storage.send_sources(jobs)
    assert list(objects) == ["results/first/sources.zip"]
    assert storage.study(jobs) == ["results/first/sources.zip"]

    machine = tmp_path / "machine"
    machine.mkdir()
    monkeypatch.chdir(machine)
    there = DefaultStorage(workflow(objects, main=False))
    there.bring_sources("first.yaml")
    assert there.study(jobs) == ["results/first/sources.zip"]
    (bundle,) = jobs.bundles
    for folder in (machine, machine / LOCAL):
        assert (folder / "first.yaml").read_text() == STUDY.format(2)
        assert (folder / "results" / "first" / "jobs" / f"{bundle.id}.json").is_file()


def test_sources_that_are_seen_are_not_written_over(user):
    objects = {}
    DefaultStorage(workflow(objects)).send_sources(planned())
    Path("first.yaml").write_text("mine\n")
    seen = [SimpleNamespace(name="SOURCES")]
    DefaultStorage(workflow(objects, main=False, usage=seen)).bring_sources("first.yaml")
    assert Path("first.yaml").read_text() == "mine\n"
    assert Path(LOCAL, "first.yaml").read_text() == STUDY.format(2)


def test_sources_that_are_not_there_are_named(user):
    with pytest.raises(HarnessError, match=r"results/first/sources\.zip: is not in the storage"):
        DefaultStorage(workflow({}, main=False)).bring_sources("first.yaml")


def test_what_has_not_changed_keeps_its_place_in_the_storage(user):
    class Once(dict):
        def __setitem__(self, name, content):
            assert self.get(name) != content
            super().__setitem__(name, content)

    objects = Once()
    storage = DefaultStorage(workflow(objects))
    storage.send_sources(planned())
    storage.send_sources(planned())
    before = dict(objects)
    Path("first.yaml").write_text(STUDY.format(2) + "title: other\n")
    storage.send_sources(planned())
    assert objects != before


def test_rows_of_jobs_that_were_cut_otherwise_are_handed_on(user):
    objects, jobs = {}, planned()
    storage = DefaultStorage(workflow(objects))
    (old,) = jobs.bundles
    row = dict.fromkeys(NEVER_NULL, "x") | {"dataset": "wine", "outcome": "ok"}
    rows = [row | {"fingerprint": name, "seed": seed} for seed, name in enumerate(old.trials())]
    name = f"results/first/rows/{old.id}.jsonl"
    objects[name] = "".join(json.dumps(row) + "\n" for row in rows).encode()
    storage.send_sources(jobs)
    assert "results/first/earlier.zip" not in objects

    Path("first.yaml").write_text(STUDY.format(1))
    storage.send_sources(planned())
    assert "results/first/earlier.zip" in objects
    DefaultStorage(workflow(objects, main=False)).bring_sources("first.yaml")
    told = Path(LOCAL, "results/first/rows/wine/earlier.jsonl").read_text()
    assert [json.loads(line)["fingerprint"] for line in told.splitlines()] == [
        rows[0]["fingerprint"]
    ]


def test_a_study_that_runs_elsewhere_keeps_its_sources(user, monkeypatch):
    jobs, objects = planned(), {}
    with hold(jobs.results), pytest.raises(HarnessError, match="the study runs already"):
        DefaultStorage(workflow(objects)).send_sources(jobs)
    assert objects == {}


def test_results_come_home_as_far_as_there_are_any(user):
    left = Path("x.zip")
    pack([], left, {Path("results/first/usage/table.json"): b"{}"})
    tables = Path("y.zip")
    pack([], tables, {Path("results/first/tables/best.csv"): b""})
    objects = {
        "results/first/trials.parquet": b"rows",
        "results/first/tables.zip": tables.read_bytes(),
        "results/first/left.zip": left.read_bytes(),
        "results/first/rows/wine/a.jsonl": b"",
    }
    DefaultStorage(workflow(objects)).bring_home(Path("results/first"))
    found = {path.as_posix() for path in Path("results").rglob("*") if path.is_file()}
    names = {"trials.parquet", "usage/table.json", "tables/best.csv"}
    assert found == {f"results/first/{name}" for name in names}


def test_what_a_job_leaves_is_its_own_and_the_table_leaves_what_all_used(user):
    results = Path("results/first")
    for name in (
        "usage/bundle/wine/a.json",
        "usage/bundle/wine/b.json",
        "hosts/h.json",
        "splits/s.npz",
        "predictions/wine/a.scores",
    ):
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).write_text("{}")
    files = {"usage/bundle/wine/a.json", "timelines/wine/a.jsonl", "hosts/h.json"}
    files |= {"predictions/wine/a.scores"}
    assert set(left_files(results, "bundle", "wine/a")) == {results / name for name in files}
    pack(left_files(results, "bundle", "wine/a"), results / "left" / "wine" / "a.zip")
    (results / "usage/bundle/wine/a.json").unlink()
    (results / "left" / "wine" / "broken.zip").write_bytes(b"x")
    unpack_left(results)
    used = [results / "usage" / "bundle" / "wine" / name for name in ("a.json", "b.json")]
    beside = [results / "splits" / "s.npz", results / "predictions" / "wine" / "a.scores"]
    assert left_files(results, "table", "") == [*used, *beside]
    (results / "tables").mkdir()
    (results / "tables" / "best.csv").write_text("")
    assert left_files(results, "report", "") == [results / "tables" / "best.csv"]
    assert leaves([]) == []
    assert leaves(["a.zip"]) == ["--leaves", "a.zip"]


def test_the_logs_of_failed_jobs_are_fetched_and_told_as_if_they_were_here(user):
    objects = {
        "results/first/logs/a.log": b"Traceback\nharness: no space\n",
        "results/first/logs/lost.log": b"",
    }
    said = "".join(
        f"Error in rule bundle:\nLogfile s3://bucket/{name} (send to storage) not found.\n\n"
        for name in [f"results/first/logs/{which}.log" for which in ("a", "a", "lost", "gone")]
    )
    brought = DefaultStorage(workflow(objects)).bring_logs(said)
    assert failures(said + brought) == ["results/first/logs/a.log: no space"]
    assert DefaultStorage(workflow(None)).bring_logs(said) == ""
