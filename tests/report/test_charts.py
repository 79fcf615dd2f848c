import json
import re

import numpy as np
import pandas as pd
import pytest
import vl_convert
from synthetic_trials import bad_endings, make_trials, write_results

from harness.report import charts, write_report
from harness.report import theme as looks
from harness.report.plan_calibration import measured_over_planned
from harness.report.ranking import critical_difference_diagram
from harness.report.results import read_results
from harness.report.scores import choose_scores
from harness.report.single_budget_charts import specifications
from harness.report.tables import make_tables

TOY = (("toy", "binary"),)


@pytest.fixture(scope="module")
def parts(tmp_path_factory):
    trials = make_trials(TOY, outcome=bad_endings)
    results = read_results(write_results(tmp_path_factory.mktemp("charts") / "s", trials))
    scores = choose_scores(results)
    return make_tables(results, scores), scores["toy"], results.budgets


def rows(data):
    return [dict(zip(data, values, strict=True)) for values in zip(*data.values(), strict=True)]


def drawn(spec, data, scheme="light"):
    """The chart as the page's script would draw it."""
    full = spec | {"datasets": {"cells": rows(data)}, "width": 300}
    return vl_convert.vegalite_to_svg(json.dumps(full), config=looks.theme(scheme))


@pytest.mark.parametrize("kind", ["score", "score_peak", "score_time", "train", "predict", "peak"])
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
    assert "no limit" in svg or kind in ("score_peak", "score_time")


@pytest.mark.parametrize("text", ["none", "10MB"])
@pytest.mark.parametrize("kind", ["score", "score_peak", "score_time", "train", "predict", "peak"])
def test_with_one_budget_methods_stand_in_rows_under_their_names(parts, kind, text):
    tables, score, _ = parts
    cells = tables.cells[tables.cells["budget"] == text]
    with_score = set(cells.loc[~cells["control"] & (cells["n_scored"] > 0), "method"])
    order = ["svm", "1nn", "harmonic", "nysck", "rff-mssksc"]
    axes = charts.axes_of(score, cells, [text])
    spec = specifications(axes, tuple(order), single=True)[kind]
    svg = drawn(spec, charts.chart_data(cells, [text], order))
    assert "NaN" not in svg
    for method in with_score:
        assert f"method: {method}" in svg
    assert "memory budget" not in svg
    labels = re.findall(r">([\w-]+)</text>", svg)
    told = " ".join(re.findall(r">([^<]+)</text>", svg)).replace(",", "").split()
    rows_of_methods = [label for label in labels if label in order]
    assert rows_of_methods == ([] if kind in ("score_peak", "score_time") else order)
    assert ({"random", "prior", "oracle"} <= set(told)) == (kind == "score")
    limited = kind == "peak" and text != "none"
    assert (f'stroke="{looks.GREY}" stroke-width="2.5"' in svg) == limited


def test_long_names_keep_the_end_that_tells_them_apart():
    names = [f"budget-svm[renyi, smoothing={width}]" for width in (0.5, 2.0)]
    names.append("a-name-of-thirty-letters[dbh0]")
    quartiles = {"min": 0.8, "q25": 0.85, "median": 0.9, "q75": 0.95, "max": 1.0, "n": 5}
    quartiles |= {"over_budget": 0, "phase": "fit: eigensystem"}
    honesty = pd.DataFrame([{"method": name, **quartiles} for name in names])
    svg = drawn(measured_over_planned(honesty), {})
    for label in ("budget-svm[re… smoothing=0.5]", "budget-svm[re… smoothing=2.0]", names[-1]):
        assert f">{label}</text>" in svg
    assert svg.count(">fit: eigensystem</text>") == len(names)


def test_colours_that_come_again_are_hollow(parts):
    tables, score, budgets = parts
    marks = looks.styles([f"m{i}" for i in range(5)] + ["nysck", "svm"])
    assert [method for method, look in marks.items() if look["hollow"]] == ["svm"]
    built = charts.Charts(charts.axes_of(score, tables.cells, budgets), marks).all()
    svg = drawn(built["train"], charts.chart_data(tables.cells, budgets, list(marks)))
    points = [path for path in re.findall(r"<path[^>]*>", svg) if '"point"' in path]
    seen = {method: path for path in points for method in marks if f"method: {method};" in path}
    assert f'fill="{looks.PALETTES["light"][5]}"' in seen["nysck"]
    assert "fill=" not in seen["svm"]
    assert f'stroke="{looks.PALETTES["light"][0]}"' in seen["svm"]


