"""The rows of one block on disk: locked, appended one by one, mended where they were damaged."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Iterable, Mapping, Set
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from harness.errors import HarnessError
from harness.files import DAMAGED, is_file, signature, temporary_beside
from harness.records.table import parse_rows, writable_row


class Journal:
    """The rows of one block on disk, appended one by one and locked while a worker holds it.

    Two workers of the same block (one left over from a workflow that was killed) exclude each
    other by the lock, which the kernel drops with the process; the second then finds the rows of
    the first. Lines that are not rows are put aside when the journal is opened, and their trials
    have no row.

    Parameters
    ----------
    path : Path
        Created with its folders if absent.

    Raises
    ------
    HarnessError
        On entering, if the file cannot be read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[str, dict[str, Any]] = {}

    def __enter__(self) -> Journal:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._locked()
            content = self._file.read()
            whole = content.rfind(b"\n") + 1
            rows, faults = parse_rows(self.path, content[:whole])
            if faults:
                self._put_aside(content, rows)
            else:
                self._file.truncate(whole)
        except OSError as error:
            raise HarnessError(_cannot_be_used(self.path, error)) from None
        self.rows = {row["fingerprint"]: row for row in rows}
        self._note()
        return self

    def __exit__(self, *exception: object) -> None:
        self._file.close()

    def append(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Add a row and return it as it was written; it is on disk then.

        Whatever a column cannot hold is null, and the reason says so.
        """
        (written,) = self.extend([row])
        return written

    def extend(self, rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Add rows, all on disk when it returns; otherwise as `append`."""
        made = [writable_row(row) for row in rows]
        for row in made:
            self._file.write(_line(row))
        self._file.flush()
        os.fsync(self._file.fileno())
        self.rows |= {row["fingerprint"]: row for row in made}
        self._note()
        return made

    def altered(self) -> bool:
        """Tell whether someone else has written to the file since the last row, or replaced it."""
        if self._state is not None and self._state == signature(self._file, self.path):
            return False
        try:
            rows, faults = parse_rows(self.path, self.path.read_bytes())
        except OSError:
            return True
        if faults or {row["fingerprint"]: row for row in rows} != self.rows:
            return True
        self._note()
        return False

    def drop(self, fingerprints: Set[str] = frozenset()) -> None:
        """Write the file anew, at once, without some of the rows that this journal knows."""
        kept = {key: row for key, row in self.rows.items() if key not in fingerprints}
        self._rewrite(kept.values())
        self.rows = kept
        self._note()

    def publish(self, output: Path) -> None:
        """Make the rows appear under another name, at once and without a second copy.

        Raises
        ------
        HarnessError
            If that name cannot be written.
        """
        temporary = temporary_beside(output)
        try:
            output.parent.mkdir(parents=True, exist_ok=True)
            try:
                os.link(self.path, temporary)
            except OSError:
                shutil.copyfile(self.path, temporary)
            temporary.replace(output)
        except OSError as error:
            raise HarnessError(_cannot_be_used(output, error)) from None
        finally:
            # renaming a file onto another link of itself does nothing and leaves both
            with suppress(OSError):
                temporary.unlink(missing_ok=True)

    def _locked(self) -> BinaryIO:
        """Open the file and wait for its lock, again if it was put aside meanwhile."""
        while True:
            if self.path.exists() and not is_file(self.path):
                raise IsADirectoryError(errno.EISDIR, "Is no file")
            file = self.path.open("a+b")
            fcntl.flock(file, fcntl.LOCK_EX)
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(file.fileno()), self.path.stat()):
                    file.seek(0)
                    return file
            file.close()

    def _put_aside(self, content: bytes, rows: Iterable[Mapping[str, Any]]) -> None:
        """Keep the file as it is under another name, and go on with its rows in a new one."""
        aside = self.path.with_name(f"{self.path.name}{DAMAGED}")
        aside.write_bytes(content)
        self._rewrite(rows)

    def _rewrite(self, rows: Iterable[Mapping[str, Any]]) -> None:
        temporary = temporary_beside(self.path)
        file = temporary.open("w+b")
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            for row in rows:
                file.write(_line(row))
            file.flush()
            os.fsync(file.fileno())
            temporary.replace(self.path)
        except OSError:
            with suppress(OSError):
                file.close()
            temporary.unlink(missing_ok=True)
            raise
        self._file.close()
        self._file = file

    def _note(self) -> None:
        self._state = signature(self._file, self.path)


def _line(row: Mapping[str, Any]) -> bytes:
    return json.dumps(row, separators=(",", ":")).encode() + b"\n"


def _cannot_be_used(path: Path, error: OSError) -> str:
    if isinstance(error, (IsADirectoryError, NotADirectoryError, FileExistsError)):
        return f"{path}: {error.strerror}: something else is in the place of it or of its folder"
    return f"{path}: cannot be read or written: {error.strerror}"
