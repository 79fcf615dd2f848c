"""Memory limits around the harness, and whether one of them ended a process of its.

A container, a scheduler's job or the machine may have less memory than a trial was promised. The
kernel then kills a process, most likely the trial, and counts that in the trial's own group,
although the trial kept within its limit. That is no result of a method: such a trial has no row.

Whose limit was it? v2 counts `oom` in the group that was full. v1 has no such counter, but tells
who asked (`cgroup.event_control`) that a group, or one around it, was full. Where that is not
permitted, a group that was never at its own limit (`memory.failcnt`) was not full either.

A process without a group of its own was killed for want of memory if SIGKILL ended it and the
group that holds it, or else the machine, counts one such kill more.
"""

from __future__ import annotations

import contextlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from harness.errors import HarnessError
from harness.sandbox import cgroup
from harness.sandbox.trial_cgroup import counter
from harness.study.budget import JOB_BYTES
from harness.units import format_bytes

if TYPE_CHECKING:
    from harness.sandbox.trial_cgroup import Group

_VMSTAT = re.compile(r"^oom_kill (\d+)$", re.MULTILINE)
_UNLIMITED = 1 << 62
_BATCH = 1 << 20
_MACHINE = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE")


@dataclass(frozen=True)
class _Level:
    """A group around this process: its folder, its name, and its limit in bytes."""

    folder: Path
    name: str
    limit: int
    version: int

    @property
    def hits(self) -> int:
        """How often it was full."""
        if self.version == 1:
            return _number(self.folder / "memory.failcnt", 0)
        return counter(self.folder / "memory.events.local", "oom")

    @property
    def was_filled(self) -> bool:
        """Whether it ever was: v1 does not count hits of a limit on memory with swap."""
        most = _number(self.folder / "memory.max_usage_in_bytes", 0)
        return self.version == 1 and most >= self.limit - _BATCH


class OuterLimits:
    """The memory limits around this process.

    Parameters
    ----------
    root : pathlib.Path, default /
        Where `proc` and the mounts of the machine are.
    """

    def __init__(self, root: Path = Path("/")) -> None:
        self._root = root
        self._levels = _levels(root)
        self._full = _notification(self._levels[0].folder) if self._levels else None
        self.note()

    def note(self) -> None:
        """Take note of all counters: a process is about to start."""
        if self._full is not None:
            _read(self._full)
        self._kills = self._killed()
        self._hits = {level: level.hits for level in self._levels}

    def ended(self, group: Group) -> bool:
        """Tell whether a process of a trial's group was killed for another group's limit."""
        if not group.killed_for_memory():
            return False
        if not group.was_full():
            return True
        return self._full is not None and _read(self._full)

    def killed(self) -> bool:
        """Tell whether a process beside this one was killed for want of memory since `note`."""
        return self._killed() > self._kills

    def error(self, what: str, budget: int | None) -> HarnessError:
        """Say which limit ended something, and how much a job should reserve.

        Parameters
        ----------
        what : str
            What was ended: "this trial".
        budget : int or None
            Bytes of the trial.
        """
        beside = f" beside the budget of {format_bytes(budget)}" if budget else " beside its data"
        return HarnessError(
            f"{self.to_blame()}, outside of the harness, was reached, and the kernel ended "
            f"{what}: it has no row and is run again next time. "
            f"Reserve at least {format_bytes(JOB_BYTES)}{beside}."
        )

    def to_blame(self) -> str:
        """Name the limit that was reached since `note`."""
        struck = [level for level in self._levels if level.hits > self._hits[level]]
        struck = struck or [level for level in self._levels if level.was_filled]
        level = min(struck, key=lambda level: level.limit, default=None)
        if level is None:
            return f"the memory of this machine ({format_bytes(_MACHINE)})"
        return f"the limit of {format_bytes(level.limit)} of the memory cgroup {level.name}"

    def _killed(self) -> int:
        """Count kills for want of memory in the group of this process, or else on the machine."""
        for level in self._levels[:1]:
            name = "memory.oom_control" if level.version == 1 else "memory.events.local"
            with contextlib.suppress(OSError):
                (level.folder / name).read_text()
                # a worker may have moved this process, and what it started, since
                folders = (level.folder, level.folder / cgroup.LEAF)
                return sum(counter(folder / name, "oom_kill") for folder in folders)
        try:
            found = _VMSTAT.search((self._root / "proc/vmstat").read_text())
        except OSError:
            return 0
        return int(found[1]) if found else 0


def _levels(root: Path) -> list[_Level]:
    """Return the groups that hold this process, its own first, and no root of a hierarchy."""
    for version in (2, 1):
        try:
            own, mount = cgroup.locate(version, root)
        except cgroup.UnavailableError:
            continue
        file = "memory.limit_in_bytes" if version == 1 else "memory.max"
        levels = []
        for folder in (own, *own.parents):
            if (folder / file).exists():
                name = f"/{folder.relative_to(mount)}" if folder != mount else "/"
                levels.append(_Level(folder, name, _number(folder / file, _UNLIMITED), version))
            if folder == mount:
                break
        if levels:
            return levels
    return []


def _number(path: Path, otherwise: int) -> int:
    """Read a number, or take another where it cannot be read or is none ("max")."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return otherwise


def _notification(folder: Path) -> int | None:
    """Ask v1 to be told when this group, or one around it, is full; None where that cannot be."""
    control = folder / "cgroup.event_control"
    if not control.exists():
        return None
    try:
        event = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        with (folder / "memory.oom_control").open("rb") as oom:
            control.write_text(f"{event} {oom.fileno()}")
    except (AttributeError, OSError):
        return None
    return event


def _read(event: int) -> bool:
    """Tell whether a notification came since the last one was read."""
    try:
        return os.eventfd_read(event) > 0
    except BlockingIOError:
        return False
