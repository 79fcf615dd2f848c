import itertools
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from synthetic_trials import bad_endings, make_trials, write_results

from harness.report.pairs import PairedScores
from harness.report.pareto import NORMALISED, front_columns, on_front, over_data_sets, with_fronts
from harness.report.results import read_results
from harness.report.scores import SCORES, choose_scores
from harness.report.statistics import holm, paired_p
from harness.report.tables import make_tables
from harness.report.trade_offs import front_steps, least_bytes, switch_points

SETS = (("one", "binary"), ("two", "binary"), ("errors", "regression"))
METHODS = ("1nn", "svm", "harmonic", "nysck", "random")


def read(tmp_path, trials):
    results = read_results(write_results(tmp_path / "s", trials))
    scores = choose_scores(results)
    return results, scores, make_tables(results, scores)


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    trials = make_trials(SETS, METHODS, outcome=bad_endings, seeds=range(6))
    return read(tmp_path_factory.mktemp("trade"), trials)


def by_seed(results, score, cell):
    rows = results.cells[(results.cells["cell"] == cell) & (results.cells["outcome"] == "ok")]
    return rows.set_index("seed")[score.name].astype(float)


@pytest.mark.parametrize("cost", ["peak_bytes", "train_s"])
def test_a_mark_is_on_the_front_unless_another_is_no_worse_and_cheaper(judged, cost):
    _, scores, tables = judged
    cells = tables.cells
    found = on_front(cells, cost, scores)
    seen = 0
    for problem, mine in cells.groupby("problem"):
        sign = 1 if scores[problem].greater_is_better else -1
        whole = mine[~mine["control"] & (mine["n_scored"] == mine["n"]) & (mine["n_scored"] > 0)]
        for mark in mine.itertuples():
            worth = sign * whole["mean"]
            no_worse = (worth >= sign * mark.mean) & (whole[cost] <= mark._asdict()[cost])
            better = (worth > sign * mark.mean) | (whole[cost] < mark._asdict()[cost])
            expected = mark.Index in whole.index and not (no_worse & better).any()
            assert found[mark.Index] == expected
            seen += expected
    assert 3 < seen < len(cells) / 2


def test_names_stand_once_where_a_run_of_marks_of_a_method_begins(judged):
    _, scores, tables = judged
    mine = tables.cells[tables.cells["problem"] == "one"]
    columns = pd.DataFrame(front_columns(with_fronts(mine, scores))).assign(
        method=mine["method"].to_numpy(), cost=mine["peak_bytes"].to_numpy()
    )
    front = columns[columns["front_peak"]].sort_values("cost")
    assert columns.loc[~columns["front_peak"], "name_peak"].isna().all()
    new = front["method"] != front["method"].shift()
    assert (front["name_peak"].notna() == new).all()


def test_names_of_marks_at_one_place_do_not_hide_each_other():
    cells = pd.DataFrame(
        {
            "problem": "one",
            "method": ["first", "second", "third", "far"],
            "mean": [0.90, 0.901, 0.902, 0.1],
            "peak_bytes": [1e6, 1.01e6, 1.02e6, 1e8],
            "train_s": [1.0, 1.01, 1.02, 100.0],
            "predict_s": 1.0,
            "control": False,
            "n": 5,
            "n_scored": 5,
        }
    )
    places = front_columns(with_fronts(cells, {"one": SCORES["auc"]}))["name_peak"]
    assert places[3] is None
    heights = sorted(places[:3])
    assert min(later - before for before, later in itertools.pairwise(heights)) >= 10


@pytest.mark.parametrize(("predict_s", "moved"), [(1.0, False), (1e-6, True)])
def test_an_axis_of_time_spans_prediction_so_that_names_on_it_are_nearer(predict_s, moved):
    cells = pd.DataFrame(
        {
            "problem": "one",
            "method": ["first", "second", "far"],
            "mean": [0.90, 0.901, 0.1],
            "peak_bytes": [1e6, 8e6, 16e6],
            "train_s": [1.0, 8.0, 16.0],
            "predict_s": predict_s,
            "control": False,
            "n": 5,
            "n_scored": 5,
        }
    )
    columns = front_columns(with_fronts(cells, {"one": SCORES["auc"]}))
    first, second, _ = columns["name_train"]
    assert (first != second) == moved
    assert columns["name_peak"][0] == columns["name_peak"][1]


def test_over_data_sets_the_best_is_1_the_worst_and_failures_0(judged):
    _, scores, tables = judged
    found = over_data_sets(tables, scores)
    assert list(found) == ["classification"]
    table = found["classification"].set_index(["method", "budget"])
    cells = tables.cells[~tables.cells["control"] & (tables.cells["family"] == "classification")]
    whole = cells["n_scored"] == cells["n"]
    for (method, budget), row in table.iterrows():
        expected, peaks = [], []
        for _, mine in cells.groupby("problem"):
            known = mine["mean"][whole & (mine["n_scored"] > 0)]
            (one,) = mine[(mine["method"] == method) & (mine["budget"] == budget)].itertuples()
            span = known.max() - known.min()
            expected.append((one.mean - known.min()) / span if one.Index in known.index else 0)
            peaks.append(one.peak_bytes)
        assert row["mean"] == pytest.approx(np.mean(expected))
        logs = np.log(np.array(peaks, float))
        logs = logs[~np.isnan(logs)]
        mean = np.exp(logs.mean()) if len(logs) else np.nan
        assert row["peak_bytes"] == pytest.approx(mean, nan_ok=True)
    assert len(table) == 4 * 4
    marks = with_fronts(found["classification"], {"classification": NORMALISED})
    assert marks["front_peak"].any()


