"""The peak of a trial, from the kernel's own high-water marks.

Two marks are read and compared:

`VmHWM` of the child, set back at the start and at each stage (`high_water_mark`). It counts
anonymous, shared-memory and file pages together. File pages are not a trial's memory (library code
that it is the first to run, a data set that is mapped on purpose: the kernel may drop them), so
`RssFile` is taken off: the larger of its values at the two ends of the stage, since what it was at
the peak is unknown. Libraries and mapped data are mapped whole beforehand (see `file_pages`), so
that little is mapped later. The figure may be low by what is mapped after the peak all the same,
and high by what was mapped and unmapped again within one stage, up to what the cgroup's mark
allows: let a map live as long as the stage that reads it. With the file pages left in, the same
allocations read 1 MB high and a logistic regression 5 MB high. The mark does not see descendants,
nor the copy of an inherited page that the child writes to.

The cgroup's maximum sees both. It also counts page cache (taken off in the same way; a file that
is written and removed within one stage cannot be), kernel memory, and one thing that is no fault
of a method: Python writes reference counts into objects that it merely reads, which copies
inherited pages. Measured in a child of a 200 MB parent that imported scikit-learn: 0.2 MB for
numpy alone, 5.4 MB for SVC, 6.8 MB for LogisticRegression (whose own memory is 0.2 MB), 36 MB for
a full garbage collection unless `gc.freeze` came first. How much was copied is known at the end of
a trial: `Private_Dirty` less what the child allocated.

So the figure is the process's own, with these additions:

- shared memory that is not mapped at the end of a stage (a file in `/dev/shm`), from the cgroup;
- copied pages, if there are more than 16 MiB of them: reference counts do not do that, a method
  that overwrites an inherited array does;
- if the child started processes: the cgroup's maximum less the pages that the child copied, if
  that is more. Without a cgroup nothing can count them, and the record says so.

A child that died without a word leaves its mark since the last reset in the kernel's account of it
(`ru_maxrss`); file pages are taken off as they were at that reset. What it copied is not known, so
the cgroup's maximum stands only where it is more than 16 MiB above.
"""

from __future__ import annotations

import re
import resource
from dataclasses import dataclass, field
from pathlib import Path

REFERENCE_COUNTS = 16 << 20
"""Copied pages up to here are put down to Python's reference counts."""

_PAGE = resource.getpagesize()
_FIELD = re.compile(rb"^(VmHWM|VmRSS|RssFile|RssShmem|VmData):\s+(\d+) kB", re.MULTILINE)
_PRIVATE = re.compile(rb"^Private_Dirty:\s+(\d+) kB", re.MULTILINE)


@dataclass(frozen=True)
class Memory:
    """What `/proc/PID/status` says of a process, in bytes.

    Attributes
    ----------
    peak : int
        High-water mark of the resident size since it was last reset (`VmHWM`).
    resident, file, shared : int
        Resident size, and the file pages and shared memory therein.
    data : int
        Private virtual memory, which `RLIMIT_DATA` limits.
    """

    peak: int
    resident: int
    file: int
    shared: int
    data: int

    @property
    def held(self) -> int:
        """Resident bytes that are not file pages."""
        return self.resident - self.file

    def held_at_most(self, file_before: int) -> int:
        """Return the most that was held since the last reset, without file pages.

        Parameters
        ----------
        file_before : int
            File pages at the last reset.
        """
        return max(self.peak - max(self.file, file_before), self.held)


def read_memory(pid: int | str = "self") -> Memory | None:
    """Read the memory of a process; None if it is gone or a zombie, or where there is no /proc."""
    try:
        with Path(f"/proc/{pid}/status").open("rb", buffering=0) as status:
            text = status.read(8192)
    except OSError:
        return None
    found = {name: int(size) * 1024 for name, size in _FIELD.findall(text)}
    if len(found) < 5:
        return None
    return Memory(
        peak=found[b"VmHWM"],
        resident=found[b"VmRSS"],
        file=found[b"RssFile"],
        shared=found[b"RssShmem"],
        data=found[b"VmData"],
    )