@pytest.mark.parametrize("n_datasets", [3, 8])
def test_the_diagram_joins_what_differs_by_less_than_the_critical_difference(tmp_path, n_datasets):
    datasets = [(f"d{i}", "binary") for i in range(n_datasets)]
    results = read_results(write_results(tmp_path / "s", make_trials(datasets)))
    ranks = make_tables(results, choose_scores(results)).ranks
    part = ranks[ranks["budget"] == "none"]
    assert (part["min_rank"] <= part["mean_rank"]).all()
    assert (part["mean_rank"] <= part["max_rank"]).all()
    marks = looks.styles(sorted(part["method"]))
    spec = critical_difference_diagram(part, marks)
    svg = drawn(spec, {})
    for method, mean in zip(part["method"], part["mean_rank"], strict=True):
        told = re.search(rf"method: {method}; mean rank: ([\d.]+)", svg)
        assert float(told[1]) == pytest.approx(mean, abs=0.0051)
    written = re.findall(r">([\w-]+)</text>", svg)
    assert [name for name in written if name in marks] == list(part["method"])
    bars = [layer for layer in spec["layer"] if layer["encoding"]["y"].get("field") == "first"]
    if n_datasets < 5:
        assert not bars
        assert "CD " not in svg
        return
    assert ">mean rank (1 is best)</text>" in svg
    assert "CD 2.16" in svg  # 2.728 sqrt(5 * 6 / (6 * 8))
    rank = part.set_index("method")["mean_rank"]
    joined = [(rank[bar["first"]], rank[bar["last"]]) for bar in bars[0]["data"]["values"]]
    assert len(joined) > 0
    for a in rank:
        for b in rank:
            near = any(low <= min(a, b) and max(a, b) <= high for low, high in joined)
            assert near == (abs(a - b) < 2.157) or a == b


def test_dark_charts_use_the_dark_palette(parts):
    tables, score, budgets = parts
    marks = looks.styles(["nysck", "svm"])
    built = charts.Charts(charts.axes_of(score, tables.cells, budgets), marks).all()
    data = charts.chart_data(tables.cells, budgets, list(marks))
    assert looks.PALETTES["dark"][0] in drawn(built["score"], data, "dark")


def test_the_storage_models_are_drawn(parts):
    tables, *_ = parts
    spec = measured_over_planned(tables.honesty) | {"width": 300}
    svg = vl_convert.vegalite_to_svg(json.dumps(spec))
    for method in tables.honesty["method"]:
        assert svg.count(f">{method}</text>") == 1


def test_trials_over_budget_are_counted_beside_the_storage_models(tmp_path):
    def end(row):
        never = row["method"] == "nysck" and row["outcome"] == "ok"
        return "over_budget" if never else bad_endings(row)

    trials = make_trials(TOY, outcome=end)
    directory = write_results(tmp_path / "s", trials)
    results = read_results(directory)
    honesty = make_tables(results, choose_scores(results)).honesty.set_index("method")
    stopped = trials[trials["outcome"] == "over_budget"]["method"].value_counts()
    assert dict(honesty.loc[honesty["over_budget"] > 0, "over_budget"]) == dict(stopped)
    assert set(stopped.index) == {"svm", "nysck"}
    assert honesty.loc["nysck", "n"] == 0
    spec = measured_over_planned(honesty.reset_index())
    svg = drawn(spec, {})
    assert "NaN" not in svg
    assert "method: svm; trials ok" in svg
    assert "method: nysck; trials ok" not in svg
    for method, count in stopped.items():
        assert f">{method}</text>" in svg
        assert f">{count} over budget</text>" in svg
    page = write_report(directory).read_text(encoding="utf-8")
    assert f"trials of nysck ({stopped['nysck']}), svm (1): one that the limit stopped" in page


def test_storage_models_need_a_trial_that_ended_ok(tmp_path):
    trials = make_trials(TOY, ("svm",)).assign(outcome="over_budget")
    page = write_report(write_results(tmp_path / "s", trials)).read_text(encoding="utf-8")
    assert f"trials of svm ({len(trials)}): one that" in page
    assert "No trial ended ok with both" in page


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
    assert len(across) == 1
    assert ">oracle</text>" in svg
    (random,) = once.loc[once["method"] == "random", "mean"]
    assert f">\u2193 random {random:.2g}</text>" in svg


