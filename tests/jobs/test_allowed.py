"""How long a job may run: a guess at first, what limits allow where that was too short."""

import math
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.jobs.allowed import allowed_minutes
from harness.jobs.usage import NOT_YET, PROCESS, Reserved, Usage

NEEDS = {"minutes": 10, "most_minutes": 105}


def jobs(folder, longest=math.inf, needs=NEEDS):
    return SimpleNamespace(results=Path(folder), longest=longest, needs=lambda bundle_id: needs)


def took(folder, seconds, ended, minutes=10):
    given = Reserved(805, minutes, 1)
    used = Usage("bundle", "iris/ab", given, 1, PROCESS, seconds, 1.0, ended, "here")
    used.write(Path(folder))


def test_a_guess_at_first_then_all_that_its_trials_may_take(tmp_path):
    told = [allowed_minutes(jobs(tmp_path), "iris/ab", attempt) for attempt in (1, 2, 3)]
    assert told == [10, 105, 105]
    assert allowed_minutes(jobs(tmp_path, needs={"minutes": 105}), "iris/ab", 2) == 105


@pytest.mark.parametrize(
    ("seconds", "ended", "minutes"),
    [
        (599, "signal 15", 105),
        (545, NOT_YET, 105),
        (535, NOT_YET, 10),
        (599, "ok", 10),
        (30, "signal 15", 10),
        (30, "failed", 10),
    ],
)
def test_a_run_in_which_it_was_too_little_is_remembered(tmp_path, seconds, ended, minutes):
    took(tmp_path, seconds, ended)
    assert allowed_minutes(jobs(tmp_path), "iris/ab") == minutes
    assert allowed_minutes(jobs(tmp_path), "iris/cd") == 10


def test_no_more_than_a_partition_allows_but_what_it_needs(tmp_path):
    assert allowed_minutes(jobs(tmp_path, longest=30), "iris/ab", 2) == 30
    assert allowed_minutes(jobs(tmp_path, longest=5), "iris/ab", 2) == 10
    took(tmp_path, 599, "failed")
    assert allowed_minutes(jobs(tmp_path, longest=30), "iris/ab") == 30


def test_a_damaged_note_of_what_a_job_took_is_none(tmp_path):
    took(tmp_path, 599, "failed")
    (tmp_path / "usage/bundle/iris/ab.json").write_text("{}")
    assert allowed_minutes(jobs(tmp_path), "iris/ab") == 10
