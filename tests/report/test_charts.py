import json
import re

import numpy as np
import pytest
import vl_convert
from synthetic_trials import bad_endings, make_trials, write_results

from harness.report import charts, looks
from harness.report.results import read_results
from harness.report.scores import choose_scores
from harness.report.tables import make_tables


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    trials = make_trials((("toy", "binary"),), outcome=bad_endings)
    results = read_results(write_results(tmp_path_factory.mktemp("charts") / "s", trials))
    scores = choose_scores(results)
    return make_tables(results, scores), scores["toy"], results.budgets


def rows(data):
    return [dict(zip(data, values, strict=True)) for values in zip(*data.values(), strict=True)]


def drawn(spec, data, scheme="light"):
    """The chart as the page's script would draw it."""
    full = spec | {"datasets": {"cells": rows(data)}, "width": 300}
    return vl_convert.vegalite_to_svg(json.dumps(full), config=looks.theme(scheme))


@pytest.mark.parametrize("kind", ["score", "score_time", "train", "predict", "peak"])
def test_every_chart_draws_every_method_that_has_a_score(parts, kind):
    tables, score, budgets = parts
    marks = looks.styles(["1nn", "harmonic", "nysck", "rff-mssksc", "svm"])
    built = charts.Charts(charts.axes_of(score, tables.cells, budgets), marks).all()
    data = charts.chart_data(tables.cells, budgets, list(marks))
    svg = drawn(built[kind], data)
    for method in marks:
        assert f"method: {method}" in svg
    assert "NaN" not in svg
    assert ("oracle" in svg) == (kind == "score")
    palette = looks.PALETTES["light"][: len(marks)]
    assert all(colour in svg for colour in palette)
    assert "no limit" in svg or kind == "score_time"


def test_dark_charts_use_the_dark_palette(parts):
    tables, score, budgets = parts
    marks = looks.styles(["nysck", "svm"])
    built = charts.Charts(charts.axes_of(score, tables.cells, budgets), marks).all()
    data = charts.chart_data(tables.cells, budgets, list(marks))
    assert looks.PALETTES["dark"][0] in drawn(built["score"], data, "dark")


def test_the_storage_models_are_drawn(parts):
    tables, *_ = parts
    spec = charts.measured_over_planned(tables.honesty) | {"width": 300}
    svg = vl_convert.vegalite_to_svg(json.dumps(spec))
    assert all(method in svg for method in tables.honesty["method"])


def test_thirty_six_methods_look_different():
    marks = looks.styles([f"m{i}" for i in range(36)])
    assert len({json.dumps(look) for look in marks.values()}) == 36


def test_methods_keep_their_place_beside_each_other(parts):
    tables, _, budgets = parts
    data = charts.chart_data(tables.cells, budgets, ["svm", "nysck", "absent"])
    for row in rows(data):
        expected = {"svm": -0.25, "nysck": 0}.get(row["method"])
        if row["control"]:
            assert row["x"] == row["place"]
        elif expected is not None:
            assert row["x"] - row["place"] == pytest.approx(expected * 2 / 3, abs=1e-4)
        assert abs(row["x"] - row["place"]) < 0.5
    assert [budgets[place] for place in data["place"]] == data["budget"]


def test_what_a_logarithm_cannot_show_is_a_gap(parts):
    tables, _, budgets = parts
    data = charts.chart_data(tables.cells.assign(train_s=0.0), budgets, ["svm"])
    assert set(data["train"]) == {None}


def test_scores_over_decades_get_a_logarithm(parts):
    tables, score, budgets = parts
    cells = tables.cells
    assert not charts.axes_of(score, cells, budgets).logarithmic
    wide = cells.assign(mean=np.geomspace(1e-3, 10, len(cells)), ci_low=np.nan)
    axes = charts.axes_of(score, wide, budgets)
    assert axes.logarithmic
    chart = charts.Charts(axes, looks.styles(["svm"])).score_against_budget()
    assert "log scale" in json.dumps(chart)


def test_a_control_of_one_budget_bounds_the_whole_chart(parts):
    tables, score, budgets = parts
    cells = tables.cells
    once = cells[~cells["control"] | ((cells["method"] != "prior") & (cells["budget"] == "none"))]
    spec = charts.Charts(charts.axes_of(score, cells, budgets), looks.styles(["svm"]))
    svg = drawn(spec.score_against_budget(), charts.chart_data(once, budgets, ["svm"]))
    across = re.findall(r'<line[^>]*x2="-300"[^>]*stroke-dasharray="3,3"', svg)
    assert len(across) == 2
    assert "oracle" in svg
    assert "random" in svg


def test_a_difference_that_is_none_does_not_fill_an_axis(parts):
    tables, score, budgets = parts
    cells = tables.cells.assign(ci_low=np.nan, ci_high=np.nan, predict_s=0.0005944)
    cells["mean"] = np.linspace(0.44665, 0.4467, len(cells))
    built = charts.Charts(charts.axes_of(score, cells, budgets), looks.styles(["svm"])).all()
    data = charts.chart_data(cells, budgets, ["svm"])
    for kind in ("score", "score_time", "predict"):
        ticks = re.findall(r">(0\.4\d+|[\d.]+ ms)</text>", drawn(built[kind], data))
        assert ticks
        assert max(len(tick.split()[0]) for tick in ticks) <= 5


def test_equal_axes_are_equal_so_that_specifications_are_shared(parts):
    tables, score, budgets = parts
    twice = {charts.axes_of(score, tables.cells, budgets) for _ in range(2)}
    assert len(twice) == 1


def test_a_hostile_budget_stays_text_in_the_axis_expression(parts):
    tables, score, _ = parts
    hostile = '1MB"][0]; alert(1)'
    cells = tables.cells.assign(budget=hostile)
    axes = charts.axes_of(score, cells, [hostile])
    spec = charts.Charts(axes, looks.styles(["svm"])).time_against_budget("train")
    assert "alert(1)" in drawn(spec, charts.chart_data(cells, [hostile], ["svm"]))
