"""Landlock: what a process and all its descendants can never do again, without being root.

A ruleset is an allow-list. It is made once and put on in each child, which cannot take it off,
nor can what the child starts. Beside files it denies `ptrace`, and with it `/proc/PID/mem` and
`/proc/PID/fd`, of every process outside; from the kernel's ABI 4 on TCP, from 6 on signals to
processes outside and abstract sockets. It denies mounting. What it does not deny: looking at a
file's metadata, changing them (mode, times, extended attributes), sockets with a path, UDP.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import sys
from pathlib import Path

_CREATE, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION = 1
_PATH_BENEATH = 1
_SET_NO_NEW_PRIVS = 38
_NO_AUDIT = 1
_NET_TCP = 0b11
_SCOPES = 0b11

READ = 1 << 0 | 1 << 2 | 1 << 3
"""Execute, read files, list folders."""

LIST = 1 << 3

_DEVICES = 1 << 6 | 1 << 11
_BY_ABI = {1: (1 << 13) - 1, 2: 1 << 13, 3: 1 << 14}
"""Accesses to files that each version brought; later ones concern devices."""

_OF_FILES = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 14
"""Accesses that mean something for what is no folder."""

_LIBC = ctypes.CDLL(None, use_errno=True)


class _Attributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("files", "net", "scoped")]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32)]


def abi() -> int:
    """Return the version of Landlock that this kernel has; 0 for none."""
    if sys.platform != "linux":
        return 0
    return max(0, _LIBC.syscall(_CREATE, None, ctypes.c_size_t(0), _ASK_VERSION))


class Ruleset:
    """An allow-list of files, empty at first, for `restrict`.

    Parameters
    ----------
    version : int
        Of Landlock, as `abi` says.

    Attributes
    ----------
    everything : int
        All accesses that this version knows, but for making device files.
    descriptor : int
        Whoever has it can add to the ruleset.

    Raises
    ------
    OSError
        If the kernel refuses.
    """

    def __init__(self, version: int) -> None:
        self._version = version
        handled = sum(bits for since, bits in _BY_ABI.items() if since <= version)
        self.everything = handled & ~_DEVICES
        self._handled = handled
        net = _NET_TCP if version >= 4 else 0
        attributes = _Attributes(handled, net, _SCOPES if version >= 6 else 0)
        size = 8 if version < 4 else 16 if version < 6 else 24
        self.descriptor = _check(
            _LIBC.syscall(_CREATE, ctypes.byref(attributes), ctypes.c_size_t(size), 0)
        )

    def allow(self, path: Path, access: int) -> None:
        """Allow accesses to a file, or to a folder and all below it; nothing if it is not there.

        Parameters
        ----------
        path : Path
        access : int
            `READ`, `LIST` or `everything`.
        """
        try:
            descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return
        try:
            if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
                access &= _OF_FILES
            beneath = _Beneath(access & self._handled, descriptor)
            if beneath.allowed:
                _check(
                    _LIBC.syscall(
                        _ADD_RULE, self.descriptor, _PATH_BENEATH, ctypes.byref(beneath), 0
                    )
                )
        finally:
            os.close(descriptor)

    def restrict(self) -> None:
        """Put the ruleset on this thread and on all that it will start, and close it.

        Raises
        ------
        OSError
            If the kernel refuses.
        """
        _check(_LIBC.prctl(_SET_NO_NEW_PRIVS, *map(ctypes.c_ulong, (1, 0, 0, 0))))
        quiet = _NO_AUDIT if self._version >= 7 else 0
        _check(_LIBC.syscall(_RESTRICT_SELF, self.descriptor, quiet))
        os.close(self.descriptor)


def _check(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno() or errno.EINVAL
        raise OSError(number, os.strerror(number))
    return result
