"""A trial that behaves: its answer, its stages, its cost."""

import math

import pytest

from harness.errors import HarnessError
from harness.sandbox import Limits, Sandbox


def test_an_answer_arrives_as_it_was_sent(sandbox):
    result = sandbox.run("answer", memory=50_000_000)
    assert result.outcome == "ok"
    assert result.value["count"] == 3
    assert math.isnan(result.value["nan"])
    assert result.value["nested"] == [1, {"a": None}]
    rows = [[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0], [8.0, 9.0, 10.0, 11.0]]
    assert result.arrays["rows"] == rows
    assert result.arrays["transposed"] == [list(column) for column in zip(*rows, strict=True)]
    assert result.arrays["empty"] == []
    assert result.arrays["text"] == ["a"]
    assert result.baseline_bytes > 10_000_000
    assert 0 < result.cpu_seconds < 5


@pytest.mark.memory
def test_doing_nothing_measures_as_nothing(sandbox):
    peaks = [sandbox.run("nothing").peak_bytes for _ in range(5)]
    assert max(peaks) < 200_000


@pytest.mark.memory
def test_each_stage_has_its_own_peak_and_time(sandbox):
    result = sandbox.run("stages", memory=200_000_000)
    stages = result.stages
    assert list(stages) == ["large", "small", "outer", "twice", "busy"]
    for name, size in {"large": 40_000_000, "small": 10_000_000, "outer": 40_000_000}.items():
        assert abs(stages[name].peak_bytes - size) < 1_000_000 + size // 100
    assert stages["twice"].seconds >= 0.04
    assert stages["twice"].cpu_seconds < 0.03
    assert 0.05 <= stages["busy"].cpu_seconds < 0.1
    assert result.peak_bytes == stages["large"].peak_bytes
    assert (
        result.cpu_seconds
        >= sum(stage.cpu_seconds for name, stage in stages.items() if name != "outer") - 0.05
    )


def test_the_cpu_time_of_child_processes_counts(sandbox):
    idle = sandbox.run("nothing").cpu_seconds
    assert sandbox.run("in_subprocess", size=1000).cpu_seconds > idle + 0.005


@pytest.mark.memory
def test_a_timeline_is_sampled_if_asked_for(clients):
    sandbox = clients("rlimit-data")
    result = sandbox.run("loop_in_python", seconds=0.7, timeline=True)
    seconds, sizes = zip(*result.timeline, strict=True)
    assert len(seconds) >= 10
    assert list(seconds) == sorted(seconds)
    assert abs(max(sizes) - 30_000_000) < 1_000_000
    assert sandbox.run("loop_in_python", seconds=0.1).timeline == []


@pytest.mark.memory
def test_sampling_changes_neither_peak_nor_limit(clients):
    sandbox = clients("rlimit-data")
    plain = sandbox.run("stages", memory=200_000_000)
    sampled = sandbox.run("stages", memory=200_000_000, timeline=True)
    assert abs(sampled.peak_bytes - plain.peak_bytes) < 200_000
    assert sandbox.run("stages", memory=30_000_000, timeline=True).outcome == "over_budget"


def test_stages_have_a_place_in_time(any_sandbox):
    result = any_sandbox.run("stages", timeline=True)
    spans = {name: stage.span for name, stage in result.stages.items()}
    assert 0 <= spans["outer"][0] <= spans["large"][0] < spans["large"][1] <= spans["small"][0]
    assert spans["small"][1] <= spans["outer"][1] <= spans["twice"][0]
    assert spans["busy"][1] <= result.seconds
    cut = any_sandbox.run("loop_in_python", seconds=0.2)
    assert cut.stages["loop"].span[1] == pytest.approx(cut.seconds)


def test_limits_are_checked():
    for bad in (
        {"memory": 0},
        {"seconds": -1.0},
        {"threads": 0},
        {"memory": 1e6},
        {"memory": True},
    ):
        with pytest.raises(HarnessError, match="above zero"):
            Limits(**bad)


def test_an_unknown_backend_is_named():
    with pytest.raises(HarnessError, match="did you mean 'cgroup-v1'"):
        Sandbox("cgroup-v11")


def test_a_closed_sandbox_takes_no_trials():
    sandbox = Sandbox("watch")
    sandbox.close()
    with pytest.raises(HarnessError, match="closed"):
        sandbox.run(lambda monitor: ({}, {}))


@pytest.mark.parametrize("fails", [False, True])
def test_deliveries_arrive_however_the_trial_ends(any_sandbox, fails):
    result = any_sandbox.run("delivers", memory=50_000_000, fails=fails)
    assert result.outcome == ("over_budget" if fails else "ok")
    values, arrays = zip(*result.deliveries, strict=True)
    assert [value["step"] for value in values] == [0, 1, 2]
    assert list(arrays) == [{"row": [float(step)] * 3} for step in range(3)]
    if not fails:
        assert result.value["never"] == [0.0, 0.0]
        assert result.arrays == {"row": [9.0] * 3}


@pytest.mark.memory
def test_seconds_of_a_stage_leave_out_what_lies_between(any_sandbox):
    result = any_sandbox.run("delivers")
    spent = [value["cpu_seconds"] for value, _ in result.deliveries]
    assert spent == pytest.approx([0.02, 0.04, 0.06], abs=0.01)
    assert result.stages["work"].cpu_seconds == spent[-1]
    assert all(value["seconds"] >= value["cpu_seconds"] - 0.005 for value, _ in result.deliveries)


@pytest.mark.memory
def test_what_was_delivered_is_not_held(any_sandbox):
    result = any_sandbox.run("delivers", memory=50_000_000, size=500_000)
    assert abs(result.peak_bytes - 4_000_000) < 1_200_000


@pytest.mark.memory
def test_parts_are_joined_where_they_arrive_and_held_one_at_a_time(any_sandbox):
    result = any_sandbox.run("delivers", memory=50_000_000, size=500_000, parts=3)
    assert abs(result.peak_bytes - 4_000_000) < 1_200_000
    assert [len(arrays["row"]) for _, arrays in result.deliveries] == [1_500_000] * 3
    assert {float(arrays["row"][-1]) for _, arrays in result.deliveries} == {0.0, 1.0, 2.0}
