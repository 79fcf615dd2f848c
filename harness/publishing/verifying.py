"""Whether a published folder, or the results of a study, are what they say: rows are run again."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.files import is_file, is_folder, read_json, why_no_path
from harness.jobs.prepared import prepare_once
from harness.jobs.provenance import environment_info
from harness.jobs.published_rows import SUMS, TRIALS
from harness.jobs.recorded import find_row
from harness.jobs.reproduce import Comparison, run_again
from harness.planning.workload import PREPARED, RESULTS, Workload, load_workload
from harness.project import CACHE
from harness.publishing.bundled_inputs import (
    DATA_HERE,
    PLUGINS_HERE,
    PRINTED,
    PROJECT_PLUGINS,
    SPLITS_GIVEN,
)
from harness.records.table import read_table
from harness.report.versions import NO_ARITHMETIC

_NOT_AGAIN = ("timeout",)
"""Outcomes that depend on how busy a machine is."""

_UNCOMPARED = {*NO_ARITHMETIC, "memory-budget-harness"}
"""Versions that decide no score; whether the harness's own code is another, each row says."""


@dataclass(frozen=True)
class Checked:
    """A row that was run again.

    Attributes
    ----------
    row : int
        Its number in the table.
    place : dict
        `dataset`, `method`, `budget`, `seed`.
    differ : list of Comparison
        The outcome and scores that are not equal to the last bit.
    exact : bool
        Whether all that decided the row is as it was.
    failure : str
        Why it could not be run; empty if it was.
    """

    row: int
    place: Mapping[str, Any]
    differ: list[Comparison] = field(default_factory=list)
    exact: bool = True
    failure: str = ""


@dataclass
class Verified:
    """What was found.

    Attributes
    ----------
    altered : list of str
        Files that are missing, altered or not listed, a sentence each.
    files : int or None
        Files whose checksum was compared; None if there is no list.
    versions : list of str
        Packages of which another version is here, each with both.
    rows : list of Checked
    told : list of str
    """

    altered: list[str] = field(default_factory=list)
    files: int | None = None
    versions: list[str] = field(default_factory=list)
    rows: list[Checked] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool:
        """Whether nothing was altered and every row that was run again is equal."""
        return not self.altered and not any(row.differ or row.failure for row in self.rows)


def verify(
    folder: Path,
    sample: int,
    seed: int = 0,
    seen: Callable[[Checked], None] = lambda _: None,
) -> Verified:
    """Compare checksums, then run some rows again and compare outcome and scores bit for bit.

    Parameters
    ----------
    folder : Path
        A published folder, or `results/NAME` of a study that the current folder has.
    sample : int
        Rows that are run again; all if there are fewer.
    seed : int, default 0
        Of the draw.
    seen : callable (Checked) -> None, optional
        Told of each row once it was run.

    Raises
    ------
    HarnessError
        If the folder has no rows, or its study cannot be read.
    """
    if not is_file(folder / TRIALS):
        raise HarnessError(
            f"{folder}: holds no {TRIALS}: give a published folder, or results/NAME of a study"
        )
    verified = Verified()
    if is_file(folder / SUMS):
        verified.altered, verified.files = compare_checksums(folder)
    if verified.altered or not sample:
        return verified
    with _study_of(folder) as workload:
        table = read_table(workload.results / TRIALS)
        chosen = _drawn(table, sample, seed, verified)
        verified.versions = _other_versions(table.iloc[chosen])
        for number in chosen:
            checked = _checked(workload, number, table.iloc[number])
            verified.rows.append(checked)
            seen(checked)
    return verified


def compare_checksums(folder: Path) -> tuple[list[str], int]:
    """Compare every file of a folder with the list of checksums in it.

    Returns
    -------
    altered : list of str
        A sentence for each file that is missing, altered or not listed.
    files : int
        How many are listed.

    Raises
    ------
    HarnessError
        If the list is none.
    """
    listed: dict[str, str] = {}
    for number, line in enumerate((folder / SUMS).read_text(encoding="utf-8").splitlines(), 1):
        digest, _, name = line.partition("  ")
        if len(digest) != 64 or why_no_path(name):
            raise HarnessError(f"{folder / SUMS}: line {number} is not 'SHA256  FILE'")
        listed[name] = digest
    altered = []
    for name, digest in listed.items():
        if not is_file(folder / name):
            altered.append(f"{name}: is missing")
            continue
        with (folder / name).open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
        if found != digest:
            altered.append(f"{name}: was altered: expected sha256 {digest}, found {found}")
    there = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    altered += [f"{name}: is not listed" for name in sorted(there - listed.keys() - {SUMS})]
    return altered, len(listed)


