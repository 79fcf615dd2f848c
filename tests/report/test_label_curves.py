import json

import pandas as pd
import pytest
import vl_convert
from parsed_page import read_page
from synthetic_trials import make_trials, write_results

from harness.report import theme as looks
from harness.report import write_report
from harness.report.label_curves import LEAST_COUNTS, make_label_curves
from harness.report.results import read_results
from harness.report.scores import choose_scores
from harness.report.tables import make_tables

METHODS = ("1nn", "svm", "random")
LABELED = (8, 20, 50, 100)


def results_of(directory, change=lambda trials: trials, **options):
    options = {"methods": METHODS, "seeds": range(2), "labeled": LABELED} | options
    return write_results(directory, change(make_trials([("toy", "binary")], **options)))


@pytest.fixture
def curves(tmp_path):
    def curves(**options):
        results = read_results(results_of(tmp_path / "labels", **options))
        scores = choose_scores(results)
        tables = make_tables(results, scores)
        return make_label_curves(scores, tables, looks.styles(["1nn", "svm"])), tables

    return curves


def test_each_budget_has_curves_of_every_method_through_all_counts(curves):
    made, tables = curves(budgets={"100MB": 10**8, "none": None})
    assert [curve["name"] for curve in made["curves"]] == ["toy, 100MB", "toy, no limit"]
    for curve, budget in zip(made["curves"], ("100MB", "none"), strict=True):
        data = pd.DataFrame(made["data"][curve["cells"]])
        assert set(data["method"]) == {"1nn", "svm"}  # no controls
        for method, mine in data.groupby("method"):
            assert list(mine["labeled"]) == list(LABELED)
            here = (tables.cells["method"] == method) & (tables.cells["budget"] == budget)
            means = tables.cells[here].set_index("n_labeled")["mean"]
            assert list(mine["mean"]) == pytest.approx(list(means[mine["labeled"]]), rel=1e-4)
            assert (mine["x"] / mine["labeled"]).between(0.95, 1.05).all()


def test_a_budget_that_follows_the_number_of_labels_is_one_curve(curves):
    def follow(trials):
        return trials.assign(budget=trials["n_labeled"].map(lambda n: f"{n} features"))

    made, _ = curves(budgets={"none": None}, change=follow)
    assert [curve["name"] for curve in made["curves"]] == ["toy"]


def test_few_counts_are_no_curve(curves):
    made, _ = curves(budgets={"none": None}, labeled=LABELED[: LEAST_COUNTS - 1])
    assert not made["curves"]
    assert not made["specs"]


def test_the_page_draws_them(tmp_path):
    directory = results_of(tmp_path / "page", budgets={"none": None})
    page = read_page(write_report(directory))
    assert page.ids.index("score") < page.ids.index("labels") < page.ids.index("timelines")
    assert "#labels" in page.references
    plain = results_of(tmp_path / "plain", budgets={"none": None}, labeled=(8, 20))
    assert "labels" not in read_page(write_report(plain)).ids


@pytest.mark.parametrize("kind", ["score", "train"])
def test_charts_are_vega_lite_that_draws_every_method(curves, kind):
    made, _ = curves(budgets={"none": None})
    (curve,) = made["curves"]
    columns = made["data"][curve["cells"]]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    spec = made["specs"][curve[kind]] | {"datasets": {"cells": rows}, "width": 300}
    svg = vl_convert.vegalite_to_svg(json.dumps(spec), config=looks.theme("light"))
    assert svg.count('aria-roledescription="point"') == 2 * len(LABELED)
    assert "labeled points" in svg


def test_numbers_of_labels_with_other_numbers_of_seeds_are_not_joined(tmp_path):
    def fewer(trials):
        return trials[(trials["n_labeled"] < 50) | (trials["seed"] < 1)]

    directory = results_of(tmp_path / "uneven", change=fewer, budgets={"none": None})
    page = write_report(directory).read_text()
    section = page.split('<section id="labels">')[1].split("</section>")[0]
    assert "no line joins means over different numbers of seeds" in section
    results = read_results(directory)
    scores = choose_scores(results)
    tables = make_tables(results, scores)
    made = make_label_curves(scores, tables, looks.styles(["1nn", "svm"]))
    data = pd.DataFrame(made["data"]["labels-0"])
    assert made["uneven"]
    svm = data[data["method"] == "svm"].set_index("labeled")
    assert svm["stretch"].to_dict() == {8: 0, 20: 0, 50: 1, 100: 1}
    assert svm["few"].to_dict() == {8: False, 20: False, 50: True, 100: True}
