"""Whatever a trial does costs that trial, is told in words, and leaves nothing behind."""

import re
import time
from pathlib import Path

import pytest

ENDS = {
    "segfault": ({}, "crashed", r"killed by SIGSEGV \(Segmentation fault\)"),
    "exit_at_once": ({"status": 3}, "crashed", r"exit status 3 before it returned"),
    "kill_itself": ({}, "crashed", r"killed by SIGKILL"),
    "system_exit": ({}, "error", r"^SystemExit: enough$"),
    "fail": ({}, "error", r"^KeyError: 'alpha'$"),
    "fail_with_note": ({}, "error", r"^KeyError: 'alpha' \(somewhere\)$"),
    "close_output": ({}, "error", r"^KeyError: 'unheard'$"),
    "close_everything": ({}, "crashed", r"pipe through which results are sent was closed"),
    "forks": ({"count": 20}, "ok", r"left 20 processes running, which were stopped"),
    "daemon": ({}, "ok", r"left 1 process running, which was stopped"),
    "fork_and_return": ({}, "ok", r"^$"),
    "print_much": ({"size": 100_000_000}, "ok", r"^$"),
}
STARTS_PROCESSES = {"forks", "daemon", "fork_and_return", "daemon_and_loop", "fork_bomb"}


def budget(sandbox, trial):
    """With a budget and no cgroup processes are refused (`test_uncounted`)."""
    alone = sandbox.backend in ("rlimit-data", "watch")
    return None if alone and trial in STARTS_PROCESSES else 100_000_000


@pytest.mark.parametrize("trial", ENDS)
def test_every_end_has_its_outcome_and_reason(sandbox, trial):
    args, outcome, reason = ENDS[trial]
    result = sandbox.run(trial, memory=budget(sandbox, trial), seconds=30, **args)
    assert result.outcome == outcome
    assert re.search(reason, result.reason), result.reason
    assert sandbox.survivors() == []
    assert sandbox.run("answer").value["count"] == 3


@pytest.mark.parametrize(
    "trial", ["loop_in_python", "one_endless_call", "daemon_and_loop", "fork_bomb"]
)
def test_the_time_limit_ends_the_whole_tree_within_a_second(sandbox, trial):
    began = time.monotonic()
    result = sandbox.run(trial, memory=budget(sandbox, trial), seconds=0.5)
    took = time.monotonic() - began
    assert result.outcome == "timeout"
    assert "time limit of 500 ms" in result.reason
    assert result.value is None
    assert 0.5 <= took < 1.5
    assert sandbox.survivors() == []


def test_shared_memory_is_cleaned_up_by_its_tracker(any_sandbox):
    result = any_sandbox.run("multiprocessing_segment")
    assert result.outcome == "crashed"
    name = result.output.split()[0]
    assert not Path(f"/dev/shm/{name}").exists()


def test_a_stage_cut_short_is_reported_as_far_as_known(sandbox):
    result = sandbox.run("loop_in_python", seconds=0.6)
    stage = result.stages["loop"]
    assert 0.2 < stage.seconds <= 0.8
    assert abs(stage.peak_bytes - 30_000_000) < 1_300_000
    assert result.peak_bytes == stage.peak_bytes
    assert result.cpu_seconds > 0.05
    dead = sandbox.run("exit_at_once", status=3)
    assert dead.stages["fit"].seconds >= 0


def test_a_crash_keeps_its_own_peak_and_is_not_put_down_to_memory(sandbox):
    result = sandbox.run("crash_after_reading", memory=8_000_000, size=3_000_000)
    assert result.outcome == "crashed"
    assert result.reason == "Was killed by SIGSEGV (Segmentation fault)."
    assert abs(result.peak_bytes - 3_000_000) < 500_000
    assert result.stages["fit"].peak_bytes == result.peak_bytes


def test_a_traceback_is_kept_without_ours(any_sandbox):
    result = any_sandbox.run("fail")
    assert "about to fail" in result.output
    assert "raise KeyError" in result.output
    assert "harness/sandbox" not in result.output


def test_a_memory_error_counts_when_wrapped_and_only_with_a_budget(any_sandbox):
    over = any_sandbox.run("wrapped_memory_error", memory=50_000_000)
    assert over.outcome == "over_budget"
    assert "ValueError: fit failed" in over.reason
    assert any_sandbox.run("wrapped_memory_error").outcome == "error"


def test_only_the_end_of_the_output_is_kept(any_sandbox):
    result = any_sandbox.run("print_much", size=5_000_000)
    assert len(result.output) == 64 * 1024
    assert result.output.endswith("x\nthe end\n")


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("none", "returned None; it must return"),
        ("list", "returned a list"),
        ("array instead of dict", "a ndarray, a dict"),
        ("list as array", "returned a list as array 'a'"),
        ("objects", "array 'a' of dtype object"),
        ("record", "array 'a' of dtype"),
        ("number as name", "an array named 1"),
        ("not json", "not JSON: a set has no JSON form"),
        ("circular", "not JSON"),
    ],
)
def test_another_type_is_an_error(any_sandbox, what, reason):
    result = any_sandbox.run("returns", what=what)
    assert result.outcome == "error"
    assert reason in result.reason
    assert result.arrays == {}


def test_nan_is_a_value_like_others(any_sandbox):
    result = any_sandbox.run("returns", what="nan")
    assert result.outcome == "ok"
    assert result.value["a"] != result.value["a"]
    assert result.arrays["b"][0] != result.arrays["b"][0]


@pytest.mark.parametrize("text", ["garbage", "J" + "\0" * 8, "A" + "\1" * 200, "J" + "\377" * 20])
def test_garbage_in_the_pipe_is_not_a_result(any_sandbox, text):
    result = any_sandbox.run("write_garbage", text=text)
    assert result.outcome == "crashed"
    assert "not understood" in result.reason
    assert any_sandbox.run("nothing").outcome == "ok"


def test_nothing_of_the_parent_is_open_in_a_trial(any_sandbox):
    files = any_sandbox.run("list_descriptors").value["files"]
    assert any_sandbox.run("read_input").value == {"read": ""}
    pipes = {name for name in files if name.startswith("pipe:")}
    assert len(pipes) == 3  # results, output, and the one that lets it go on afterwards
    own = ("pipe:", "/dev/null", "/proc/", "/sys/fs/cgroup/")
    assert [name for name in files if not name.startswith(own)] == []
