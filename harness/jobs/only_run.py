"""One run of a study at a time: whoever runs it holds its folder of results.

The run that a user sees may be two processes, `harness run` and the Snakemake that it starts. The
first holds the folder from before it looks at what is there; the second finds its own parent.
"""

from __future__ import annotations

import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

import psutil

from harness.errors import HarnessError


@contextmanager
def only_run(results: Path) -> Iterator[None]:
    """Hold a folder of results while a study runs; the system lets go of it with the process.

    Raises
    ------
    HarnessError
        If another run holds it, or it cannot be made.
    """
    with hold(results):
        yield


def hold(results: Path) -> IO[str]:
    """Hold a folder of results until the file that is returned is closed, or this process ends.

    Raises
    ------
    HarnessError
        If another run holds it, this one's parents excepted, or it cannot be made.
    """
    lock = results / ".running"
    try:
        results.mkdir(parents=True, exist_ok=True)
        file = lock.open("a+")
    except OSError as error:
        where = Path(error.filename or results).absolute()
        raise HarnessError(f"{where}: cannot be made: {error.strerror}") from None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read()
        if holder in _parents():
            return file
        file.close()
        raise HarnessError(
            f"{results}: the study runs already, in process {holder or '?'}: wait for it, end "
            "it, or give this one another name"
        ) from None
    except OSError:  # of a file system without locks; blocks lock their journals themselves
        pass
    try:
        file.truncate(0)
        file.write(_named(os.getpid()))
        file.flush()
    except OSError as error:  # the disk is full
        with suppress(OSError):
            file.close()
        raise HarnessError(f"{lock}: cannot be written: {error.strerror}") from None
    return file


def _parents() -> list[str]:
    return [_named(process.pid) for process in psutil.Process().parents()]


def _named(pid: int) -> str:
    return f"{pid} on {socket.gethostname()}"
