"""What a trial does when its outcome is settled: charged to nobody, and changing nothing."""

import pytest

from harness.sandbox import Limits, Sandbox, supervisor

BUDGET = 5_000_000


@pytest.mark.parametrize("how", ["plain", "takes", "works", "dies", "fails"])
def test_it_changes_neither_outcome_nor_answer(sandbox, how):
    result = sandbox.run("goes_on", how=how, memory=BUDGET)
    assert (result.outcome, result.reason) == ("ok", "")
    assert result.value == {"a": 1}
    assert result.arrays["row"] == [1, 1, 1]
    told = {"plain": {"held": 1}, "takes": {"sum": 30_000_000}, "works": {"held": 1}}
    assert result.afterwards == told.get(how)


@pytest.mark.memory
def test_it_is_in_no_figure_of_the_trial(sandbox):
    plain = sandbox.run("goes_on", how="plain", memory=BUDGET)
    takes = sandbox.run("goes_on", how="takes", memory=BUDGET)
    assert abs(takes.peak_bytes - plain.peak_bytes) < 100_000
    assert 0.9e6 < takes.peak_bytes < 1.2e6
    assert takes.stages["after"].peak_bytes > 30_000_000


@pytest.mark.parametrize("how", ["works", "dies"])
def test_its_cpu_time_is_not_the_trials(any_sandbox, how):
    result = any_sandbox.run("goes_on", how=how, memory=BUDGET)
    assert result.cpu_seconds < 0.2


def test_its_wall_clock_is_not_the_trials(any_sandbox):
    result = any_sandbox.run("goes_on", how="sleeps", memory=BUDGET, seconds=20)
    assert result.stages["after"].seconds >= 0.5
    assert result.seconds < result.stages["after"].span[1]


def test_what_hangs_is_ended_in_time(monkeypatch):
    monkeypatch.setattr(supervisor, "_AFTERWARDS", 0.2)

    def trial(monitor):
        monitor.afterwards = lambda: __import__("time").sleep(1000)
        return {}, {}

    with Sandbox("watch") as sandbox:
        result = sandbox.run(trial, Limits(seconds=100))
    assert (result.outcome, result.afterwards) == ("ok", None)
    assert result.seconds < 10


def test_a_trial_that_fails_does_nothing_afterwards(any_sandbox):
    result = any_sandbox.run("fail_afterwards")
    assert (result.outcome, result.afterwards) == ("error", None)
