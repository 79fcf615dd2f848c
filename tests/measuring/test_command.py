"""A command that may not be traced is measured all the same."""

import sys

import pytest

from harness.measuring import run_command
from harness.sandbox import backends, tracing

GROUPED = [r.name for r in backends() if r.available and r.name.startswith("cgroup")]


@pytest.mark.skipif(not GROUPED, reason="no cgroup can be made here, whose mark would stand")
def test_without_tracing_the_mark_of_the_cgroup_stands(monkeypatch):
    monkeypatch.setattr(tracing, "_trace", lambda request, pid, data: False)
    code = "b = b'1' * 40_000_000"
    told = run_command([sys.executable, "-c", code], budget="200MB", backend=GROUPED[0])
    assert (told.outcome, told.exit_code) == ("ok", 0)
    assert told.measured_by == GROUPED[0]
    assert 40_000_000 < told.peak_bytes < 70_000_000


def test_without_tracing_or_cgroup_the_outcome_is_told(monkeypatch):
    monkeypatch.setattr(tracing, "_trace", lambda request, pid, data: False)
    told = run_command([sys.executable, "-c", "raise SystemExit(3)"], backend="watch")
    assert (told.outcome, told.exit_code, told.status) == ("error", 3, 3)
