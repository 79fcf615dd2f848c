"""What a plugin needs besides what the harness installs, as its file says it (PEP 723).

    # /// script
    # dependencies = ["lightgbm>=4.6,<5"]
    # ///

A plugin that is a folder has the block in its `__init__.py`.
"""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.files import is_file

_BLOCK = re.compile(r"^# /// script\s*\n((?:#(?: .*)?\n)+?)# ///\s*$", re.MULTILINE)


def declared_requirements(path: Path) -> tuple[str, ...]:
    """Read the requirements of a plugin.

    Parameters
    ----------
    path : Path
        Its file, or its folder.

    Returns
    -------
    tuple of str
        As PEP 508 writes them, in order; none where there is no block.

    Raises
    ------
    HarnessError
        If the block is not what PEP 723 asks for. The message names the file and what is allowed.
    """
    file = path / "__init__.py" if path.is_dir() else path
    if not is_file(file):
        return ()
    text = file.read_text(encoding="utf-8", errors="replace")
    found = _BLOCK.search(text) if "# /// script" in text else None
    if found is None:
        return ()
    content = "\n".join(line[2:] for line in found.group(1).splitlines())
    try:
        told = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise HarnessError(f"{file}: the block '# /// script' is no TOML: {error}") from None
    return tuple(sorted(map(str, _parsed(told.get("dependencies", []), file))))


def unmet(requirements: Iterable[str]) -> list[str]:
    """Return the requirements that the running Python does not meet."""
    from packaging.requirements import Requirement

    return [
        str(wanted)
        for wanted in map(Requirement, requirements)
        if (wanted.marker is None or wanted.marker.evaluate()) and not _is_installed(wanted)
    ]


def _parsed(listed: Any, file: Path) -> list[Any]:
    from packaging.requirements import InvalidRequirement, Requirement

    where = f"{file}: dependencies of the block '# /// script'"
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise HarnessError(f'{where} are {listed!r}; give a list like ["lightgbm>=4.6,<5"]')
    try:
        return [Requirement(item) for item in listed]
    except InvalidRequirement as error:
        first = str(error).splitlines()[0]
        raise HarnessError(f"{where}: {first}; write each like 'lightgbm>=4.6,<5'") from None


def _is_installed(wanted: Any) -> bool:
    try:
        found = importlib.metadata.version(wanted.name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return bool(wanted.specifier.contains(found, prereleases=True))
