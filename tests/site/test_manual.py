"""The manual is built whole or not at all."""

import re

import pytest

from harness.errors import HarnessError
from harness.site import manual

PAGES = {
    "README.md": "# Read me\n\n[A page](docs/page.md#its-part) and [the file](docs/some.csv).\n",
    "CONTRIBUTING.md": "# Contributing\n",
    "CHANGELOG.md": "# Changelog\n",
    "CITATION.cff": "title: a harness\n",
    "docs/page.md": "# A page\n\n## Its part\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n",
    "docs/some.csv": "a,b\n",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a function that writes a checkout with a page of the text given."""
    groups = {"All": ("README", "CONTRIBUTING", "CHANGELOG", "docs/page")}
    monkeypatch.setattr(manual, "_GROUPS", groups)
    monkeypatch.setattr(manual, "_REFERENCE", [("Hooks", "../reference/hooks.html")])

    def write(**others):
        folder = tmp_path / "checkout"
        for name, text in (PAGES | others).items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
        return folder

    return write


def test_a_second_build_in_one_process_is_like_the_first(project, tmp_path):
    for name in ("one", "two"):
        assert manual.build_manual(project(), tmp_path / name) == 5


def test_pages_keep_their_places_and_lead_to_each_other_and_to_the_site(project, tmp_path):
    built = manual.build_manual(project(), tmp_path / "site", [("Leaderboard", "board.html")])
    assert built == 5
    text = (tmp_path / "site/manual/README.html").read_text()
    assert 'href="docs/page.html#its-part"' in text
    (copied,) = re.findall(r'href="(_downloads/.*?some.csv)"', text)
    assert (tmp_path / "site/manual" / copied).read_text() == "a,b\n"
    assert 'href="../../board.html"' in (tmp_path / "site/manual/docs/page.html").read_text()
    assert (tmp_path / "site/manual/searchindex.js").is_file()


@pytest.mark.parametrize(
    ("others", "told"),
    [
        (
            {"docs/page.md": "# A page\n\n[lost](gone.md)\n\n## Its part\n"},
            "docs/page.md:3.*gone.md",
        ),
        ({"docs/page.md": "# A page\n\n[lost](#gone)\n\n## Its part\n"}, "docs/page.md:3.*gone"),
        ({"docs/new.md": "# In no group\n"}, "docs/new.md.*toctree"),
    ],
    ids=["page", "anchor", "group"],
)
def test_a_fault_is_an_error_that_names_its_place(project, tmp_path, others, told):
    with pytest.raises(HarnessError, match=f"^the manual has faults:\n{told}") as failed:
        manual.build_manual(project(**others), tmp_path / "site")
    assert str(tmp_path) not in str(failed.value)
