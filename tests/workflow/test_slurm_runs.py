"""Studies through a real Slurm: scores as they are here, also where a cluster fails."""

import importlib.util
import json
import signal
import subprocess
import sys

import psutil
import pytest
from project import ENVIRONMENT, PLUGINS, Project
from slurm_cluster import Cluster, wait_until, why_not

from harness.project import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(why_not()), reason=f"no Slurm can be started here: {why_not()}"),
    pytest.mark.skipif(
        importlib.util.find_spec("snakemake_executor_plugin_slurm") is None,
        reason="the extra 'slurm' is not installed",
    ),
]

STUDY = {
    "datasets": ["breast_cancer"],
    "methods": ["svm", "prior"],
    "labeled": 50,
    "budgets": ["3MB", "10MB"],
    "seeds": 3,
    "limits": {"time": "1min"},
}
SLEEPING = STUDY | {
    "methods": ["sleeps"],
    "budgets": ["3MB", "4MB"],
    "seeds": 40,
    "seeds_per_job": 20,
    "plugins": [str(PLUGINS / "sleeping.py")],
}
SAME = ["outcome", "size", "auc", "accuracy"]
PATIENCE_S = 900


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    with Cluster(tmp_path_factory.mktemp("slurm"), nodes=2, megabytes=3000) as made:
        yield made


@pytest.fixture
def on_cluster(cluster, project):
    cluster.wait_for_nodes(len(cluster.nodes))
    yield OnCluster(cluster, project)
    cluster.ask("scancel", "--user=root", check=False)


class OnCluster:
    """A user's folder on a cluster."""

    def __init__(self, cluster, project):
        self.cluster, self.project, self.folder = cluster, project, project.folder

    def start(self, study, *options, plain=False):
        """Start a study by `harness run`, or by a plain `snakemake`."""
        if plain:
            command = [sys.executable, "-m", "snakemake", "--config", f"study={study}"]
            command += ["--snakefile", str(ROOT / "Snakefile")]
            profile = str(ROOT / "profiles" / "slurm")
        else:
            command = [sys.executable, "-m", "harness.cli", "run", study]
            profile = "slurm"
        with (self.folder / f"{study}{'-plain' * plain}.said").open("w") as log:
            return subprocess.Popen(
                self.cluster.command(*command, "--profile", profile, *options),
                cwd=self.folder,
                env=ENVIRONMENT,
                stdout=log,
                stderr=log,
            )

    def run(self, study, *options, plain=False):
        """Run a study; return its exit status and what was said last."""
        status = self.start(study, *options, plain=plain).wait(PATIENCE_S)
        return status, (self.folder / f"{study}{'-plain' * plain}.said").read_text()

    def running(self, count=2):
        """Wait until as many blocks have begun their trials; return their jobs and nodes."""
        journals = self.folder / "results"

        def begun():
            return sum(path.stat().st_size > 0 for path in journals.rglob("journal/**/*.jsonl"))

        wait_until(lambda: begun() >= count, PATIENCE_S, "blocks that have rows")
        return self.cluster.jobs("running")

    def rows(self, study="study"):
        table = self.project.rows(study)
        assert table["fingerprint"].is_unique
        return table.set_index("fingerprint").sort_index()


@pytest.fixture(scope="module")
def here(tmp_path_factory, index_cache):
    """Rows of both studies as they are without a cluster."""
    project = Project(tmp_path_factory.mktemp("here"), index_cache)
    rows = {}
    for name, content in (("study", STUDY), ("sleeping", SLEEPING)):
        status, said = project.run(project.write(name, **content), "--until", "table")
        assert status == 0, said[-3000:]
        rows[name] = project.rows(name).set_index("fingerprint").sort_index()
    return rows


def assert_same(rows, others):
    """Scores bit for bit, every trial once."""
    assert list(rows.index) == list(others.index)
    assert rows[SAME].equals(others[SAME])


@pytest.mark.parametrize("plain", [False, True])
def test_scores_are_those_of_a_run_without_slurm(on_cluster, here, plain):
    study = on_cluster.project.write(**STUDY)
    status, said = on_cluster.run(study, plain=plain)
    assert status == 0, said[-3000:]
    assert_same(on_cluster.rows(), here["study"])
    assert (on_cluster.folder / "results/study/report.html").is_file()
    assert not (on_cluster.folder / ".snakemake/slurm_logs").exists()
    used = on_cluster.project.harness("efficiency", study)
    print(f"\n{used}")
    assert "largest process" not in used
    bundles = [line.split() for line in used.splitlines() if line.startswith("bundle")]
    assert all(float(line[6].rstrip("%")) < 100 for line in bundles)


