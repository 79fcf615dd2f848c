import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from synthetic_trials import bad_endings, make_trials, write_results

from harness.cli import main
from harness.report.answers import (
    best_table,
    decimals,
    format_score,
    make_answers,
    overall_sentences,
)
from harness.report.pairs import PairedScores, compare_with_best
from harness.report.results import read_results
from harness.report.scores import choose_scores
from harness.report.statistics import compare_with
from harness.report.tables import make_tables


def answer(tmp_path, scores, budget="none", n_seeds=None, change=None):
    """The answer where each method has the AUC given, a seed a value."""
    n = n_seeds or len(next(iter(scores.values())))
    trials = make_trials(
        (("toy", "binary"),), tuple(scores), {budget: 10**8}, range(n)
    ).sort_values(["method", "seed"], ignore_index=True)
    trials["outcome"] = "ok"
    trials["auc"] = [value for method in sorted(scores) for value in scores[method]]
    if change is not None:
        trials = change(trials)
    results = read_results(write_results(tmp_path / "s", trials))
    chosen = choose_scores(results)
    tables = make_tables(results, chosen)
    answers = make_answers(results, chosen, tables)
    assert best_table(answers, tables)["sentence"].tolist() == [answers[0].sentence]
    return answers[0]


GOOD = [0.90, 0.91, 0.92, 0.90, 0.91]
WORSE = [0.80, 0.82, 0.81, 0.80, 0.83]
LEVEL = [0.91, 0.90, 0.91, 0.91, 0.909]


def test_a_clear_winner_is_told_with_its_interval(tmp_path):
    found = answer(tmp_path, {"a": WORSE, "b": GOOD}, "200MB")
    assert (found.method, found.verdict) == ("b", "yes")
    assert found.sentence.startswith(
        "At 200MB on toy, b is best: AUC 0.908 (95 % interval 0.898 to"
    )
    assert "The next best, a, is lower by 0.096: really worse (p = " in found.sentence


def test_the_command_names_what_the_page_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scores = {"a": WORSE, "b": GOOD}
    answered = answer(tmp_path, scores, "200MB", change=lambda t: t.assign(predict_peak_bytes=5e6))
    (tmp_path / "results").mkdir()
    (tmp_path / "s").rename(tmp_path / "results" / "toy")
    (tmp_path / "toy.yaml").write_text("datasets: [iris]\nmethods: [prior]\nlabeled: 20\n")

    def run(*options):
        return CliRunner().invoke(main, ["best", "toy.yaml", *options])

    found = json.loads(run("--json").stdout)
    assert [(row["method"], row["sentence"]) for row in found] == [("b", answered.sentence)]
    told = run().stdout
    assert all(words in told for words in (answered.score, answered.comparison, "5 MB"))
    assert "accuracy" in run("--metric", "accuracy").stdout
    assert "unknown metric 'f1'" in run("--metric", "f1").output


def test_a_difference_that_may_be_chance_is_called_so(tmp_path):
    found = answer(tmp_path, {"a": LEVEL, "b": GOOD, "c": LEVEL})
    assert found.verdict == "no"
    assert "may be chance" in found.comparison
    assert "Nor can" in found.comparison


@pytest.mark.parametrize(("n", "verdict"), [(5, "no"), (1, "few")])
def test_methods_that_score_the_same_are_not_called_higher_or_lower(tmp_path, n, verdict):
    found = answer(tmp_path, {"a": GOOD[:n], "b": GOOD[:n], "c": WORSE[:n]})
    assert found.verdict == verdict
    seeds = "5 seeds" if n == 5 else "one seed"
    assert found.comparison == f"b scores the same ({seeds})."


def test_a_difference_that_is_rounding_is_none(tmp_path):
    found = answer(tmp_path, {"a": GOOD, "b": [value + 4e-16 for value in GOOD], "c": WORSE})
    assert found.comparison == "b scores the same (5 seeds)."


def test_a_mean_that_is_the_same_is_not_called_higher_by_zero(tmp_path):
    found = answer(tmp_path, {"a": GOOD, "b": [*GOOD[1:], GOOD[0]], "c": WORSE})
    assert found.verdict == "no"
    assert found.comparison == "b has the same mean and shares its rank (5 seeds)."
    few = answer(tmp_path, {"a": GOOD[:3], "b": GOOD[2::-1], "c": WORSE[:3]})
    assert few.verdict == "few"
    assert few.comparison == "b has the same mean and shares its rank (3 seeds)."


def test_the_same_mean_on_fewer_seeds_ranks_behind(tmp_path):
    def fail(trials):
        trials.loc[(trials["method"] == "b") & (trials["seed"] == 4), "outcome"] = "crashed"
        return trials

    found = answer(tmp_path, {"a": GOOD, "b": [*GOOD[3::-1], 1.0]}, change=fail)
    assert found.method == "a"
    assert found.comparison == (
        "The next, b, has the same mean on the seeds that both finished, and ranks behind "
        "because it failed on others."
    )


def test_few_seeds_are_not_tested(tmp_path):
    found = answer(tmp_path, {"a": WORSE[:4], "b": GOOD[:4]})
    assert found.verdict == "few"
    assert "4 seeds are too few to tell" in found.comparison


def test_one_seed_has_no_interval(tmp_path):
    found = answer(tmp_path, {"a": WORSE[:1], "b": GOOD[:1]})
    assert found.score == "0.900"
    assert "one seed, so no interval" in found.sentence
    assert "one seed is too few" in found.sentence


def test_one_method_has_no_rival(tmp_path):
    assert answer(tmp_path, {"a": GOOD}).comparison == "It is the only method."


