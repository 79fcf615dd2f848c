"""What a process asks of Linux for itself and those that it forks; elsewhere nothing happens."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path

_SET_PDEATHSIG = 1
_SET_DUMPABLE = 4
_SET_CHILD_SUBREAPER = 36
_SET_THP_DISABLE = 41
_SET_NO_NEW_PRIVS = 38
_EXCEPT_ADVISED = 2
_PREFERRED = "500"
_CAPABILITY_VERSION = 0x20080522
_OVER_FILES = 0b11011
"""CHOWN, DAC_OVERRIDE, FOWNER and FSETID; not DAC_READ_SEARCH, which opens files by number."""
_HUGE_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_PRCTL = _LIBC.prctl if _LIBC else None
_CAPSET = getattr(_LIBC, "capset", None)


def become_subreaper() -> None:
    """Adopt orphaned descendants."""
    _prctl(_SET_CHILD_SUBREAPER, 1)


def die_with(parent: int) -> None:
    """Have this process killed when its parent dies, and let it read and reset its own peaks."""
    _prctl(_SET_PDEATHSIG, signal.SIGKILL)
    _prctl(_SET_DUMPABLE, 1)
    if os.getppid() != parent:
        os._exit(0)


def end_first(score: str = _PREFERRED) -> None:
    """Have this process killed before those around it where memory runs out around them all.

    Parameters
    ----------
    score : str, default "500"
        Up to "1000", the first of all.
    """
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(score)


def small_pages() -> None:
    """Have memory in pages of 4 kB, but for arrays that ask for huge ones (NumPy's from 4 MB on).

    Where huge pages are given to everybody ("always", the setting of some distributions), the
    first byte written to a heap can take 2 MB: trials of 2 MB were measured at up to 6.5 MB.
    Before Linux 6.18 the exception for those who ask cannot be made, and none are huge then.
    """
    if not _prctl(_SET_THP_DISABLE, 1, _EXCEPT_ADVISED) and _given_to_everybody():
        _prctl(_SET_THP_DISABLE, 1)


def hide_memory() -> None:
    """Let no process of the same user look into this one's memory and open files.

    Those of root still can, unless they lack the capability.
    """
    _prctl(_SET_DUMPABLE, 0)


def drop_capabilities() -> None:
    """Give up what root may do, for good, but for its rights over files; as others, everything.

    What a user namespace gave goes too. Without it a process may open no device of memory, no
    file by its number, take over no other process and change no mount.
    """
    if _CAPSET is None:
        return
    gain_no_privileges()
    kept = _OVER_FILES if os.geteuid() == 0 else 0
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    _CAPSET(header, (ctypes.c_uint32 * 6)(kept, kept, 0, 0, 0, 0))


def gain_no_privileges() -> None:
    """Let nothing that this process runs give it rights, as filters of system calls demand."""
    _prctl(_SET_NO_NEW_PRIVS, 1)


def _given_to_everybody() -> bool:
    try:
        return "[always]" in _HUGE_PAGES.read_text()
    except OSError:
        return False


def _prctl(option: int, *values: int) -> bool:
    """Return whether the kernel took it."""
    if _PRCTL is None:
        return False
    arguments = [*values, *[0] * (4 - len(values))]
    return _PRCTL(option, *map(ctypes.c_ulong, arguments)) == 0
