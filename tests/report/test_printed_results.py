"""What `show` and `best` print, and what the page says, kept beside this module as text.

`tests/cli/test_printed.py` says how the files are written anew.
"""

import html
import re

import pytest
from synthetic_trials import make_trials, write_results
from terminal import WIDTH, printed, widest

from harness.report import write_report

DATASETS = (("breast_cancer", "binary"), ("digits", "multiclass"))
METHODS = ("svm", "nysck", "prior")
ENDINGS = {("nysck", "1MB", 1): "over_budget", ("svm", "1MB", 0): "timeout"}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A study that never ran: 2 data sets, 3 methods, 2 budgets, 5 seeds, bad endings."""
    folder = tmp_path_factory.mktemp("printed")
    trials = make_trials(
        DATASETS,
        methods=METHODS,
        budgets={"1MB": 10**6, "10MB": 10**7},
        outcome=lambda row: ENDINGS.get((row["method"], row["budget"], row["seed"])),
    )
    study = {
        "title": "Kept as text",
        "datasets": [name for name, _ in DATASETS],
        "methods": list(METHODS),
        "labeled": 100,
        "budgets": ["1MB", "10MB"],
        "seeds": 5,
    }
    (folder / "studies").mkdir()
    (folder / "results").mkdir()
    made = write_results(folder / "results" / "kept", trials, study=study)
    (folder / "studies" / "kept.yaml").write_text((made / "study.yaml").read_text())
    write_report(made)
    return folder


@pytest.fixture
def here(project, monkeypatch):
    monkeypatch.chdir(project)
    return project


@pytest.mark.parametrize(
    "words",
    [
        ("show",),
        ("best",),
        ("best", "--fits", "5MB"),
        ("best", "--metric", "balanced_accuracy"),
        ("best", "--metric", "acuracy"),
    ],
    ids=lambda words: "-".join(word.strip("-") for word in words),
)
def test_results(here, words, file_regression):
    shown = printed(words[0], "kept", *words[1:])
    assert widest(shown) <= WIDTH or "exit status" in shown
    file_regression.check(shown.replace(str(here), "PROJECT"))


def outline(page):
    """The text of a page, a line a heading, paragraph, row of a table or item; no pictures."""
    page = re.sub(r"(?s)<(script|style|svg)\b.*?</\1>", "", page)
    page = " ".join(page.split())
    page = re.sub(r"<h([1-6])\b", lambda found: f"\n{'#' * int(found[1])} <h", page)
    page = re.sub(r"<(p|tr|li|section|figcaption|summary|dt|dd|div|caption)\b", r"\n<\1", page)
    text = html.unescape(re.sub(r"(?s)<.*?>", "", re.sub(r"<t[dh]\b", " | <td", page)))
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(line for line in lines if line.strip(" |#"))


def test_the_page(here, file_regression):
    page = (here / "results" / "kept" / "report.html").read_text(encoding="utf-8")
    file_regression.check(outline(page))
