"""The memory cgroup of one trial: entering, limiting, reading its peak, killing, removing."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from dataclasses import dataclass
from pathlib import Path

PREFIX = "harness-trial-"
_SWAP = 1 << 20
_SUM = re.compile(r"^(\w+) (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Usage:
    """What a group has used, in bytes.

    Attributes
    ----------
    peak : int
        The most since the last reset, page cache included.
    cache : int
        Page cache of now, which is no trial's memory; shared memory is not among it.
    shared : int
        Shared memory of now, mapped or not.
    """

    peak: int
    cache: int
    shared: int

    @property
    def held_at_most(self) -> int:
        """The peak without page cache; low by what was read after it."""
        return max(0, self.peak - self.cache)


def counter(path: Path, name: str) -> int:
    """Read one counter of a file that holds a name and a number a line; 0 if there is none."""
    try:
        found = dict(_SUM.findall(path.read_text()))
    except OSError:
        return 0
    return int(found.get(name, 0))


class Group:
    """The group of one trial.

    Parameters
    ----------
    version : int
        1 or 2.
    path : pathlib.Path
        Its directory.
    """

    def __init__(self, version: int, path: Path) -> None:
        self.path = path
        self._v1 = version == 1
        self._members = -1
        self._peak = -1
        self._stat = -1

    @classmethod
    def make(cls, version: int, base: Path, label: str) -> Group:
        """Make the group of a trial below `base`; raises OSError if the kernel refuses."""
        path = base / f"{PREFIX}{os.getpid()}-{label}"
        path.mkdir()
        return cls(version, path)

    def limit(self, size: int) -> None:
        """Limit the memory, swap included, of all processes in the group."""
        if self._v1:
            self._write("memory.limit_in_bytes", str(size))
            # a little above: hits of this limit, which v1 tries first, are not counted
            self._write("memory.memsw.limit_in_bytes", str(size + _SWAP), optional=True)
            return
        self._write("memory.max", str(size))
        self._write("memory.swap.max", "0", optional=True)
        self._write("memory.oom.group", "1", optional=True)

    def raise_limit(self, size: int) -> None:
        """Raise the limit while processes are in the group."""
        name = "memory.max"
        if self._v1:
            self._write("memory.memsw.limit_in_bytes", str(size + _SWAP), optional=True)
            name = "memory.limit_in_bytes"
        self._write(name, str(size), optional=True)

    def open(self) -> None:
        """Open what the calling process needs to enter the group and to read there.

        Later it may not be allowed to open files.
        """
        # A child just forked has one thread; moving only it spares v1 a lock over all processes,
        # which takes 10 ms of waiting.
        members = self.path / ("tasks" if self._v1 else "cgroup.procs")
        self._members = os.open(members, os.O_WRONLY | os.O_CLOEXEC)
        peak = "memory.max_usage_in_bytes" if self._v1 else "memory.peak"
        with contextlib.suppress(OSError):
            self._peak = os.open(self.path / peak, os.O_RDWR | os.O_CLOEXEC)
        with contextlib.suppress(OSError):
            self._stat = os.open(self.path / "memory.stat", os.O_RDONLY | os.O_CLOEXEC)

    def enter(self) -> None:
        """Move the calling process, which has opened the group, into it."""
        os.write(self._members, b"0")
        os.close(self._members)

    def usage(self) -> Usage | None:
        """Read the high-water mark and the page cache; None where the kernel has no mark."""
        try:
            if self._peak >= 0:
                peak, stat = os.pread(self._peak, 32, 0), os.pread(self._stat, 8192, 0).decode()
            else:
                name = "memory.max_usage_in_bytes" if self._v1 else "memory.peak"
                peak = (self.path / name).read_bytes()
                stat = (self.path / "memory.stat").read_text()
        except OSError:
            return None
        sums = {key: int(size) for key, size in _SUM.findall(stat)}
        prefix, in_files = ("total_", "cache") if self._v1 else ("", "file")
        shared = sums.get(f"{prefix}shmem", 0)
        cache = sums.get(f"{prefix}{in_files}", 0) - shared
        return Usage(int(peak), max(0, cache), shared)

    def reset_peak(self) -> None:
        """Start a new high-water mark, where the kernel can (v1, v2 from Linux 6.12)."""
        with contextlib.suppress(OSError):
            os.pwrite(self._peak, b"0", 0)

    def killed_for_memory(self) -> bool:
        """Tell whether the kernel killed a process of the group, at whichever limit."""
        name = "memory.oom_control" if self._v1 else "memory.events"
        return counter(self.path / name, "oom_kill") > 0

    def was_full(self) -> bool:
        """Tell whether the group was at its own limit; v1: if only for page cache."""
        if not self._v1:
            return counter(self.path / "memory.events", "oom") > 0
        try:
            return int((self.path / "memory.failcnt").read_text()) > 0
        except (OSError, ValueError):
            return True

    def processes(self) -> set[int]:
        """Return the processes in the group."""
        try:
            return {int(pid) for pid in (self.path / "cgroup.procs").read_text().split()}
        except OSError:
            return set()

    def kill(self) -> None:
        """Kill every process in the group."""
        if (self.path / "cgroup.kill").exists():
            self._write("cgroup.kill", "1", optional=True)
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def remove(self, patience: float = 2.0) -> None:
        """Kill what is left and remove the group; give up silently after `patience` seconds."""
        end = time.monotonic() + patience
        while True:
            try:
                self.path.rmdir()
                return
            except FileNotFoundError:
                return
            except OSError:
                self.kill()
            if time.monotonic() > end:
                return
            time.sleep(0.005)

    def _write(self, name: str, text: str, optional: bool = False) -> None:
        try:
            with (self.path / name).open("wb", buffering=0) as file:
                file.write(text.encode())
        except OSError:
            if not optional:
                raise
