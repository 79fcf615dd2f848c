"""The labels of a stream, held by the worker: those of a chunk are told once it was predicted.

A trial hands its predictions in through a socket of its own. A chunk whose predictions are not
there, or are not of its length, ends the dialogue: nothing is told any more.
"""

from __future__ import annotations

import contextlib
import socket
from typing import Any

import numpy as np

from harness.datasets.streams import Stream
from harness.sandbox.channel import ProtocolError, Receiver

_CHUNK_BYTES = 1 << 18
_PATIENCE = 30.0
"""Seconds that a trial may take to read the labels of a chunk."""
_BESIDE = 1 << 20
"""Bytes that may come with a chunk besides its predictions."""


class LabelRelease:
    """Tells the labels of one stream to one trial, chunk by chunk.

    Parameters
    ----------
    stream : Stream
    y : ndarray, shape (n,)
        Of each point of the stream, in their order, as a trial gets them: -1 or NaN where a label
        is never told.
    columns : int
        Columns of scores at most.

    Attributes
    ----------
    chunks : list of dict of str to ndarray
        What was predicted for each chunk that is scored, as far as the trial came.
    points : list of (int, dict)
        Points of the curve that the trial gave, each with its chunk.
    refused : str
        Why nothing is told any more; empty if it is.
    """

    def __init__(self, stream: Stream, y: np.ndarray, columns: int) -> None:
        self.stream, self._y = stream, y
        self.chunks: list[dict[str, np.ndarray]] = []
        self.points: list[tuple[int, dict[str, Any]]] = []
        self.refused = ""
        self._most = stream.chunk * (8 * columns + 16) + _BESIDE
        self._receiver = Receiver()
        self._parts: list[dict[str, np.ndarray]] = []
        self._got = self._closed = 0
        self._socket: socket.socket | None = None

    def open(self) -> socket.socket:
        """Begin anew, and return the trial's end of the dialogue."""
        self.close()
        self._socket, theirs = socket.socketpair()
        self._socket.settimeout(_PATIENCE)
        return theirs

    def close(self) -> None:
        """End the dialogue."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None

    @property
    def waited(self) -> list[socket.socket]:
        """What to wait for: nothing once the dialogue has ended."""
        return [] if self._socket is None else [self._socket]

    def serve(self) -> None:
        """Take what has come, and tell what is due for it."""
        if self._socket is None:
            return
        content = b""
        with contextlib.suppress(OSError):
            content = self._socket.recv(_CHUNK_BYTES)
        if not content:
            self.close()
            return
        self._got += len(content)
        try:
            for event in self._receiver.feed(content):
                self._take(event)
            if self._got > self._most:
                raise ProtocolError("more came than the predictions of a chunk")
        except (ProtocolError, KeyError, TypeError, ValueError) as error:
            self.refused = f"chunk {self._closed + 1}: {error}"
            self.close()
        except OSError:  # the trial is gone, or does not read
            self.close()

    def _take(self, event: dict[str, Any]) -> None:
        if event["event"] == "array":
            self._parts.append({str(event["name"]): event["array"]})
            return
        if event["event"] != "delivery":
            raise ProtocolError(f"an event {str(event['event'])[:40]!r} was not expected")
        number, predicted = self._closed, _joined(self._parts)
        if number >= self.stream.n_chunks:
            raise ProtocolError("there is no further chunk")
        place = self.stream.of_chunk(number)
        n = place.stop - place.start
        if number >= self.stream.first_scored:
            lengths = {name: len(values) for name, values in predicted.items()}
            if not predicted or set(lengths.values()) != {n}:
                raise ProtocolError(f"predicted {lengths or 'nothing'} where it has {n} points")
            self.chunks.append(predicted)
            if event["value"]:
                self.points.append((number, dict(event["value"])))
        elif predicted:
            raise ProtocolError("predictions came before anything was told")
        self._parts, self._got, self._closed = [], 0, number + 1
        told = number - self.stream.delay
        if told >= 0 and self._socket is not None:
            self._socket.sendall(np.ascontiguousarray(self._y[self.stream.of_chunk(told)]).data)

    def predictions(self) -> dict[str, np.ndarray]:
        """Return what was predicted for all chunks, as far as every one of them has it."""
        return joined_chunks(self.chunks)


def joined_chunks(chunks: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Join predictions of chunks; a kind that some chunk lacks is left out."""
    if not chunks:
        return {}
    kinds = set.intersection(*(set(chunk) for chunk in chunks))
    return {name: np.concatenate([chunk[name] for chunk in chunks]) for name in sorted(kinds)}


def _joined(parts: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """Join the parts of one chunk, kind by kind."""
    found: dict[str, list[np.ndarray]] = {}
    for part in parts:
        for name, values in part.items():
            found.setdefault(name, []).append(values)
    return {name: np.concatenate(values) for name, values in found.items()}
