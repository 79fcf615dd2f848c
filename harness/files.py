"""Names that become paths, and files that appear whole: nothing leaves the folder it belongs to.

A name from a study, a catalog, a plugin or a table is data. Whatever makes a path of one asks
`below`; whatever is written is written under another name first and renamed.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

from harness.errors import DamagedFileError, HarnessError

_LONGEST_PART = 255
"""Bytes of one name that file systems allow."""

_LONGEST = 2000
"""Bytes of a whole path below a folder: with the folder it must stay within 4,096."""


def why_no_path(name: str) -> str:
    """Say why a name cannot be that of a file or folder below another; empty if it can.

    Parameters
    ----------
    name : str
        Parts joined by "/".
    """
    try:
        size = len(os.fsencode(name))
        name.encode()
    except UnicodeEncodeError:
        return "it holds characters that are not Unicode text"
    parts = name.split("/")
    if name.startswith("/"):
        return "it starts at the root"
    if not all(parts) or {".", ".."} & set(parts):
        return "it has an empty part, '.' or '..'"
    if "\\" in name or any(ord(letter) < 32 or ord(letter) == 127 for letter in name):
        return "it holds a backslash or a control character"
    if size > _LONGEST or any(len(os.fsencode(part)) > _LONGEST_PART for part in parts):
        return f"it is longer than {_LONGEST_PART} bytes a part or {_LONGEST} in all"
    return ""


def below(folder: Path, name: str) -> Path:
    """Return the path of a name below a folder.

    Parameters
    ----------
    folder : Path
        May be a symbolic link itself: who set it up said where things belong.
    name : str
        Parts joined by "/", of files and folders that may be there or not.

    Raises
    ------
    HarnessError
        If the name leads elsewhere, by itself or by a symbolic link on its way.
    """
    reason = why_no_path(name)
    if reason:
        raise HarnessError(f"{name!r} names nothing below {folder}: {reason}")
    path = folder / name
    try:
        inside = path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError) as error:  # links that go round are a RuntimeError
        raise HarnessError(f"{path}: cannot be followed: {error}") from None
    if not inside:
        raise HarnessError(
            f"{path}: a symbolic link leads out of {folder}, to {path.resolve()}; remove the "
            f"link, or let {folder} itself be one"
        )
    return path


PART = ".part"
"""Ending of what is not yet renamed to what it will be."""

_DAY_S = 86_400

DAMAGED = ".damaged"
"""Ending of what is kept of a file that could not be used."""


def put_aside(path: Path) -> str:
    """Give a file or folder that cannot be used another name, so that a run makes it anew.

    Returns
    -------
    str
        What was done and what to do, as the end of a sentence.
    """
    aside = path.with_name(f"{path.name}{DAMAGED}")
    try:
        path.replace(aside)
    except FileNotFoundError:
        return "run the study again, which makes it anew"
    except OSError as error:
        return f"remove it ({error.strerror} when it was to be renamed) and run the study again"
    return f"it is {aside.name} now; run the study again, which makes it anew"


def read_json(path: Path, kind: type) -> Any:
    """Read what a run wrote as JSON.

    Parameters
    ----------
    path : Path
    kind : type
        Of its content, dict or list.

    Raises
    ------
    DamagedFileError
        If it cannot be read, is not JSON or holds something else.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise DamagedFileError(path, f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        raise DamagedFileError(path, f"{path}: is not JSON ({error})") from None
    if not isinstance(content, kind):
        found = type(content).__name__
        raise DamagedFileError(path, f"{path}: holds a {found} at its top, not a {kind.__name__}")
    return content


def holds(path: Path, text: str) -> bool:
    """Tell whether a file is there and holds a text."""
    with suppress(OSError):
        return path.read_bytes() == text.encode("utf-8", "backslashreplace")
    return False


def is_file(path: Path) -> bool:
    """Tell whether there is a regular file; no where a name cannot even be looked up."""
    with suppress(OSError, ValueError):
        return path.is_file()
    return False


def is_folder(path: Path) -> bool:
    """Tell whether there is a folder; no where a name cannot even be looked up."""
    with suppress(OSError, ValueError):
        return path.is_dir()
    return False


_hashed: dict[Path, tuple[str, str]] = {}
"""State and hash of folders that this process has read."""

_SETTLED_NS = 2 * 10**9
"""A file that changed so lately may change again without another time of change."""


def folder_sha256(folder: Path) -> str:
    """Hash the names and contents of all files below a folder but hidden ones.

    A plan asks for it a hundred times, so contents are read again only after a file changed.

    Raises
    ------
    HarnessError
        If one cannot be read.
    """
    place, (state, changed) = folder.absolute(), _state(folder)
    if place in _hashed and _hashed[place][0] == state:
        return _hashed[place][1]
    found = _contents_sha256(folder)
    if changed < time.time_ns() - _SETTLED_NS:
        _hashed[place] = state, found
    return found


def _state(folder: Path) -> tuple[str, int]:
    """Return what changes with any file below a folder, and when the last one did (ns)."""
    digest, changed = hashlib.sha256(), 0
    waiting = [str(folder)]
    try:
        while waiting:
            with os.scandir(waiting.pop()) as entries:
                for entry in sorted(entries, key=lambda entry: entry.name):
                    found = entry.stat()
                    told = (entry.path, found.st_ino, found.st_size, found.st_mtime_ns)
                    digest.update(f"{told} {found.st_ctime_ns}\n".encode("utf-8", "replace"))
                    changed = max(changed, found.st_mtime_ns, found.st_ctime_ns)
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append(entry.path)
    except OSError:  # told, if it matters, where contents are read
        return "", 2 * time.time_ns()  # never kept
    return digest.hexdigest(), changed


def _contents_sha256(folder: Path) -> str:
    digest = hashlib.sha256()
    try:
        for path in files_below(folder):
            with path.open("rb") as stream:
                content = hashlib.file_digest(stream, "sha256").hexdigest()
            digest.update(f"{path.relative_to(folder).as_posix()}\0{content}\n".encode())
    except OSError as error:
        raise HarnessError(f"{error.filename}: cannot be read: {error.strerror}") from None
    return digest.hexdigest()


def files_below(folder: Path) -> list[Path]:
    """List the files below a folder in the order of their names, without hidden ones."""
    found = (path for path in folder.rglob("*") if is_file(path))
    return sorted(
        path
        for path in found
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )


def temporary_beside(path: Path) -> Path:
    """Return a name in the same folder for what will be renamed, of no other process anywhere."""
    owner = f"{os.uname().nodename}-{os.getpid()}"
    return path.with_name(f".{owner}-{secrets.token_hex(4)}{PART}")


def remove_left(paths: Iterable[Path]) -> None:
    """Remove what processes that were killed left under such names.

    Parameters
    ----------
    paths : iterable of Path
        Files and folders; others are left alone, as are those of another machine that are not a
        day old.
    """
    for path in paths:
        host, _, rest = path.name.removeprefix(".").rpartition("-")[0].rpartition("-")
        if path.suffix != PART or not rest.isdigit():
            continue
        with suppress(OSError):
            here = host == os.uname().nodename
            if _is_alive(int(rest)) if here else time.time() - path.lstat().st_mtime < _DAY_S:
                continue
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink()


def not_in_future(paths: Iterable[Path]) -> None:
    """Set the time of files that a clock ahead of this one has written to now.

    Snakemake refuses what a job makes of an input that is younger, until that time has come.
    """
    for path in paths:
        with suppress(OSError):
            if path.stat().st_mtime > time.time():
                os.utime(path)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def write_whole(content: str | bytes, path: Path) -> None:
    """Write a file, and its folder, so that a reader sees all of it, what was there, or nothing.

    Raises
    ------
    HarnessError
        If it cannot be written; what was there is as it was.
    """
    raw = content.encode("utf-8", "backslashreplace") if isinstance(content, str) else content
    with whole_file(path) as file:
        file.write(raw)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that is written part by part, and appears whole when all of it is.

    Where the block that writes it raises, what was there stays.

    Raises
    ------
    HarnessError
        If it cannot be written.
    """
    temporary = temporary_beside(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("xb") as file:
            yield file
        temporary.replace(path)
    except OSError as error:
        raise HarnessError(f"{path}: cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def write_sealed(text: str, path: Path) -> None:
    """Write a text under its digest, where it can be written: a cache is made again elsewhere."""
    with suppress(HarnessError):
        write_whole(f"{_seal(text)}\n{text}", path)


def read_sealed(path: Path) -> str | None:
    """Return a text that `write_sealed` wrote; None where it is not what was written."""
    with suppress(OSError, ValueError):
        seal, _, text = path.read_text(encoding="utf-8").partition("\n")
        return text if seal == _seal(text) else None
    return None


def _seal(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def signature(file: BinaryIO, path: Path) -> tuple[int, ...] | None:
    """Return what changes when someone else writes to an open file, or puts another in its place.

    Returns
    -------
    tuple of int or None
        Size and times, of which nobody can set back when the inode changed. None where the path is
        another file, or none.
    """
    with suppress(OSError):
        own, found = os.fstat(file.fileno()), path.stat()
        if os.path.samestat(own, found):
            return found.st_size, found.st_mtime_ns, found.st_ctime_ns
    return None
