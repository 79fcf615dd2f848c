"""How an entry writes a file: by its path from the catalog, with its checksum."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from harness.datasets.fetching import open_unpacked
from harness.files import folder_sha256, is_folder

_BLOCK = 1 << 20


def written_file(path: Path, folder: Path) -> dict[str, str]:
    """Return a file as the `files` of an entry have it.

    Parameters
    ----------
    path : Path
        Of a file, or of a folder of files.
    folder : Path
        Of the catalog.

    Returns
    -------
    dict
        `path`, relative below the folder and absolute elsewhere, and `sha256`.
    """
    return {"path": _written_path(path, folder), "sha256": _sha256(path)}


def _written_path(path: Path, folder: Path) -> str:
    """Return a path as a catalog in a folder writes it: relative below it, else absolute."""
    whole, base = path.resolve(), folder.resolve()
    return whole.relative_to(base).as_posix() if whole.is_relative_to(base) else os.fspath(whole)


def _sha256(path: Path) -> str:
    if is_folder(path):
        return folder_sha256(path)
    digest = hashlib.sha256()
    with open_unpacked(path) as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return digest.hexdigest()
