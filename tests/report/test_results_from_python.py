"""What `harness.results` answers of a folder of results, whoever made it."""

from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from synthetic_trials import bad_endings, make_trials, with_pair_left_out, write_results

import harness
from harness.errors import HarnessError


class Cells(HTMLParser):
    """The texts of a page's cells, and whatever else is marked up."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def made(here):
    trials = with_pair_left_out(make_trials(outcome=bad_endings), "bins", "krr")
    write_results(here / "results" / "v1.2", trials, study={"title": "A <title> & more"})
    return harness.results("v1.2")


def test_rows_are_the_trials_and_pairs_that_do_not_go_together_are_told(made):
    assert made.name == "v1.2"
    assert made.trials["seed"].notna().all()
    assert {"fingerprint", "peak_bytes", "auc", "reason"} <= set(made.trials.columns)
    outcomes = made.outcomes
    assert set(outcomes["outcome"]) > {"over_budget", "timeout"}
    bad = made.trials[made.trials["outcome"] != "ok"]
    counted = outcomes[(outcomes["outcome"] != "ok") & (outcomes["budget"] != "")]
    assert counted["count"].sum() == len(bad)
    assert "krr" in set(outcomes.loc[outcomes["budget"] == "", "method"])


def test_the_best_are_those_of_the_rows(made):
    best = made.best()
    scored = made.trials[made.trials["outcome"] == "ok"]
    for row in best.itertuples():
        mine = scored[(scored["dataset"] == row.dataset) & (scored["budget"] == row.budget)]
        mean = mine[mine["method"] == row.method][row.metric].mean()
        assert np.isclose(mean, row.mean)
    by_accuracy = made.best("accuracy")
    assert "accuracy" in set(by_accuracy["metric"])
    with pytest.raises(HarnessError, match="unknown metric 'acuracy'; did you mean 'accuracy'"):
        made.best("acuracy")


def test_it_is_shown_as_text_and_as_a_table(made):
    text = repr(made)
    assert text.startswith(f"Results of 'v1.2': {len(made.trials)} trials (")
    for row in made.best().itertuples():
        assert f"{row.method}, " in text
    page = Cells(made._repr_html_())
    assert "A <title> & more" in page.texts
    assert set(page.tags) == {"p", "strong", "table", "thead", "tbody", "tr", "th", "td"}
    for method in made.best()["method"]:
        assert method in page.texts
    for reason in made.outcomes["reason"]:
        assert reason[:190] in "".join(page.texts)


def test_the_page_is_named_from_here_and_missed_where_it_is_not_there(made, here, monkeypatch):
    with pytest.raises(HarnessError, match=r"report.html: is not there; run the study again"):
        made.report()
    (made.folder / "report.html").touch()
    assert made.report() == Path("results/v1.2/report.html")
    monkeypatch.chdir(here / "results" / "v1.2" / "..")
    assert made.report() == Path("v1.2/report.html")
    (here / "elsewhere").mkdir()
    monkeypatch.chdir(here / "elsewhere")
    assert made.report() == here / "results" / "v1.2" / "report.html"
    assert len(made.best())


def test_results_are_found_by_name_file_or_folder(made, here):
    for name in ("v1.2", "studies/v1.2.yaml", "results/v1.2", here / "results" / "v1.2"):
        assert harness.results(name).folder == here / "results" / "v1.2"
    with pytest.raises(HarnessError, match=r"results: unknown results 'v1.3'; did you mean 'v1.2"):
        harness.results("v1.3")


def test_a_run_that_has_not_ended_has_no_results(here):
    (here / "results" / "first").mkdir(parents=True)
    with pytest.raises(HarnessError, match=r"no report without trials.parquet.*run the study"):
        harness.results("first")
