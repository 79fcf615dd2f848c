import re

import pandas as pd
from synthetic_trials import BUDGETS, make_trials, write_results

from harness.report import write_report
from harness.report.answers import make_answers
from harness.report.overview import make_overview
from harness.report.results import read_results
from harness.report.scores import choose_scores
from harness.report.tables import make_tables

SEVEN = tuple((f"toy{i}", "binary" if i else "regression") for i in range(7))
FIVE_COUNTS = (10, 20, 50, 100, 1000)


def overview(tmp_path, trials):
    results = read_results(write_results(tmp_path / "s", trials))
    scores = choose_scores(results)
    tables = make_tables(results, scores)
    answers = make_answers(results, scores, tables)
    return make_overview(answers, tables, results.budgets), answers


def test_columns_are_budgets_where_there_are_several(tmp_path):
    made, answers = overview(tmp_path, make_trials(SEVEN[:2], labeled=(10, 20)))
    assert made.over == "budget"
    assert made.columns == list(BUDGETS)
    assert [name for name, _ in made.rows] == list(dict.fromkeys(a.problem for a in answers))
    assert [answer for _, places in made.rows for answer in places] == answers


def test_columns_are_numbers_of_labels_at_one_budget(tmp_path):
    one_budget = {"1MB": 10**6}
    trials = make_trials(SEVEN[1:4], budgets=one_budget, labeled=FIVE_COUNTS)
    trials = trials[(trials["dataset"] != "toy2") | (trials["n_labeled"] != 50)]
    made, answers = overview(tmp_path, trials)
    assert made.over == "labeled points"
    assert made.columns == list(FIVE_COUNTS)
    assert [name for name, _ in made.rows] == ["toy1", "toy2", "toy3"]
    assert made.rows[1][1][2] is None
    assert len([answer for _, places in made.rows for answer in places if answer]) == len(answers)


def test_few_answers_and_columns_without_much_in_common_are_no_table(tmp_path):
    assert overview(tmp_path / "few", make_trials(SEVEN[:2]))[0] is None
    shares = [
        make_trials((pair,), budgets={"none": None}, labeled=(100 + i, 200 + i))
        for i, pair in enumerate(SEVEN)
    ]
    trials = pd.concat(shares, ignore_index=True)
    made, answers = overview(tmp_path / "shares", trials)
    assert len(answers) == 14
    assert made is None


def test_a_page_shows_each_winner_with_its_metric_and_verdict(tmp_path):
    trials = make_trials(SEVEN, budgets={"1MB": 10**6}, labeled=(10, 20))
    page = write_report(write_results(tmp_path / "s", trials)).read_text(encoding="utf-8")
    table = re.search(r'<table class="winners">.*?</table>', page, re.DOTALL)[0]
    assert "normalised MSE ↓" in table
    assert table.count("AUC ↑") == 6
    assert len(re.findall(r'<td title="[^"]+" class="(?:yes|no)">', table)) == 14
    assert "<summary>All 14 answers, with intervals and tests</summary>" in page


def test_a_winner_that_is_no_better_than_a_control_is_marked(tmp_path):
    trials = make_trials(SEVEN, budgets={"1MB": 10**6}, labeled=(10, 20))
    trials.loc[(trials["dataset"] == "toy3") & (trials["method"] == "random"), "auc"] = 1.0
    page = write_report(write_results(tmp_path / "s", trials)).read_text(encoding="utf-8")
    table = re.search(r'<table class="winners">.*?</table>', page, re.DOTALL)[0]
    marked = [cell for cell in table.split("<td") if '<b class="mark">!</b>' in cell]
    assert len(marked) == 2
    assert all("no better than the control random" in cell for cell in marked)
    assert "something speaks against it" in page
