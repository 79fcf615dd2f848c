"""The runner: a process that has a method but no label, and forks a child for each trial."""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import socket
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import psutil

from harness.errors import HarnessError
from harness.trial.reach import ISOLATION
from harness.trial.warm_up import warm_up

if TYPE_CHECKING:
    from multiprocessing.connection import Connection

    from harness.jobs.label_release import LabelRelease
    from harness.sandbox import Limits, Reach, Result
    from harness.trial.assignment import Assignment

_LOOK = 1.0
_MOST_SILENT = 60
"""Looks without a sign of life, which comes every five seconds, before the process is given up."""

_PATIENCE = 5.0

_MARK = b"."
"""What descriptors are sent with."""


class TrialRunner:
    """The process that forks trials, seen from the worker.

    What plugins provide are functions and classes that need not pickle; the runner has them from
    the fork, so only plain data cross the pipe.

    Parameters
    ----------
    enforcement : str
        How budgets are enforced: a backend's name, or "auto".
    reach : Reach
        What of the file system its trials may reach.
    provided : sequence of mapping
        For each kind of trial, fields of its assignments that only the fork can hand over.
    sparse : bool, default False
        Whether the trials have sparse data.

    Attributes
    ----------
    isolation : str
        What confines the trials, as `Isolation.name` says.
    lost : str
        What a trial did to the process; empty unless `run` returned None.

    Raises
    ------
    HarnessError
        If budgets or confinement cannot be had as they are asked for.
    """

    def __init__(
        self,
        enforcement: str,
        reach: Reach,
        provided: Sequence[Mapping[str, Any]],
        sparse: bool = False,
    ) -> None:
        from harness.sandbox import prctl
        from harness.sandbox import process_tree as tree
        from harness.sandbox.outer import OuterLimits

        prctl.become_subreaper()  # what a dead runner leaves becomes ours, to be ended
        self._others = tree.own_children()
        self._provided = [frozenset(fields) for fields in provided]
        self.lost = ""
        context = multiprocessing.get_context("fork")
        self._connection, theirs = context.Pipe()
        arguments = (theirs, self._connection, os.getpid(), enforcement, reach, provided, sparse)
        self._process = context.Process(target=_serve, args=arguments, daemon=True)
        self._process.start()
        theirs.close()
        refused, self.isolation = self._connection.recv()
        if refused:
            raise HarnessError(refused)
        self._outer = OuterLimits()

    @property
    def alive(self) -> bool:
        """Whether the process is there: a trial may have killed it."""
        return self._process.is_alive()

    def run(
        self,
        assignment: Assignment,
        limits: Limits,
        timeline: bool,
        kind: int = 0,
        release: LabelRelease | None = None,
    ) -> Result | None:
        """Run one trial; None if it took the runner down with it.

        Parameters
        ----------
        assignment : Assignment
        limits : Limits
        timeline : bool
            Whether a picture of its memory is wanted.
        kind : int, default 0
            Position in `provided`.
        release : LabelRelease, optional
            What tells the labels of a stream.

        Raises
        ------
        HarnessError
            If a trial cannot be started or limited here, or a memory limit around this process
            ended it or the runner.
        """
        self._outer.note()
        plain = {
            field.name: getattr(assignment, field.name)
            for field in fields(assignment)
            if field.name not in self._provided[kind]
        }
        try:
            with contextlib.ExitStack() as stack:
                theirs = [stack.enter_context(release.open())] if release is not None else []
                _hand_over(self._connection, (plain, limits, timeline, kind, len(theirs)), theirs)
            answer = self._answer(release)
        except (EOFError, ConnectionError):
            self.lost = "killed the process that runs trials"
            self._process.join()
            if self._outer.killed():
                raise self._outer.error("the process that runs trials", limits.memory) from None
        if self.lost:
            self._end_all()
            return None
        if isinstance(answer, str):
            raise HarnessError(answer)
        return answer

    def _answer(self, release: LabelRelease | None) -> Any:
        """Wait for an answer, or for a sign that there will be none, which `lost` then tells.

        Meanwhile labels are told.

        Only looks are counted, not seconds: what stops the whole study stops this too.
        """
        silent = stopped = 0
        while silent < _MOST_SILENT and stopped < 2:
            waited: list[Any] = [self._connection]
            waited += release.waited if release is not None else []
            ready = multiprocessing.connection.wait(waited, _LOOK)
            if release is not None and self._connection not in ready and ready:
                release.serve()
            elif not ready:
                silent += 1
                stopped = stopped + 1 if _is_stopped(self._process.pid) else 0
            elif (answer := self._connection.recv()) is not None:
                return answer
            else:
                silent = 0
        self.lost = "stopped the process that runs trials"
        return None

    def _end_all(self) -> None:
        """End the process, its trial and whatever that has left."""
        from harness.sandbox import process_tree as tree

        self._process.kill()
        self._process.join()
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            left = tree.children_of(os.getpid()).keys() - self._others
            if not left:
                return
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            time.sleep(0.01)

    def stop(self) -> None:
        """End the process."""
        if self.alive:
            self._connection.send(None)
        self._process.join()


