"""`harness.run` is `harness run`: the same rows, kept alike, by the same workflow."""

import asyncio
import functools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pytest
from click.testing import CliRunner

import harness
from harness.cli import main
from harness.errors import HarnessError
from harness.records.table import read_rows

pytestmark = pytest.mark.slow

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
STUDY = {
    "title": "Few <points>",
    "datasets": {"mine": (X, (X[:, 0] > 0).astype(int))},
    "methods": ["1nn"],
    "labeled": 20,
    "budgets": ["1kB", "30MB"],
    "seeds": 3,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("running")


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)


@pytest.fixture(scope="module")
def first(folder):
    before = Path.cwd()
    os.chdir(folder)
    try:
        return harness.run(STUDY, cores=2)
    finally:
        os.chdir(before)


def cli(*arguments):
    done = CliRunner().invoke(main, arguments)
    assert done.exit_code == 0, done.output
    return done.output


def starts(trials):
    return dict(zip(trials["fingerprint"], trials["started_at"], strict=True))


def test_it_gives_the_rows_that_commands_show(here, first):
    assert len(first.trials) == 6
    assert set(first.trials["outcome"]) == {"ok", "infeasible"}
    shown = json.loads(cli("show", "notebook", "--json"))
    assert [row["fingerprint"] for row in shown] == first.trials["fingerprint"].tolist()
    pd.testing.assert_frame_equal(first.best(), harness.results("notebook").best())
    best = json.loads(cli("best", "notebook", "--json"))
    assert json.loads(first.best().to_json(orient="records")) == best
    assert first.report() == Path("results/notebook/report.html")
    assert "1kB" in set(first.outcomes["budget"])


def test_nothing_is_run_twice_by_whichever_way(here, first):
    again = harness.run(STUDY, 2, progress=False)
    assert starts(again.trials) == starts(first.trials)
    cli("run", "notebook", "--cores", "2")
    assert starts(harness.results("notebook").trials) == starts(first.trials)
    by_name = harness.run("notebook", 2, progress=False)
    assert starts(by_name.trials) == starts(first.trials)


def test_within_a_running_event_loop(here, first):
    async def cell():
        return harness.run(STUDY, 2, progress=False)

    assert starts(asyncio.run(cell()).trials) == starts(first.trials)


def test_other_data_of_the_same_name_are_run_and_the_first_are_kept(here, first):
    changed = STUDY | {"datasets": {"mine": (X + 1e-9, STUDY["datasets"]["mine"][1])}}
    other = harness.run(changed, 2, progress=False)
    assert not set(other.trials["fingerprint"]) & set(first.trials["fingerprint"])
    back = harness.run(STUDY, 2, progress=False)
    assert starts(back.trials) == starts(first.trials)


def test_a_job_that_fails_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("plugins").mkdir()
    text = (
        "import os\n"
        "from harness import GeneratedDataset, hookimpl\n"
        "def fail(rng):\n    raise ValueError('no disk')\n"
        "@hookimpl\ndef harness_datasets():\n"
        "    yield GeneratedDataset('mine', fail, n=20, d=2, task='binary')\n"
    )
    Path("plugins/mine.py").write_text(text)
    study = {"datasets": "mine", "methods": "prior", "labeled": 10}
    with pytest.raises(HarnessError, match="its plugin failed to generate it: ValueError: no d"):
        harness.run(study, 1, progress=False)


SCRIPT = """
import harness
study = {"datasets": "wine", "methods": "random", "labeled": 20, "budgets": "30MB",
         "seeds": 400, "seeds_per_job": 400}
harness.run(study, 1)
"""


def journal():
    return [row for path in Path().glob("results/*/journal/**/*.jsonl") for row in read_rows(path)]


@pytest.mark.parametrize("to_all", [True, False], ids=["as a notebook", "to the process alone"])
def test_an_interrupt_ends_all_that_was_started_and_the_next_run_goes_on(
    tmp_path, monkeypatch, folder, to_all
):
    monkeypatch.chdir(tmp_path)
    (folder / ".harness").mkdir(exist_ok=True)  # the index of plugins takes seconds to make
    Path(".harness").symlink_to(folder / ".harness")
    command = [sys.executable, "-c", SCRIPT]
    # whoever runs tests in the background has them ignore it
    heed = functools.partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    run = psutil.Popen(command, stderr=subprocess.PIPE, start_new_session=True, preexec_fn=heed)
    for _ in range(240):
        time.sleep(0.5)
        if len(journal()) > 3:
            break
    started = run.children(recursive=True)
    assert len(started) > 2
    (os.killpg if to_all else os.kill)(run.pid, signal.SIGINT)
    told = run.communicate(timeout=60)[1].decode()
    assert "KeyboardInterrupt" in told, told[-2000:]
    _, left = psutil.wait_procs(started, timeout=20)
    assert left == []
    before = journal()
    assert 3 < len(before) < 400
    shorter = SCRIPT.replace('"seeds": 400', f'"seeds": {len(before) + 5}')
    shorter = shorter.replace('"seeds_per_job": 400', '"seeds_per_job": 500')
    subprocess.run([sys.executable, "-c", shorter], check=True)
    after = {row["fingerprint"]: row["started_at"] for row in journal()}
    assert len(after) == len(before) + 5
    assert {row["fingerprint"]: row["started_at"] for row in before}.items() <= after.items()
