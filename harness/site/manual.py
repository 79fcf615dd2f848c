"""The manual as pages: Markdown in, HTML out, with links between pages kept."""

from __future__ import annotations

import itertools
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

from harness.site.pages import Page

MANUAL = "manual"

_GROUPS = (
    (
        "Tutorials",
        (
            "README.md",
            "docs/tutorials/first-study.md",
            "docs/tutorials/first-plugin.md",
            "docs/tutorials/own-table.md",
            "docs/python.md",
        ),
    ),
    (
        "How to",
        (
            "docs/how-to/choose-for-a-device.md",
            "docs/how-to/put-a-papers-table-beside-yours.md",
            "docs/how-to/package-a-plugin.md",
            "docs/plugins.md",
            "docs/advice.md",
            "docs/publishing.md",
            "docs/studies.md",
            "docs/datasets.md",
            "docs/models.md",
            "docs/workflow.md",
            "docs/trackers.md",
            "docs/budget-library.md",
            "CONTRIBUTING.md",
        ),
    ),
    (
        "Explanation",
        ("docs/protocol.md", "docs/report.md", "docs/findings.md", "docs/other-tools.md"),
    ),
    ("Methods and results", ("docs/methods/README.md", "docs/results/README.md", "CHANGELOG.md")),
)
"""Where the table of contents has each page; what is in no group stands below "Further"."""

_REFERENCE = (
    ("Commands", "../reference/commands.html"),
    ("Keys of a study", "docs/studies.html#keys"),
    ("Keys of a data set", "../reference/entries.html"),
    ("Hooks", "../reference/hooks.html"),
    ("Columns of a row", "../reference/columns.html"),
    ("Methods", "../methods/index.html"),
)
"""Pages of the reference, seen from the table of contents."""


def manual_pages(project: Path, folder: Path) -> Iterator[Page]:
    """Yield the pages of the manual, and copy into the site what they link to.

    Parameters
    ----------
    project : Path
        A checkout.
    folder : Path
        Of the site.
    """
    sources = [project / "README.md", project / "CONTRIBUTING.md", project / "CHANGELOG.md"]
    sources += sorted([*project.glob("docs/**/*.md"), *project.glob("reports/**/*.md")])
    titles = {}
    for source in sources:
        place = source.relative_to(project)
        title, text = _rendered(source, project, folder)
        titles[place.as_posix()] = title
        yield Page(
            str(_address(place)),
            title,
            {"content": f"<article>{text}</article>"},
            template="base.html.j2",
        )
    yield Page(
        f"{MANUAL}/index.html",
        "Manual",
        {"content": _contents(titles)},
        template="base.html.j2",
    )


def _contents(titles: dict[str, str]) -> str:
    grouped = {name for _, names in _GROUPS for name in names}
    groups = [*_GROUPS, ("Further", tuple(name for name in titles if name not in grouped))]
    parts = ["<h1>Manual</h1>"]
    listed = "".join(f'<li><a href="{to}">{name}</a></li>' for name, to in _REFERENCE)
    for heading, names in groups:
        places = {name: os.path.relpath(_address(Path(name)), MANUAL) for name in names}
        lines = [
            f'<li><a href="{place}">{titles[name]}</a></li>'
            for name, place in places.items()
            if name in titles
        ]
        parts.append(f"<h2>{heading}</h2><ul>{''.join(lines)}</ul>")
    parts.insert(3, f"<h2>Reference</h2><ul>{listed}</ul>")
    return "\n".join(parts)


def _address(place: Path) -> PurePosixPath:
    return PurePosixPath(MANUAL, place.with_suffix(".html").as_posix())


def _rendered(source: Path, project: Path, folder: Path) -> tuple[str, str]:
    """Return the title and the HTML of a page."""
    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    tokens = parser.parse(_without_comments(source.read_text(encoding="utf-8")))
    title = source.stem
    for token, inner in itertools.pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", _anchor(inner.content))
            if token.tag == "h1":
                title = inner.content
    for token in _all(tokens):
        name = {"link_open": "href", "image": "src"}.get(token.type)
        if name:
            target = str(token.attrGet(name))
            token.attrSet(name, _target(target, source, project, folder))
    return title, parser.renderer.render(tokens, parser.options, {})


def _without_comments(text: str) -> str:
    return re.sub(r"(?s)<!--.*?-->", "", text)


def _all(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _all(token.children or [])


def _anchor(heading: str) -> str:
    """Return the anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _target(target: str, source: Path, project: Path, folder: Path) -> str:
    """Return where a link leads in the site: a page, or a file that is copied."""
    parts = urlsplit(target)
    if parts.scheme or not parts.path:
        return target
    other = (source.parent / parts.path).resolve()
    here = _address(source.relative_to(project)).parent
    fragment = f"#{parts.fragment}" if parts.fragment else ""
    if not other.is_relative_to(project):
        return target
    if other.is_dir():
        other = (
            other / "README.md"
            if (other / "README.md").is_file()
            else _listed(other, folder, project)
        )
    if other.suffix == ".md":
        return os.path.relpath(_address(other.relative_to(project)), here) + fragment
    place = PurePosixPath(MANUAL, other.relative_to(project).as_posix())
    if other.is_file():
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(other, folder / place)
    return os.path.relpath(place, here) + fragment


def _listed(other: Path, folder: Path, project: Path) -> Path:
    """Copy the files of a folder that is linked to, and return the one that lists them."""
    place = folder / MANUAL / other.relative_to(project)
    place.mkdir(parents=True, exist_ok=True)
    names = sorted(path.name for path in other.iterdir() if path.is_file())
    for name in names:
        shutil.copy(other / name, place / name)
    lines = "".join(f'<li><a href="{name}">{name}</a></li>' for name in names)
    (place / "index.html").write_text(
        f"<!doctype html><title>{other.name}</title><ul>{lines}</ul>"
    )
    return other / "index.html"
