"""The parent's side of a trial: fork, attend to the child until it ends, tell how it ended.

The parent never waits for a child to finish a sentence: results, output and the child's end are
events of one loop, and the time limit is one of them.
"""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from threadpoolctl import ThreadpoolController

from harness.errors import HarnessError
from harness.sandbox import child, heap, isolation, peaks, prctl
from harness.sandbox import process_tree as tree
from harness.sandbox.backends import AUTO, choose
from harness.sandbox.cgroup import slack
from harness.sandbox.high_water_mark import pages_to_count
from harness.sandbox.limits import Limits, Result
from harness.sandbox.membership import Membership
from harness.sandbox.outcome import Ending, classify
from harness.sandbox.outer import OuterLimits
from harness.sandbox.prefault import Ranges, find_libraries, inherit_libraries
from harness.sandbox.rss_watch import Watch
from harness.sandbox.supervisor import Attendance
from harness.sandbox.trial_cgroup import Group

if TYPE_CHECKING:
    import numpy as np

    from harness.sandbox.isolation import Isolation
    from harness.sandbox.monitor import Monitor
    from harness.sandbox.timeline import Timeline

    Sampler = type[Timeline]
    Trial = Callable[[Monitor], tuple[dict[str, Any], dict[str, np.ndarray]]]


