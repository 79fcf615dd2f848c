"""The cheapest method within limits of those that cannot be told apart from the best."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner
from synthetic_trials import make_trials, write_results

from harness.cli import main
from harness.errors import HarnessError
from harness.report.results import read_results
from harness.report.scores import choose_scores
from harness.report.tables import make_tables
from harness.report.within_limits import choose

GOOD = [0.91, 0.90, 0.92, 0.91, 0.90, 0.91]
LEVEL = [0.90, 0.91, 0.91, 0.92, 0.89, 0.91]
WORSE = [0.80, 0.82, 0.81, 0.80, 0.83, 0.81]
COSTS = {
    "a": (2e6, 5e5, 6e5, 0.002),
    "b": (9e5, 3e5, 3e5, 0.001),
    "c": (1e5, 1e4, 2e4, 0.0001),
}
COLUMNS = ("peak_bytes", "model_bytes", "predict_row_peak_bytes", "predict_row_p99_s")


def results_of(folder, scores, costs=COSTS, change=lambda trials: trials):
    """Results with given scores by method and seed at one budget, and given figures."""
    n = len(next(iter(scores.values())))
    trials = make_trials(
        datasets=(("toy", "binary"),),
        methods=tuple(scores),
        budgets={"10MB": 10**7},
        seeds=range(n),
    )
    trials["outcome"], trials["reason"] = "ok", ""
    for method, values in scores.items():
        mine = trials["method"] == method
        trials.loc[mine, ["auc", "accuracy"]] = [[value, value] for value in values]
        for column, figure in zip(COLUMNS, costs[method], strict=True):
            trials.loc[mine, column] = figure
    return write_results(folder, change(trials))


def chosen(folder, scores, limits, **options):
    results = read_results(results_of(folder, scores, **options))
    judged = choose_scores(results)
    (choice,) = choose(results, judged, make_tables(results, judged), limits)
    return choice


def test_the_cheapest_of_those_that_are_level_is_taken(tmp_path):
    scores = {"a": GOOD, "b": LEVEL, "c": WORSE}
    choice = chosen(tmp_path / "s", scores, {"training": 3e6})
    assert (choice.best.method, choice.taken.method) == ("a", "b")
    assert choice.comparison == (
        "Not told apart from the best, a at 10MB (0.908), and takes 0.45 of what that takes."
    )
    assert choice.taken.rows == [6, 7, 8, 9, 10, 11]


@pytest.mark.parametrize(
    ("limits", "best", "taken"),
    [
        ({"training": 1e6}, "b", "b"),
        ({"model": 4e5}, "b", "b"),
        ({"predicting": 2.5e5}, "c", "c"),
        ({"latency": 5e-4}, "c", "c"),
        ({"training": 3e6, "latency": 1.5e-3}, "b", "b"),
    ],
)
def test_what_is_over_any_limit_is_not_taken(tmp_path, limits, best, taken):
    choice = chosen(tmp_path / "s", {"a": GOOD, "b": LEVEL, "c": WORSE}, limits)
    assert (choice.best.method, choice.taken.method) == (best, taken)


def test_the_tightest_limit_says_what_is_cheap(tmp_path):
    costs = COSTS | {"b": (9e5, 3e5, 3e5, 0.0019)}
    scores = {"a": GOOD, "b": LEVEL}
    loose = chosen(tmp_path / "s", scores, {"training": 2.1e6, "latency": 1.0}, costs=costs)
    assert loose.taken.method == "b"
    assert "takes 0.45 of" in loose.comparison
    tight = chosen(tmp_path / "t", scores, {"training": 1e9, "latency": 2e-3}, costs=costs)
    assert (tight.taken.method, tight.comparison) == (
        "a",
        "The best: the other one that cannot be told apart from it does not save more than a "
        "tenth.",
    )


def test_one_that_is_worse_is_not_taken_however_cheap(tmp_path):
    choice = chosen(tmp_path / "s", {"a": GOOD, "c": WORSE}, {"training": 3e6})
    assert choice.taken.method == "a"
    assert choice.comparison == "The best: the other one is worse within these limits."


def test_too_few_seeds_tell_nothing(tmp_path):
    scores = {"a": GOOD[:3], "c": WORSE[:3]}
    choice = chosen(tmp_path / "s", scores, {"training": 3e6})
    assert choice.taken.method == "a"
    assert "3 seeds are too few to tell whether a cheaper one is as good" in choice.comparison


def test_the_nearest_is_named_where_nothing_fits(tmp_path):
    limits = {"training": 5e4, "model": 2e4}
    choice = chosen(tmp_path / "s", {"a": GOOD, "c": WORSE}, limits)
    assert choice.taken is None
    assert choice.comparison == "The nearest is c at 10MB: 100 kB in training (limit 50 kB)."


def test_the_largest_over_seeds_counts_and_failures_do_not_qualify(tmp_path):
    def change(trials):
        last = (trials["method"] == "b") & (trials["seed"] == 5)
        trials.loc[last, "peak_bytes"] = 5e6
        failed = (trials["method"] == "c") & (trials["seed"] == 5)
        trials.loc[failed, "outcome"] = "timeout"
        return trials

    scores = {"a": GOOD, "b": LEVEL, "c": GOOD}
    choice = chosen(tmp_path / "s", scores, {"training": 3e6}, change=change)
    assert choice.taken.method == "a"
    assert choice.comparison == "Nothing else keeps within these limits."


def test_rows_without_the_figure_say_what_to_do(tmp_path):
    def change(trials):
        return trials.assign(model_bytes=None)

    with pytest.raises(HarnessError, match="no row says its model_bytes: an earlier version"):
        chosen(tmp_path / "s", {"a": GOOD}, {"model": 1e6}, change=change)


def test_the_command_answers_in_words_and_in_json(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    results_of(tmp_path / "results" / "toy", {"a": GOOD, "b": LEVEL, "c": WORSE})
    (tmp_path / "toy.yaml").write_text("datasets: [iris]\nmethods: [prior]\nlabeled: 20\n")

    def run(*options):
        return CliRunner().invoke(main, ["best", "toy.yaml", *options])

    told = run("--fits", "3MB", "--max-predict", "5ms").stdout
    assert "b" in told
    assert "to take one home: harness fit toy.yaml 6 -o model.joblib" in told
    (found,) = json.loads(run("--fits", "3MB", "--predict-fits", "700kB", "--json").stdout)
    assert (found["method"], found["budget"], found["best"]) == ("b", "10MB", "a at 10MB")
    assert found["peak_bytes"] == 900_000
    assert found["predict_row_p99_s"] == 0.001
    assert found["rows"] == [6, 7, 8, 9, 10, 11]
    assert found["level"] == ["b at 10MB"]
    (found,) = json.loads(run("--model-fits", "1kB", "--json").stdout)
    assert found["method"] is None
    assert pd.isna(found["mean"])
    assert "5 furlongs" in run("--max-predict", "5 furlongs").output
