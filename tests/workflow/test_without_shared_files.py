"""A study whose jobs share no file system: scores as they are here, and nothing done twice."""

import re
import subprocess
import sys
import threading

import pytest
from object_storage import Machines, ObjectStorage, why_not
from project import PLUGINS, TABLE, Project

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(why_not()), reason=why_not()),
]

STUDY = {
    "title": "Apart",
    "datasets": ["breast_cancer", "wine"],
    "methods": ["svm", "1nn", "sleeps"],
    "labeled": 30,
    "budgets": ["3MB", "10MB"],
    "seeds": 3,
    "limits": {"time": "1min"},
    "plugins": ["mine"],
}
SAME = ["outcome", "size", "auc", "accuracy", "params"]
STORAGE = ["--default-storage-prefix", "s3://bucket/of/mine"]


@pytest.fixture(scope="module")
def storage():
    with ObjectStorage() as started:
        yield started


class Apart:
    """A user's folder, and a run of what is in it on other machines."""

    def __init__(self, folder, index_cache, storage):
        (folder / "user").mkdir()
        self.project, self.storage = Project(folder / "user", index_cache), storage
        self.machines = Machines(folder / "machines", self.project.folder)

    def run(self, study, *options):
        """Run a study; return the exit status and all that was said, Snakemake's log too."""
        command = [sys.executable, "-m", "harness.cli", "run", study, "--profile", "s3"]
        done = subprocess.run(
            [*command, *STORAGE, *self.machines.options, *options],
            cwd=self.project.folder,
            env=self.storage.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=1500,
        )
        log = self.project.folder / "results" / "study" / "logs" / "snakemake.log"
        return done.returncode, f"{done.stdout}{done.stderr}\n{log.read_text()}"

    def rows(self):
        table = self.project.rows()
        assert table["fingerprint"].is_unique
        return table.set_index("fingerprint").sort_index()


def write(project, **changes):
    (project.folder / "mine").mkdir(exist_ok=True)
    plugin = (
        (PLUGINS / "sleeping.py").read_text().replace('{"binary"}', '{"binary", "multiclass"}')
    )
    (project.folder / "mine" / "sleeping.py").write_text(plugin)
    return project.write(**STUDY | changes)


def rules_run(said):
    return re.findall(r"^(?:local)?rule (\w+):", said, re.MULTILINE)


def test_a_study_whose_jobs_share_no_files(tmp_path, index_cache, storage):
    (tmp_path / "here").mkdir()
    here = Project(tmp_path / "here", index_cache)
    status, said = here.run(write(here), *TABLE)
    assert status == 0, said[-3000:]
    wanted = here.rows().set_index("fingerprint").sort_index()
    assert set(wanted["outcome"]) == {"ok"}

    apart = Apart(tmp_path, index_cache, storage)
    study = write(apart.project)
    assert rules_run(apart.run(study, "-n")[1]).count("bundle") >= 2

    killer = threading.Thread(
        target=apart.machines.kill,
        args=[".snakemake/storage/s3/bucket/of/mine/results/study/journal/wine/*.jsonl"],
    )
    killer.start()
    status, said = apart.run(study)
    killer.join()
    assert status == 0, said[-3000:] + apart.machines.said()[-6000:]
    assert "Trying to restart job" in said
    rows = apart.rows()
    assert list(rows.index) == list(wanted.index)
    assert rows[SAME].equals(wanted[SAME])
    results = apart.project.folder / "results" / "study"
    assert (results / "report.html").is_file()
    assert not list(results.rglob("rows/**/*.jsonl"))
    assert not (apart.project.folder / "prepared").exists()
    stored = storage.objects("bucket")
    assert {f"of/mine/results/study/{name}" for name in ("report.html", "sources.zip")} <= stored
    assert "svm" in apart.project.harness("best", study)
    assert "bundle" in apart.project.harness("efficiency", study)

    status, said = apart.run(study)
    assert status == 0, said[-3000:]
    assert rules_run(said) == []

    # a seed more, a title, and the code of one method: its trials and those of the seed are new
    study = write(apart.project, title="Apart again", seeds=4)
    with (apart.project.folder / "mine" / "sleeping.py").open("a") as plugin:
        plugin.write("\nEDITED = True\n")
    status, said = apart.run(study)
    assert status == 0, said[-3000:] + apart.machines.said()[-6000:]
    again = apart.rows()
    assert len(again) == 2 * 3 * 2 * 4
    kept = rows[rows["method"] != "sleeps"]
    assert again.loc[kept.index, "started_at"].equals(kept["started_at"])
    assert "Apart again" in (results / "report.html").read_text()

    status, said = apart.run(study)
    assert status == 0, said[-3000:]
    assert rules_run(said) == []


def test_what_other_machines_cannot_have_is_told_first(tmp_path, index_cache, storage):
    apart = Apart(tmp_path, index_cache, storage)
    study = write(
        apart.project, plugins=[str(PLUGINS / "sleeping.py")], datasets=["breast_cancer"]
    )
    status, said = apart.run(study)
    assert status == 1
    assert "sleeping.py: other machines have no such path" in said
    assert rules_run(said) == []
