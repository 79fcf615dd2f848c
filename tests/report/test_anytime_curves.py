"""Curves of fits that were paused: every trial counts where it was, and nowhere else."""

import json

import numpy as np
import pandas as pd
import pytest
import vl_convert
from synthetic_trials import make_trials, write_results

from harness.errors import HarnessError
from harness.report import theme as looks
from harness.report import write_report
from harness.report.anytime import ERROR, anytime_tables, checkpoint_table, make_anytime
from harness.report.results import read_results
from harness.report.scores import choose_scores

METHODS = ("svm", "nysck", "random")
STEPS = {0: [1, 2, 5, 8], 1: [1, 2, 5, 6], 2: [1, 2, 3]}
"""Where each seed of the method that goes in steps was paused, and ended."""


def curve(row, steps):
    if row["outcome"] == "infeasible":
        return None
    points = []
    for step in steps:
        done = step or 20
        points.append(
            {
                "step": step,
                "fit_s": 0.2 * done,
                "fit_cpu_s": 0.1 * done,
                "diagnostics": {"error": 10.0**-done, "size": 3.0},
                "scores": {"auc": 1 - 0.5 / done - 0.01 * row["seed"], "accuracy": 0.5},
            }
        )
    return json.dumps(points)


@pytest.fixture(scope="module")
def trials():
    made = make_trials(
        (("toy", "binary"),), METHODS, {"100MB": 10**8, "none": None}, seeds=range(3)
    )
    made["fingerprint"] = [f"f-{i}" for i in made.index]
    made["checkpoints"] = [
        curve(row, STEPS[row["seed"]] if row["method"] == "nysck" else [None])
        for row in made.to_dict("records")
    ]
    # stopped after its third point: it has no end
    late = (made["method"] == "nysck") & (made["seed"] == 0) & (made["budget"] == "none")
    made.loc[late, "outcome"] = "timeout"
    made.loc[late, "checkpoints"] = curve({"outcome": "timeout", "seed": 0}, [1, 2, 5])
    return made


@pytest.fixture(scope="module")
def parts(trials, tmp_path_factory):
    results = read_results(write_results(tmp_path_factory.mktemp("anytime") / "s", trials))
    points = checkpoint_table(results)
    styles = looks.styles(["nysck", "svm"])
    return results, points, make_anytime(results, choose_scores(results), points, styles)


def drawn(made, budget, method):
    (group,) = [g for p in made["problems"] for g in p["groups"] if g["budget"] == budget]
    table = pd.DataFrame(made["data"][group["cells"]])
    return table[table["method"] == method]


def test_the_table_has_every_point(parts, trials):
    table = anytime_tables(parts[1])["checkpoints"]
    assert len(table) == 2 * 11 - 1 + 2 * 2 * 3
    paused = table[(table["method"] == "nysck") & (table["budget"] == "100MB")]
    for seed, steps in STEPS.items():
        mine = paused[paused["seed"] == seed]
        assert list(mine["step"]) == steps
        assert list(mine["fit_cpu_s"]) == pytest.approx([0.1 * step for step in steps])
        assert list(mine["auc"]) == [1 - 0.5 / step - 0.01 * seed for step in steps]
        assert list(mine[ERROR]) == [10.0**-step for step in steps]
        assert list(mine["ended"]) == [False] * (len(steps) - 1) + [True]
    assert table.loc[table["method"] == "svm", "step"].isna().all()
    stopped = table[table["outcome"] == "timeout"]
    assert not stopped["ended"].any()
    assert set(table["n_labeled"]) == {100}


def test_a_fit_that_has_ended_stays_where_it_is(parts):
    table = drawn(parts[2], "100MB", "nysck")
    assert list(table["step"]) == ["1", "2", "5", "end of the fit"]
    assert set(table["seeds"]) == {"3 of 3"}
    # at step 5 the third seed is where it ended, after step 3; at the end, each where it ended
    for reached, x, mean in zip(
        [(1, 1, 1), (2, 2, 2), (5, 5, 3), (8, 6, 3)], table["x"], table["mean"], strict=True
    ):
        assert x == pytest.approx(0.1 * np.mean(reached), rel=1e-4)
        expected = np.mean([1 - 0.5 / step - 0.01 * seed for seed, step in enumerate(reached)])
        assert mean == pytest.approx(expected, rel=1e-4)
    assert (table["low"] < table["mean"]).all()


