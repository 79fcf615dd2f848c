"""Builds the site: a folder of pages that need no server and send no request."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from harness.advice.evidence import read_evidence
from harness.errors import HarnessError
from harness.files import write_whole
from harness.metrics.names import METRICS, PRIMARY
from harness.planning.workload import read_catalog
from harness.plugin.index import read_index
from harness.plugin.registry import Registry
from harness.project import ROOT
from harness.site.advice_data import RULES, advice_data
from harness.site.gallery import GALLERY, gallery_pages
from harness.site.links import broken_links
from harness.site.manual import MANUAL, build_manual
from harness.site.pages import Page, dataset_pages, method_pages, paper_pages
from harness.site.reference import reference_pages
from harness.site.storage_models import SCRIPTS, planning_script

SHOWN = ("auc", "accuracy", "nmse", "adjusted_rand")
"""Metrics that pages offer."""

LINKS = (
    ("What fits me?", "index.html"),
    ("Leaderboard", "leaderboard.html"),
    ("Methods", "methods/index.html"),
    ("Data sets", "datasets/index.html"),
    ("Papers", "papers/index.html"),
    ("Manual", "manual/index.html"),
)

_SECTIONS = {to for _, to in LINKS} | {f"{GALLERY}/index.html"}
_COPIED = ("site.css", "advice.js", "fits.js", "leaderboard.js")


def build_site(
    folder: Path, main: click.Group, project: Path = ROOT, published: Sequence[Path] = ()
) -> int:
    """Write the site of all kept studies.

    Parameters
    ----------
    folder : Path
        Empty, or with an earlier site: its pages are replaced.
    main : click.Group
        The command line, which the reference describes.
    project : Path
        A checkout: manual and papers are of its `docs`.
    published : sequence of Path, default ()
        Folders that `harness publish` wrote, whose reports become the gallery.

    Returns
    -------
    int
        Pages that were written.

    Raises
    ------
    HarnessError
        If the folder has other files, the manual is not at hand, a folder of `published` is none
        or was altered, or a link leads nowhere.
    """
    if not (project / "docs").is_dir():
        message = f"{project} has no docs: build the site in a checkout of the project"
        raise HarnessError(message)
    _make_room(folder)
    index = read_index()
    evidence = read_evidence(None)
    catalog = read_catalog(None, index)
    (folder / _MARK).touch()
    for name in _COPIED:
        shutil.copy(SCRIPTS / name, folder / name)
    _write_scripts(folder, index, evidence)
    pages = [
        Page("index.html", "What fits me?", template="fits.html.j2"),
        Page("leaderboard.html", "Leaderboard", template="leaderboard.html.j2"),
        *method_pages(index, evidence, project / "docs" / "methods"),
        *dataset_pages(catalog, evidence),
        *paper_pages(project / "docs" / "results"),
        *reference_pages(main),
        *gallery_pages(published, folder),
    ]
    links = [*LINKS, ("Reports", f"{GALLERY}/index.html")] if published else LINKS
    templates = Environment(
        loader=FileSystemLoader(SCRIPTS), autoescape=True, undefined=StrictUndefined
    )
    for page in pages:
        root = "../" * page.address.count("/")
        text = templates.get_template(page.template).render(
            title=page.title, links=links, root=root, here=_section(page.address), **page.parts
        )
        path = folder / page.address
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(text, path)
    written = build_manual(project, folder, links)
    if lost := broken_links(folder):
        raise HarnessError("links of the site lead nowhere:\n" + "\n".join(lost))
    return len(pages) + written


_MARK = ".harness-site"


def _make_room(folder: Path) -> None:
    """Remove an earlier site, and nothing else."""
    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / _MARK).is_file():
            raise HarnessError(f"{folder} has files that are no site: give another folder")
        shutil.rmtree(folder)
    folder.mkdir(parents=True, exist_ok=True)


def _write_scripts(folder: Path, index: Mapping[str, Any], evidence: Any) -> None:
    controls = [entry["name"] for entry in index["methods"] if entry["control"]]
    methods = [method for method, _ in Registry.load().items("methods")]
    script, left_out = planning_script(methods)
    told = {
        "rules": RULES,
        "usual": PRIMARY,
        "applies": {name: sorted(METRICS[name]) for name in SHOWN},
        "unmeasured": {
            entry["name"]: entry["tasks"]
            for entry in index["methods"]
            if entry["learns_storage"] and entry["name"] in left_out
        },
        "generated": [entry["name"] for entry in index["datasets"]],
        "data": advice_data(evidence, controls, SHOWN),
    }
    lines = [f"const {name} = {json.dumps(value)};" for name, value in told.items()]
    write_whole("\n".join(lines), folder / "data.js")
    write_whole(script, folder / "plan.js")


def _section(address: str) -> str:
    """Return the address in the navigation that a page belongs to."""
    first = address.partition("/")[0].replace("reference", MANUAL)
    return next((to for to in (address, f"{first}/index.html") if to in _SECTIONS), "")
