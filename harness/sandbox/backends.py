"""Which means of limiting memory this machine has, and which one to take."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from harness.errors import HarnessError, unknown_name
from harness.sandbox import cgroup

AUTO = "auto"
NAMES = ("cgroup-v2", "cgroup-v1", "rlimit-data", "watch")
"""Strongest first."""

_TREE = (
    "descendants",
    "threads",
    "private maps",
    "shared maps",
    "copied pages",
    "files in memory",
    "pipes and sockets",
)
_SEES = {
    "cgroup-v2": _TREE,
    "cgroup-v1": _TREE,
    "rlimit-data": (
        "threads",
        "private maps",
        "shared maps (by looking)",
        "copied pages (at the end)",
    ),
    "watch": ("threads", "private maps", "shared maps", "copied pages (at the end)"),
}
_UNCOUNTED = (
    "processes",
    "sockets",
    "more than 16 pipes of 64 kB",
    "shared memory by name",
    "huge pages",
    "files above 4 kB",
)
_REFUSES: dict[str, tuple[str, ...]] = {
    "cgroup-v2": (),
    "cgroup-v1": (),
    "rlimit-data": _UNCOUNTED,
    "watch": _UNCOUNTED,
}
_CARD = "memory of a graphics card"
_SWAP = "pages that were swapped out"
_PIPES = "1 MB in pipes, files in memory of 4 kB each"
_MARK = "without isolation, what a trial took before it reset its own mark (clear_refs)"
_BLIND = {
    "cgroup-v2": ("huge pages that the administrator set aside", _CARD),
    "cgroup-v1": (
        "huge pages that the administrator set aside",
        "a process that leaves its group and comes back within 50 ms",
        _CARD,
    ),
    "rlimit-data": (_SWAP, _PIPES, _MARK, _CARD),
    "watch": (_SWAP, _PIPES, _MARK, _CARD),
}
_MEANS = {
    "cgroup-v2": "the kernel limits the whole process tree; RLIMIT_DATA below it fails cleanly",
    "cgroup-v1": "the kernel limits the whole process tree; RLIMIT_DATA below it fails cleanly",
    "rlimit-data": "the kernel refuses the allocation; shared maps are looked at too",
    "watch": "looks every 10 ms and kills above budget; reads the mark at the end",
}


@dataclass(frozen=True)
class BackendReport:
    """What is known of one backend on this machine.

    Attributes
    ----------
    name : str
    available : bool
    reason : str
        Why it is not available; empty if it is.
    remedy : str
        What it would take; empty if it is available.
    sees : tuple of str
        What its limit covers, among "descendants", "threads", "private maps", "shared maps",
        "copied pages" (inherited memory that a trial overwrites), "files in memory" and "pipes
        and sockets".
    refuses : tuple of str
        What a trial with a budget may not have, since its memory would not be counted.
    blind : tuple of str
        What is neither counted nor refused.
    means : str
        How it limits.
    """

    name: str
    available: bool
    reason: str
    remedy: str
    sees: tuple[str, ...]
    refuses: tuple[str, ...]
    blind: tuple[str, ...]
    means: str


@dataclass(frozen=True)
class Choice:
    """The backend that a sandbox uses.

    Attributes
    ----------
    name : str
    hierarchy : Hierarchy or None
        Where to make cgroups.
    """

    name: str
    hierarchy: cgroup.Hierarchy | None = None

    @property
    def limits_data(self) -> bool:
        """Whether `RLIMIT_DATA` is set."""
        return self.name != "watch"

    @property
    def watch_interval(self) -> float | None:
        """Seconds between looks at the tree; None where the kernel limits all of it."""
        if self.hierarchy is not None:
            return None
        return 0.1 if self.limits_data else 0.01

    @property
    def enforced_by(self) -> str:
        """What to call it in a record."""
        if self.hierarchy is not None:
            return f"{self.name}+rlimit-data"
        return f"{self.name}+watch" if self.limits_data else self.name


def backends(root: Path = Path("/")) -> list[BackendReport]:
    """Report on every backend, the strongest first, without changing anything but a probe group.

    Parameters
    ----------
    root : pathlib.Path, default /
        Where `proc` and the mounts of the machine are.
    """
    return [_report(name, root) for name in NAMES]


def choose(name: str = AUTO, root: Path = Path("/")) -> Choice:
    """Take a backend by name, or the strongest that works.

    Raises
    ------
    HarnessError
        If the name is unknown or the backend not available here.
    """
    if name != AUTO:
        if name not in NAMES:
            raise unknown_name("memory backend", name, (AUTO, *NAMES))
        try:
            return _open(name, root)
        except cgroup.UnavailableError as error:
            raise HarnessError(
                f"memory backend {name!r} is not available: {error}. "
                f"It would take: {error.remedy}. `harness doctor` lists what this machine has."
            ) from error
    for candidate in NAMES:
        try:
            return _open(candidate, root)
        except cgroup.UnavailableError:
            continue
    raise HarnessError("no memory backend works on this machine")


def _open(name: str, root: Path) -> Choice:
    if name.startswith("cgroup-v"):
        return Choice(name, cgroup.prepare(cgroup.find(int(name[-1]), root)))
    if name == "rlimit-data" and sys.platform != "linux":
        raise cgroup.UnavailableError(
            f"RLIMIT_DATA does not count maps on {sys.platform}", "Linux"
        )
    return Choice(name)


def _report(name: str, root: Path) -> BackendReport:
    reason = remedy = ""
    try:
        if name.startswith("cgroup-v"):
            found = cgroup.find(int(name[-1]), root)
            if not found.crowded:  # else trying would move processes, which a report must not
                cgroup.prepare(found)
        else:
            _open(name, root)
    except cgroup.UnavailableError as error:
        reason, remedy = str(error), error.remedy
    return BackendReport(
        name, not reason, reason, remedy, _SEES[name], _REFUSES[name], _BLIND[name], _MEANS[name]
    )
