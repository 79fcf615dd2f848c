"""Attending to a running child: one loop for results, output, its end and its time limit."""

from __future__ import annotations

import contextlib
import fcntl
import os
import selectors
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from harness.sandbox import peaks
from harness.sandbox import process_tree as tree
from harness.sandbox.channel import ProtocolError, Receiver
from harness.sandbox.child_events import Heard
from harness.sandbox.limits import OUTPUT_BYTES

if TYPE_CHECKING:
    from harness.sandbox.membership import Membership
    from harness.sandbox.rss_watch import Watch
    from harness.sandbox.timeline import Timeline
    from harness.sandbox.trial_cgroup import Group

_CHUNK = 1 << 18
_MOST_READS = 64  # a pipe holds 1 MB; more would come from a writer that could not be killed
_LOOK = 0.005
_BEAT = 5.0
_AFTERWARDS = 60.0
"""Seconds that a child has for what it does when its outcome is settled."""
_TO_TELL = 2.0
"""Seconds in which a trial may end by itself, and say why, once a process of it was killed."""
_ROOM = 64_000_000
"""Bytes that it may then hold above its limit: a job has more beside its budget."""


class Attendance:
    """Stays with one child until it ends, is out of time, or is seen above its budget.

    Parameters
    ----------
    pid : int
    channel, output : int
        The parent's ends of the pipes; closed by `finish`.
    leave : int
        The parent's end of the pipe that lets a child go on once all is settled.
    deadline : float or None
        On the monotonic clock.
    idle : Idle or None
        What a trial shows that does nothing.
    group : Group or None
    watch : Watch or None
    membership : Membership or None
    timeline : Timeline or None
    beat : callable or None, default None
        Called now and then, every five seconds at least.
    echo : int or None, default None
        Where to pass the child's output on as it comes.
    limit : int or None, default None
        The memory limit of `group`.

    Attributes
    ----------
    settled : bool
        Whether the child was let go on: nothing that happens since changes its outcome.
    killed_for_memory : bool
        Whether the kernel had killed a process of `group` by then.
    """

    def __init__(
        self,
        pid: int,
        channel: int,
        output: int,
        leave: int,
        deadline: float | None,
        idle: peaks.Idle | None,
        group: Group | None,
        watch: Watch | None,
        membership: Membership | None,
        timeline: Timeline | None,
        beat: Callable[[], None] | None = None,
        echo: int | None = None,
        limit: int | None = None,
    ) -> None:
        self.heard = Heard()
        self.settled = False
        self.killed_for_memory = False
        self.timed_out = False
        self.watched_over = False
        self.strays = False
        self.last = peaks.Marks()
        self._robbed_since: float | None = None
        self._pid = pid
        self._channel = channel
        self._output = output
        self._leave = leave
        self._limit = limit
        self._deadline = deadline
        self._idle = idle
        self._group = group
        self._watch = watch
        self._membership = membership
        self._timeline = self._sampler = timeline
        self._beat = beat
        self._echo = echo
        self._receiver = Receiver()
        self._tail = bytearray()
        for descriptor in (channel, output):
            os.set_blocking(descriptor, False)
            with contextlib.suppress(OSError, AttributeError):
                fcntl.fcntl(descriptor, fcntl.F_SETPIPE_SZ, 1 << 20)

    @property
    def output(self) -> str:
        """The end of what the child printed."""
        return self._tail.decode(errors="replace")

    @property
    def samples(self) -> list[tuple[float, int]]:
        """The timeline, if one was asked for."""
        return self._sampler.samples if self._sampler else []

    def attend(self) -> None:
        """Stay until the child has ended or must be ended."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._channel, selectors.EVENT_READ, self._hear)
            selector.register(self._output, selectors.EVENT_READ, self._keep)
            pidfd = _pidfd(self._pid)
            if pidfd is not None:
                selector.register(pidfd, selectors.EVENT_READ, None)
            try:
                self._loop(selector, pidfd)
            finally:
                if pidfd is not None:
                    os.close(pidfd)

    def finish(self) -> None:
        """Read what the pipes still hold once all writers are gone, and close them."""
        for descriptor, reader in ((self._channel, self._hear), (self._output, self._keep)):
            for _ in range(_MOST_READS):
                if not reader():
                    break
            os.close(descriptor)

    def _loop(self, selector: selectors.BaseSelector, pidfd: int | None) -> None:
        while True:
            if self._beat:
                self._beat()
            ready = selector.select(self._patience(pidfd))
            ended = False
            for key, _ in ready:
                if key.data is None:
                    ended = True
                elif not key.data():
                    selector.unregister(key.fd)
            if pidfd is None and tree.has_ended(self._pid):
                ended = True
            if self.heard.garbled or ended:
                return
            if self._must_stop():
                if not self.settled:
                    self._last_look()
                return
            if self._timeline and self.heard.began and time.monotonic() >= self._timeline.due:
                self._timeline.sample(self.heard.held)

    def _patience(self, pidfd: int | None) -> float | None:
        due = [self._deadline] if self._deadline is not None else []
        if self._watch:
            due.append(self._watch.due)
        if self._membership and self.heard.began:
            due.append(self._membership.due)
        if self._timeline and self.heard.began:
            due.append(self._timeline.due)
        if pidfd is None:
            due.append(time.monotonic() + _LOOK)
        if self._beat:
            due.append(time.monotonic() + _BEAT)
        return max(0.0, min(due) - time.monotonic()) if due else None

    def _must_stop(self) -> bool:
        now = time.monotonic()
        if self.settled:
            return self._deadline is not None and now >= self._deadline
        if self._deadline is not None and now >= self._deadline:
            self.timed_out = True
        elif self._watch and self.heard.began and now >= self._watch.due:
            self.watched_over = self._watch.exceeded()
        if self._membership and self.heard.began and now >= self._membership.due:
            self.strays = self._membership.has_strays()
            if self._robbed_since is None and self._group and self._group.killed_for_memory():
                self._robbed_since = now
        # it may wait for ever for a process of its own that the kernel killed
        waits = self._robbed_since is not None and now >= self._robbed_since + _TO_TELL
        return self.timed_out or self.watched_over or self.strays or waits

    def _last_look(self) -> None:
        """Read the peak of a child that is about to be killed."""
        memory = peaks.read_memory(self._pid)
        if memory is None or not self.heard.began:
            return
        usage = self._group.usage() if self._group else None
        self.last = peaks.Marks(
            process=max(0, memory.held_at_most(self.heard.file) - self.heard.held),
            group=usage.held_at_most if usage else None,
        )
        self.heard.descendants = bool(tree.children_of(self._pid))
        self.heard.copied = peaks.copied_pages(
            self._pid,
            self.heard.held,
            self.heard.marks.joined(self.last),
            self._idle,
            self.heard.descendants,
            faults=sys.maxsize,
        )

    def _hear(self) -> bool:
        """Read results; False if there is nothing more to expect."""
        chunk = _read(self._channel)
        if not chunk:
            return chunk is None
        if self.heard.garbled:
            return True
        began, measured = self.heard.began, self.heard.measured
        try:
            for event in self._receiver.feed(chunk):
                self.heard.take(event)
        except ProtocolError as error:
            self.heard.garbled = str(error)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError):
            self.heard.garbled = "an unknown event"
        if self._watch and self.heard.began and not began:
            self._watch.start(self.heard.held)
        if self._membership and self.heard.measured and not measured:
            self.strays |= self._membership.has_strays()
        if self.heard.done and self.heard.more and not self.settled:
            self._settle()
        return True

    def _settle(self) -> None:
        """Note what decides the outcome, and let the child go on beyond its limits."""
        self.settled = True
        self._deadline = time.monotonic() + _AFTERWARDS
        self._watch = self._membership = self._timeline = None
        if self._group is not None:
            self.killed_for_memory = self._group.killed_for_memory()
            if self._limit is not None:
                self._group.raise_limit(self._limit + _ROOM)
        with contextlib.suppress(OSError):  # it may have ended already
            os.write(self._leave, b"1")

    def _keep(self) -> bool:
        """Read output; False if there is nothing more to expect."""
        chunk = _read(self._output)
        if not chunk:
            return chunk is None
        if self._echo is not None:
            with contextlib.suppress(OSError):
                os.write(self._echo, chunk)
        self._tail += chunk
        del self._tail[:-OUTPUT_BYTES]
        return True


def _read(descriptor: int) -> bytes | None:
    """Read what is there: None if nothing is yet, empty if nothing will be."""
    try:
        return os.read(descriptor, _CHUNK)
    except BlockingIOError:
        return None
    except OSError:
        return b""


def _pidfd(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except (AttributeError, OSError):
        return None