def test_a_family_of_which_no_method_is_on_all_data_sets_has_nothing_over_them(judged):
    _, scores, tables = judged
    problems = tables.cells["problem"].unique()
    own = dict(zip(problems, map(str, range(len(problems))), strict=True))
    cells = tables.cells.assign(method=tables.cells["method"] + tables.cells["problem"].map(own))
    assert over_data_sets(SimpleNamespace(cells=cells), scores) == {}


def test_each_step_is_tested_against_the_mark_before(judged):
    results, scores, tables = judged
    steps = front_steps(PairedScores(results, scores), tables.cells, scores)
    cells = tables.cells.set_index(["problem", "method", "budget"])["cell"]
    compared = 0
    for problem, mine in steps.groupby("problem", sort=False):
        score = scores[problem]
        sign = 1 if score.greater_is_better else -1
        assert mine["peak_bytes"].is_monotonic_increasing
        marks = [
            by_seed(results, score, cells[problem, m, b])
            for m, b in zip(mine["method"], mine["budget"], strict=True)
        ]
        pairs = itertools.pairwise(marks)
        p = holm([float(paired_p((after - before).to_numpy())) for before, after in pairs])
        np.testing.assert_allclose(mine["p_holm"].iloc[1:], p, rtol=1e-6)
        gain = sign * mine["mean"].diff().iloc[1:]
        np.testing.assert_allclose(mine["gain"].iloc[1:], gain)
        doublings = np.log2(mine["peak_bytes"].astype(float)).diff().iloc[1:]
        np.testing.assert_allclose(mine["gain_per_doubling"].iloc[1:], gain / doublings)
        to_last = [float(paired_p((mark - marks[-1]).to_numpy())) for mark in marks[:-1]]
        level = [*(holm(to_last) >= 0.05), True]
        assert list(mine["enough"]) == [place == level.index(True) for place in range(len(level))]
        compared += len(p)
    assert compared > 4


def test_with_few_seeds_nobody_knows_the_knee(tmp_path):
    results, scores, tables = read(tmp_path, make_trials(SETS[:1], METHODS, seeds=range(3)))
    steps = front_steps(PairedScores(results, scores), tables.cells, scores)
    assert len(steps) > 1
    assert not steps["enough"].any()


def test_least_bytes_reach_the_wanted_score_and_nothing_cheaper_does(judged):
    _, scores, tables = judged
    table = least_bytes(tables.cells, scores)
    assert set(table["problem"]) == {"one", "two", "errors"}
    for row in table.itertuples():
        score = scores[row.problem]
        mine = tables.cells[(tables.cells["problem"] == row.problem) & ~tables.cells["control"]]
        mine = mine[(mine["n_scored"] == mine["n"]) & (mine["n_scored"] > 0)]

        def reaches(values, score=score, wanted=row.wanted):
            return values >= wanted if score.greater_is_better else values <= wanted

        assert row.peak_bytes == mine["peak_bytes"][reaches(mine["mean"])].min()
        hopeful, sure = ("ci_high", "ci_low") if score.greater_is_better else ("ci_low", "ci_high")
        assert row.low_bytes == mine["peak_bytes"][reaches(mine[hopeful])].min()
        assert row.high_bytes == pytest.approx(
            mine["peak_bytes"][reaches(mine[sure])].min(), nan_ok=True
        )
        assert row.low_bytes <= row.peak_bytes


def switching(tmp_path, below, above, seeds=6):
    """Two methods whose AUC differ by so much (a minus b, a seed a value) at two budgets."""
    trials = make_trials(SETS[:1], ("a", "b"), {"1MB": 10**6, "10MB": 10**7}, range(seeds))
    trials["outcome"], trials["peak_bytes"] = "ok", 500_000
    trials["auc"] = 0.8
    for budget, lead in (("1MB", below), ("10MB", above)):
        mine = (trials["method"] == "a") & (trials["budget"] == budget)
        trials.loc[mine, "auc"] += np.asarray(lead)[trials.loc[mine, "seed"]]
    results, scores, tables = read(tmp_path, trials)
    paired = PairedScores(results, scores)
    return switch_points(paired, tables.cells, scores, results.budgets)


WIDE = np.array([-0.05, 0.05, -0.04, 0.04, 0.0, 0.0])


@pytest.mark.parametrize(
    ("below", "above", "sure"),
    [
        (0.05 + WIDE / 10, -0.05 + WIDE / 10, "yes"),
        (0.05 + WIDE / 10, -0.001 + WIDE, "below"),
        (0.001 + WIDE, -0.05 + WIDE / 10, "above"),
        (0.001 + WIDE, -0.001 + WIDE, "no"),
    ],
)
def test_a_switch_is_as_sure_as_both_leads(tmp_path, below, above, sure):
    (row,) = switching(tmp_path, below, above).itertuples()
    assert (row.below, row.above, row.from_method, row.to_method) == ("1MB", "10MB", "a", "b")
    assert row.sure == sure
    assert row.lead_below == pytest.approx(np.mean(below))
    assert row.lead_above == pytest.approx(-np.mean(above))


def test_no_switch_and_one_of_few_seeds(tmp_path):
    assert switching(tmp_path / "no", 0.05 + WIDE / 10, 0.04 + WIDE / 10).empty
    (row,) = switching(tmp_path / "few", 0.05 + WIDE / 10, -0.05 + WIDE / 10, 4).itertuples()
    assert row.sure == "few"
