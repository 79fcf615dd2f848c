"""What a job reads of its study, in one file: for machines that do not see the user's folder.

The study, its catalogs, plugins and local data, and the files of its jobs. A data set, rows and
whatever else a rule declares travel by themselves. The harness is installed where jobs run, so
what came along with it is left out.
"""

from __future__ import annotations

import itertools
import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from harness.errors import DamagedFileError, HarnessError
from harness.files import below, is_file, whole_file, write_whole
from harness.planning.bundles import Bundle
from harness.planning.job_files import FOLDER as JOBS
from harness.planning.workload import ROWS, Workload
from harness.plugin.index import method_entry
from harness.project import CATALOG, PLUGINS, STUDIES, own

FILE = "sources.zip"
"""In the folder of a study's results."""

EARLIER = "earlier.zip"
"""Beside it: rows of trials that other jobs ran before."""


def source_files(workload: Workload, bundles: Iterable[Bundle]) -> list[Path]:
    """List the files that jobs read, relative to the current folder.

    Parameters
    ----------
    workload : Workload
    bundles : iterable of Bundle
        All jobs of trials.

    Raises
    ------
    HarnessError
        If one has no place on another machine: it is outside of the current folder, or named by a
        whole path.
    """
    _refuse_whole_paths(workload)
    here = Path.cwd().resolve()
    found: dict[Path, None] = {}
    outside: dict[Path, None] = {}
    folder = below(workload.results, JOBS)
    for path in (*_named(workload), *(folder / f"{bundle.id}.json" for bundle in bundles)):
        whole = path.absolute()
        if whole.is_relative_to(here):
            found[whole.relative_to(here)] = None
        elif not _came_along(whole):
            outside[path] = None
    if outside:
        raise HarnessError(
            f"{', '.join(map(str, outside))}: outside of {here}: jobs on other machines get only "
            "what is below the folder that a study is run from; move it there"
        )
    return list(found)


def _refuse_whole_paths(workload: Workload) -> None:
    settings = workload.study.settings
    splits = [path for grid in workload.study.grids for path in grid.split_files]
    named = [*settings.plugins, *settings.catalogs, *dict.fromkeys(splits)]
    if not _came_along(workload.study.path):
        named.append(str(workload.study.path))
    whole = [name for name in named if Path(name).is_absolute()]
    if whole:
        raise HarnessError(
            f"{', '.join(whole)}: other machines have no such path: name a study as it is seen "
            "from the current folder, and what it names as that is seen from the study"
        )


def _came_along(path: Path) -> bool:
    """Tell whether a file is installed wherever the harness is."""
    whole = path.resolve()
    return any(whole.is_relative_to(place) for place in (STUDIES, PLUGINS, CATALOG))


def _named(workload: Workload) -> Iterator[Path]:
    from harness.planning.learned.kept import FOLDER as LEARNED  # brings NumPy

    study = workload.study
    yield study.path
    for catalog in (own("datasets.yaml"), *study.catalogs):
        if catalog is not None:
            yield catalog
    for folder in (own("plugins"), *study.plugin_folders):
        if folder is not None:
            yield from _plugin_files(folder)
    for name in workload.datasets():
        yield from (
            file.path for file in workload.catalog[name].every_file if file.path is not None
        )
    for block in {(id(block.grid), block.dataset): block for block in workload.blocks}.values():
        n_train = workload.entry(block).n_train
        if (source := study.split_source(block.grid, block.dataset, n_train)) is not None:
            yield from source.all_files()
    names = {block.method.name for block in workload.blocks}
    if any(method_entry(workload.index, name)["learns_storage"] for name in names):
        yield from sorted(LEARNED.glob("*.json"))


def _plugin_files(folder: Path) -> Iterator[Path]:
    if folder.is_file():
        yield folder
        return
    for path in sorted(folder.rglob("*")):
        if is_file(path) and "__pycache__" not in path.parts:
            yield path


def earlier_rows(workload: Workload, bundles: Iterable[Bundle]) -> dict[Path, bytes]:
    """Return the rows in the current folder of trials of some jobs, in a file for each data set.

    Trials that were part of other jobs, before a study or a plugin was edited, are not run again.
    """
    wanted: dict[str, set[str]] = {}
    for bundle in bundles:
        wanted.setdefault(bundle.dataset, set()).update(bundle.trials())
    found = {}
    for dataset, trials in wanted.items():
        rows = workload.finished_rows(dataset, trials).values()
        if rows:
            path = below(workload.results, f"{ROWS[1]}/{dataset}/earlier.jsonl")
            found[path] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    return found


def pack(files: Iterable[Path], path: Path, made: Mapping[Path, bytes] | None = None) -> None:
    """Write files into one; the same files always make the same.

    Parameters
    ----------
    files : iterable of Path
        Relative to the current folder. One that is gone meanwhile is left out.
    path : Path
        A zip file.
    made : mapping of Path to bytes, optional
        Further files and what they hold.

    Raises
    ------
    HarnessError
        If it cannot be written.
    """
    with whole_file(path) as file, zipfile.ZipFile(file, "w") as packed:
        for name, content in itertools.chain(_read(files), (made or {}).items()):
            # without the time of day, which a name alone would be given
            packed.writestr(zipfile.ZipInfo(name.as_posix()), content, zipfile.ZIP_DEFLATED)


def _read(files: Iterable[Path]) -> Iterator[tuple[Path, bytes]]:
    for path in files:
        with suppress(FileNotFoundError):
            yield path, path.read_bytes()


def unpack(path: Path, folder: Path = Path()) -> None:
    """Write the files of `pack` below a folder; those that are there already are not touched.

    Raises
    ------
    DamagedFileError
        If the file is not what `pack` wrote.
    HarnessError
        If a name leads out of the folder, or it cannot be written to.
    """
    try:
        with zipfile.ZipFile(path) as packed:
            for name in packed.namelist():
                content, target = packed.read(name), below(folder, name)
                with suppress(OSError):
                    if target.read_bytes() == content:
                        continue
                write_whole(content, target)
    except (OSError, zipfile.BadZipFile, EOFError) as error:
        raise DamagedFileError(path, f"{path}: is no file of sources ({error})") from None
