"""How a child tells its parent what happened: JSON and the bytes of plain arrays over a pipe.

A frame is a kind (1 byte), a length (8 bytes) and that many bytes. Kind J is a JSON object, kind A
the elements of the array that the J frame before it announced. Nothing is ever unpickled, every
length is checked before it is believed, and the reader never waits for the rest of a frame.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

_HEAD = struct.Struct("<cQ")
_PLAIN_KINDS = "biufcSUmM"
_MAX_JSON = 64 << 20
_MAX_ARRAY = 4 << 30
_ROWS = 1 << 20


CHANNEL_LOST = os.EX_IOERR
"""Exit status of a child whose pipe was closed under it."""


class ProtocolError(Exception):
    """What arrived is not a frame."""


class ChannelLostError(Exception):
    """The pipe to the parent is closed."""


class Sender:
    """The child's end.

    Parameters
    ----------
    descriptor : int
        A blocking pipe, open for writing.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def event(self, event: str, **fields: Any) -> None:
        """Send a JSON object; numpy scalars become numbers, NaN stays NaN.

        Raises
        ------
        TypeError, ValueError
            If a field has no JSON form.
        """
        payload = json.dumps({"event": event, **fields}, default=_plain).encode()
        self._frame(b"J", payload)

    def array(self, name: str, array: np.ndarray) -> None:
        """Send an array of a plain dtype, without a copy if its rows are contiguous."""
        shape = list(array.shape)
        self.event("array", name=name, dtype=array.dtype.str, shape=shape)
        self._write(_HEAD.pack(b"A", array.nbytes))
        if array.nbytes == 0:
            return
        if array.flags.c_contiguous:
            self._write(array.reshape(-1).view(np.uint8).data)
            return
        rows = max(1, _ROWS * shape[0] // array.nbytes)
        for start in range(0, shape[0], rows):
            self._write(np.ascontiguousarray(array[start : start + rows]).tobytes())

    def _frame(self, kind: bytes, payload: bytes) -> None:
        self._write(_HEAD.pack(kind, len(payload)) + payload)

    def _write(self, payload: Any) -> None:
        rest = memoryview(payload)
        while rest:
            try:
                rest = rest[os.write(self._descriptor, rest) :]
            except OSError as error:
                raise ChannelLostError(error.strerror) from error


class Receiver:
    """The parent's end: fed with whatever has arrived, it gives the events that are complete.

    An array is given as an event "array" with `name` and `array`.
    """

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._announced: dict[str, Any] | None = None

    def feed(self, chunk: bytes) -> Iterator[dict[str, Any]]:
        """Add bytes and give every event that they complete.

        Raises
        ------
        ProtocolError
            If they are not frames.
        """
        self._buffer += chunk
        while len(self._buffer) >= _HEAD.size:
            kind, length = _HEAD.unpack_from(self._buffer)
            self._check(kind, length)
            end = _HEAD.size + length
            if len(self._buffer) < end:
                return
            whole = self._buffer
            if len(whole) == end:
                self._buffer = bytearray()
            else:
                self._buffer = whole[end:]
                del whole[end:]
            event = self._decode(whole)
            if event is not None:
                yield event

    def _check(self, kind: bytes, length: int) -> None:
        if self._announced is None:
            valid = kind == b"J" and length <= _MAX_JSON
        else:
            valid = kind == b"A" and length == self._announced["nbytes"]
        if not valid:
            raise ProtocolError(f"a frame {kind!r} of {length} bytes was not expected")

    def _decode(self, frame: bytearray) -> dict[str, Any] | None:
        announced, self._announced = self._announced, None
        if announced is not None:
            array = np.frombuffer(frame, announced["dtype"], offset=_HEAD.size)
            array = array.reshape(announced["shape"])
            return {"event": "array", "name": announced["name"], "array": array}
        try:
            event = json.loads(frame[_HEAD.size :])
            name = event["event"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ProtocolError("a frame is not a JSON event") from error
        if name != "array":
            return event
        self._announced = _announcement(event)
        return None


def is_plain(array: Any) -> bool:
    """Tell whether something is an array that can be sent: numbers, truth values, text, times."""
    return isinstance(array, np.ndarray) and array.dtype.kind in _PLAIN_KINDS


def _announcement(event: dict[str, Any]) -> dict[str, Any]:
    try:
        dtype = np.dtype(str(event["dtype"]))
        shape = tuple(int(length) for length in event["shape"])
        name = str(event["name"])
    except (KeyError, TypeError, ValueError, SyntaxError) as error:
        raise ProtocolError("an array was announced without a dtype or shape") from error
    nbytes = dtype.itemsize
    for length in shape:
        nbytes *= length
    if dtype.kind not in _PLAIN_KINDS or min(shape, default=0) < 0 or nbytes > _MAX_ARRAY:
        raise ProtocolError(f"an array of dtype {dtype} and shape {shape} is not accepted")
    return {"name": name, "dtype": dtype, "shape": shape, "nbytes": nbytes}


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a {type(value).__name__} has no JSON form")
