"""What a row says of how its trial ended."""

from types import SimpleNamespace

import numpy as np
import pytest

from harness.jobs.endings import (
    costs_told,
    endless,
    given_up,
    is_answer,
    measured,
    runner_lost,
)

ANSWER = {"params": {}, "data_bytes": 8, "warnings": ["slow"], "end": None}


def stage(seconds, peak_bytes):
    return SimpleNamespace(seconds=seconds, peak_bytes=peak_bytes)


def result(**changes):
    usual = {
        "outcome": "ok",
        "reason": "",
        "baseline_bytes": 100,
        "peak_bytes": 40,
        "enforced_by": "rlimit-data",
        "measured_by": "VmHWM",
        "isolation": "landlock-7",
        "seconds": 2.5,
        "cpu_seconds": 2.0,
        "stages": {"load": stage(0.5, 10), "fit": stage(1.5, 40)},
        "afterwards": None,
    }
    return SimpleNamespace(**usual | changes)


def test_every_stage_that_was_reached_has_its_time_and_peak():
    row = measured(result())
    assert (row["outcome"], row["peak_bytes"], row["wall_s"], row["cpu_s"]) == ("ok", 40, 2.5, 2.0)
    assert (row["load_s"], row["load_peak_bytes"]) == (0.5, 10)
    assert (row["fit_s"], row["fit_peak_bytes"]) == (1.5, 40)
    assert row["isolation"] == "landlock-7"
    assert not {"tune_s", "predict_s", "tune_peak_bytes"} & row.keys()


def costs(seconds=(0.3, 0.1, 0.2), **changes):
    told = {"model_bytes": 900, "row_seconds": list(seconds), "row_bytes": 7, "reason": ""}
    stages = {"hold": stage(0, 50), "predict_row": stage(0, 52)}
    return costs_told(result(afterwards=told | changes, stages=stages))


def test_the_peak_of_one_row_is_at_least_what_was_held_and_what_was_allocated():
    row, reason = costs()
    assert reason == ""
    assert row == {
        "model_bytes": 900,
        "predict_row_peak_bytes": 57,
        "predict_row_s": pytest.approx(0.2),
        "predict_row_p99_s": pytest.approx(0.3),
        "predict_row_calls": 3,
    }
    assert costs(row_bytes=1)[0]["predict_row_peak_bytes"] == 52


def test_a_model_that_cannot_predict_new_rows_has_bytes_alone():
    row, reason = costs(seconds=(), reason="knows its own points only")
    assert row == {"model_bytes": 900}
    assert reason == "knows its own points only"


def test_a_trial_that_ended_over_its_model_says_so():
    row, reason = costs_told(result())
    assert row == {}
    assert "was not measured" in reason


@pytest.mark.parametrize(
    ("changes", "right"),
    [
        ({}, True),
        ({"end": {"step": 3}}, True),
        ({"warnings": []}, True),
        ({"params": None}, False),
        ({"data_bytes": ...}, False),
        ({"warnings": "slow"}, False),
        ({"warnings": [1]}, False),
        ({"warnings": ...}, False),
        ({"end": {}}, False),
        ({"end": 3}, False),
        ({"end": ...}, False),
    ],
)
def test_what_a_method_writes_into_the_pipe_itself_is_no_answer(changes, right):
    value = {name: said for name, said in (ANSWER | changes).items() if said is not ...}
    assert is_answer(value) is right


def test_points_that_a_budget_took_are_told():
    some = SimpleNamespace(n_kept=1_000, kept=np.zeros(1_000), unlabeled=np.zeros(20_000))
    assert given_up(some) == ("fitted to 1,000 of 20,000 unlabeled points: no more fit the budget")
    assert given_up(SimpleNamespace(n_kept=None)) == ""


def test_a_trial_that_ends_what_runs_it_crashed():
    runner = SimpleNamespace(lost="the runner was killed", isolation="landlock-7")
    assert runner_lost(runner)["outcome"] == endless(runner, "why")["outcome"] == "crashed"
    assert runner_lost(runner)["reason"].startswith("the runner was killed, twice")
    assert endless(runner, "why")["reason"] == "why; harness retry has it run again"