def _is_stopped(pid: int | None) -> bool:
    if pid is None:
        return False
    try:
        return psutil.Process(pid).status() in (psutil.STATUS_STOPPED, psutil.STATUS_TRACING_STOP)
    except psutil.Error:
        return False


def _serve(
    connection: Connection,
    workers_end: Connection,
    worker: int,
    enforcement: str,
    reach: Reach,
    provided: Sequence[Mapping[str, Any]],
    sparse: bool,
) -> None:
    from harness.sandbox import Isolation, Sandbox, prctl
    from harness.trial.assignment import Assignment
    from harness.trial.run import run_trial

    # else the pipe would stay open here, and the end of the worker would go unnoticed
    workers_end.close()
    prctl.die_with(worker)
    try:
        # first of all: the kernel gives namespaces to processes of one thread
        isolation = Isolation(reach, os.environ.get(ISOLATION, "auto"))
        warm_up(sparse)
        sandbox = Sandbox(enforcement, isolation=isolation, beat=_beat(connection))
    except HarnessError as error:
        connection.send((str(error), ""))
        return
    prctl.hide_memory()
    connection.send(("", isolation.name))
    with sandbox, contextlib.suppress(EOFError):
        while (work := connection.recv()) is not None:
            (plain, limits, timeline, kind, many), labels = _take_over(connection, *work)
            kept = _take_descriptors(connection, many)
            assignment = Assignment(**plain, **provided[kind])
            if kept:
                assignment = replace(assignment, dialogue=kept[0])
            try:
                result = sandbox.run(partial(run_trial, assignment), limits, timeline, kept)
            except HarnessError as error:  # the machine's failure, which is no row of a method
                connection.send(str(error))
                return
            finally:
                for descriptor in kept:
                    os.close(descriptor)
            for buffer in labels:
                buffer[:] = bytes(len(buffer))
            connection.send(result)


def _hand_over(connection: Connection, work: object, ends: Sequence[socket.socket] = ()) -> None:
    """Send an object, the contents of its arrays apart, and then open ends of connections.

    Labels that one seed shows are hidden from another, and the next trial inherits the memory of
    the process that this is sent to. Pickled with the rest they would be copied on their way, and
    stay in freed blocks.
    """
    arrays: list[pickle.PickleBuffer] = []
    rest = pickle.dumps(work, protocol=5, buffer_callback=arrays.append)
    contents = [array.raw() for array in arrays]
    connection.send((rest, [content.nbytes for content in contents]))
    with socket.socket(fileno=os.dup(connection.fileno())) as pipe:
        for content in contents:
            pipe.sendall(content)
        if ends:
            socket.send_fds(pipe, [_MARK], [end.fileno() for end in ends])


def _take_over(
    connection: Connection, rest: bytes, sizes: list[int]
) -> tuple[Any, list[bytearray]]:
    """Receive what `_hand_over` sends, and all buffers with the contents of its arrays."""
    buffers = [bytearray(size) for size in sizes]
    with socket.socket(fileno=os.dup(connection.fileno())) as pipe:
        for buffer in buffers:
            left = memoryview(buffer)
            while left:
                received = pipe.recv_into(left)
                if not received:
                    raise EOFError
                left = left[received:]
    return pickle.loads(rest, buffers=buffers), buffers


def _take_descriptors(connection: Connection, many: int) -> tuple[int, ...]:
    """Receive the ends that `_hand_over` sends after all else."""
    if not many:
        return ()
    with socket.socket(fileno=os.dup(connection.fileno())) as pipe:
        _, descriptors, _, _ = socket.recv_fds(pipe, len(_MARK), many)
    return tuple(descriptors)


def _beat(connection: Connection) -> Callable[[], None]:
    """Make what tells the worker, once in a second at most, that a trial is attended to."""
    last = time.monotonic()

    def beat() -> None:
        nonlocal last
        if time.monotonic() - last >= _LOOK:
            last = time.monotonic()
            connection.send(None)

    return beat
