"""What a study was made from, brought along: its file, its catalog, its plugins, given splits.

Data are never copied: their entries name files, checksums and addresses. Paths are of the new
folder, so that the study runs there.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from harness.datasets.entry import Entry
from harness.datasets.fetching import is_packed
from harness.datasets.file import File
from harness.datasets.split_sources import SEED
from harness.errors import HarnessError
from harness.files import folder_sha256, is_folder
from harness.planning.workload import Workload
from harness.project import PLUGINS, own
from harness.study.published_tables import own_papers
from harness.study.study import Study

PLUGINS_HERE = "study-plugins"
PROJECT_PLUGINS = "plugins"
"""Those of the folder in which the study was run: they are found there without being named."""

SPLITS_GIVEN = "given-splits"
PRINTED = "printed"
DATA_HERE = "data"
"""Where folders of texts are to be put."""


def copy_plugins(workload: Workload, folder: Path) -> dict[str, str]:
    """Copy the folders of plugins that did not come with the harness.

    Returns
    -------
    dict of str to str
        What stands for each folder.

    Raises
    ------
    HarnessError
        If one cannot be read.
    """
    shipped = PLUGINS.resolve()
    wanted = [Path(plugin["path"]) for plugin in workload.index["plugins"] if plugin["path"]]
    folders = [path.parent.resolve() for path in wanted if path.is_absolute() and path.exists()]
    folders += [path.resolve() for path in workload.study.plugin_folders]
    mine = own("plugins")
    copied: dict[str, str] = {}
    for source in dict.fromkeys(folders):
        if source == shipped or source.is_relative_to(shipped):
            continue
        place, number = f"{PLUGINS_HERE}/{source.name}", 2
        while place in copied.values():
            place, number = f"{PLUGINS_HERE}/{source.name}-{number}", number + 1
        if mine is not None and source == mine.resolve():
            place = PROJECT_PLUGINS
        target = folder / place
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        else:
            ignored = shutil.ignore_patterns("__pycache__", "*.pyc", ".*")
            shutil.copytree(source, target, ignore=ignored)
        copied[str(source)] = place
    return copied


def write_study(study: Study, plugins: Mapping[str, str], folder: Path) -> None:
    """Write the study file; where it names plugins, catalogs or splits, with their new places."""
    content = yaml.safe_load(study.text)
    before = yaml.safe_dump(content)
    for key in ("plugins", "catalogs"):
        content.pop(key, None)
    named = [place for place in plugins.values() if place != PROJECT_PLUGINS]
    if named:
        content["plugins"] = named
    for part in (content, *content.get("cases", [])):
        _take_splits(part, study.path.parent, folder)
    for paper, path in own_papers().items():
        if any(name.split("/")[0] == paper for name in study.settings.published):
            (folder / PRINTED).mkdir(exist_ok=True)
            shutil.copyfile(path, folder / PRINTED / path.name)
    text = study.text
    if yaml.safe_dump(content) != before:
        heading = "# As run, but for the places of plugins and splits, which are in this folder.\n"
        text = heading + yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    (folder / "study.yaml").write_text(text, encoding="utf-8")


def _take_splits(part: dict[str, Any], beside: Path, folder: Path) -> None:
    evaluation = part.get("evaluation")
    if not isinstance(evaluation, dict) or "splits" not in evaluation:
        return
    named = evaluation["splits"]
    target = folder / SPLITS_GIVEN
    target.mkdir(exist_ok=True)
    moved = {}
    for of, name in ({"": named} if isinstance(named, str) else named).items():
        given = Path(str(name))
        pattern = given.name.replace("{dataset}", "*").replace(SEED, "*")
        for path in (beside / given.parent).glob(pattern):
            shutil.copyfile(path, target / path.name)
        moved[of] = f"{SPLITS_GIVEN}/{given.name}"
    part["evaluation"] = evaluation | {"splits": moved.get("", moved)}


def write_catalog(workload: Workload, folder: Path) -> dict[str, Entry]:
    """Write the entries of the study's data sets, each file by its name and checksum.

    Returns
    -------
    dict of str to Entry
        As they are in the new catalog; sets that a plugin generates are as they were.

    Raises
    ------
    HarnessError
        If a file at hand cannot be read.
    """
    made: dict[str, Entry] = {}
    bodies: dict[str, dict[str, Any]] = {}
    for name in workload.datasets():
        entry = workload.catalog[name]
        made[name] = entry
        if entry.format != "generated":
            bodies[name] = _body(entry)
            told = {"name": name} | bodies[name]
            made[name] = Entry.model_validate(told, context={"folder": folder.resolve()})
            if made[name].digest != entry.digest:
                raise HarnessError(
                    f"data set {name!r}: its entry cannot be written so that it says the same"
                )
    text = yaml.safe_dump(bodies, sort_keys=False, allow_unicode=True)
    heading = (
        "# The data sets of this study. A file without an address is looked for in a mirror:\n"
        "# HARNESS_MIRROR/NAME OF THE SET/NAME OF THE FILE.\n"
    )
    (folder / "datasets.yaml").write_text(heading + text, encoding="utf-8")
    return made


def _body(entry: Entry) -> dict[str, Any]:
    body = entry.model_dump(mode="json", exclude_unset=True, exclude={"name", "files"})
    if entry.classes and None in entry.classes.values():
        body["classes"] = list(entry.classes)
    if entry.files:
        body["files"] = [_file(file) for file in entry.files]
    for key, fact in entry.fact_sources.items():
        if fact.files:
            body[key]["files"] = [_file(file) for file in fact.files]
    return body


def _file(file: File) -> dict[str, Any]:
    if file.path is None:
        return {"name": file.name} | file.model_dump(mode="json", exclude_defaults=True)
    if is_folder(file.path):
        checksum = file.sha256 or folder_sha256(file.path)
        return {"path": f"{DATA_HERE}/{file.name}", "sha256": checksum}
    told = {key: getattr(file, key) for key in ("sha256", "packed_sha256") if getattr(file, key)}
    if not told:
        # the digest of the entry is over the bytes as they are
        try:
            with file.path.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise HarnessError(f"{file.path}: cannot be read: {error.strerror}") from None
        whole = is_packed(file.path) or file.member
        told = {"packed_sha256" if whole else "sha256": digest}
    if file.member:
        told["member"] = file.member
    return {"name": file.name} | told
