"""What a trial's process tells of its answer or its failure, without a process."""

import json
import time

import numpy as np
import pytest

from harness.sandbox import child

RIGHT = {"a": 1}, {"rows": np.ones(3)}


class Told:
    """Notes what is sent, and takes only what JSON can say."""

    def __init__(self):
        self.events, self.arrays = [], {}

    def event(self, event, /, **facts):
        json.dumps(facts, allow_nan=True)
        self.events.append((event, facts))

    def array(self, name, array):
        self.arrays[name] = array


class Advises:
    def advice(self, failure):
        return f"(advice on {type(failure).__name__})"


@pytest.mark.parametrize("more", [True, False])
def test_an_answer_is_sent_with_its_arrays_and_what_is_to_follow(more):
    told = Told()
    child._send(RIGHT, told, more)
    (kind, facts), (end, ending) = told.events
    assert (kind, facts) == ("value", {"value": {"a": 1}})
    assert (end, ending["more"]) == ("done", more)
    assert list(told.arrays) == ["rows"]
    assert ending["at"] <= time.monotonic()
    assert ending["cpu_seconds"] > 0


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "returned None; it must return"),
        (({}, {}, {}), "returned a tuple; it must return"),
        ([{}, {}], "returned a list; it must return"),
        (({}, []), "returned (a dict, a list); it must return"),
        ((None, {}), "returned (None, a dict); it must return"),
        (({}, {1: np.ones(2)}), "returned an array named 1; names must be text"),
        (({}, {"b": [1.0]}), "returned a list as array 'b'; it must return"),
        (({}, {"b": np.array([{}])}), "returned array 'b' of dtype object; only plain numbers"),
        (({"a": {1}}, {}), "returned a value that is not JSON: "),
    ],
)
def test_another_answer_is_an_error_that_says_what_is_wrong(answer, reason):
    told = Told()
    child._send(answer, told, False)
    ((kind, facts),) = told.events
    assert (kind, facts["kind"]) == ("failed", "error")
    assert facts["reason"].startswith(reason)
    assert told.arrays == {}


def failed(failure, isolation=None):
    told = Told()
    try:
        raise failure
    except BaseException as error:
        child._send_failure(error, told, isolation)
    ((kind, facts),) = told.events
    assert kind == "failed"
    return facts["kind"], facts["reason"]


def test_a_failure_is_told_by_its_name_and_its_words(capsys):
    assert failed(ValueError("  no such rank \n")) == ("error", "ValueError: no such rank")
    assert failed(KeyError()) == ("error", "KeyError")
    assert failed(MemoryError("1 GiB")) == ("memory", "MemoryError: 1 GiB")
    assert "no such rank" in capsys.readouterr().err


def test_notes_and_advice_follow_what_is_told():
    noted = PermissionError("denied")
    noted.add_note("(mine.py, line 3)")
    told = failed(noted, Advises())[1]
    assert told == "PermissionError: denied (mine.py, line 3) (advice on PermissionError)"


def test_long_words_are_cut_and_leave_room_for_notes():
    noted = ValueError("x" * 5000)
    noted.add_note("(mine.py, line 3)")
    told = failed(noted)[1]
    assert told.endswith("(mine.py, line 3)")
    assert len(told) == 2000 + 1 + len("(mine.py, line 3)")
    noted.add_note("y" * 5000)
    assert len(failed(noted)[1]) == 2500


def test_what_comes_afterwards_has_its_own_time():
    told = Told()

    def work():
        until = time.process_time() + 0.02
        while time.process_time() < until:
            pass
        return {"b": 2}

    child._do_afterwards(work, told)
    ((kind, facts),) = told.events
    assert (kind, facts["value"]) == ("afterwards", {"b": 2})
    assert facts["seconds"] >= 0.019
    assert 0.019 <= facts["cpu_seconds"] < 5
