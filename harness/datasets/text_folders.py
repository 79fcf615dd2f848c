"""Folders with a file a text, `FOLDER/LABEL/FILE`: what is in them."""

from __future__ import annotations

from pathlib import Path

from harness.datasets.image_folders import ENDINGS
from harness.errors import HarnessError

_MOST_SHOWN = 3


def text_files(folder: Path, pattern: str = "*") -> list[tuple[str, Path]]:
    """List the texts of a folder with their labels, in the order of their names.

    Parameters
    ----------
    folder : Path
        With a folder for each label. Names that start with a point are passed over.
    pattern : str, default "*"
        Of the names of files, such as `*.txt`.

    Raises
    ------
    HarnessError
        If there are none.
    """
    if not folder.is_dir():
        raise HarnessError(f"{folder}: format texts reads folders, and this is a file")
    labels = sorted(p for p in folder.iterdir() if p.is_dir() and not p.name.startswith("."))
    found = [
        (label.name, path)
        for label in labels
        for path in sorted(label.glob(pattern))
        if path.is_file() and not path.name.startswith(".")
    ]
    if not found:
        held = ", ".join(label.name for label in labels[:_MOST_SHOWN])
        told = f"{held} hold no file {pattern}" if labels else "it has no folders"
        raise HarnessError(
            f"{folder}: holds no texts: {told}; wanted are files in a folder for each label, "
            f"{folder.name}/LABEL/FILE"
        )
    return found


def decoded(path: Path, charset: str) -> str:
    """Return the text of a file.

    Raises
    ------
    HarnessError
        If it is not of that charset, naming the file.
    """
    try:
        return path.read_bytes().decode(charset)
    except UnicodeDecodeError as error:
        raise HarnessError(
            f"{path}: byte {error.start} is no {charset}: name the charset under read.charset, "
            "such as latin-1"
        ) from None


def is_utf8(path: Path) -> bool:
    """Tell whether a file is text in UTF-8."""
    try:
        path.read_bytes().decode()
    except UnicodeDecodeError:
        return False
    return True


def holds_texts(folder: Path) -> bool:
    """Tell whether the files in the folders of a folder are texts, by the first of them."""
    labels = sorted(path for path in folder.iterdir() if path.is_dir())
    files = (path for label in labels for path in sorted(label.iterdir()) if path.is_file())
    first = next((path for path in files if not path.name.startswith(".")), None)
    if first is None or first.suffix.lower() in ENDINGS:
        return False
    return b"\0" not in first.read_bytes()[:4096]