def test_a_cancelled_job_and_a_failed_node_lose_nothing(on_cluster, here):
    cluster = on_cluster.cluster
    study = on_cluster.project.write("sleeping", **SLEEPING)
    main = on_cluster.start(study, "--until", "table", "--retries", "0")
    (first, _), (_, node) = on_cluster.running()
    cluster.ask("scancel", first)
    cluster.node_down(node)
    wait_until(lambda: not _is_up(cluster, node), 120, "a node that is down")
    cluster.node_up(node)
    status = main.wait(PATIENCE_S)
    said = (on_cluster.folder / f"{study}.said").read_text()
    assert status == 1
    assert "the job was cancelled; finished trials are kept, run the study again" in said
    again, said = on_cluster.run(study, "--until", "table")
    assert again == 0, said[-3000:]
    assert_same(on_cluster.rows("sleeping"), here["sleeping"])


def test_jobs_of_a_killed_run_are_cancelled_by_the_next(on_cluster, here):
    study = on_cluster.project.write("sleeping", **SLEEPING)
    main = on_cluster.start(study, "--until", "table")
    left = on_cluster.running()
    for process in [*psutil.Process(main.pid).children(recursive=True), main]:
        process.send_signal(signal.SIGKILL)
    main.wait()
    assert set(left) <= set(on_cluster.cluster.jobs())
    status, said = on_cluster.run(study, "--until", "table")
    assert status == 0, said[-3000:]
    log = (on_cluster.folder / "results/sleeping/logs/snakemake.log").read_text()
    assert "harness: cancelled 4 jobs that an earlier run of the study left" in log
    assert_same(on_cluster.rows("sleeping"), here["sleeping"])


def test_two_studies_side_by_side_and_one_twice(on_cluster, here):
    """Both prepare the same data; the first that ends leaves the other's logs alone."""
    studies = [on_cluster.project.write(name, **STUDY) for name in ("one", "two")]
    mains = [on_cluster.start(study, "--until", "table") for study in studies]
    lock = on_cluster.folder / "results/one/.running"
    wait_until(lambda: lock.exists() and lock.read_text(), 120, "the lock of a study")
    status, said = on_cluster.run(studies[0], plain=True)
    assert status == 1
    assert "harness: results/one: the study runs already, in process" in said
    for main, study in zip(mains, studies, strict=True):
        assert main.wait(PATIENCE_S) == 0, (on_cluster.folder / f"{study}.said").read_text()
    for name in ("one", "two"):
        rows = on_cluster.rows(name)
        assert sorted(rows["auc"].fillna(-1)) == sorted(here["study"]["auc"].fillna(-1))


def test_a_job_without_enough_memory_says_so_and_writes_no_false_row(on_cluster, here):
    study = on_cluster.project.write(**STUDY)
    status, said = on_cluster.run(
        study, "--until", "table", "--retries", "0", "--set-resources", "bundle:mem_mb=300"
    )
    assert status == 1
    print(said[-1500:])
    assert "300 MB" in said or "memory cgroup" in said
    status, said = on_cluster.run(study, "--until", "table")
    assert status == 0, said[-3000:]
    assert_same(on_cluster.rows(), here["study"])


def test_a_job_that_ran_out_of_time_goes_on_and_may_take_longer(on_cluster):
    """A run is told too short a time; the next asks for what the limits of its trials allow."""
    content = SLEEPING | {"budgets": ["3MB"], "seeds": 100, "seeds_per_job": 100}
    study = on_cluster.project.write("long", **content)
    short = ["--set-resources", "bundle:runtime=1", "--retries", "0"]
    status, said = on_cluster.run(study, "--until", "table", *short)
    assert status == 1
    assert "the job took longer than the 1 minutes that Slurm gave it, and was ended" in said
    before = {row["fingerprint"]: row["started_at"] for row in on_cluster.project.journal_rows()}
    assert 0 < len(before) < 100
    status, said = on_cluster.run(study, "--until", "table")
    assert status == 0, said[-3000:]
    rows = on_cluster.rows("long")
    assert len(rows) == 100
    assert set(rows["outcome"]) == {"ok"}
    assert all(rows.loc[name, "started_at"] == started for name, started in before.items())
    used = json.loads(on_cluster.project.harness("efficiency", study, "--json"))
    (bundle,) = [job for job in used if job["rule"] == "bundle"]
    # 100 trials of a minute and the start of the job
    assert bundle["reserved"]["minutes"] == 105


def test_a_study_that_no_node_can_hold_submits_nothing(on_cluster):
    study = on_cluster.project.write(**STUDY | {"budgets": ["3GB"]})
    status, said = on_cluster.run(study)
    assert status == 1
    assert "bundle: a job asks for 3800 MB, 1 cores and" in said
    assert "partition main has at most 3000 MB" in said
    assert on_cluster.cluster.jobs() == []


def _is_up(cluster, node):
    return "down" not in cluster.ask("sinfo", "-h", "-n", node, "-p", "main", "-o", "%T")
