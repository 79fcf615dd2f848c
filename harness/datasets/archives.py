"""Zip and tar archives of several files, of which a data set is read from some."""

from __future__ import annotations

import hashlib
import shutil
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from harness.errors import HarnessError
from harness.files import whole_file
from harness.project import CACHE

FOLDER = CACHE / "members"

_MOST_SHOWN = 10


def unpacked_member(owner: str, archive: Path, member: str) -> Path:
    """Return a file of an archive, unpacked below the current folder unless it is there already.

    Parameters
    ----------
    owner : str
        What the archive is a file of, for messages.
    archive : Path
        A zip or tar archive; tar archives may be packed with gzip, bzip2 or xz.
    member : str
        The name of the file, as the archive has it.

    Raises
    ------
    HarnessError
        If it is no archive, is damaged, or has no such file.
    """
    status = archive.stat()
    state = f"{archive.resolve()}/{member}/{status.st_mtime_ns}/{status.st_size}"
    place = hashlib.sha256(state.encode()).hexdigest()[:16]
    target = FOLDER / place / PurePosixPath(member).name
    if target.is_file():
        return target
    try:
        with _opened(archive, member) as stream, whole_file(target) as written:
            shutil.copyfileobj(stream, written)
    except HarnessError:
        raise
    except ValueError as error:
        raise HarnessError(f"{owner}: {archive}: {error}") from None
    except Exception as error:  # of a damaged archive: each module has errors of its own
        raise HarnessError(f"{owner}: {archive}: cannot be unpacked: {error}") from None
    return target


@contextmanager
def _opened(archive: Path, member: str) -> Iterator[IO[bytes]]:
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as held:
            _refuse_absent(member, [name for name in held.namelist() if not name.endswith("/")])
            with held.open(member) as stream:
                yield stream
    elif tarfile.is_tarfile(archive):
        with tarfile.open(archive) as held_tar:
            names = [entry.name for entry in held_tar if entry.isfile()]
            _refuse_absent(member, names)
            found = held_tar.extractfile(member)
            assert found is not None, "it is a file"
            yield found
    else:
        raise ValueError("is no zip or tar archive: leave `member` out")


def _refuse_absent(member: str, names: list[str]) -> None:
    if member in names:
        return
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    raise ValueError(f"has no member {member!r}; it has {', '.join(names[:_MOST_SHOWN])}{more}")
