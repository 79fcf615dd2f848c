"""The site as a whole: whole links, no request, and pages that work in a real browser."""

import re

import pytest
from browser import needs_browser, shown, violations

from harness.cli import main
from harness.errors import HarnessError
from harness.planning.size import plan
from harness.plugin.registry import Registry
from harness.plugin.shape import Shape
from harness.site.build import build_site
from harness.site.links import broken_links


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "site"
    build_site(folder, main)
    return folder


def page(folder, name, text):
    (folder / name).write_text(f"<!doctype html><main>{text}</main>")


def test_links_that_lead_nowhere_are_named(tmp_path):
    page(tmp_path, "a.html", '<a href="b.html#there">1</a><a href="b.html#gone">2</a>')
    page(tmp_path, "b.html", '<h2 id="there">x</h2><a href="a%20b.html">3</a><img src="no.png">')
    page(tmp_path, "a b.html", '<a href="https://example.org/none">4</a><a href="#own">5</a>')
    assert broken_links(tmp_path) == [
        "a b.html: #own",
        "a.html: b.html#gone",
        "b.html: no.png",
    ]


def test_a_folder_of_something_else_is_left_alone(tmp_path):
    (tmp_path / "thesis.txt").write_text("mine")
    with pytest.raises(HarnessError, match="has files that are no site"):
        build_site(tmp_path, main)
    assert (tmp_path / "thesis.txt").read_text() == "mine"


def test_without_the_manual_it_says_where_to_build(tmp_path):
    with pytest.raises(HarnessError, match="build the site in a checkout"):
        build_site(tmp_path / "site", main, project=tmp_path)


@pytest.mark.slow
def test_every_page_is_there_and_asks_nobody(site):
    names = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    for method, _ in Registry.load().items("methods"):
        assert f"methods/{method.name}.html" in names
    assert {
        "datasets/adult.html",
        "papers/storage-fit-table3.html",
        "reference/hooks.html",
    } <= names
    assert "manual/docs/methods/cluster-kernels.html" in names
    for path in site.rglob("*.html"):
        text = path.read_text()
        assert not re.search(r'(?:src|<link[^>]*href)="(?:https?:)?//', text), path
    scripts = "".join(path.read_text() for path in site.glob("*.js"))
    assert not re.search(r"fetch\(|XMLHttpRequest|import\(|https?://", scripts)


def rows(document):
    body = re.search(r"<tbody>(.*?)</tbody>", document, re.DOTALL)[1]
    return [
        [re.sub(r"<.*?>", "", cell) for cell in re.findall(r"<td>(.*?)</td>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    ]


@needs_browser
@pytest.mark.slow
def test_what_fits_is_what_the_harness_plans(site):
    """And the state of the form is in the address."""
    document = shown(site / "index.html", "n=20000&d=30&labeled=400&budget=8&classes=3")
    found = {row[0]: row for row in rows(document)}
    for name in ("svm", "nysck", "budget-svm", "clusk"):
        method, _ = Registry.load().get("methods", name)
        planned = plan(method, Shape(400, 19_600, 30, 3), 8_000_000, space=method.space)
        assert found[name][4].startswith(f"{planned.size:,} ")
        if planned.n_kept is not None:
            assert f"{planned.n_kept:,} of 19,600" in found[name][4]
    assert re.fullmatch(r"0\.\d{3}", next(iter(found.values()))[1])
    assert "--n 20000 --d 30 --labeled 400 --budget 8MB --classes 3" in document


@needs_browser
@pytest.mark.slow
def test_without_labels_it_is_about_clustering(site):
    document = shown(site / "index.html", "n=20000&d=30&labeled=0&budget=8&classes=3")
    names = {row[0] for row in rows(document)}
    clusters = {m.name for m, _ in Registry.load().items("methods") if "clustering" in m.tasks}
    assert {"ksc", "budget-kmedoids"} <= names <= clusters
    assert "Adjusted Rand index" in document or "adjusted Rand index" in document


@needs_browser
@pytest.mark.slow
def test_a_mistake_in_the_form_is_told(site):
    document = shown(site / "index.html", "n=100&d=30&labeled=400&budget=8&classes=2")
    assert "400 of 100 points; give at most 100" in document
    assert rows(document) == []


@needs_browser
@pytest.mark.slow
def test_the_leaderboard_filters(site):
    whole = rows(shown(site / "leaderboard.html", dark=True))
    some = rows(shown(site / "leaderboard.html", "metric=auc&labels=0,50"))
    assert len(whole) > len(some) > 3
    added = [float(row[1]) for row in some]
    assert added == sorted(added, reverse=True)
    assert all(0 <= float(row[2]) <= 1 for row in some)


PAGES = (
    *("index.html", "leaderboard.html", "methods/nysck.html", "datasets/a9a.html"),
    *("papers/index.html", "manual/README.html", "manual/docs/studies.html"),
    "reference/commands.html",
)


@needs_browser
@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_nothing_keeps_a_reader_with_other_senses_from_a_page(site, name, dark):
    found = violations(site / name, dark)
    assert [each for each in found if not each.startswith("minor")] == []
