"""A mount namespace: other files under the same names, for this process and what it forks.

It takes root, or a user namespace, which most kernels give to everybody. Mounts are changed here
alone; the rest of the machine does not see them.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

_NEW_MOUNTS, _NEW_USER = 0x00020000, 0x10000000
_READ_ONLY, _BIND, _RECURSIVE, _PRIVATE = 1, 4096, 16384, 1 << 18
_NO_DEVICES, _NO_SETUID = 4, 2
_MOUNT_SETATTR = 442
_AT_RECURSIVE = 0x8000
_KERNELS_OWN = ("proc", "cgroup", "cgroup2")
_LIBC = ctypes.CDLL(None, use_errno=True)


class _MountAttributes(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user")]


def enter() -> None:
    """Move this process, which must have one thread, into a mount namespace of its own.

    Raises
    ------
    OSError
        If the kernel refuses, as it does in many containers.
    """
    if sys.platform != "linux":
        raise OSError(0, "no namespaces on this system")
    if os.geteuid() != 0 or _LIBC.unshare(_NEW_MOUNTS) < 0:
        ids = {"uid": os.geteuid(), "gid": os.getegid()}
        _check(_LIBC.unshare(_NEW_MOUNTS | _NEW_USER))
        _write("/proc/self/setgroups", "deny")
        for kind, number in ids.items():
            _write(f"/proc/self/{kind}_map", f"{number} {number} 1")
    _mount(None, Path("/"), None, _RECURSIVE | _PRIVATE)


def mount_empty(folder: Path, writable: bool = True) -> None:
    """Put an empty folder, which lies in memory, in the place of one."""
    flags = _NO_DEVICES | _NO_SETUID | (0 if writable else _READ_ONLY)
    _mount("tmpfs", folder, "tmpfs", flags, "mode=1777" if writable else "mode=755,size=1m")


def hide(hidden: Iterable[Path], shown: Iterable[Path]) -> None:
    """Put nothing in the place of files and folders, but for some that lie in them.

    Parameters
    ----------
    hidden : iterable of Path
        Resolved; one that lies below another may be among them.
    shown : iterable of Path
        Resolved files and folders, to be read only.
    """
    hidden = sorted({path for path in hidden if path.exists()})
    outer = [
        path for path in hidden if not any(path.is_relative_to(p) for p in hidden if p != path)
    ]
    kept = [(path, path.is_dir()) for path in shown if path.exists()]
    with tempfile.TemporaryDirectory() as stage:
        mount_empty(Path(stage))
        for number, (path, is_folder) in enumerate(kept):
            place = Path(stage, str(number))
            place.mkdir() if is_folder else place.touch()
            _mount(str(path), place, None, _BIND)
        nothing = Path(stage, "nothing")
        nothing.touch(0o444)
        for path in outer:
            if path.is_dir():
                mount_empty(path)
            else:
                _mount(str(nothing), path, None, _BIND)
        for number, (path, is_folder) in enumerate(kept):
            if not any(path.is_relative_to(folder) for folder in outer):
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.mkdir(exist_ok=True) if is_folder else path.touch()
            _mount(str(Path(stage, str(number))), path, None, _BIND)
        _check(_LIBC.umount2(os.fsencode(stage), 2))


def write_only_to(writable: Iterable[Path]) -> None:
    """Make all mounts read only, their files' modes and times too, but for some folders.

    The kernel's own file systems stay as they are: this process makes cgroups in them.
    """
    mounts = [line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines()]
    kept = {Path(fields[4]) for fields in mounts if fields[fields.index("-") + 1] in _KERNELS_OWN}
    for path in writable:
        _mount(str(path), path, None, _BIND | _RECURSIVE)
        kept.add(path)
    _set_attributes(Path("/"), _MountAttributes(set=_READ_ONLY))
    for path in kept:
        with contextlib.suppress(OSError):  # one that was read only before stays so
            _set_attributes(path, _MountAttributes(clear=_READ_ONLY))


def _set_attributes(path: Path, attributes: _MountAttributes) -> None:
    _check(
        _LIBC.syscall(
            _MOUNT_SETATTR,
            -100,
            os.fsencode(path),
            _AT_RECURSIVE,
            ctypes.byref(attributes),
            ctypes.c_size_t(ctypes.sizeof(attributes)),
        )
    )


def _mount(
    source: str | None, target: Path, kind: str | None, flags: int, options: str | None = None
) -> None:
    texts = [None if t is None else os.fsencode(t) for t in (source, target, kind, options)]
    _check(_LIBC.mount(*texts[:3], ctypes.c_ulong(flags), texts[3]))


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:  # noqa: PTH123
        file.write(text)


def _check(result: int) -> None:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
