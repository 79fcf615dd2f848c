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
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.files import write_whole
from harness.planning.learned.design import Design
from harness.planning.learned.model import LearningError, Run
from harness.planning.learned.question import Question
from harness.plugin.method import Method
from harness.project import CACHE
from harness.threads import THREAD_VARIABLES

FOLDER = CACHE / "storage"
_MODULE = "harness.planning.learned.measuring"


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
                for run in _measured(dataclasses.replace(question, runs=kept)):
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


def _measured(question: Question) -> Iterator[Run]:
    """Have trials measured by a process that is as a study's runner is."""
    environment = os.environ | dict.fromkeys(THREAD_VARIABLES, "1")
    with tempfile.TemporaryFile("w+") as told:
        with subprocess.Popen(
            [sys.executable, "-m", _MODULE],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=told,
            env=environment,
            text=True,
        ) as process:
            assert process.stdin is not None
            assert process.stdout is not None
            with contextlib.suppress(BrokenPipeError), process.stdin:
                json.dump(dataclasses.asdict(question), process.stdin)
            for line in process.stdout:
                yield Run.of(json.loads(line))
        told.seek(0)
        lines = told.read().strip().splitlines()
    if process.returncode:
        last = lines[-1] if lines else f"exit status {process.returncode}"
        raise LearningError(f"the process that measures its trials ended: {last}")
