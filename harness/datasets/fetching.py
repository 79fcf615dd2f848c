"""Where the bytes come from: a mirror, the cache, or the network; never without their checksum.

A mirror (`HARNESS_MIRROR`) is looked at first, then the cache (`HARNESS_CACHE`, by default pooch's
for this project), then each URL in turn. A checksum is of the unpacked bytes, so a plain original
and a packed copy verify alike.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import logging
import lzma
import os
import tempfile
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from harness.datasets.archives import unpacked_member
from harness.datasets.entry import Declared
from harness.datasets.file import File
from harness.datasets.reading import FOLDER_FORMATS
from harness.datasets.unreachable import why_unreachable
from harness.errors import HarnessError
from harness.files import below, folder_sha256, is_file, is_folder
from harness.project import cache_directory
from harness.units import format_bytes

RETRIES = 3
TIMEOUT = 60.0
PACKINGS = ("", ".gz", ".bz2", ".xz")

_BLOCK = 1 << 20
_DOWNLOAD = "download"
_Opener = Callable[[Path], gzip.GzipFile | bz2.BZ2File | lzma.LZMAFile]
_OPENERS: dict[bytes, _Opener] = {
    **{b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open},
}
_DAMAGED = (EOFError, zlib.error, lzma.LZMAError, gzip.BadGzipFile)

_log = logging.getLogger(__name__)


def open_unpacked(path: Path) -> BinaryIO:
    """Open a file for reading; gzip, bzip2 and xz are recognised by content and unpacked."""
    opener = _opener(path)
    return path.open("rb") if opener is None else io.BufferedReader(opener(path), _BLOCK)


def is_packed(path: Path) -> bool:
    """Tell whether a file is one of gzip, bzip2 or xz, by its content."""
    return _opener(path) is not None


def _opener(path: Path) -> _Opener | None:
    with path.open("rb") as stream:
        start = stream.read(6)
    return next((opener for magic, opener in _OPENERS.items() if start.startswith(magic)), None)


def fetch(entry: Declared) -> list[Path]:
    """Return the verified files of a data set, downloaded where they are not at hand.

    Raises
    ------
    HarnessError
        If a file is nowhere to be had, or its bytes are not the expected ones.
    """
    owner = f"data set {entry.name!r}"
    for file in entry.files:
        if file.path and is_folder(file.path) and entry.format not in FOLDER_FORMATS:
            raise HarnessError(f"{owner}: {file.path}: there is no such file")
    return fetch_files(entry, entry.files)


def fetch_files(entry: Declared, files: Iterable[File]) -> list[Path]:
    """Return some of the verified files of a data set, downloaded where they are not at hand.

    Raises
    ------
    HarnessError
        If a file is nowhere to be had, or its bytes are not the expected ones.
    """
    owner = f"data set {entry.name!r}"
    return [fetch_file(owner, _placed(entry, file), entry.notes) for file in files]


def fetch_file(owner: str, file: File, notes: str = "") -> Path:
    """Return one verified file, downloaded where it is not at hand.

    Parameters
    ----------
    owner : str
        What it is a file of, for messages.
    file : File
        With its place in a mirror and in the cache under `mirror`, unless it has a path.
    notes : str, default ""
        What is told besides where it has no address.

    Raises
    ------
    HarnessError
        If it is nowhere to be had, or its bytes are not the expected ones.
    """
    try:
        if file.member is None:
            return _fetch(owner, file, notes)
        # the checksum is that of the member
        archive = _fetch(owner, file.model_copy(update={"sha256": None}), notes)
        found = unpacked_member(owner, archive, file.member)
        member = file.model_copy(update={"packed_sha256": None})
        _refuse_unless_expected(found, owner, member, f"correct {archive} or the checksum")
        return found
    except OSError as error:
        told = f"{error.filename}: {error.strerror or error}"
        raise HarnessError(f"{owner}: {told}") from None


def missing_bytes(entry: Declared) -> int:
    """Return the expected size of what neither mirror nor cache holds; contents unchecked."""
    return sum(
        file.bytes
        for file in (_placed(entry, file) for file in entry.every_file)
        if file.path is None and not _in_mirror(file) and not _cached(file).exists()
    )


def unobtainable(entry: Declared) -> list[str]:
    """Say for each file that is neither at hand nor to be downloaded where to put it."""
    return [
        _where_to_put(f"data set {entry.name!r}", file, entry.notes)
        for file in (_placed(entry, file) for file in entry.every_file)
        if not (file.path or file.urls or _in_mirror(file) or _cached(file).exists())
    ]


def _where_to_put(owner: str, file: File, notes: str) -> str:
    return (
        f"{owner}: {file.name} has no address to download it from; put it at "
        f"<mirror>/{file.mirror} and set HARNESS_MIRROR=<mirror>. {notes}"
    ).rstrip()


def _placed(entry: Declared, file: File) -> File:
    """Return a file with the place that it has in a mirror and in the cache."""
    if file.mirror or file.path is not None:
        return file
    return file.model_copy(update={"mirror": f"{entry.name}/{file.name}"})


def _cached(file: File) -> Path:
    return below(cache_directory(), file.mirror or file.name)


def _in_mirror(file: File) -> Path | None:
    return in_mirror(str(file.mirror))


def in_mirror(place: str) -> Path | None:
    """Return a file of the mirror, plain or packed; None if it has none or there is no mirror."""
    mirror = os.environ.get("HARNESS_MIRROR")
    if not mirror:
        return None
    candidates = (Path(mirror) / f"{place}{packing}" for packing in PACKINGS)
    return next((path for path in candidates if is_file(path)), None)


def _fetch(owner: str, file: File, notes: str) -> Path:
    if file.path is not None:
        if is_folder(file.path):
            found = folder_sha256(file.path) if file.sha256 else file.sha256
            if found != file.sha256:
                difference = f"expected sha256 {file.sha256}, found {found}"
                raise HarnessError(
                    f"{owner}: {file.path}: {difference}; correct the files or their checksum"
                )
            return file.path
        if not is_file(file.path):
            raise HarnessError(f"{owner}: {file.path}: there is no such file")
        _refuse_unless_expected(file.path, owner, file, "correct the file or its checksum")
        return file.path
    mirrored = _in_mirror(file)
    if mirrored is not None:
        todo = "replace it in the mirror, or unset HARNESS_MIRROR to download it"
        _refuse_unless_expected(mirrored, owner, file, todo)
        return mirrored
    cached = _cached(file)
    if is_file(cached):
        check = _check(cached, file)
        if check.passed:
            return cached
        _log.warning("%s: %s; fetching it again", cached, check.difference)
    return _download(owner, file, cached, notes)


def _download(owner: str, file: File, target: Path, notes: str) -> Path:
    import pooch
    import requests

    if not file.urls:
        raise HarnessError(_where_to_put(owner, file, notes))
    failures = []
    pooch.get_logger().setLevel(logging.ERROR)  # it tells each attempt, by a name of no meaning
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # what was there stays until the right bytes are
        with tempfile.TemporaryDirectory(prefix=".download-", dir=target.parent) as folder:
            for url in file.urls:
                _log.warning("%s: fetching %s", owner, url)
                fetcher = pooch.create(
                    path=folder,
                    base_url="",
                    registry={_DOWNLOAD: None},
                    urls={_DOWNLOAD: url},
                    retry_if_failed=RETRIES,
                )
                try:
                    fetcher.fetch(_DOWNLOAD, downloader=pooch.HTTPDownloader(timeout=TIMEOUT))
                except (requests.exceptions.RequestException, ValueError) as error:
                    failures.append(f"{url}: {why_unreachable(error)}")
                    continue
                made = Path(folder) / _DOWNLOAD
                check = _check(made, file)
                if check.passed:
                    if not (file.sha256 or file.packed_sha256):
                        _log.warning("%s: no checksum is known; this one has %s", url, check.found)
                    _set_aside(target)
                    made.replace(target)
                    return target
                made.unlink()
                failures.append(f"{url}: {check.difference} (truncated or altered; removed)")
    except OSError as error:
        size = f" ({format_bytes(file.bytes)})" if file.bytes else ""
        raise HarnessError(
            f"{target}: the download{size} cannot be kept: {error.strerror or error}; "
            "HARNESS_CACHE names another folder"
        ) from None
    raise HarnessError(
        f"{owner}: {file.name} could not be fetched: {'; '.join(failures)}; without a network, "
        f"put it at <mirror>/{file.mirror} and set HARNESS_MIRROR=<mirror>"
    )


def _set_aside(path: Path) -> None:
    """Keep a file with other bytes under another name: it may be somebody's only copy."""
    if is_file(path):
        aside = path.with_name(f"{path.name}.{_sha256(path.open('rb'))[:12]}")
        path.rename(aside)
        _log.warning("%s: what was there is kept as %s", path, aside.name)


@dataclass(frozen=True)
class _Check:
    passed: bool
    expected: str
    found: str

    @property
    def difference(self) -> str:
        expected = f"expected sha256 {self.expected}, found " if self.expected else "this is "
        return expected + self.found


def _check(path: Path, file: File) -> _Check:
    expected = file.sha256 or file.packed_sha256 or ""
    try:
        if file.packed_sha256 and _sha256(path.open("rb")) == file.packed_sha256:
            return _Check(True, expected, file.packed_sha256)
        found = _sha256(open_unpacked(path))
    except _DAMAGED as error:
        return _Check(False, expected, f"a damaged archive ({error})")
    except OSError as error:
        if error.errno is not None:
            raise
        # bz2 tells damage as an OSError without a number
        return _Check(False, expected, f"a damaged archive ({error})")
    return _Check(not expected or found == file.sha256, expected, found)


def _refuse_unless_expected(path: Path, owner: str, file: File, todo: str) -> None:
    check = _check(path, file)
    if not check.passed:
        raise HarnessError(f"{owner}: {path}: {check.difference}; {todo}")


def _sha256(stream: BinaryIO) -> str:
    digest = hashlib.sha256()
    with stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
