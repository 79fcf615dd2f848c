import numpy as np
import pytest
from synthetic_trials import make_trials, write_results

from harness.report.decision import decide, standings
from harness.report.pairs import PairedScores, compare_with_best
from harness.report.results import read_results
from harness.report.scores import choose_scores
from harness.report.tables import make_tables

SETS = (("one", "binary"), ("two", "binary"))
NOISE = np.array([-0.004, -0.002, 0.0, 0.002, 0.004])
WOBBLE = np.array([0.003, -0.003, 0.002, -0.002, 0.0])
PEAKS = {"big": 8e6, "small": 1e6, "bad": 2e5}


def judged(tmp_path, scores, budgets=None, seeds=5, change=None, sets=SETS):
    """Decide where each method has these AUC on every row, a seed a value."""
    budgets = budgets or {"1MB": 10**6, "10MB": 10**7}
    trials = make_trials(sets, tuple(scores), budgets, range(seeds))
    trials["outcome"], trials["peak_bytes"], trials["fit_s"], trials["tune_s"] = (
        "ok",
        0,
        0.007,
        0.0,
    )
    for method, values in scores.items():
        mine = trials["method"] == method
        trials.loc[mine, "auc"] = np.asarray(values)[trials.loc[mine, "seed"]]
        trials.loc[mine, "peak_bytes"] = int(PEAKS.get(method, 5e6))
    if change is not None:
        trials = change(trials)
    results = read_results(write_results(tmp_path / "s", trials))
    chosen = choose_scores(results)
    tables = make_tables(results, chosen)
    compared = tables.cells.join(compare_with_best(PairedScores(results, chosen), tables.cells))
    return decide(compared, chosen), standings(compared, chosen)


THREE = {"big": 0.95 + NOISE, "small": 0.949 + NOISE + WOBBLE, "bad": 0.85 + NOISE - WOBBLE}


def test_the_cheapest_of_the_level_is_taken_and_the_worse_is_told_by_how_much(tmp_path):
    (decision,), table = judged(tmp_path, THREE)
    assert decision.lead == (
        "Take small, the cheapest of those that are level: 1 MB, 7 ms of training."
    )
    assert decision.text.startswith(
        "By AUC on 4 rows (2 data sets at 2 budgets), two of three are level: small and big. "
        "bad is worse by 0.1. small is behind the best AUC of a row by 0.001 at most (95 % in"
    )
    bad = table.set_index("method").loc["bad"]
    assert (bad["level"], bad["worse"], bad["n_rows"]) == (0, 4, 4)
    assert bad["worse_least"] == pytest.approx(0.1)


def test_peaks_within_a_tenth_count_as_equal_and_the_least_behind_is_taken(tmp_path, monkeypatch):
    monkeypatch.setitem(PEAKS, "big", int(1.05 * PEAKS["small"]))
    (decision,), _ = judged(tmp_path, THREE)
    assert decision.lead.startswith("Take big, the cheapest of those that are level: ")


def test_a_difference_that_is_sure_but_that_nobody_would_choose_by_is_level(tmp_path):
    scores = {"big": 0.95 + NOISE, "small": 0.945 + NOISE + WOBBLE / 100}
    (decision,), _ = judged(tmp_path, scores)
    assert "all two are level" in decision.text
    (decision,), _ = judged(tmp_path, scores | {"small": 0.935 + NOISE + WOBBLE / 100})
    assert decision.lead.startswith("Take big: ")
    assert "small is worse by 0.015" in decision.text


def test_few_seeds_choose_nothing(tmp_path):
    (decision,), _ = judged(tmp_path, THREE, seeds=4)
    assert decision.lead.startswith("Too few seeds to choose: big has the best mean most often")


def test_what_failed_or_was_not_run_everywhere_is_not_taken(tmp_path):
    def fails(trials):
        one = (trials["method"] == "small") & (trials["budget"] == "1MB") & (trials["seed"] == 3)
        trials.loc[one & (trials["dataset"] == "one"), ["outcome", "auc"]] = ["timeout", np.nan]
        return trials

    (decision,), _ = judged(tmp_path, THREE, change=fails)
    assert decision.lead.startswith("Take big: 8 MB")
    assert "small is without some scores on 1 of 4" in decision.text

    def lacks(trials):
        return trials[(trials["method"] != "small") | (trials["dataset"] == "one")]

    (decision,), _ = judged(tmp_path / "lacks", THREE, change=lacks)
    assert decision.lead.startswith("Take big: 8 MB")
    assert "small is run on 2 of 4 alone" in decision.text


def test_where_no_method_is_level_everywhere_the_nearest_is_told(tmp_path):
    def swaps(trials):
        mine = (trials["dataset"] == "two") & (trials["method"] == "big")
        trials.loc[mine, "auc"] -= 0.1
        return trials

    two = {"big": 0.95 + NOISE, "small": 0.9 + NOISE + WOBBLE}
    (decision,), _ = judged(tmp_path, two, change=swaps)
    assert decision.lead.startswith("No method is level with the best everywhere; small is on")
    assert "big is worse on 2 of 4 by 0.05" in decision.text


def test_one_method_that_a_control_beats_says_so(tmp_path):
    scores = {"big": 0.5 + NOISE, "small": 0.5 + NOISE + WOBBLE, "random": 0.6 + NOISE}
    (decision,), _ = judged(tmp_path, scores)
    assert "It is no better than a control on 4 of 4." in decision.text
    (alone,), _ = judged(tmp_path / "alone", {"big": 0.9 + NOISE})
    assert alone.text.endswith("it is the only method.")
