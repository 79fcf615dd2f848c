"""Trials that began and did not end: their worker's death counts, their whole job's hardly."""

import pytest

from harness.jobs.unfinished import MOST, MOST_WHOLE, Unfinished


@pytest.fixture
def journal(tmp_path):
    return tmp_path / "job.jsonl"


def job_that_dies(journal, *trials):
    """Have a job begin trials and die with its keeper."""
    unfinished = Unfinished(journal)
    unfinished.next_worker()
    unfinished.settle()
    for trial in trials:
        unfinished.begin(trial)


def later(journal):
    """Return what a later job of the same trials knows."""
    unfinished = Unfinished(journal)
    unfinished.next_worker()
    unfinished.settle()
    return unfinished


def test_a_worker_that_dies_alone_twice_is_blamed_on_its_trial(journal):
    unfinished = Unfinished(journal)
    for count in range(MOST):
        assert (unfinished.alone("a-1"), unfinished.blame("a-1")) == (count, "")
        unfinished.next_worker()
        unfinished.begin("a-1")
        assert unfinished.interrupted()
        unfinished.next_worker()
        assert not unfinished.interrupted()
        unfinished.settle()
    assert unfinished.blame("a-1") == "its worker was ended twice while it ran"
    assert later(journal).blame("a-1") == unfinished.blame("a-1")
    assert unfinished.blame("a-2") == ""
    unfinished.end("a-1")
    assert list(journal.parent.iterdir()) == []


def test_jobs_that_die_as_a_whole_are_no_trials_doing_until_it_happens_many_times(journal):
    for _ in range(MOST_WHOLE - 1):
        job_that_dies(journal, "a-1")
    assert later(journal).blame("a-1") == ""
    assert later(journal).alone("a-1") == 0
    job_that_dies(journal, "a-1")
    assert (
        later(journal)
        .blame("a-1")
        .startswith(
            f"all processes of its job were ended {MOST_WHOLE} times while it ran, by it or by"
        )
    )


def test_a_death_is_counted_once_and_not_against_others(journal):
    job_that_dies(journal, "a-1")
    unfinished = later(journal)
    unfinished.settle()
    unfinished.begin("a-2")
    unfinished.end("a-2")
    for _ in range(MOST_WHOLE - 2):
        job_that_dies(journal, "a-1")
    assert later(journal).blame("a-1") == ""
    assert later(journal).blame("a-2") == ""


def test_what_is_ended_in_order_is_not_counted(journal):
    unfinished = Unfinished(journal)
    unfinished.next_worker()
    unfinished.begin("a-1")
    unfinished.forgive()
    assert list(journal.parent.iterdir()) == []
    unfinished.begin("a-1")
    unfinished.next_worker()
    unfinished.settle()
    unfinished.begin("a-1")
    unfinished.forgive()
    unfinished.next_worker()
    unfinished.settle()
    assert unfinished.alone("a-1") == 1


def test_a_job_that_waits_forgives_nothing_of_the_one_that_runs(journal):
    running, waiting = Unfinished(journal), Unfinished(journal)
    running.next_worker()
    waiting.next_worker()
    running.begin("a-1")
    waiting.forgive()
    assert running.interrupted()
    assert not waiting.interrupted()


@pytest.mark.parametrize("content", ['{"a": "x"', '{"a-1": 2}', '{"a-1": {"deaths": 2}}', "[]"])
def test_a_damaged_note_is_no_note(journal, content):
    journal.with_suffix(".running").write_text(content)
    assert later(journal).blame("a-1") == ""
    later(journal).begin("a-1")
