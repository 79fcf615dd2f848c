"""Reports of published studies as a part of the site, each beside what it was made from."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.errors import HarnessError
from harness.files import is_file, read_json
from harness.jobs.published_rows import SUMS
from harness.publishing.crate import NAME as CRATE
from harness.publishing.verifying import compare_checksums
from harness.site.pages import Page, link, table_page

GALLERY = "gallery"


def gallery_pages(published: Sequence[Path], folder: Path) -> Iterator[Page]:
    """Copy published folders into the site, and yield the page that lists them.

    Parameters
    ----------
    published : sequence of Path
        What `harness publish` wrote, each of another name. None of them: no page.
    folder : Path
        Of the site.

    Raises
    ------
    HarnessError
        If one is no published folder, was altered, or has the name of another.
    """
    if not published:
        return
    listed = []
    for source in published:
        name = source.resolve().name
        title, about, licence = _told(source)
        copy = folder / GALLERY / name
        if copy.exists():
            raise HarnessError(f"{source}: another report is named {name}: rename one folder")
        shutil.copytree(source, copy)
        to = f"{GALLERY}/{name}"
        listed.append(
            [
                link(title, f"{to}/report.html"),
                about.partition(", ")[0],
                licence,
                link("files", f"{to}/README.md"),
                link("citation", f"{to}/CITATION.bib"),
            ]
        )
    told = [
        "Each report stands as its study left it, beside its rows, splits and checksums.",
        "harness verify runs a sample of the rows of such a folder again, bit for bit.",
    ]
    columns = ["report", "what was run", "licence", "published folder", "cite"]
    yield table_page(
        f"{GALLERY}/index.html", "Reports", told, [{"columns": columns, "rows": listed}]
    )


def _told(source: Path) -> tuple[str, str, str]:
    """Return title, description and licence of a folder whose files are those of its list."""
    missing = [name for name in (SUMS, CRATE, "report.html") if not is_file(source / name)]
    if missing:
        raise HarnessError(
            f"{source}: is no published folder: it has no {missing[0]}; harness publish writes one"
        )
    altered, _ = compare_checksums(source)
    if altered:
        raise HarnessError(f"{source}: {altered[0]}")
    root = next(part for part in read_json(source / CRATE, dict)["@graph"] if part["@id"] == "./")
    return root["name"], root["description"], root["license"]["@id"].rstrip("/").rpartition("/")[2]
