"""Trials that deliver, go on after their answer, or return what can and cannot be sent."""

import os
import signal
import time

import numpy as np


def nothing(monitor):
    return {}, {}


def answer(monitor):
    rows = np.arange(12.0).reshape(3, 4)
    arrays = {
        "rows": rows,
        "transposed": rows.T,
        "empty": np.empty((0, 3)),
        "text": np.array(["a"]),
    }
    return {"count": np.int64(3), "nan": float("nan"), "nested": [1, {"a": None}]}, arrays


def delivers(monitor, fails=False, size=3, parts=1):
    for step in range(3):
        with monitor.stage("work"):
            _busy(0.02)
        _busy(0.05)
        seconds, cpu_seconds = monitor.spent("work")
        value = {"step": step, "seconds": seconds, "cpu_seconds": cpu_seconds}
        monitor.deliver(value, ({"row": np.full(size, step, dtype=float)} for _ in range(parts)))
    if fails:
        raise MemoryError("after three")
    return {"never": monitor.spent("absent")}, {"row": np.full(3, 9.0)}


def goes_on(monitor, how, size=1_000_000):
    """Answers, and then does what is charged to nobody."""
    with monitor.stage("work"):
        held = np.ones(size, dtype=np.uint8)

    def afterwards():
        with monitor.stage("after"):
            if how == "takes":
                return {"sum": int(np.ones(30 * size, dtype=np.uint8).sum())}
            if how == "works":
                _busy(0.3)
            elif how == "sleeps":
                time.sleep(0.5)
            elif how == "hangs":
                time.sleep(1000)
            elif how == "dies":
                os.kill(os.getpid(), signal.SIGKILL)
            elif how == "fails":
                raise RuntimeError("afterwards")
        return {"held": int(held[0])}

    monitor.afterwards = afterwards
    return {"a": 1}, {"row": np.ones(3)}


def fail_afterwards(monitor):
    monitor.afterwards = dict
    raise ValueError("before")


def _busy(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def returns(monitor, what):
    return {
        "none": lambda: None,
        "list": lambda: [1, 2],
        "array instead of dict": lambda: (np.ones(3), {}),
        "list as array": lambda: ({}, {"a": [1, 2]}),
        "objects": lambda: ({}, {"a": np.array([{}], dtype=object)}),
        "record": lambda: ({}, {"a": np.zeros(2, dtype="i4,f8")}),
        "number as name": lambda: ({}, {1: np.ones(2)}),
        "not json": lambda: ({"a": {1, 2}}, {}),
        "circular": _circular,
        "nan": lambda: ({"a": float("nan")}, {"b": np.array([np.nan])}),
    }[what]()


def _circular():
    value = {}
    value["self"] = value
    return value, {}
