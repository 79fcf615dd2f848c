"""Kill it, run it again, let it grow: nothing is lost, nothing is done twice."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import psutil
import pytest
from project import ENVIRONMENT, PLUGINS, TABLE

pytestmark = pytest.mark.slow

SMALL = {
    "datasets": ["wine"],
    "methods": ["random", "prior"],
    "labeled": 20,
    "budgets": "30MB",
    "seeds": 3,
}


def test_a_study_that_grows_runs_only_what_is_new(project):
    study = project.write(**SMALL)
    assert project.run(study, *TABLE)[0] == 0
    assert len(project.rows()) == 6
    started = dict(zip(project.rows()["fingerprint"], project.rows()["started_at"], strict=True))

    (project.folder / "results" / "study" / "trials.parquet").unlink()
    assert project.run(study, *TABLE)[0] == 0
    assert project.cells_run() == []
    assert len(project.rows()) == 6
    assert "row 4 is reproduced bit for bit" in project.harness("reproduce", study, "4")
    assert "6 trials in 1 job, 6 done, 0 to run" in project.harness("plan", study)

    project.write(**SMALL, title="A new title", published="hou2017/table3")
    assert project.run(study)[0] == 0
    assert project.cells_run() == []
    page = (project.folder / "results" / "study" / "report.html").read_text()
    assert "A new title" in page
    assert "<strong>56 not run</strong>" in page
    assert f"\nharness run {study}</pre>" in page

    project.write(**SMALL | {"methods": ["random"], "seeds": 5})
    assert "\nabout " in project.harness("plan", study)
    # a method more, another less, and two seeds more of the one that stays
    project.write(**SMALL | {"methods": ["random", "1nn"], "seeds": 5})
    # results copied from elsewhere are newer than the study, and Snakemake knows nothing of them
    shutil.rmtree(project.folder / ".snakemake")
    for path in (project.folder / "results").rglob("*"):
        path.touch()
    assert project.run(study, *TABLE)[0] == 0
    assert project.cells_run() == ["wine/1nn", "wine/random"]
    rows = project.rows()
    assert sorted(rows["seed"]) == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    kept = [key for key in rows["fingerprint"] if key in started]
    assert len(kept) == 3
    again = dict(zip(rows["fingerprint"], rows["started_at"], strict=True))
    assert all(again[key] == started[key] for key in kept)


def test_an_edited_plugin_reruns_only_its_own_trials(project):
    folder = project.folder / "mine"
    folder.mkdir()
    shutil.copy(PLUGINS / "misbehaving.py", folder)
    methods = ["behaves", "random"]
    study = project.write(
        **SMALL | {"methods": methods, "datasets": ["breast_cancer"]}, plugins="mine"
    )
    assert project.run(study, *TABLE)[0] == 0
    before = project.rows().set_index(["method", "seed"])["fingerprint"]
    with (folder / "misbehaving.py").open("a") as file:
        file.write("# a comment\n")
    assert project.run(study, *TABLE)[0] == 0
    assert project.cells_run() == []
    with (folder / "misbehaving.py").open("a") as file:
        file.write("EDITED = True\n")
    told = "3 rows are stale and will be made again: the code of the method has changed"
    assert told in project.harness("plan", study)
    assert project.run(study, *TABLE)[0] == 0
    assert project.cells_run() == ["breast_cancer/behaves"]
    after = project.rows().set_index(["method", "seed"])["fingerprint"]
    assert (before["random"] == after["random"]).all()
    assert (before["behaves"] != after["behaves"]).all()


def test_killed_at_any_moment_nothing_is_lost_or_done_twice(project):
    study = project.write(**SMALL | {"seeds": 12, "seeds_per_job": 4})
    moments = random.Random(os.getpid())
    for _ in range(3):
        process = project.start(study)
        time.sleep(moments.uniform(3, 9))
        process.send_signal(signal.SIGKILL)
        process.wait()
    status, said = project.run(study, *TABLE)
    assert status == 0, said[-2000:]
    rows = project.rows()
    assert len(rows) == 24
    assert rows["fingerprint"].is_unique
    assert set(rows["outcome"]) == {"ok"}
    run = [row["fingerprint"] for row in project.journal_rows()]
    assert sorted(run) == sorted(rows["fingerprint"])


@pytest.mark.parametrize("deaf", [False, True])
def test_a_run_that_is_ended_ends_all_that_it_started(project, deaf):
    """Deaf to Ctrl-C is what a shell starts in the background."""
    study = project.write(**SMALL | {"methods": ["random"], "seeds": 400})
    command = [sys.executable, "-m", "harness.cli", "run", study, "--cores", "2"]
    heard = signal.signal(signal.SIGINT, signal.SIG_IGN if deaf else signal.default_int_handler)
    run = psutil.Popen(command, cwd=project.folder, env=ENVIRONMENT, stderr=subprocess.DEVNULL)
    signal.signal(signal.SIGINT, heard)
    for _ in range(120):
        time.sleep(0.5)
        if len(project.journal_rows()) > 3:
            break
    started = run.children(recursive=True)
    assert len(started) > 2
    run.terminate()
    assert run.wait(60) != 0
    _, left = psutil.wait_procs(started, timeout=20)
    assert left == []
    rows = project.journal_rows()
    assert 3 < len(rows) < 400
    assert {row["outcome"] for row in rows} == {"ok"}
