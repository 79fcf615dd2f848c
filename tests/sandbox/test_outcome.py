"""From an ending to an outcome and a reason."""

import signal
from dataclasses import replace

import pytest

from harness.sandbox.channel import CHANNEL_LOST
from harness.sandbox.limits import Limits
from harness.sandbox.outcome import Ending, classify

LIMITS = Limits(memory=100_000_000, seconds=10)
OK = Ending(
    done=True,
    failure=None,
    garbled="",
    timed_out=False,
    status=0,
    killed_for_memory=False,
    watched_over=False,
    peak=50_000_000,
    measured_by="VmHWM",
    enforced_by="rlimit-data+watch",
    output="",
    left=0,
    stuck=0,
)
DEAD = replace(OK, done=False, status=signal.SIGSEGV)


@pytest.mark.parametrize(
    ("ending", "outcome", "reason"),
    [
        (OK, "ok", ""),
        (replace(OK, left=2), "ok", "It left 2 processes running, which were stopped."),
        (replace(OK, stuck=1), "ok", "1 process could not be killed."),
        (replace(OK, peak=100_240_000), "ok", ""),
        (
            replace(OK, peak=100_260_000),
            "over_budget",
            "Held 100 MB, more than the budget of 100 MB (1.003 of it)",
        ),
        (replace(OK, peak=101_900_000, measured_by="cgroup-v2"), "ok", ""),
        (replace(OK, peak=102_100_000, measured_by="cgroup-v2"), "over_budget", "1.021 of it"),
        (replace(OK, killed_for_memory=True), "over_budget", "the kernel stopped them"),
        (replace(DEAD, watched_over=True), "over_budget", "Was seen above the budget of 100 MB"),
        (replace(DEAD, failure=("memory", "MemoryError")), "over_budget", "MemoryError"),
        (replace(DEAD, failure=("error", "KeyError: 1")), "error", "KeyError: 1"),
        (replace(DEAD, timed_out=True, killed_for_memory=True), "timeout", "limit of 10 s"),
        (replace(OK, timed_out=True), "timeout", "time limit"),
        (DEAD, "crashed", "SIGSEGV (Segmentation fault)."),
        (replace(DEAD, peak=95_000_000), "crashed", "failed unchecked is likely"),
        (replace(DEAD, peak=100_050_000), "over_budget", "a library ended the process"),
        (replace(DEAD, peak=99_700_000), "over_budget", "a library ended the process"),
        (replace(DEAD, peak=99_500_000), "crashed", "failed unchecked is likely"),
        (replace(DEAD, peak=100_050_000, status=3 << 8), "crashed", "exit status 3 before"),
        (replace(DEAD, status=signal.SIGKILL), "crashed", "for want of memory"),
        (replace(DEAD, status=3 << 8), "crashed", "exit status 3 before"),
        (replace(DEAD, status=CHANNEL_LOST << 8), "crashed", "was closed by the trial"),
        (replace(DEAD, status=None), "crashed", "Did not end"),
        (replace(DEAD, garbled="a frame"), "crashed", "not understood: a frame"),
        (
            replace(DEAD, status=1 << 8, output="OpenBLAS error: Memory allocation still failed"),
            "over_budget",
            "a library ended the process",
        ),
    ],
)
def test_every_ending_has_its_outcome(ending, outcome, reason):
    found, why = classify(ending, LIMITS)
    assert found == outcome
    assert reason in why
    assert bool(why) == bool(reason)


def test_only_what_was_not_enforced_is_said_to_be_measured():
    _, why = classify(replace(OK, peak=200_000_000), LIMITS)
    assert "measured; the limit (rlimit-data+watch) let it pass" in why


def test_without_a_budget_nothing_is_over_it():
    unlimited = Limits()
    assert classify(replace(OK, peak=10**12), unlimited) == ("ok", "")
    ending = replace(DEAD, failure=("memory", "MemoryError: 1 PiB"))
    assert classify(ending, unlimited) == ("error", "MemoryError: 1 PiB")


@pytest.mark.parametrize("share", [1.053, 1.057])
def test_a_small_budget_has_no_slack_of_a_megabyte(share):
    """Of 3 MB, 1 MB + 1 % were a third: peaks of these shares of it were called ok."""
    ending = replace(OK, peak=round(share * 3_000_000))
    assert classify(ending, Limits(memory=3_000_000))[0] == "over_budget"


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_a_crash_far_below_the_budget_is_not_put_down_to_memory(share):
    _, why = classify(replace(DEAD, peak=round(share * 100_000_000)), LIMITS)
    assert "unchecked" not in why
    _, why = classify(replace(DEAD, peak=None), LIMITS)
    assert "unchecked" not in why
    _, why = classify(replace(DEAD, peak=99_000_000), Limits())
    assert "unchecked" not in why


@pytest.mark.parametrize(("share", "outcome"), [(0.9, "crashed"), (0.91, "over_budget")])
def test_who_aborts_without_a_word_next_to_the_limit_wanted_memory(share, outcome):
    aborted = replace(DEAD, status=signal.SIGABRT, peak=round(share * 100_000_000))
    assert classify(aborted, LIMITS)[0] == outcome
    assert classify(replace(aborted, peak=None), LIMITS)[0] == "crashed"
