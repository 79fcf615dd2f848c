"""Frames arrive whole or not at all, and what is not a frame is refused."""

import os
import struct
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from harness.sandbox.channel import ChannelLostError, ProtocolError, Receiver, Sender, is_plain


def sent(*calls):
    """Return the bytes that a sender writes."""
    reading, writing = os.pipe()
    chunks = []

    def read():
        while chunk := os.read(reading, 1 << 16):
            chunks.append(chunk)

    thread = threading.Thread(target=read)
    thread.start()
    sender = Sender(writing)
    for name, args, kwargs in calls:
        getattr(sender, name)(*args, **kwargs)
    os.close(writing)
    thread.join()
    os.close(reading)
    return b"".join(chunks)


def received(payload, step=None):
    receiver = Receiver()
    step = step or len(payload)
    chunks = [payload[start : start + step] for start in range(0, len(payload), step)]
    return [event for chunk in chunks for event in receiver.feed(chunk)]


arrays = hnp.arrays(
    dtype=st.one_of(
        hnp.integer_dtypes(),
        hnp.floating_dtypes(),
        hnp.boolean_dtypes(),
        hnp.complex_number_dtypes(),
    ),
    shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5),
)


@settings(max_examples=40, deadline=None)
@given(array=arrays, step=st.integers(1, 40), transposed=st.booleans())
def test_an_array_arrives_as_it_was_however_the_bytes_are_cut(array, step, transposed):
    array = array.T if transposed else array
    payload = sent(("array", ("a", array), {}), ("event", ("done",), {}))
    first, last = received(payload, step)
    assert last == {"event": "done"}
    assert first["name"] == "a"
    assert first["array"].dtype == array.dtype
    np.testing.assert_array_equal(first["array"], array)


def test_a_large_strided_array_is_sent_in_parts():
    array = np.arange(3_000_000, dtype=np.float32).reshape(1000, 3000)[::2, ::3]
    (event,) = received(sent(("array", ("a", array), {})), 1 << 16)
    np.testing.assert_array_equal(event["array"], array)


def test_half_a_frame_is_no_event():
    payload = sent(("event", ("value",), {"value": {"a": 1}}))
    assert received(payload[:-1]) == []


@pytest.mark.parametrize(
    "payload",
    [
        b"X" + b"\0" * 8,
        b"A" + struct.pack("<Q", 8) + b"\0" * 8,
        b"J" + struct.pack("<Q", 1 << 40),
        b"J" + struct.pack("<Q", 2) + b"{]",
        b"J" + struct.pack("<Q", 2) + b"[]",
        b"J" + struct.pack("<Q", 2) + b"{}",
    ],
)
def test_what_is_not_a_frame_is_refused(payload):
    with pytest.raises(ProtocolError):
        received(payload)


@pytest.mark.parametrize(
    ("dtype", "shape"),
    [("|O", [1]), ("<f8", [1 << 40]), ("<f8", [-1]), ("<f8", "x"), ("nonsense", [1]), ("V8", [1])],
)
def test_an_array_that_could_hurt_is_refused(dtype, shape):
    payload = sent(("event", ("array",), {"name": "a", "dtype": dtype, "shape": shape}))
    with pytest.raises(ProtocolError):
        received(payload)


def test_an_array_of_another_length_than_announced_is_refused():
    announced = sent(("event", ("array",), {"name": "a", "dtype": "<f8", "shape": [2]}))
    with pytest.raises(ProtocolError, match="8 bytes was not expected"):
        received(announced + b"A" + struct.pack("<Q", 8) + b"\0" * 8)


def test_a_closed_pipe_is_told_apart():
    reading, writing = os.pipe()
    os.close(reading)
    os.close(writing)
    with pytest.raises(ChannelLostError):
        Sender(writing).event("done")


def test_plain_arrays_are_numbers_truth_values_text_and_times():
    plain = [np.ones(1), np.array([True]), np.array(["a"]), np.array(["2020"], dtype="M8[D]")]
    assert all(is_plain(array) for array in plain)
    assert not any(is_plain(x) for x in ([1], np.array([{}]), np.zeros(1, dtype="i4,i4"), None))
