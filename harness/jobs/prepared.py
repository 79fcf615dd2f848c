"""Prepared data as a worker uses them: checked before its trials, watched while they run.

Where nothing keeps a trial from writing (see `harness doctor`), it can alter what later trials
read. That is noticed here, told in its row, and mended by preparing the data again.
"""

from __future__ import annotations

import fcntl
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.datasets import Entry, Meta, load_catalog
from harness.datasets.meta import FILES, content_sha256
from harness.errors import HarnessError
from harness.files import is_file
from harness.planning.workload import Workload
from harness.plugin.registry import Registry


def prepare_once(workload: Workload, name: str) -> None:
    """Prepare a data set of a study, unless another run did since this one was planned."""
    folder = workload.prepared(name)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with _locked(folder):
        # whoever wants the data anew has removed their metadata
        if not is_file(folder / "meta.json"):
            prepare_named(workload, name)


def prepare_named(workload: Workload, name: str) -> None:
    """Fetch, check and prepare a data set of a study."""
    from harness.datasets import prepare  # brings pandas, which no trial needs

    prepare(entry_with_data(workload, name), workload.prepared(name))


def entry_with_data(workload: Workload, name: str) -> Entry:
    """Return the entry of a data set, its plugin loaded if it is one that a plugin generates."""
    entry = workload.catalog[name]
    if entry.format == "generated":
        registry = Registry.load(workload.study.plugin_folders)
        entry = load_catalog(generated={name: registry.get("datasets", name)[0]})[name]
    return entry


class Prepared:
    """The prepared data of one data set.

    Parameters
    ----------
    workload : Workload
    name : str

    Attributes
    ----------
    folder : Path
    meta : Meta

    Raises
    ------
    HarnessError
        If the data are not what was prepared, and cannot be prepared again.
    """

    def __init__(self, workload: Workload, name: str) -> None:
        self._workload, self._name = workload, name
        self.folder = workload.prepared(name)
        self._known: Meta | None = None
        try:
            self.meta = self._verified()
        except HarnessError as error:
            self.mend(str(error))
            self.meta = self._verified()
        self._known = self.meta
        self._state = self._signature()

    @property
    def features(self) -> Path:
        """The file of the features."""
        return self.folder / self.meta.features

    def altered(self) -> bool:
        """Tell whether the files hold something else than when this was last asked.

        They are read only if one was touched: nobody can set back when a file's inode changed.
        """
        state = self._signature()
        if state == self._state:
            return False
        try:
            self._verified()
        except HarnessError:
            return True
        self._state = state
        return False

    def mend(self, reason: str) -> None:
        """Prepare the data again, unless another worker has done so meanwhile."""
        with _locked(self.folder):
            try:
                self._verified()
            except HarnessError:
                print(f"{reason}; preparing them again", file=sys.stderr)
                prepare_named(self._workload, self._name)

    def _verified(self) -> Meta:
        meta = Meta.read(self.folder)
        try:
            found = content_sha256(self.folder)
        except OSError as error:
            raise HarnessError(f"{self.folder}: {error.strerror}") from None
        if found != meta.sha256:
            raise HarnessError(f"{self.folder}: the data are not those that meta.json describes")
        if self._known is not None and meta != self._known:
            raise HarnessError(f"{self.folder}: meta.json describes other data than before")
        return meta

    def _signature(self) -> list[tuple[int, ...] | None]:
        return [_state(self.folder / name) for name in FILES]


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    with (folder.parent / f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _state(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return (found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
