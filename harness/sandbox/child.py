"""The child's side of a trial: shut off, note the baseline, set the limit, call, report."""

from __future__ import annotations

import contextlib
import faulthandler
import gc
import os
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.sandbox import membership, peaks, prctl, rlimit, uncounted
from harness.sandbox import process_tree as tree
from harness.sandbox.channel import CHANNEL_LOST, ChannelLostError, Sender, is_plain
from harness.sandbox.high_water_mark import HighWaterMark
from harness.sandbox.monitor import Monitor, cpu_seconds
from harness.sandbox.prefault import map_pages
from harness.sandbox.refusal import is_refusal

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController

    from harness.sandbox.isolation import Isolation
    from harness.sandbox.limits import Limits
    from harness.sandbox.prefault import Ranges
    from harness.sandbox.trial_cgroup import Group

    Answer = tuple[dict[str, Any], dict[str, np.ndarray]]

_WARM = 384


@dataclass(frozen=True)
class Orders:
    """What the parent tells its child, by inheritance.

    Attributes
    ----------
    parent : int
    channel, output : int
        Descriptors of the pipes to the parent.
    group : Group or None
    isolation : Isolation or None
    limit_data : bool
        Whether to set `RLIMIT_DATA`.
    threads : ThreadpoolController
    libraries : list of (int, int)
        Where pages of files are to be mapped: nowhere if they are inherited.
    idle : Idle or None
        What a trial shows that does nothing; None if this is that trial.
    leave : int
        Descriptor of the pipe through which the parent lets the child go on once all is settled.
    kept : tuple of int
        Further descriptors that the callable may use.
    """

    parent: int
    channel: int
    output: int
    group: Group | None
    isolation: Isolation | None
    limit_data: bool
    threads: ThreadpoolController
    libraries: Ranges
    idle: peaks.Idle | None
    leave: int
    kept: tuple[int, ...] = ()


def run(function: Callable[[Monitor], Answer], limits: Limits, orders: Orders) -> None:
    """Be the child: call the function under its limits, report to the parent, and exit."""
    status = 1
    try:
        _shut_off(orders, limits.command)
        sender = Sender(orders.channel)
        mark = HighWaterMark()
        if orders.group is not None:
            orders.group.open()
        if orders.isolation is not None:
            orders.isolation.confine()  # before there are threads, which it would leave out
        _supervised(function, limits, orders, sender, mark)
        status = 0
    except ChannelLostError:
        status = CHANNEL_LOST
    except BaseException:  # the last barrier: nothing may return into the parent's code
        traceback.print_exc()
    finally:
        _flush()
        os._exit(status)


def _supervised(
    function: Callable[[Monitor], Answer],
    limits: Limits,
    orders: Orders,
    sender: Sender,
    mark: HighWaterMark,
) -> None:
    pid = os.getpid()
    _set_threads(orders.threads, limits.threads)
    resident = peaks.read_memory()
    # their page tables are not the trial's either, so before the group is entered
    map_pages(orders.libraries)
    if orders.group is not None:
        orders.group.enter()
    place = membership.place()
    own = mark.reset()
    start = peaks.read_memory()
    faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    sender.event(
        "baseline",
        # what an idle worker holds; of files it has mapped more or less, as it came to them
        bytes=resident.held if resident else 0,
        held=start.held if start else 0,
        file=start.file if start else 0,
    )
    monitor = Monitor(sender, orders.group, start if own else None, mark)
    if orders.group is not None:
        orders.group.reset_peak()
    limit_data = orders.limit_data and not limits.command
    if limit_data and limits.memory is not None and start is not None:
        rlimit.limit_data(start.data, limits.memory, limits.threads)
    alone = limits.memory is not None and orders.group is None and not limits.uncounted
    if alone:
        uncounted.refuse()
    answer, failure = None, None
    try:
        answer = function(monitor)
    except BaseException as error:
        failure = error
    if os.getpid() != pid:  # a process that the function forked came back here
        _flush()
        os._exit(0)
    if orders.limit_data:
        rlimit.lift()
    monitor.split()
    descendants = tree.has_children() or _had_children()
    # children of whom nobody hears are in no account
    descendants |= signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN
    process = monitor.total.process
    if monitor.command is not None:
        process, descendants = monitor.command
        # the parent takes the idle trial's mark off, which is not in a command's
        if process is not None and orders.idle is not None:
            process += orders.idle.marks.process or 0
    sender.event(
        "measured",
        process=process,
        group=monitor.total.group,
        copied=peaks.copied_pages(
            "self",
            start.held if start else 0,
            monitor.total,
            orders.idle,
            descendants,
            resource.getrusage(resource.RUSAGE_SELF).ru_minflt - faults,
        ),
        descendants=descendants,
        left=orders.group is not None and membership.place() != place,
    )
    if monitor.epilogue is not None:
        try:
            monitor.epilogue()
        except ChannelLostError:
            raise
        except Exception as error:
            failure = failure or error
    if failure is None:
        _send(answer, sender, more=monitor.afterwards is not None)
        if monitor.afterwards is not None and os.read(orders.leave, 1):
            _do_afterwards(monitor.afterwards, sender)
    else:
        advised = alone and uncounted.add_advice(failure)
        _send_failure(failure, sender, None if advised else orders.isolation)


