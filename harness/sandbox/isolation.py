"""What keeps a trial from what it must not reach: files, other processes, later trials.

A trial reads code and its own features, and writes to a folder of its own that is emptied after
it. Landlock holds it to that where the kernel has it, and keeps it from other processes: their
memory, their open files and (ABI 6) their life. A mount namespace gives it a `/dev/shm` of its
own; without Landlock it also hides what must not be read and makes the rest read only, but then
signals reach other processes. Capabilities of root are dropped but for those over files.

What none of this covers is told by `harness doctor`.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.sandbox import landlock, namespace, prctl, seccomp

NONE = "none"
_SHARED_MEMORY = Path("/dev/shm")
_DEVICES = tuple(Path("/dev", name) for name in ("null", "zero", "full", "random", "urandom"))
_CACHES = ("TMPDIR", "XDG_CACHE_HOME", "MPLCONFIGDIR", "NUMBA_CACHE_DIR", "JOBLIB_TEMP_FOLDER")
"""Variables that say where programs write what they may lose."""


@dataclass(frozen=True)
class Reach:
    """What of the file system a trial may reach.

    Attributes
    ----------
    readable : tuple of Path
        Files and folders to be read, with all below them. `/proc`, `/sys` and a few devices of
        `/dev` are readable anyway.
    hidden : tuple of Path
        Not to be read although they lie below those.
    shown : tuple of Path
        To be read although they lie below hidden ones.
    scratch : Path
        The folder below which a trial writes; what is there is removed after each.
    """

    readable: tuple[Path, ...]
    hidden: tuple[Path, ...]
    shown: tuple[Path, ...]
    scratch: Path


@dataclass(frozen=True)
class IsolationReport:
    """What is known of one means of confining trials on this machine.

    Attributes
    ----------
    name : str
        As a record has it.
    available : bool
    prevents, leaves : str
        What it keeps trials from, and what they can still do.
    remedy : str
        What it would take; empty if it is available.
    """

    name: str
    available: bool
    prevents: str
    leaves: str
    remedy: str


def isolations() -> list[IsolationReport]:
    """Report on every means of confining trials, without changing anything."""
    version = landlock.abi()
    mounts = _works_in_a_child(_mount_shared_memory)
    return [
        IsolationReport(
            f"landlock-{version}" if version else "landlock",
            version > 0,
            "reading labels, sources of data, results and others' files; writing anything but the "
            "trial's own temporary folder and /dev/shm; looking into other processes"
            + ("" if 0 < version < 4 else "; TCP")
            + ("" if 0 < version < 6 else "; signals to other processes"),
            "metadata of files (mode, times, extended attributes), UDP, sockets with a path"
            + ("; TCP" if 0 < version < 4 else "")
            + ("; signals to other processes" if 0 < version < 6 else ""),
            "" if version else "Linux 5.13 with Landlock switched on; 6.12 for all of it",
        ),
        IsolationReport(
            "namespace",
            mounts,
            "files in /dev/shm that outlast a trial; where there is no Landlock also reading what "
            "is hidden and writing anything but the temporary folder",
            "where there is no Landlock: signals to other processes, all of the network, and "
            "reading whatever is not known to hold labels",
            "" if mounts else "root, or user namespaces for everybody",
        ),
    ]


def _mount_shared_memory() -> None:
    namespace.enter()
    namespace.mount_empty(_SHARED_MEMORY)


def _works_in_a_child(step: Callable[[], Any]) -> bool:
    child = os.fork()
    if child == 0:
        os._exit(0 if _tried(step) else 1)
    return os.waitpid(child, 0)[1] == 0


class Isolation:
    """Confines the children of the process that makes it, which must have one thread.

    Parameters
    ----------
    reach : Reach
    means : str, default "auto"
        "landlock", "namespace", "none", or the strongest of them that works.

    Attributes
    ----------
    name : str
        What to call it in a record: "landlock-7+namespace", "landlock-7", "namespace" or "none".
    private_memory : bool
        Whether `/dev/shm` is the trial's own.

    Raises
    ------
    HarnessError
        If the means is unknown, or cannot be had and is not "auto".
    """

    def __init__(self, reach: Reach, means: str = "auto") -> None:
        if means not in ("auto", "landlock", "namespace", NONE):
            raise HarnessError(f"isolation {means!r}: it is auto, landlock, namespace or none")
        self._own = reach.scratch / "trial"
        self._ruleset: landlock.Ruleset | None = None
        version = landlock.abi() if means in ("auto", "landlock") else 0
        hidden = [path.resolve() for path in reach.hidden]
        self._own.mkdir(parents=True, exist_ok=True)
        self.private_memory = means != NONE and _tried(self._enter)
        alone = self.private_memory and not version
        if alone:
            shown = [path.resolve() for path in reach.shown]
            alone = _tried(lambda: namespace.hide(hidden, shown))
        if self.private_memory:
            writable = (reach.scratch.resolve(), _SHARED_MEMORY)
            alone &= _tried(lambda: namespace.write_only_to(writable))
        if version:
            with suppress(OSError):
                self._ruleset = _ruleset(version, reach, hidden)
        names = [f"landlock-{version}"] if self._ruleset else []
        names += ["namespace"] if self.private_memory and (self._ruleset or alone) else []
        self.name = "+".join(names) or NONE
        if means not in ("auto", self.name) and means not in self.name:
            raise HarnessError(f"isolation {means!r} is not available here; see `harness doctor`")

    @property
    def descriptor(self) -> int | None:
        """What a child must keep open until it is confined, which closes it."""
        return self._ruleset.descriptor if self._ruleset else None

    def confine(self) -> None:
        """Confine this process, a child with one thread, and all that it will start.

        Raises
        ------
        OSError
            If the kernel refuses.
        """
        own = str(self._own)
        os.environ.update(dict.fromkeys(_CACHES, own))
        tempfile.tempdir = own
        prctl.drop_capabilities()
        if self._ruleset is not None:
            self._ruleset.restrict()
        if self.name != NONE:
            seccomp.refuse_calls()

    def clean(self) -> None:
        """Remove what a trial has left in the places that it may write to.

        Raises
        ------
        HarnessError
            If something stays, which the next trial would find.
        """
        places = [self._own, _SHARED_MEMORY] if self.private_memory else [self._own]
        for place in places:
            _empty(place)

    def advice(self, error: BaseException) -> str:
        """Say why an access was refused, if that may be it; else nothing."""
        if self.name == NONE or not isinstance(error, OSError):
            return ""
        if not isinstance(error, PermissionError) and error.errno not in (18, 30):
            return ""
        return (
            "(a trial reads code and its own features, writes to its temporary folder, "
            "and reaches no process but its own)"
        )

    @staticmethod
    def _enter() -> None:
        namespace.enter()
        namespace.mount_empty(_SHARED_MEMORY)


def _tried(step: Callable[[], Any]) -> bool:
    try:
        step()
    except OSError:
        return False
    return True


def _ruleset(version: int, reach: Reach, hidden: Iterable[Path]) -> landlock.Ruleset:
    ruleset = landlock.Ruleset(version)
    hidden = set(hidden)
    for path in dict.fromkeys(path.resolve() for path in reach.readable):
        _allow_below(ruleset, path, hidden)
    for path in (Path("/proc"), Path("/sys"), *reach.shown):
        ruleset.allow(path, landlock.READ)
    ruleset.allow(Path("/dev"), landlock.LIST)
    for path in (*_DEVICES, _SHARED_MEMORY, reach.scratch / "trial"):
        ruleset.allow(path, ruleset.everything)
    return ruleset


def _allow_below(ruleset: landlock.Ruleset, path: Path, hidden: set[Path]) -> None:
    """Allow to read a folder but for what is hidden in it, whose names alone can be listed."""
    if not hidden.isdisjoint((path, *path.parents)):
        return
    if not any(place.is_relative_to(path) for place in hidden):
        ruleset.allow(path, landlock.READ)
        return
    ruleset.allow(path, landlock.LIST)
    with suppress(OSError):
        for entry in path.iterdir():
            if not entry.is_symlink():
                _allow_below(ruleset, entry, hidden)


def _empty(folder: Path) -> None:
    # what a trial made may be locked, or deeper than Python's functions and paths go
    for command in (["rm", "-rf"], ["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
        left = list(folder.iterdir())
        if not left:
            return
        subprocess.run([*command, "--", *left], capture_output=True, check=False)
    left = list(folder.iterdir())
    if left:
        raise HarnessError(f"{left[0]}: left by a trial, and cannot be removed")
