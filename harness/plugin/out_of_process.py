"""What takes importing every plugin to answer is asked of a process of its own, once.

Snakemake and most commands only need names, tasks, digests and whether values are allowed.
Importing every plugin for that would cost each of them the seconds that scikit-learn takes, so
the answer is cached under a digest of the question and of all plugins' source.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from harness.errors import HarnessError, shown
from harness.files import read_sealed, write_sealed
from harness.plugin.environments import home
from harness.plugin.registry import Source, digest_files, find_sources
from harness.project import CACHE, PACKAGE


def ask(
    module: str,
    folders: Sequence[Path] = (),
    question: Any = None,
    python: Path | None = None,
    *,
    of: Callable[[Source], bool] | None = None,
    kept_in: Path = CACHE,
) -> Any:
    """Run a module on plugin folders and a question, and return what it prints.

    Parameters
    ----------
    module : str
        Run with the folders as arguments and the question, as JSON, on its standard input; the
        last line that it prints is the answer as JSON.
    folders : sequence of Path
        Folders besides `plugins/`.
    question : optional
        Anything that JSON can say.
    python : Path, optional
        Interpreter of an environment that is asked; by default that of the harness.
    of : callable (Source) -> bool, optional
        Tells which plugins decide the answer; by default all.
    kept_in : Path, default CACHE
        Folder of answers.

    Raises
    ------
    HarnessError
        If a folder is missing, or a plugin takes the process down with it.
    """
    asked = json.dumps(question, sort_keys=True, default=str)
    parts = [
        home().version,
        str(python or ""),
        # changes where a package is installed, which a plugin may have lacked
        *(f"{path} {path.stat().st_mtime_ns}" for path in map(Path, home().packages)),
        digest_files(PACKAGE.rglob("*.py"), PACKAGE),
        *(
            f"{s.name} {s.origin} {s.location} {s.sha256}"
            for s in find_sources(folders)
            if of is None or of(s)
        ),
        asked,
    ]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    cached = kept_in / f"{module.rpartition('.')[2]}-{key}.json"
    kept = read_sealed(cached)
    if kept is not None:
        return json.loads(kept)
    command = [str(python or home().python), "-m", module, *map(str, folders)]
    made = subprocess.run(command, input=asked, capture_output=True, text=True, check=False)
    if made.returncode:
        raise HarnessError(f"plugins: {module} could not load them:\n{made.stderr.strip()}")
    text = (made.stdout.splitlines() or [""])[-1]
    try:
        answer = json.loads(text)
    except ValueError:
        raise HarnessError(f"plugins: {module} said {shown(text)}, which is no answer") from None
    write_sealed(text, cached)
    return answer
