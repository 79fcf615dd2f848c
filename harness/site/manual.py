"""The manual: the Markdown of a checkout, built by Sphinx, with a search that needs no server.

Pages keep their places (`README.md`, `docs/studies.md`), so that links of a checkout work
in the site. A warning of Sphinx, such as a link that leads nowhere, is an error.
"""

from __future__ import annotations

import io
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from harness.errors import HarnessError
from harness.project import TEMPLATES

MANUAL = "manual"

_SOURCES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CITATION.cff")
_FOLDERS = ("docs", "reports/published")

_GROUPS = {
    "Tutorials": (
        "README",
        "docs/tutorials/first-study",
        "docs/tutorials/first-plugin",
        "docs/tutorials/own-table",
        "docs/python",
    ),
    "How to": (
        "docs/how-to/choose-for-a-device",
        "docs/how-to/put-a-papers-table-beside-yours",
        "docs/how-to/package-a-plugin",
        "docs/plugins",
        "docs/advice",
        "docs/publishing",
        "docs/studies",
        "docs/datasets",
        "docs/models",
        "docs/workflow",
        "docs/trackers",
        "docs/budget-library",
        "CONTRIBUTING",
    ),
    "Explanation": (
        "docs/explanation/bytes",
        "docs/explanation/tests-and-ranks",
        "docs/protocol",
        "docs/report",
        "docs/findings",
        "docs/types-of-numbers",
        "docs/other-tools",
    ),
    "Methods and results": (
        "docs/methods/README",
        "docs/methods/[!R]*",
        "docs/results/README",
        "reports/published/README",
        "CHANGELOG",
    ),
}
"""Where the table of contents has each page. One that is in no group is a warning, so an error."""

_REFERENCE = (
    ("Commands", "../reference/commands.html"),
    ("Keys of a study", "docs/studies.html#keys"),
    ("Keys of a data set", "../reference/entries.html"),
    ("Hooks", "../reference/hooks.html"),
    ("Columns of a row", "../reference/columns.html"),
    ("Methods", "../methods/index.html"),
)
"""Pages of the reference, seen from the table of contents."""

_SETTINGS: dict[str, Any] = {
    "project": "Learning under a memory budget",
    "project_copyright": "",
    "extensions": ["myst_parser"],
    "myst_heading_anchors": 4,
    "html_theme": "furo",
    "html_title": "Learning under a memory budget",
    "html_show_sphinx": False,
    "html_show_sourcelink": False,
    "html_copy_source": False,
    "html_show_search_summary": False,  # it would fetch each page, which a file cannot
    "html_static_path": [str(TEMPLATES / "site" / "manual.css")],
    "html_css_files": ["manual.css"],
    "html_sidebars": {
        "**": [
            "site.html",
            "sidebar/search.html",
            "sidebar/scroll-start.html",
            "sidebar/navigation.html",
            "sidebar/scroll-end.html",
        ]
    },
    "templates_path": [str(TEMPLATES / "site" / "manual")],
    # languages that Pygments does not know, and shortened examples
    "suppress_warnings": ["misc.highlighting_failure"],
}

_FOR_OTHER_SENSES = {
    'role="heading"': 'role="heading" aria-level="2"',
    '<aside class="sidebar-drawer"': '<aside class="sidebar-drawer" aria-label="Contents"',
    '<aside class="toc-drawer': '<aside aria-label="On this page" class="toc-drawer',
    "<pre>": '<pre tabindex="0">',
}
"""What pages of Sphinx and Furo lack for a screen reader or a keyboard, as axe finds."""


def build_manual(project: Path, folder: Path, links: Iterable[tuple[str, str]] = ()) -> int:
    """Build the manual into a folder of the site.

    Parameters
    ----------
    project : Path
        A checkout.
    folder : Path
        Of the site; the manual is its `manual/`.
    links : iterable of (str, str)
        Names and addresses of the site's other parts, which stand above each page's contents.

    Returns
    -------
    int
        Pages that were written.

    Raises
    ------
    HarnessError
        If Sphinx is not installed, or warns.
    """
    try:
        from sphinx.application import Sphinx
        from sphinx.errors import SphinxError
        from sphinx.util.docutils import docutils_namespace, patch_docutils
    except ImportError:
        message = "the manual is built by Sphinx: pip install 'memory-budget-harness[site]'"
        raise HarnessError(message) from None
    beside = [(name, f"../{address}") for name, address in links]
    warnings = io.StringIO()
    with tempfile.TemporaryDirectory() as scratch:
        sources = Path(scratch, "sources")
        for name in _copied(project):
            (sources / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(project / name, sources / name)
        (sources / "index.md").write_text(_contents(), encoding="utf-8")
        try:
            # a second build in one process finds nothing of the first
            with patch_docutils(sources), docutils_namespace():
                built = Sphinx(
                    *(sources, None, folder / MANUAL, Path(scratch, "trees"), "html"),
                    confoverrides=_SETTINGS | {"html_context": {"site_links": beside}},
                    status=None,
                    warning=warnings,
                )
                built.build()
        except SphinxError as error:
            raise HarnessError(f"the manual cannot be built: {error}") from None
        pages = len(built.env.found_docs)
    if told := click.unstyle(warnings.getvalue()).strip():
        raise HarnessError(f"the manual has faults:\n{told}".replace(f"{sources}/", ""))
    for page in (folder / MANUAL).rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        for lacking, better in _FOR_OTHER_SENSES.items():
            text = text.replace(lacking, better)
        page.write_text(text, encoding="utf-8")
    return pages


def _copied(project: Path) -> Iterator[Path]:
    yield from (Path(name) for name in _SOURCES)
    for name in _FOLDERS:
        paths = (path for path in sorted((project / name).rglob("*")) if path.is_file())
        yield from (path.relative_to(project) for path in paths)


def _contents() -> str:
    reference = (f'<li><a href="{to}">{name}</a></li>' for name, to in _REFERENCE)
    parts = ["# Manual", "", "## Reference", "", f"<ul>{''.join(reference)}</ul>"]
    for heading, names in _GROUPS.items():
        listed = "\n".join(names)
        parts += ["", f"## {heading}", "", "```{toctree}", f":caption: {heading}", ":maxdepth: 1"]
        parts += [":glob:", "", listed, "```"]
    return "\n".join(parts) + "\n"
