"""Methods without a storage model, given one: read from what was kept, or measured and kept.

Runs are kept below `.harness/storage`, a file for each method and what decides its memory: its
code, its fixed parameters, the libraries' versions, and the harness's code that runs and measures
trials. A comment changes none of these.
"""

from __future__ import annotations

import contextlib
import dataclasses
import fcntl
import hashlib
import json
import platform
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.files import write_whole
from harness.planning.learned.design import Design
from harness.planning.learned.measured import measured
from harness.planning.learned.question import Question
from harness.planning.learned.runs import Run
from harness.plugin.method import Method
from harness.project import CACHE

FOLDER = CACHE / "storage"


def learn(design: Design, question: Question, path: Path) -> Method:
    """Return a method with a storage model, measured where not enough of it is kept.

    Parameters
    ----------
    design : Design
    question : Question
        The same for the process that measures; its runs are those that are kept.
    path : Path
        From `kept_path`. What is measured for one caller is waited for by others.

    Raises
    ------
    LearningError
        If the process that measures ends before it has. Where no trial could be measured, the
        model says so when it is asked.
    """
    runs = read_runs(path)
    if design.next(runs) is not None:
        with _locked(path):
            runs = read_runs(path)
            if design.next(runs) is not None:
                about = f"{design.method.name}: learning its storage"
                print(f"{about}, {design.shape.n} points", file=sys.stderr, flush=True)
                kept = [run.as_dict() for run in runs]
                for run in measured(dataclasses.replace(question, runs=kept)):
                    runs.append(run)
                    write_runs(runs, path)
    return design.learned(runs)


def kept_path(entry: Mapping[str, Any], harness: Mapping[str, Any], params: Any) -> Path:
    """Return where the runs of a method are kept.

    Parameters
    ----------
    entry : mapping
        The method's own part of the index.
    harness : mapping
        That of the harness: digests of its code, versions of the libraries.
    params : mapping
        Fixed by the study.
    """
    parts = [
        [entry["code"], harness["code"], harness["learning"]],
        sorted((harness["versions"] | entry["versions"]).items()),
        params,
        platform.machine(),
        platform.python_version(),
    ]
    text = json.dumps(parts, sort_keys=True, default=str)
    key = hashlib.sha256(text.encode()).hexdigest()[:16]
    name = re.sub(r"[^A-Za-z0-9._-]", "_", entry["name"])[:80]
    return FOLDER / f"{name}-{key}.json"


def read_runs(path: Path) -> list[Run]:
    """Read runs that were kept; none where the file is not what was written."""
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
        return [Run.of(run) for run in json.loads(path.read_text(encoding="utf-8"))["runs"]]
    return []


def write_runs(runs: Sequence[Run], path: Path) -> None:
    """Keep runs; where nothing can be written they are measured again."""
    content = {"runs": [run.as_dict() for run in runs]}
    with contextlib.suppress(HarnessError):
        write_whole(json.dumps(content), path)


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Let one process measure at a time; where no lock can be had, all of them."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context(path.with_suffix(".lock").open("w"))
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