def test_rivals_without_a_score_are_called_what_they_are(tmp_path):
    def fail(trials):
        for name, outcome in (("b", "infeasible"), ("c", "infeasible"), ("d", "crashed")):
            trials.loc[trials["method"] == name, "outcome"] = outcome
        return trials

    found = answer(tmp_path, dict.fromkeys("abcd", GOOD), change=fail)
    assert found.verdict == "alone"
    assert found.comparison == (
        "No other method has a score here (infeasible: 2 methods; crashed: 1 method)."
    )


def test_nothing_that_fits_says_what_would_be_needed(tmp_path):
    def fail(trials):
        trials["outcome"] = "infeasible"
        trials["planned_bytes"] = [3_200_000] * 5 + [9_000_000] * 5
        return trials

    found = answer(tmp_path, {"a": GOOD, "b": GOOD}, "1MB", change=fail)
    assert found.method is None
    assert "infeasible: 2 methods; the smallest would need 3.2 MB" in found.sentence


def test_a_method_that_failed_on_a_seed_does_not_win_by_the_others(tmp_path):
    def fail(trials):
        trials.loc[(trials["method"] == "b") & (trials["seed"] == 0), "outcome"] = "over_budget"
        return trials

    found = answer(tmp_path, {"a": WORSE, "b": GOOD}, change=fail)
    assert found.method == "a"
    assert "scores better by" in found.comparison
    assert "because it failed on others" in found.comparison


def test_a_winner_that_is_no_better_than_a_control_is_unmasked(tmp_path):
    found = answer(tmp_path, {"a": WORSE, "prior": GOOD, "oracle": [1.0] * 5})
    assert found.method == "a"
    assert "no better than the control prior" in found.sentence


def test_only_controls_have_no_answer(tmp_path):
    assert "only controls" in answer(tmp_path, {"prior": GOOD}).sentence


@pytest.mark.parametrize(("n_datasets", "words"), [(2, "too few to tell"), (6, "p = ")])
def test_over_data_sets_the_best_mean_rank_is_told(tmp_path, n_datasets, words):
    datasets = [(f"d{i}", "binary") for i in range(n_datasets)]
    trials = make_trials(datasets, ("1nn", "svm", "nysck"), {"none": None})
    results = read_results(write_results(tmp_path / "s", trials))
    tables = make_tables(results, choose_scores(results))
    (found,) = overall_sentences(tables)
    assert found["where"] == "Without a limit"
    assert found["method"] == tables.ranks.sort_values("mean_rank")["method"].iloc[0]
    assert words in found["text"] or "shares that rank" in found["text"]


def test_over_data_sets_all_that_are_level_are_named(tmp_path):
    datasets = [(f"d{i}", "binary") for i in range(5)]
    trials = make_trials(datasets, [f"m{i}" for i in range(6)], {"none": None}, seeds=[0])
    # ranks 1 to 6 throughout: only the last is far enough from the first
    trials["auc"] = 0.9 - 0.1 * trials["method"].str[1:].astype(float)
    results = read_results(write_results(tmp_path / "s", trials))
    tables = make_tables(results, choose_scores(results))
    (found,) = overall_sentences(tables)
    p = tables.ranks.set_index("method")["p_holm"]
    assert p["m2"] >= 0.05 > p["m5"]
    level = [name for name in ("m2", "m3", "m4") if p[name] >= 0.05]
    assert "The next best is m1 (2), which may be chance" in found["text"]
    *first, last = level
    names = f"{', '.join(first)} or {last}" if first else last
    assert found["text"].endswith(f" Nor can {names} be told apart from it.")


@pytest.mark.parametrize(
    ("mean", "half", "expected"),
    [
        (0.9, 0.011, 3),
        (0.9, 0.05, 2),
        (0.9, 0.0, 3),
        (912.4, 30, 0),
        (912.4, 0, 0),
        (5e-9, 1e-9, 5),
    ],
)
def test_digits_follow_the_half_width(mean, half, expected):
    assert decimals(mean, half) == expected


def test_scores_without_interval_or_value():
    assert format_score(math.nan) == "\N{EN DASH}"
    assert format_score(0.5) == "0.500"
    assert format_score(0.5, 0.49, 0.51) == "0.500 [0.490, 0.510]"


def test_all_comparisons_at_once_are_those_of_one_table_each(tmp_path):
    """Of each problem and budget: the pairs, differences and p-values of `compare_with`."""
    trials = make_trials(outcome=bad_endings, seeds=range(7))
    lost = (trials["method"] == "nysck") & trials["seed"].isin([0, 3])
    results = read_results(write_results(tmp_path / "s", trials[~lost]))
    scores = choose_scores(results)
    cells = make_tables(results, scores).cells
    found = cells.join(compare_with_best(PairedScores(results, scores), cells))
    compared = 0
    for (problem, budget), mine in found.groupby(["problem", "budget"]):
        ranked = mine[~mine["control"] & (mine["n_scored"] > 0)]
        assert mine.drop(index=ranked.index)["p"].isna().all()
        if len(ranked) < 2:
            continue
        rows = results.cells[(results.cells["problem"] == problem)]
        rows = rows[(rows["budget"] == budget) & (rows["outcome"] == "ok")]
        by_seed = rows.pivot(index="seed", columns="method", values=scores[problem].name)
        best, *others = ranked["method"]
        expected = compare_with(by_seed[[best, *others]], best)
        ours = ranked.set_index("method").loc[others]
        np.testing.assert_array_equal(ours["pairs"], expected["n"])
        for name in ("difference", "p", "p_holm"):
            np.testing.assert_allclose(ours[name], expected[name], rtol=1e-9)
        compared += len(others)
    assert compared > 10
