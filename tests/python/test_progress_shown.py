"""What is told of a run that is shown in no terminal."""

import io
from collections import Counter

import pytest
from rich.console import Console

from harness.python import progress


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test moves on."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def lines(console):
    return [line.split(" ", 1)[1] for line in console.file.getvalue().splitlines()]


def test_a_log_has_a_line_a_minute_while_something_changes_and_one_at_the_end(clock):
    console = Console(file=io.StringIO())
    with progress.shown(40, console) as told:
        told(Counter(ok=1))
        assert lines(console) == []
        clock[0] = 61
        told(Counter(ok=9, infeasible=2))
        told(Counter(ok=10, infeasible=2))
        clock[0] = 130
        told(Counter(ok=10, infeasible=2))
        clock[0] = 200
        told(Counter(ok=10, infeasible=2))
        told(Counter(ok=40))
    assert lines(console) == ["11/40 9 ok 2 infeasible", "12/40 10 ok 2 infeasible", "40/40 40 ok"]


def test_a_run_that_fails_leaves_what_it_had_in_the_log(clock):
    console = Console(file=io.StringIO())

    def interrupted():
        with progress.shown(40, console) as told:
            told(Counter(ok=3))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert lines(console) == ["3/40 3 ok"]


def test_nothing_is_told_twice(clock):
    console = Console(file=io.StringIO())
    with progress.shown(4, console) as told:
        clock[0] = 100
        told(Counter(ok=4))
        clock[0] = 200
        told(Counter(ok=4))
    assert lines(console) == ["4/4 4 ok"]
