"""A page of hundreds of cells: a browser draws what its reader looks at."""

import pytest
from browser import needs_browser, wait_until, window
from synthetic_trials import make_trials, write_results

from harness.report import page, write_report

SETS = (("a", "binary"), ("b", "binary"), ("c", "binary"))
CHARTS = """[...document.querySelectorAll("[data-cells]")]
  .filter((chart) => !chart.closest("details:not([open]), [hidden]"))"""


@pytest.fixture
def report(tmp_path):
    write_report(write_results(tmp_path / "s", make_trials(SETS, seeds=range(2))))
    return tmp_path / "s" / "report.html"


@pytest.fixture
def large(monkeypatch):
    """Every page is large."""
    monkeypatch.setattr(page, "LARGE_CELLS", 10)


def drawn(run):
    return run(f"return {CHARTS}.map((chart) => chart.querySelectorAll('svg.marks').length)")


@needs_browser
def test_charts_of_a_large_page_are_drawn_once_where_they_come_near(large, report):
    with window(report) as run:
        wait_until(lambda: run("return document.documentElement.dataset.drawn"))
        assert drawn(run)[-1] == 0
        run(f"{CHARTS}.at(-1).scrollIntoView()")
        wait_until(lambda: drawn(run)[-1])
        run(f"{CHARTS}[0].scrollIntoView()")
        wait_until(lambda: drawn(run)[0])
        assert set(drawn(run)) <= {0, 1}
        assert drawn(run)[-1] == 1  # what was drawn stays


@needs_browser
def test_those_of_another_page_are_all_drawn(report):
    with window(report) as run:
        wait_until(lambda: run("return document.documentElement.dataset.drawn"))
        assert set(drawn(run)) == {1}


def test_a_page_says_that_it_is_large(large, report):
    assert '<body class="large">' in report.read_text()


def test_a_page_of_few_cells_does_not(report):
    assert "<body>" in report.read_text()
