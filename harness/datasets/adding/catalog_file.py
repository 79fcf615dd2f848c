"""Writes an entry into a catalog that people write as well: their comments and order stay."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from harness.errors import HarnessError
from harness.files import is_file, write_whole
from harness.strict_yaml import read_document, read_yaml, written

_HEADING = """\
# Data sets of this folder, beside those of `harness datasets`. A name that is there too means the
# entry here. Paths are relative to this file.
"""


def entry_text(name: str, body: Mapping[str, Any]) -> str:
    """Write an entry as catalogs have it: a line a key, and a block of files.

    Parameters
    ----------
    name : str
    body : mapping
        Plain values, as YAML has them.
    """
    lines = [f"{written(name)}:"]
    for key, value in body.items():
        if key == "files":
            lines.append("  files:")
            for file in value:
                told = [f"{part}: {written(held)}" for part, held in file.items()]
                lines += [f"    - {told[0]}", *(f"      {line}" for line in told[1:])]
        else:
            lines.append(f"  {key}: {written(value)}")
    return "\n".join(lines) + "\n"


def names_in(path: Path) -> list[str]:
    """List the names of a catalog; none if there is no file.

    Raises
    ------
    HarnessError
        If it is no catalog.
    """
    return list(_read(path)[1])


def write_entry(path: Path, name: str, body: Mapping[str, Any]) -> None:
    """Put an entry at the end of a catalog, or in the place of one of its name.

    Raises
    ------
    HarnessError
        If the catalog is none, is read-only, or is written in a way that cannot be extended. It is
        as it was then.
    """
    text, known = _read(path)
    entry = entry_text(name, body)
    if path.is_file() and not path.stat().st_mode & (stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH):
        raise HarnessError(f"{path}: is read-only; make it writable: chmod u+w {path}")
    new = _replaced(text, name, entry) if name in known else _extended(text, entry)
    expected = {str(key): value for key, value in known.items()} | {name: dict(body)}
    try:
        found = read_yaml(new)
    except (yaml.YAMLError, ValueError):
        found = None
    if not isinstance(found, dict) or {str(key): v for key, v in found.items()} != expected:
        raise HarnessError(
            f"{path}: is written in a way that cannot be extended here; put this into it:\n{entry}"
        )
    crlf = b"\r\n" in path.read_bytes() if path.is_file() else False
    raw = new.replace("\n", "\r\n") if crlf else new
    write_whole(raw.encode(), path.resolve())


def _read(path: Path) -> tuple[str, dict[Any, Any]]:
    if not is_file(path):
        if path.exists():
            raise HarnessError(f"{path}: this is no file")
        return _HEADING, {}
    text, content = read_document(path, "the catalog ")
    if content is None:
        return text, {}
    if not isinstance(content, dict):
        raise HarnessError(f"{path}: a catalog is a mapping of data set names to entries")
    return text, content


def _extended(text: str, entry: str) -> str:
    kept = text.rstrip()
    return f"{kept}\n\n{entry}" if kept else entry


def _replaced(text: str, name: str, entry: str) -> str:
    """Put an entry in the place of another, up to the comments that stand before the next one."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    assert root is not None, "it has an entry of this name"
    lines = text.splitlines()
    starts = [key.start_mark.line for key, _ in root.value]
    place = next(at for at, (key, _) in enumerate(root.value) if key.value == name)
    end = starts[place + 1] if place + 1 < len(starts) else len(lines)
    while end > starts[place] + 1 and (not lines[end - 1] or lines[end - 1].startswith("#")):
        end -= 1
    new = [*lines[: starts[place]], *entry.splitlines(), *lines[end:]]
    return "\n".join(new) + "\n"
