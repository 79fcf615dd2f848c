"""Puts a published folder together, beside its place, and renames it once it is whole."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.datasets.card import croissant
from harness.datasets.entry import Entry
from harness.datasets.entry_values import UNKNOWN
from harness.errors import HarnessError
from harness.files import is_file, read_json, temporary_beside
from harness.jobs.kept_splits import FOLDER as SPLITS
from harness.jobs.published_rows import SUMS, TRIALS
from harness.planning.workload import Workload
from harness.project import PLUGINS, ROOT, SNAKEFILE
from harness.publishing.bundled_inputs import copy_plugins, write_catalog, write_study
from harness.publishing.citing import bibtex, zenodo
from harness.publishing.crate import NAME as CRATE
from harness.publishing.crate import WORKFLOW, Told, crate
from harness.publishing.scrubbing import Scrubber
from harness.records.prediction_files import ENDING, copy_kept
from harness.records.prediction_files import FOLDER as PREDICTIONS
from harness.report import write_report

ENVIRONMENT = "environment.txt"
_MOST_TOLD = 5


@dataclass(frozen=True)
class Wishes:
    """What a user says of a published folder.

    Parameters
    ----------
    predictions : bool, default False
        Whether kept predictions are part of it.
    incomplete : bool, default False
        Whether a study is published of which trials are missing.
    named_hosts : bool, default False
        Whether machines keep their names.
    creators : sequence of str, default ()
        "Family, Given" each.
    licence : str, default "CC-BY-4.0"
        Of the results.
    """

    predictions: bool = False
    incomplete: bool = False
    named_hosts: bool = False
    creators: Sequence[str] = ()
    licence: str = "CC-BY-4.0"


@dataclass
class Published:
    """What was published.

    Attributes
    ----------
    folder : Path
    rows, files : int
    told : list of str
        What was left out or changed, a sentence each.
    """

    folder: Path
    rows: int = 0
    files: int = 0
    told: list[str] = field(default_factory=list)


def publish(workload: Workload, output: Path, wishes: Wishes = Wishes()) -> Published:
    """Write a study's results and what they were made from as one folder.

    Parameters
    ----------
    workload : Workload
        The study as it is now, which has been run.
    output : Path
        A new folder, or an empty one.
    wishes : Wishes, optional

    Raises
    ------
    HarnessError
        If the study was not run, was edited since, lacks trials (unless that is wished for), or a
        file would name a machine, a user or a folder of theirs. Nothing is written then.
    """
    if output.exists() and (not output.is_dir() or any(output.iterdir())):
        raise HarnessError(f"{output}: is there already: give a new folder with -o")
    published = Published(output)
    _refuse_stale(workload)
    output.parent.mkdir(parents=True, exist_ok=True)
    folder = temporary_beside(output)
    folder.mkdir()
    try:
        _write(workload, folder, wishes, published)
        if output.exists():
            output.rmdir()
        folder.rename(output)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return published


def _refuse_stale(workload: Workload) -> None:
    results, name = workload.results, workload.study.name
    for wanted in (TRIALS, "study.yaml", "provenance.json"):
        if not is_file(results / wanted):
            raise HarnessError(f"{results / wanted}: is not there: harness run {name} makes it")
    if (results / "study.yaml").read_text(encoding="utf-8") != workload.study.text:
        raise HarnessError(
            f"{results}: holds the results of another text than {workload.study.path} now is: "
            f"harness run {name} makes them anew"
        )


def _write(workload: Workload, folder: Path, wishes: Wishes, published: Published) -> None:
    import pyarrow.parquet

    results, study = workload.results, workload.study
    rows = pyarrow.parquet.read_table(results / TRIALS)
    kept = {name for name in rows["fingerprint"].to_pylist() if name is not None}
    _tell_missing(workload, kept, wishes, published)
    scrubber = Scrubber.of_this_machine(
        filter(None, rows["host"].unique().to_pylist()), named=wishes.named_hosts
    )
    pyarrow.parquet.write_table(scrubber.table(rows), folder / TRIALS)
    published.rows = len(rows)
    for name in ("calibration.json", "timelines.json"):
        if is_file(results / name):
            _write_json(folder / name, scrubber.content(read_json(results / name, list)))
    if (results / SPLITS).is_dir():
        shutil.copytree(results / SPLITS, folder / SPLITS)
    plugins = copy_plugins(workload, folder)
    write_study(study, plugins, folder)
    entries = write_catalog(workload, folder)
    provenance = _provenance(workload, plugins, scrubber)
    _write_json(folder / "provenance.json", provenance)
    (folder / ENVIRONMENT).write_text(_environment(rows, published), encoding="utf-8")
    _write_cards(entries, folder)
    (folder / "CITATION.bib").write_text(bibtex(workload, entries), encoding="utf-8")
    if wishes.predictions:
        _copy_predictions(results, folder, kept, published)
    elif (results / PREDICTIONS).is_dir():
        published.told.append("predictions are left out (--predictions takes them along)")
    _copy_workflow(folder)
    write_report(folder)
    about = _about(workload, published, wishes)
    title = study.settings.title or study.name
    (folder / ".zenodo.json").write_text(
        zenodo(title, about, wishes.creators, wishes.licence), encoding="utf-8"
    )
    (folder / "README.md").write_text(_readme(title, about, workload, published), encoding="utf-8")
    _refuse_leaks(folder, scrubber)
    told = Told(
        title=title,
        about=about,
        licence=wishes.licence,
        published=datetime.now(UTC).date().isoformat(),
        started=provenance.get("started_at") or "",
        finished=provenance.get("finished_at") or "",
        creators=wishes.creators,
        inputs=["study.yaml", "datasets.yaml"],
        results=[TRIALS, "report.html", "provenance.json"],
    )
    _write_json(folder / CRATE, crate(folder, told))
    published.files = _write_sums(folder)
    _tell_rest(entries, wishes, published)


def _tell_missing(
    workload: Workload, kept: set[str], wishes: Wishes, published: Published
) -> None:
    wanted = [trial for block in workload.blocks for trial in block.trials]
    missing = [trial for trial in wanted if trial not in kept]
    if not missing:
        return
    told = f"{len(missing):,} of {len(wanted):,} trials are not in the table"
    if not wishes.incomplete:
        raise HarnessError(
            f"{workload.results / TRIALS}: {told}, or were made by another version of what "
            f"decides them: harness run {workload.study.name} runs them, --incomplete publishes "
            "the rest"
        )
    published.told.append(f"{told}: the study is incomplete")


def _provenance(
    workload: Workload, plugins: Mapping[str, str], scrubber: Scrubber
) -> dict[str, Any]:
    told = read_json(workload.results / "provenance.json", dict)
    for plugin in told.get("plugins", []):
        path = Path(str(plugin.get("path", "")))
        whole = path if path.is_absolute() else Path.cwd() / path
        for source, place in plugins.items():
            if whole.is_relative_to(source):
                plugin["path"] = f"{place}/{whole.relative_to(source).as_posix()}"
        if whole.is_relative_to(PLUGINS):
            plugin["path"] = f"harness/plugins/{whole.relative_to(PLUGINS).as_posix()}"
    told["command"] = f"harness run {workload.study.name}"
    return scrubber.content(told)


def _environment(rows: Any, published: Published) -> str:
    """List every package here at its version, and tell whether rows say others."""
    found = {dist.metadata["Name"]: dist.version for dist in importlib.metadata.distributions()}
    said = [json.loads(text) for text in rows["versions"].unique().to_pylist() if text]
    differ = {
        f"{name} {version}"
        for versions in said
        for name, version in versions.items()
        if name in found and found[name] != version
    }
    if differ:
        published.told.append(
            f"{ENVIRONMENT} is of now; rows were made with {', '.join(sorted(differ))}"
        )
    python = {versions.get("python") for versions in said}
    heading = f"# Python {', '.join(sorted(filter(None, python)))}\n"
    return heading + "".join(f"{name}=={found[name]}\n" for name in sorted(found, key=str.lower))


def _write_cards(entries: Mapping[str, Entry], folder: Path) -> None:
    for name, entry in entries.items():
        files = sorted((folder / SPLITS).glob(f"{name}-*.npz"))
        splits = {
            f"../{SPLITS}/{path.name}": path
            for path in files
            if path.stem.rsplit("-", 2)[0] == name
        }
        (folder / "cards").mkdir(exist_ok=True)
        _write_json(folder / "cards" / f"{name}.json", croissant(entry, splits))


def _copy_predictions(results: Path, folder: Path, kept: set[str], published: Published) -> None:
    found = sorted((results / PREDICTIONS).rglob(f"*{ENDING}"))
    for path in found:
        copy_kept(path, folder / path.relative_to(results), kept)
    if not found:
        published.told.append("the study kept no predictions")


def _copy_workflow(folder: Path) -> None:
    (folder / WORKFLOW).parent.mkdir()
    shutil.copyfile(SNAKEFILE, folder / WORKFLOW)
    shutil.copytree(ROOT / "rules", (folder / WORKFLOW).parent / "rules")


def _about(workload: Workload, published: Published, wishes: Wishes) -> str:
    blocks = workload.blocks
    methods = len({block.method.label for block in blocks})
    sets, budgets = len(workload.datasets()), len({block.budget.text for block in blocks})
    counts = (
        f"{published.rows:,} {'trial' if published.rows == 1 else 'trials'}",
        f"of {methods} {'method' if methods == 1 else 'methods'}",
        f"on {sets} {'data set' if sets == 1 else 'data sets'}",
        f"at {budgets} memory {'budget' if budgets == 1 else 'budgets'}",
    )
    return (
        f"{' '.join(counts)}, by a benchmark harness that gives methods bytes. "
        f"The results are licensed "
        f"{wishes.licence}; the data sets are not part of this folder and have licences of their "
        "own."
    )


def _readme(title: str, about: str, workload: Workload, published: Published) -> str:
    told = "".join(f"- {sentence}\n" for sentence in published.told)
    return (
        f"# {title}\n\n{about}\n\nOpen `report.html`. `{TRIALS}` has a row for each trial. "
        f"`{SUMS}` has the checksum of every file:\n\n"
        "```console\n$ sha256sum --check SHA256SUMS\n$ harness verify . --sample 20\n```\n\n"
        "The second runs 20 rows again and compares them bit for bit. It needs the harness at "
        f"the versions of `{ENVIRONMENT}`, and the data: `datasets.yaml` says where they are "
        f"from.\n\n{told}"
    )


def _refuse_leaks(folder: Path, scrubber: Scrubber) -> None:
    leaks = scrubber.leaks(folder)
    if leaks:
        more = [f"and {len(leaks) - _MOST_TOLD} more"] * (len(leaks) > _MOST_TOLD)
        told = "\n".join([*leaks[:_MOST_TOLD], *more])
        raise HarnessError(
            f"{told}\nnothing was written: a machine, a user or a folder of theirs is named; take "
            "it out of the file that this was copied from"
        )


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def _write_sums(folder: Path) -> int:
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    digests = {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in names}
    text = "".join(f"{digest}  {name}\n" for name, digest in digests.items())
    (folder / SUMS).write_text(text, encoding="utf-8")
    return len(names) + 1


def _tell_rest(entries: Mapping[str, Entry], wishes: Wishes, published: Published) -> None:
    published.told.append("data files are left out; datasets.yaml has their checksums")
    unknown = [name for name, entry in entries.items() if entry.licence == UNKNOWN]
    if unknown:
        published.told.append(f"of these data sets no licence is known: {', '.join(unknown)}")
    if not wishes.creators:
        published.told.append("nobody is named as its creator, which Zenodo asks for (--creator)")
    published.told.append(f"the results are licensed {wishes.licence} (--licence)")