def _shut_off(orders: Orders, terminal: bool) -> None:
    """Leave the parent's session, files and signal handlers behind."""
    gc.freeze()
    os.setsid()
    prctl.die_with(orders.parent)
    prctl.end_first()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGALRM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.set_wakeup_fd(-1)
    null = os.open(os.devnull, os.O_RDWR)
    if not terminal:
        os.dup2(null, 0)
        os.dup2(orders.output, 1)
    os.dup2(orders.output, 2)
    # Numbers stay taken, so that an old file object cannot close a new file of the same number.
    kept = {
        orders.channel,
        orders.leave,
        *orders.kept,
        null,
        orders.isolation.descriptor if orders.isolation else null,
    }
    for descriptor in _open_descriptors():
        if descriptor > 2 and descriptor not in kept:
            os.dup2(null, descriptor, inheritable=False)
    for name in ("stdout", "stderr"):
        target = 1 if name == "stdout" else 2
        stream = open(target, "w", buffering=1, closefd=False, errors="backslashreplace")  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    faulthandler.enable(file=2, all_threads=False)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    rlimit.small_stacks()


def _open_descriptors() -> list[int]:
    folder = Path("/proc/self/fd" if sys.platform == "linux" else "/dev/fd")
    return [int(entry.name) for entry in folder.iterdir()]


def _set_threads(controller: ThreadpoolController, threads: int) -> None:
    """Set and start the threads of BLAS and OpenMP, so that the baseline holds their buffers."""
    for library in controller.lib_controllers:
        if library.get_num_threads() != threads:
            library.set_num_threads(threads)
    if threads > 1:
        square = np.ones((_WARM, _WARM))
        np.dot(square, square)
        if "scipy.linalg.blas" in sys.modules:
            sys.modules["scipy.linalg.blas"].dgemm(1.0, square, square)


def _had_children() -> bool:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_minflt > 0 or usage.ru_utime + usage.ru_stime > 0


def _do_afterwards(function: Callable[[], dict[str, Any]], sender: Sender) -> None:
    started, cpu = time.monotonic(), cpu_seconds()
    value = function()
    seconds, cpu = time.monotonic() - started, cpu_seconds() - cpu
    sender.event("afterwards", value=value, seconds=seconds, cpu_seconds=cpu)


def _send(answer: Any, sender: Sender, more: bool) -> None:
    problem = _problem(answer)
    if not problem:
        value, arrays = answer
        try:
            sender.event("value", value=value)
        except (TypeError, ValueError, RecursionError) as error:
            problem = f"returned a value that is not JSON: {error}"
    if problem:
        sender.event("failed", kind="error", reason=problem)
        return
    for name, array in arrays.items():
        sender.array(name, array)
    sender.event("done", more=more, at=time.monotonic(), cpu_seconds=cpu_seconds())


def _problem(answer: Any) -> str:
    """Say what is wrong with the type of an answer; empty if nothing is."""
    wanted = "it must return (dict of JSON values, dict of arrays)"
    if not isinstance(answer, tuple) or len(answer) != 2:
        return f"returned {_type(answer)}; {wanted}"
    value, arrays = answer
    if not isinstance(value, dict) or not isinstance(arrays, dict):
        return f"returned ({_type(value)}, {_type(arrays)}); {wanted}"
    for name, array in arrays.items():
        if not isinstance(name, str):
            return f"returned an array named {name!r}; names must be text"
        if not isinstance(array, np.ndarray):
            return f"returned {_type(array)} as array {name!r}; {wanted}"
        if not is_plain(array):
            return f"returned array {name!r} of dtype {array.dtype}; only plain numbers or text"
    return ""


def _send_failure(failure: BaseException, sender: Sender, isolation: Isolation | None) -> None:
    _flush()
    # The first frame is this module's call of the function: nothing that its author can change.
    origin = failure.__traceback__.tb_next if failure.__traceback__ else None
    with contextlib.suppress(OSError, ValueError):  # it may have closed its output
        traceback.print_exception(type(failure), failure, origin)
    text = str(failure).strip()
    reason = f"{type(failure).__name__}: {text}" if text else type(failure).__name__
    kind = "memory" if is_refusal(failure) else "error"
    notes = [*getattr(failure, "__notes__", []), isolation.advice(failure) if isolation else ""]
    sender.event(
        "failed",
        kind=kind,
        reason=" ".join([reason[:2000], *map(str, filter(None, notes))])[:2500],
    )


def _type(value: Any) -> str:
    return "None" if value is None else f"a {type(value).__name__}"


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