def private_dirty(pid: int | str = "self") -> int | None:
    """Return the bytes that a process shares with no other, copied pages among them."""
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_bytes()
    except OSError:
        return None
    match = _PRIVATE.search(text)
    return int(match.group(1)) * 1024 if match else None


@dataclass(frozen=True)
class Marks:
    """High-water marks over some span of a trial, in bytes above the baseline.

    Attributes
    ----------
    process : int or None
        From the child's `VmHWM`, without file pages.
    group : int or None
        From the cgroup, without page cache.
    """

    process: int | None = None
    group: int | None = None

    def joined(self, other: Marks) -> Marks:
        """Return the larger of each mark."""
        return Marks(_larger(self.process, other.process), _larger(self.group, other.group))

    def less(self, idle: Marks) -> Marks:
        """Take off what a trial shows that does nothing."""
        return Marks(_less(self.process, idle.process), _less(self.group, idle.group))


@dataclass(frozen=True)
class Idle:
    """What a trial shows that does nothing; it is taken off every figure.

    Attributes
    ----------
    marks : Marks
    copied : int
        Inherited pages that it copies, in bytes.
    """

    marks: Marks = field(default_factory=Marks)
    copied: int = 0


def copied_pages(
    pid: int | str, held: int, marks: Marks, idle: Idle | None, descendants: bool, faults: int
) -> int | None:
    """Return the inherited pages that a process copied, if that matters for its figure.

    Reading it takes 3 ms for a process of 130 MB, so it is read only where the marks disagree or
    the page faults, of which each copied page takes one, are many.

    Parameters
    ----------
    pid : int or "self"
    held : int
        Bytes that it held at the baseline.
    marks : Marks
    idle : Idle or None
        What a trial shows that does nothing; None in that trial itself, where this is always read.
    descendants : bool
    faults : int
        Minor page faults since the baseline.

    Returns
    -------
    int or None
        Bytes, less what an idle trial copies; None if they do not matter or cannot be read.
    """
    above = marks.less(idle.marks) if idle else marks
    if idle is None:
        matters = True
    elif above.process is not None and above.group is not None:
        matters = descendants or above.group - above.process > REFERENCE_COUNTS
    else:
        matters = faults * _PAGE > REFERENCE_COUNTS
    private, now = (private_dirty(pid), read_memory(pid)) if matters else (None, None)
    if private is None or now is None:
        return None
    return max(0, private - max(0, now.held - held) - (idle.copied if idle else 0))


def combine(
    marks: Marks, copied: int | None, descendants: bool, finished: bool, group_name: str
) -> tuple[int | None, str]:
    """Choose the figure from the two marks, as the module's docstring says.

    Parameters
    ----------
    marks : Marks
        Less those of an idle trial.
    copied : int or None
        Inherited pages that the child copied, in bytes, beyond those of an idle trial; None if it
        died before it could tell.
    descendants : bool
        Whether the child is known to have started processes; the cgroup's mark then counts, less
        what is known to be copied.
    finished : bool
        Whether the child was there to be asked for its last marks.
    group_name : str
        What to call the cgroup's figure.

    Returns
    -------
    peak : int or None
    measured_by : str
    """
    process, group = marks.process, marks.group
    if process is None and group is None:
        return None, "none"
    if process is None:
        return group, group_name
    copied = copied or 0
    overwritten = copied > REFERENCE_COUNTS
    own = process + copied if overwritten else process
    if group is None:
        return own, "VmHWM, child processes not seen" if descendants else "VmHWM"
    own = max(process, min(own, group))
    tree = group if overwritten else max(0, group - copied)
    # one that died may have started processes too, which only much memory tells
    unexplained = own if descendants else own + REFERENCE_COUNTS
    if (descendants or not finished) and tree > unexplained:
        return tree, group_name
    return own, "VmHWM"


def _larger(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)


def _less(value: int | None, constant: int | None) -> int | None:
    return value if value is None else max(0, value - (constant or 0))