class Sandbox:
    """Runs callables in forked children under limits, one at a time.

    The process that makes one should have imported and warmed up what the callables need, hold
    BLAS and OpenMP at one thread, and start no processes while a trial runs: whatever becomes its
    child then is taken for the trial's and ended with it.

    Parameters
    ----------
    backend : str, default "auto"
        "cgroup-v2", "cgroup-v1", "rlimit-data", "watch", or the strongest of them that works.
    root : pathlib.Path, default /
        Where `proc` and the cgroup mounts are.
    isolation : Isolation or None, default None
        What confines the children, made by this process.
    beat : callable or None, default None
        Called now and then while a child runs, every five seconds at least.

    Raises
    ------
    HarnessError
        If the backend is unknown or not available.
    """

    def __init__(
        self,
        backend: str = AUTO,
        root: Path = Path("/"),
        isolation: Isolation | None = None,
        beat: Callable[[], None] | None = None,
    ) -> None:
        self._choice = choose(backend, root)
        self.backend = self._choice.name
        self._isolation = isolation
        self._beat = beat
        self._trials = 0
        self._idle: peaks.Idle | None = None
        self._threads: ThreadpoolController | None = None
        self._libraries: Ranges = []
        self._modules = -1
        self._closed = False
        self._filling = heap.Filling()
        self._outer = OuterLimits(root)
        prctl.become_subreaper()
        prctl.small_pages()
        heap.one_arena()
        heap.return_large()
        pages_to_count()
        self._settle()  # before this process hides its memory, even from itself

    def run(
        self,
        function: Trial,
        limits: Limits = Limits(),  # noqa: B008
        timeline: bool = False,
        kept: tuple[int, ...] = (),
    ) -> Result:
        """Run a callable in a child of its own.

        Parameters
        ----------
        function : callable Monitor -> (dict, dict of str to numpy.ndarray)
            A JSON object and arrays of plain dtype. It is called in the child, after the limits
            are set.
        limits : Limits
        timeline : bool, default False
            Whether to sample memory over time from outside, for a picture.
        kept : tuple of int, default ()
            Descriptors that stay open in the child; all others are closed to it.

        Returns
        -------
        Result
            Whatever the callable does, no process of it is left.

        Raises
        ------
        HarnessError
            If it cannot be started or limited here, or if a memory limit around this process, of
            a container or a scheduler's job, ended it: that says nothing about the callable.
        """
        if self._closed:
            raise HarnessError("this sandbox is closed")
        sampler = _import_sampler() if timeline else None
        if self._idle is None:
            self._idle = self._run(_nothing, Limits())[1]
        return self._run(function, limits, sampler, kept)[0]

    def close(self) -> None:
        """Take no more trials; let go of what the sandbox held in this process."""
        self._closed = True
        self._filling.release()
        gc.unfreeze()

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(
        self,
        function: Trial,
        limits: Limits,
        sampler: Sampler | None = None,
        kept: tuple[int, ...] = (),
    ) -> tuple[Result, peaks.Idle]:
        group = self._make_group(limits)
        try:
            return self._attend(function, limits, group, sampler, kept)
        finally:
            if group is not None:
                group.remove()
            if self._isolation is not None:
                self._isolation.clean()

    def _make_group(self, limits: Limits) -> Group | None:
        hierarchy = self._choice.hierarchy
        if hierarchy is None:
            return None
        self._trials += 1
        try:
            group = Group.make(hierarchy.version, hierarchy.base, str(self._trials))
            if limits.memory is not None:
                group.limit(limits.memory + slack(limits.memory))
        except OSError as error:
            raise HarnessError(
                f"a memory cgroup could not be made: {error.strerror} ({error.filename})"
            ) from error
        return group

    def _attend(
        self,
        function: Trial,
        limits: Limits,
        group: Group | None,
        sampler: Sampler | None,
        kept: tuple[int, ...],
    ) -> tuple[Result, peaks.Idle]:
        self._settle()
        others = tree.own_children()
        channel, channel_end = os.pipe()
        output, output_end = os.pipe()
        leave_end, leave = os.pipe()
        orders = child.Orders(
            parent=os.getpid(),
            channel=channel_end,
            output=output_end,
            group=group,
            isolation=self._isolation,
            limit_data=self._choice.limits_data,
            threads=self._threads,
            libraries=self._libraries,
            idle=self._idle,
            leave=leave_end,
            kept=kept,
        )
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError, AttributeError):
                stream.flush()
        self._outer.note()
        started = time.monotonic()
        try:
            pid = os.fork()
        except OSError as error:
            for descriptor in (channel, channel_end, output, output_end, leave_end, leave):
                os.close(descriptor)
            raise HarnessError(f"no process could be started: {error.strerror}") from error
        if pid == 0:
            child.run(function, limits, orders)
        os.close(channel_end)
        os.close(output_end)
        os.close(leave_end)
        processes = tree.Tree(pid, group, others)
        watch = None
        interval = self._choice.watch_interval
        if interval is not None and (limits.memory is not None or limits.uncounted):
            watch = Watch(pid, limits.memory, interval)
        attendance = Attendance(
            pid,
            channel,
            output,
            leave,
            deadline=None if limits.seconds is None else started + limits.seconds,
            idle=self._idle,
            group=group,
            watch=watch,
            membership=Membership(pid, group, others) if group else None,
            timeline=sampler(pid, started) if sampler else None,
            beat=self._beat,
            echo=2 if limits.command else None,
            limit=None if limits.memory is None else limits.memory + slack(limits.memory),
        )
        try:
            attendance.attend()
        finally:
            left, stuck = processes.end()
            attendance.finish()
            os.close(leave)
        seen = watch.most if watch and limits.uncounted else None
        return self._result(limits, group, attendance, processes, (left, stuck), started, seen)

    def _settle(self) -> None:
        """Make the parent fit to be forked; costly steps only when modules were imported since."""
        if len(sys.modules) != self._modules:
            self._modules = len(sys.modules)
            self._threads = ThreadpoolController()
            self._libraries = [] if inherit_libraries() else find_libraries()
            gc.collect()
            gc.freeze()
        self._filling.renew()

    def _result(
        self,
        limits: Limits,
        group: Group | None,
        attendance: Attendance,
        processes: tree.Tree,
        remains: tuple[int, int],
        started: float,
        seen: int | None,
    ) -> tuple[Result, peaks.Idle]:
        ended = time.monotonic()
        heard = attendance.heard
        last = attendance.last
        if group is not None and not heard.done:
            usage = group.usage()
            last = last.joined(peaks.Marks(group=usage.held_at_most if usage else None))
        asked = heard.measured or last.process is not None
        if not asked and heard.began and processes.most_resident is not None:
            process = max(0, processes.most_resident - heard.file - heard.held)
            if last.group is not None:
                process = min(process, last.group)
            last = last.joined(peaks.Marks(process=process))
        killed_for_memory = attendance.killed_for_memory
        if group is not None and not attendance.settled:
            killed_for_memory = group.killed_for_memory()
        marks = heard.marks.joined(last)
        idle = self._idle or peaks.Idle()
        descendants = heard.descendants or processes.adopted
        above = marks.less(idle.marks)
        figure, measured_by = peaks.combine(
            above,
            heard.copied,
            # the kernel stopped the group for all that is in it, so nothing of that is forgiven
            descendants=descendants or killed_for_memory,
            finished=asked,
            group_name=self._choice.name,
        )
        if seen is not None and (descendants or figure is None) and seen > (figure or 0):
            figure, measured_by = seen, "watch"
        forgiven = None
        of_group = group is not None and measured_by == self._choice.name
        if of_group and above.group is not None and figure is not None:
            forgiven = above.group - figure
        enforced_by = "none" if limits.memory is None else self._choice.enforced_by
        if limits.command and enforced_by != "none" and group is not None:
            enforced_by = self._choice.name
        ending = Ending(
            done=heard.done,
            failure=heard.failure,
            garbled=heard.garbled,
            timed_out=attendance.timed_out,
            status=processes.status,
            killed_for_memory=killed_for_memory,
            watched_over=attendance.watched_over,
            peak=figure,
            measured_by=measured_by,
            enforced_by=enforced_by,
            output=attendance.output,
            left=remains[0],
            stuck=remains[1],
            strays=attendance.strays or heard.left,
            uncounted=group is None and descendants and not limits.uncounted,
        )
        outcome, reason = classify(ending, limits)
        if self._ended_from_outside(ending, group, outcome):
            raise self._outer.error("this trial", limits.memory)
        ok = outcome == "ok"
        seconds, cpu_seconds = heard.charged(ended - started, processes.cpu_seconds, ended)
        result = Result(
            outcome=outcome,
            reason=reason,
            ended_by=_signal(ending) if outcome == "crashed" else None,
            value=heard.value if ok else None,
            arrays=heard.arrays if ok else {},
            baseline_bytes=heard.baseline,
            peak_bytes=figure,
            stages=heard.stages(idle.marks, last, forgiven, started, ended),
            seconds=seconds,
            cpu_seconds=cpu_seconds,
            enforced_by=enforced_by,
            measured_by=measured_by,
            isolation=self._isolation.name if self._isolation else isolation.NONE,
            output=attendance.output,
            timeline=attendance.samples,
            deliveries=heard.deliveries,
            afterwards=heard.afterwards if ok else None,
        )
        return result, peaks.Idle(marks, heard.copied or 0)

    def _ended_from_outside(self, ending: Ending, group: Group | None, outcome: str) -> bool:
        """Tell whether a memory limit around the sandbox ended the trial."""
        if group is not None and ending.killed_for_memory:
            return self._outer.ended(group)
        # neither a time limit nor the watch did it, and it is not known to be over its budget
        killed = outcome == "crashed" and ending.status == signal.SIGKILL
        return killed and self._outer.killed()


def _signal(ending: Ending) -> int | None:
    if ending.status is None or not os.WIFSIGNALED(ending.status):
        return None
    return os.WTERMSIG(ending.status)


def _import_sampler() -> Sampler:
    """Import it before the fork and only if asked for: it brings memory_profiler."""
    from harness.sandbox.timeline import Timeline

    return Timeline


def _nothing(monitor: Monitor) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    return {}, {}