def test_a_trial_that_was_stopped_counts_as_far_as_it_came(parts):
    table = drawn(parts[2], "none", "nysck")
    assert list(table["seeds"]) == ["3 of 3", "3 of 3", "3 of 3", "2 of 3"]


def test_intervals_end_where_the_metric_does(parts):
    assert drawn(parts[2], "100MB", "nysck")["high"].iloc[-1] == 1


def test_errors_are_averaged_as_logarithms(parts):
    table = drawn(parts[2], "100MB", "nysck")
    assert table["error"].iloc[-1] == pytest.approx(10 ** -np.mean([8, 6, 3]), rel=1e-4)
    ratio = table["error_high"] / table["error"]
    assert list(ratio) == pytest.approx(list(table["error"] / table["error_low"]), rel=1e-3)


def test_one_point_and_no_control(parts):
    made = parts[2]
    assert list(drawn(made, "none", "svm")["once"]) == [True]
    assert drawn(made, "none", "random").empty
    assert not drawn(made, "none", "nysck")["once"].any()


@pytest.mark.parametrize("kind", ["score", "error"])
def test_the_charts_draw_lines_bands_and_what_stays(parts, kind):
    made = parts[2]
    group = made["problems"][0]["groups"][0]
    data = made["data"][group["cells"]]
    rows = [dict(zip(data, values, strict=True)) for values in zip(*data.values(), strict=True)]
    spec = made["specs"][group[kind]] | {"datasets": {"cells": rows}, "width": 300}
    svg = vl_convert.vegalite_to_svg(json.dumps(spec), config=looks.theme("light"))
    assert "NaN" not in svg
    assert svg.count('stroke-dasharray="1,3"') == 1
    assert svg.count('aria-roledescription="area mark"') == 1
    for method in ("nysck", "svm"):
        assert f"method: {method}" in svg
    assert "CPU time of the fit" in svg


def test_the_section_stands_only_where_there_are_checkpoints(tmp_path, trials):
    with_them = write_results(tmp_path / "with", trials)
    page = write_report(with_them).read_text()
    assert page.count('data-spec="anytime-0"') == page.count('data-spec="error-0"') == 2
    assert (with_them / "tables" / "checkpoints.csv").is_file()
    without = write_results(tmp_path / "without", trials.assign(checkpoints=None))
    assert 'id="anytime"' not in write_report(without).read_text()
    assert not (without / "tables" / "checkpoints.csv").exists()


def test_a_point_without_a_score_says_why_and_is_not_drawn(tmp_path, trials):
    points = json.loads(trials["checkpoints"].dropna().iloc[0])
    del points[0]["scores"]
    text = json.dumps([points[0] | {"reason": "could not be scored: <b>"}])
    made = trials[trials["method"] == "svm"]
    made = made.assign(checkpoints=made["checkpoints"].where(made["budget"] == "none", text))
    directory = write_results(tmp_path / "s", made)
    page = write_report(directory).read_text()
    assert "Nothing to draw at this budget." in page
    table = pd.read_csv(directory / "tables" / "checkpoints.csv")
    assert set(table["reason"].dropna()) == {"could not be scored: <b>"}


@pytest.mark.parametrize("text", ["[", "{}3", "[1]", '[{"step": 1}]', "3"])
def test_points_that_make_no_sense_are_one_clear_error(tmp_path, trials, text):
    directory = write_results(tmp_path / "s", trials.assign(checkpoints=text))
    with pytest.raises(HarnessError, match=r"trials\.parquet: checkpoints of f-0 cannot be read"):
        write_report(directory)
