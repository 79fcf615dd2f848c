"""Memory cgroups, v1 and v2: the one limit that sees a whole process tree.

A group is made below the worker's own for each trial and removed after it. Its limit lies above
the trial's (`slack`), because it also counts kernel memory and pages that Python's reference
counts copy, and ends in SIGKILL: with `RLIMIT_DATA` below it, one process that asks for too much
gets a clean MemoryError first. What a tree of processes takes between the two is measured and told
when it ends. Page cache needs no room: the kernel drops it at the limit.
"""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from harness.sandbox.peaks import REFERENCE_COUNTS
from harness.sandbox.trial_cgroup import PREFIX, Group

LEAF = "harness-worker"
_DELEGATE = {
    1: "run as root, or ask the administrator for a group of your own",
    2: "start with `systemd-run --user --scope -p Delegate=yes COMMAND`",
}


def slack(budget: int) -> int:
    """Bytes by which a group's limit exceeds the budget of its trial."""
    return REFERENCE_COUNTS + budget // 50


@dataclass(frozen=True)
class Hierarchy:
    """Where groups can be made.

    Attributes
    ----------
    version : int
        1 or 2.
    base : pathlib.Path
        The directory below which a trial's group is made.
    crowded : bool
        v2: `base` holds processes, which must move to a leaf first (`prepare`).
    """

    version: int
    base: Path
    crowded: bool = False

    @property
    def name(self) -> str:
        """Name of the backend."""
        return f"cgroup-v{self.version}"


class UnavailableError(Exception):
    """Why groups cannot be made, and what it would take.

    Parameters
    ----------
    reason, remedy : str
    """

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.remedy = remedy


def find(version: int, root: Path = Path("/")) -> Hierarchy:
    """Find the directory for a trial's groups, without changing anything.

    Parameters
    ----------
    version : int
        1 or 2.
    root : pathlib.Path, default /
        Where `proc` and the mounts are; another one lets tests describe another machine.

    Raises
    ------
    UnavailableError
        If there is none.
    """
    own, _ = locate(version, root)
    if version == 2:
        return _find_v2(own)
    if not os.access(own, os.W_OK):
        raise UnavailableError(f"{own} may not be written by this user", _DELEGATE[1])
    return Hierarchy(1, own)


def locate(version: int, root: Path = Path("/")) -> tuple[Path, Path]:
    """Return the directory of the group that holds this process, and that of its hierarchy.

    Raises
    ------
    UnavailableError
        If no memory controller is mounted, or the mount is another namespace's.
    """
    v1 = version == 1
    kind = "cgroup" if v1 else "cgroup2"
    mount = _mount(root, kind, "memory" if v1 else None)
    controller = "memory" if v1 else ""
    path = _own_path(root, controller)
    if mount is None or path is None:
        raise UnavailableError(
            f"no {'memory controller of cgroup v1' if v1 else 'cgroup v2'} is mounted",
            "a kernel with the memory controller, mounted under /sys/fs/cgroup",
        )
    within, point = mount
    relative = os.path.relpath(path, within) if within != "/" else path.lstrip("/")
    top = root / point.lstrip("/")
    own = top / relative
    try:
        members = (own / "cgroup.procs").read_text().split()
    except OSError as error:
        reason = f"{own} cannot be read: {error.strerror}"
        raise UnavailableError(reason, _DELEGATE[version]) from error
    if str(os.getpid()) not in members:
        if _own_path(root, controller) != path:  # a worker moved this process in between
            return locate(version, root)
        raise UnavailableError(
            f"{own} does not hold this process (a namespace hides the real path)",
            "mount the cgroup file system of this container's own namespace",
        )
    return own, top


def prepare(hierarchy: Hierarchy) -> Hierarchy:
    """Make sure that groups can be made: move to a leaf (v2), try one out, sweep stale ones.

    Raises
    ------
    UnavailableError
        If the kernel refuses.
    """
    base = hierarchy.base
    try:
        if hierarchy.crowded:
            move_to_leaf(base)
        elif hierarchy.version == 2 and "memory" not in _words(base / "cgroup.subtree_control"):
            (base / "cgroup.subtree_control").write_text("+memory")
        for stale in base.glob(f"{PREFIX}*"):
            owner = stale.name.removeprefix(PREFIX).split("-")[0]
            if owner.isdigit() and not _alive(int(owner)):
                Group(hierarchy.version, stale).remove()
        probe = Group.make(hierarchy.version, base, "probe")
        try:
            probe.limit(64 << 20)
            is_measured = probe.usage() is not None
        finally:
            probe.remove()
    except OSError as error:
        reason = f"{base} refuses a group: {error.strerror} ({error.filename or base})"
        raise UnavailableError(reason, "run as root or in a delegated group") from error
    if not is_measured:
        raise _without_mark(base)
    return hierarchy


def move_to_leaf(base: Path) -> None:
    """Move all processes of a v2 group to a leaf, so that its children may have the controller."""
    leaf = base / LEAF
    leaf.mkdir(exist_ok=True)
    for _ in range(10):
        for pid in (base / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                (leaf / "cgroup.procs").write_text(pid)
        try:
            (base / "cgroup.subtree_control").write_text("+memory")
            return
        except OSError:  # EBUSY: a process was born in between
            time.sleep(0.01)
    (base / "cgroup.subtree_control").write_text("+memory")


def _mount(root: Path, kind: str, controller: str | None) -> tuple[str, str] | None:
    try:
        lines = (root / "proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        left, _, right = line.partition(" - ")
        fields, tail = left.split(), right.split()
        if tail[0] == kind and (controller is None or controller in tail[-1].split(",")):
            return fields[3], fields[4].replace("\\040", " ")
    return None


def _own_path(root: Path, controller: str) -> str | None:
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            return path
    return None


def _find_v2(own: Path) -> Hierarchy:
    if own.name == LEAF:
        # another worker made the leaf; while it moves processes its parent is without controllers
        own = own.parent
    if "memory" not in _words(own / "cgroup.controllers"):
        raise UnavailableError(
            f"{own} has no memory controller (cgroup.controllers)", _DELEGATE[2]
        )
    if not os.access(own, os.W_OK) or not os.access(own / "cgroup.subtree_control", os.W_OK):
        raise UnavailableError(f"{own} is not delegated to this user", _DELEGATE[2])
    # the root of all groups alone may hold processes beside groups with controllers, and holds
    # threads of the kernel, which cannot move; it is the one group without a type
    is_root = not (own / "cgroup.type").exists()
    if not is_root and not (own / "memory.peak").exists():
        raise _without_mark(own)
    ready = "memory" in _words(own / "cgroup.subtree_control")
    return Hierarchy(2, own, crowded=not ready and not is_root)


def _without_mark(folder: Path) -> UnavailableError:
    """Refuse it: what a tree held is unknown, and where a group limits nothing is refused."""
    return UnavailableError(f"{folder} keeps no high-water mark (memory.peak)", "Linux 5.19")


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
