"""Times of two kinds of CPU are never in one mean."""

import pandas as pd
import pytest
from parsed_page import read_page
from synthetic_trials import make_trials, write_results

from harness.report import write_report
from harness.report.results import read_results
from harness.report.scores import choose_scores
from harness.report.tables import make_tables

FAST, SLOW = "Fast CPU", "Slow <CPU>"


@pytest.fixture
def two_hosts(tmp_path):
    """Seeds 0 to 2 on a fast CPU, the others, and all of one cell, on a slow one."""
    trials = make_trials((("a", "binary"), ("b", "binary")), ("1nn", "svm"), {"none": None})
    slow = (trials["dataset"] == "b") & (trials["method"] == "svm") | (trials["seed"] > 2)
    trials["cpu"], trials["host"] = FAST, "one"
    trials.loc[slow, ["cpu", "host"]] = [SLOW, "two"]
    trials["fit_s"], trials["tune_s"] = slow.map({False: 1.0, True: 3.0}), 0.0
    return write_results(tmp_path / "s", trials)


def test_a_mean_is_of_the_usual_cpu_or_says_of_which(two_hosts):
    results = read_results(two_hosts)
    tables = make_tables(results, choose_scores(results))
    assert results.cpus == [SLOW, FAST] or results.cpus == [FAST, SLOW]
    usual = results.cpus[0]
    seconds = {FAST: 1.0, SLOW: 3.0}
    for cell in tables.cells.itertuples():
        ran_on = {SLOW} if (cell.problem, cell.method) == ("b", "svm") else {FAST, SLOW}
        assert cell.cpu == (usual if usual in ran_on else SLOW)
        assert cell.train_s == seconds[cell.cpu]
        assert cell.n_timed == (5 if ran_on == {SLOW} else {FAST: 3, SLOW: 2}[cell.cpu])
        assert cell.n_ok == 5


def test_the_page_tells_them_apart_and_the_files_have_all(two_hosts):
    write_report(two_hosts)
    page = read_page(two_hosts / "report.html")
    assert "Trials ran on 2 kinds of CPU" in page.text
    assert f"CPU 1: {SLOW}" in page.text or f"CPU 1: {FAST}" in page.text
    assert page.text.count("CPU 2") > 1
    times = pd.read_csv(two_hosts / "tables" / "times.csv")
    assert dict(zip(times["cpu"], times["fit_s"], strict=True)) == {FAST: 1.0, SLOW: 3.0}
    assert (times["fit_s_std"] == 0).all()
    assert times["n"].sum() == 20
    means = pd.read_csv(two_hosts / "tables" / "means.csv")
    assert set(means["fit_s"]) <= {1.0, 3.0}
    assert set(means["cpu"]) <= {FAST, SLOW}


def test_one_cpu_has_no_warning_and_no_file_of_its_own(tmp_path):
    trials = make_trials((("a", "binary"),), ("1nn",)).assign(cpu=FAST, host="one")
    write_report(write_results(tmp_path / "s", trials))
    assert "kinds of CPU" not in read_page(tmp_path / "s" / "report.html").text
    assert not (tmp_path / "s" / "tables" / "times.csv").exists()


def test_two_hosts_of_one_cpu_are_told(tmp_path):
    trials = make_trials((("a", "binary"),), ("1nn",)).assign(cpu=FAST, host="one")
    trials.loc[trials["seed"] > 2, "host"] = "two"
    write_report(write_results(tmp_path / "s", trials, provenance={"host": "two", "cpu": FAST}))
    text = read_page(tmp_path / "s" / "report.html").text
    assert "Trials ran on 2 hosts with one kind of CPU" in text
    assert "one, two" in text
