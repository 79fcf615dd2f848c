"""A memory limit around a test's processes, as a container or a scheduler's job has one."""

from __future__ import annotations

import os
from pathlib import Path

from harness.sandbox.cgroup import UnavailableError, find, prepare
from harness.sandbox.trial_cgroup import Group


class OuterGroup:
    """A group below that of the tests, of whichever version this machine has.

    Parameters
    ----------
    limit : int
        Bytes that its processes may have together.
    """

    def __init__(self, limit: int) -> None:
        for self.version in (2, 1):
            try:
                base = prepare(find(self.version)).base
                break
            except UnavailableError as error:
                why = error
        else:
            raise why
        self.path = base / f"harness-test-outer-{os.getpid()}"
        self.path.mkdir()
        self.name = self.path.name
        v1 = self.version == 1
        self.limit_file = self.path / ("memory.limit_in_bytes" if v1 else "memory.max")
        self._used = self.path / ("memory.usage_in_bytes" if v1 else "memory.current")
        self.limit(limit)

    @property
    def used(self) -> int:
        """Bytes that its processes have, page cache included."""
        return int(self._used.read_text())

    def limit(self, size: int) -> None:
        """Set another limit."""
        self.limit_file.write_text(str(size))

    def enter(self) -> None:
        """Move this process into it."""
        (self.path / "cgroup.procs").write_text(str(os.getpid()))

    def around(self, *command: str) -> list[str]:
        """Return a command that moves itself into the group and becomes another one."""
        enter = f'echo $$ > {self.path}/cgroup.procs; exec "$@"'
        return ["sh", "-c", enter, "sh", *command]

    def remove(self) -> None:
        """End what is in it, and remove it with the groups that were made below it."""
        below = [path for path in self.path.rglob("*") if path.is_dir()]
        for path in (*sorted(below, reverse=True), self.path):
            Group(self.version, Path(path)).remove()