MIXED = {"10 landmarks": None, "640 landmarks": None, "20MB": 2 * 10**7, "none": None}


@pytest.mark.parametrize(
    ("budgets", "parts"),
    [
        (MIXED, {"score": 2, "score_time": 2, "train": 2, "predict": 2, "peak": 2}),
        (dict.fromkeys(["10 landmarks", "640 landmarks", "none"]), {"train": 1, "peak": 1}),
    ],
    ids=["landmarks and bytes", "landmarks alone"],
)
def test_no_line_joins_budgets_of_two_kinds(tmp_path, budgets, parts):
    trials = make_trials(TOY, ("svm", "random"), budgets)
    results = read_results(write_results(tmp_path / "s", trials.assign(outcome="ok")))
    scores = choose_scores(results)
    cells = make_tables(results, scores).cells.assign(predict_s=1.0, peak_bytes=1e6)
    cells["train_s"] = np.arange(1.0, len(cells) + 1)
    assert results.budgets == list(budgets)
    built = charts.Charts(
        charts.axes_of(scores["toy"], cells, results.budgets), looks.styles(["svm"])
    )
    data = charts.chart_data(cells, results.budgets, ["svm"])
    for kind, n_lines in parts.items():
        svg = drawn(built.all()[kind], data)
        lines = re.findall(r'<path aria-label[^>]*method: svm[^>]*stroke-width="1.6"', svg)
        assert len(lines) == n_lines
        parted = kind != "score_time" and n_lines == 2
        assert svg.count('stroke-opacity="0.5"') + svg.count(' opacity="0.5"') == parted


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


@pytest.mark.parametrize(
    ("budgets", "title", "labels"),
    [
        (["10 landmarks", "1280 landmarks"], "landmarks", ["10", "1280"]),
        (["10 landmarks", "none"], "landmarks", ["10", "no limit"]),
        (["10 landmarks", "20 features"], "budget", ["10 landmarks", "20 features"]),
        (["10 landmarks", "1MB", "none"], "budget", ["10 landmarks", "1MB", "no limit"]),
        (["1MB", "none"], "memory budget", ["1MB", "no limit"]),
        (["none"], "memory budget", ["no limit"]),
    ],
)
def test_an_axis_of_sizes_says_once_what_it_counts(budgets, title, labels):
    assert charts.budget_words(budgets) == (title, labels)


def test_no_line_joins_means_over_different_numbers_of_seeds(tmp_path):
    budgets = {f"{size}MB": size * 10**6 for size in (1, 10, 100, 1000)}
    trials = make_trials(TOY, ("svm", "1nn"), budgets, range(6))
    trials["outcome"], trials["auc"] = "ok", 0.8 + 0.01 * trials["seed"]
    few = trials["budget"].isin(["1MB", "1000MB"]) & (trials["seed"] > 1)
    page = write_report(write_results(tmp_path / "even", trials)).read_text()
    words = "no line joins means over different numbers of seeds"
    assert words not in page
    directory = write_results(tmp_path / "uneven", trials[~few])
    assert words in write_report(directory).read_text()
    results = read_results(directory)
    scores = choose_scores(results)
    cells = make_tables(results, scores).cells
    data = charts.chart_data(cells, results.budgets, ["svm", "1nn"])
    svm = pd.DataFrame(data)[pd.Series(data["method"]) == "svm"].set_index("budget")
    # two stretches of two seeds, although their numbers of seeds are the same
    assert svm.loc[list(budgets), "stretch"].tolist() == [0, 1, 1, 2]
    assert svm.loc[list(budgets), "few"].tolist() == [True, False, False, True]
    spec = charts.Charts(
        charts.axes_of(scores["toy"], cells, results.budgets), looks.styles(["svm"])
    ).all()
    for kind in ("score", "train", "predict", "peak"):
        drawn = json.dumps(spec[kind])
        assert '"field": "stretch"' in drawn
        assert '"datum.few"' in drawn


def test_a_seed_that_failed_ends_a_line_as_well():
    marks = pd.DataFrame(
        {"method": list("aaabbb"), "place": [2, 0, 1, 0, 1, 2], "seeds": [5, 5, 4, 5, 5, 0]}
    )
    found = charts.seed_stretches(marks["method"], marks["place"], marks["seeds"])
    assert found["stretch"] == [2, 0, 1, 0, 0, 1]
    assert found["few"] == [False, False, True, False, False, False]  # no mark without a seed
