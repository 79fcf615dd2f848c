"""Published folders as a gallery of reports."""

import hashlib
import json

import pytest

from harness.errors import HarnessError
from harness.site.gallery import gallery_pages

ROOT = {
    "@id": "./",
    "name": "Which kernel?",
    "description": "1,240 trials of 2 methods on 3 data sets, by a harness. Licensed CC-BY-4.0.",
    "license": {"@id": "https://creativecommons.org/licenses/by/4.0/"},
}


@pytest.fixture
def published(tmp_path):
    """Return a function that writes a published folder: a page, and what the gallery reads."""

    def write(name):
        folder = tmp_path / name
        folder.mkdir(parents=True)
        (folder / "report.html").write_text("<h1>Which kernel?</h1>")
        (folder / "ro-crate-metadata.json").write_text(
            json.dumps({"@graph": [{"@id": "x"}, ROOT]})
        )
        sums = (
            f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n"
            for path in sorted(folder.iterdir())
        )
        (folder / "SHA256SUMS").write_text("".join(sums))
        return folder

    return write


def test_reports_stand_in_the_site_with_their_files(published, tmp_path):
    site = tmp_path / "site"
    [page] = gallery_pages([published("kernels"), published("b/more")], site)
    [table] = page.parts["tables"]
    first, second = table["rows"]
    assert first[0] == {"text": "Which kernel?", "to": "gallery/kernels/report.html"}
    assert first[1] == "1,240 trials of 2 methods on 3 data sets"
    assert second[0]["to"] == "gallery/more/report.html"
    for name in ("report.html", "SHA256SUMS"):
        assert (site / "gallery/kernels" / name).is_file()


def test_without_reports_there_is_no_page(tmp_path):
    assert list(gallery_pages([], tmp_path)) == []
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_published_folder_is_told(published, tmp_path):
    (tmp_path / "results").mkdir()
    with pytest.raises(
        HarnessError, match="results: is no published folder: it has no SHA256SUMS"
    ):
        list(gallery_pages([tmp_path / "results"], tmp_path / "site"))
    altered = published("altered")
    (altered / "report.html").write_text("<h1>Better</h1>")
    with pytest.raises(HarnessError, match=r"altered: report.html: was altered"):
        list(gallery_pages([altered], tmp_path / "site"))
    twice = [published("a/same"), published("b/same")]
    with pytest.raises(HarnessError, match="another report is named same: rename one folder"):
        list(gallery_pages(twice, tmp_path / "site"))