@contextlib.contextmanager
def _study_of(folder: Path) -> Iterator[Workload]:
    """Give the study of a folder: of this project, or of what was published, in its own place."""
    name = _name_of(folder)
    if not is_file(folder / SUMS):
        if not (RESULTS / name).exists() or not (RESULTS / name).samefile(folder):
            raise HarnessError(
                f"{folder}: was not published ({SUMS} is not there), and is not results/{name} of "
                "the current folder, so what its study names is not known here"
            )
        told = read_json(folder / "provenance.json", dict)
        yield load_workload(shlex.split(str(told.get("command") or name))[-1])
        return
    mirror = os.environ.get("HARNESS_MIRROR")
    with tempfile.TemporaryDirectory(prefix="harness-verify-") as made:
        place = Path(made)
        _lay_out(folder.resolve(), place, name)
        for kept in (PREPARED, CACHE):  # what is here already need not be made again
            if is_folder(kept):
                (place / kept).symlink_to(kept.resolve())
        with contextlib.ExitStack() as back:
            if mirror:
                os.environ["HARNESS_MIRROR"] = str(Path(mirror).resolve())
                back.callback(os.environ.__setitem__, "HARNESS_MIRROR", mirror)
            back.enter_context(contextlib.chdir(place))
            yield load_workload(f"{name}.yaml")


def _lay_out(folder: Path, place: Path, name: str) -> None:
    for part in (PLUGINS_HERE, PROJECT_PLUGINS, SPLITS_GIVEN, PRINTED, DATA_HERE):
        if is_folder(folder / part):
            shutil.copytree(folder / part, place / part)
    shutil.copyfile(folder / "study.yaml", place / f"{name}.yaml")
    shutil.copyfile(folder / "datasets.yaml", place / "datasets.yaml")
    results = place / RESULTS / name
    results.mkdir(parents=True)
    shutil.copyfile(folder / TRIALS, results / TRIALS)


def _name_of(folder: Path) -> str:
    name = str(read_json(folder / "provenance.json", dict).get("study", ""))
    if not name or why_no_path(name) or "/" in name:
        raise HarnessError(f"{folder / 'provenance.json'}: names no study")
    return name


def _drawn(table: Any, sample: int, seed: int, verified: Verified) -> list[int]:
    ran = table["fingerprint"].notna()
    again = ran & ~table["outcome"].isin(_NOT_AGAIN)
    if late := int((ran & ~again).sum()):
        verified.told.append(
            f"{late} row{'s' * (late != 1)} that ended in timeout are not run again"
        )
    numbers = again.to_numpy(dtype=bool).nonzero()[0].tolist()
    if not numbers:
        raise HarnessError("no row of the table is of a trial that can be run again")
    return sorted(random.Random(seed).sample(numbers, min(sample, len(numbers))))


def _other_versions(rows: Any) -> list[str]:
    here = environment_info()["versions"]
    then: dict[str, set[str]] = {}
    for text in rows["versions"].dropna().unique():
        for package, version in json.loads(text).items():
            then.setdefault(package, set()).add(version)
    return [
        f"{package} {here.get(package, 'not installed')}, was {', '.join(sorted(versions))}"
        for package, versions in then.items()
        if package not in _UNCOMPARED and versions != {here.get(package)}
    ]


def _checked(workload: Workload, number: int, row: Any) -> Checked:
    place = {name: row[name] for name in ("dataset", "method", "budget", "seed")}
    try:
        found = find_row(workload, str(number), same=False)
        needs = workload.requirements(found.block)
        if needs:
            raise HarnessError(
                f"its plugin needs {', '.join(needs)}: harness reproduce runs it in an environment"
            )
        exact = found.row["fingerprint"].rpartition("-")[0] == found.block.fingerprint
        prepare_once(workload, found.block.dataset)
        compared = run_again(workload, found)
    except HarnessError as error:
        return Checked(number, place, exact=False, failure=str(error))
    return Checked(number, place, [one for one in compared if not one.equal], exact)
