"""What a trial may reach of the file system: code, its own features, a folder to write to.

Labels lie beside the features, in the files that both were made from, and in what scikit-learn
brings along; a trial reads none of these. It is given what an import may need, at any moment of
the fit, and nothing else: no home folder, no `/tmp`, no results.
"""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from harness.datasets.catalog import Catalog
from harness.plugin.registry import searched_folders
from harness.project import PACKAGE, cache_directory
from harness.sandbox import Reach

ISOLATION = "HARNESS_ISOLATION"
"""Names the means that confines trials, where it is not to be the strongest at hand."""

READABLE = "HARNESS_READABLE"
"""Names further files and folders that trials may read, parted as in `PATH`."""

_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/etc"),
    *("/nix/store", "/gnu/store"),
)
_PACKAGES = ("site-packages", "dist-packages")


def make_reach(
    catalog: Catalog,
    plugin_folders: Sequence[Path],
    withheld: Iterable[Path],
    shown: Iterable[Path],
    scratch: Path,
) -> Reach:
    """Put together what the trials of a block may reach.

    Parameters
    ----------
    catalog : Catalog
        Its files are hidden.
    plugin_folders : sequence of Path
        Of the study.
    withheld : iterable of Path
        Further files and folders that are hidden: prepared data, results.
    shown : iterable of Path
        What of them is shown all the same: the features.
    scratch : Path
        From `scratch_folder`.
    """
    read = [*map(Path, _SYSTEM), *_code(), *_named(READABLE)]
    for place in searched_folders(plugin_folders):
        read += _files_beside(place) if place.is_file() else [place]
    hidden = [*withheld, cache_directory(), *_named("HARNESS_MIRROR"), *_bundled_data()]
    hidden += [file.path for entry in catalog.declared() for file in entry.every_file if file.path]
    return Reach(_outermost(read), tuple(hidden), tuple(shown), scratch)


def scratch_folder() -> AbstractContextManager[Path]:
    """Give a folder for what trials write, and remove it; those of dead processes go as well."""
    return _own_folder(Path(tempfile.gettempdir()), "harness-scratch-")


def mapped_folder(prepared: Path) -> AbstractContextManager[Path]:
    """Give a folder beside the features for the rows that trials map, and remove it likewise."""
    return _own_folder(prepared, ".rows-")


def isolation_told(isolation: str | None) -> str | None:
    """Return what confined a trial, with what it was allowed to read besides."""
    named = os.environ.get(READABLE)
    return f"{isolation}; {READABLE}={named}" if isolation and named else isolation


@contextlib.contextmanager
def _own_folder(base: Path, prefix: str) -> Iterator[Path]:
    """Name a folder after this process, so that another finds what a killed one has left."""
    prefix = f"{prefix}{socket.gethostname()}-"
    for stale in base.glob(f"{glob.escape(prefix)}*"):
        owner = stale.name.removeprefix(prefix).split("-")[0]
        if owner.isdigit() and not Path("/proc", owner).exists():
            shutil.rmtree(stale, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=f"{prefix}{os.getpid()}-", dir=base))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _code() -> Iterator[Path]:
    """Iterate over what Python imports from, and what it has imported."""
    prefixes = {Path(p).resolve() for p in (sys.prefix, sys.exec_prefix, sys.base_prefix)}
    yield from prefixes
    for name in sys.path:
        path = Path(name or ".").resolve()
        if path.is_file() or path.name in _PACKAGES or not prefixes.isdisjoint(path.parents):
            yield path
        elif path.is_dir():
            yield from _importable(path)
    for name, module in list(sys.modules.items()):
        if "." not in name:
            with contextlib.suppress(Exception):  # a module may be any object
                yield from map(Path, getattr(module, "__path__", ()))
    yield from _named("LD_LIBRARY_PATH")
    yield PACKAGE


def _importable(folder: Path) -> Iterator[Path]:
    """Iterate over modules and packages of a folder that may hold anything else, data too."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if path.suffix in (".py", ".so", ".pth") or (path / "__init__.py").is_file():
                yield path


def _files_beside(path: Path) -> list[Path]:
    with contextlib.suppress(OSError):
        return [other for other in path.parent.iterdir() if other.is_file()]
    return [path]


def _named(variable: str) -> list[Path]:
    return [Path(name) for name in os.environ.get(variable, "").split(os.pathsep) if name]


def _bundled_data() -> list[Path]:
    import sklearn.datasets

    return [Path(sklearn.datasets.__file__).parent / "data"]


def _outermost(paths: Iterable[Path]) -> tuple[Path, ...]:
    found = {path.resolve() for path in paths if path.exists()}
    return tuple(sorted(path for path in found if found.isdisjoint(path.parents)))
