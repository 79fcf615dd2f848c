import numpy as np
import pandas as pd
import pytest
from scipy import stats
from synthetic_trials import bad_endings, make_trials, with_pair_left_out, write_results

from harness.report.csv_tables import means_in_parts
from harness.report.results import read_results
from harness.report.scores import choose_scores
from harness.report.tables import make_tables


def tables_of(directory, trials, **options):
    results = read_results(write_results(directory, trials, **options))
    return make_tables(results, choose_scores(results)), results


def cell(table, dataset, budget, method):
    found = table[
        (table["problem"] == dataset) & (table["budget"] == budget) & (table["method"] == method)
    ]
    assert len(found) == 1
    return found.iloc[0]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    return tables_of(tmp_path_factory.mktemp("tables") / "s", make_trials(outcome=bad_endings))


def test_means_and_intervals_are_those_of_the_rows(tables):
    made, results = tables
    rows = results.cells
    rows = rows[(rows["problem"] == "digits") & (rows["method"] == "nysck")]
    values = rows.loc[(rows["budget"] == "100MB"), "accuracy"].to_numpy()
    found = cell(made.cells, "digits", "100MB", "nysck")
    assert found["mean"] == pytest.approx(values.mean())
    low, high = stats.t.interval(0.95, 4, values.mean(), stats.sem(values))
    assert (found["ci_low"], found["ci_high"]) == pytest.approx((low, high))


def test_a_cell_with_failed_seeds_ranks_behind_all_without_and_before_all_failed(tables):
    made, _ = tables
    group = made.cells[
        (made.cells["problem"] == "digits")
        & (made.cells["budget"] == "10MB")
        & ~made.cells["control"]
    ]
    partly = cell(group, "digits", "10MB", "svm")
    assert (partly["n_ok"], partly["n"], partly["status"]) == (4, 5, "over budget 1 of 5")
    complete = group[group["n_scored"] == group["n"]]
    nothing = group[group["n_scored"] == 0]
    assert len(complete)
    assert len(nothing)
    assert complete["rank"].max() < partly["rank"] < nothing["rank"].min()
    assert group["rank"].sum() == len(group) * (len(group) + 1) / 2


def test_problems_stand_by_data_set_and_then_by_number_of_labeled_points(tmp_path):
    trials = make_trials(labeled=(1000, 200, 50), budgets={"none": None}, seeds=range(2))
    made, _ = tables_of(tmp_path / "s", trials)
    names = ["breast-cancer", "digits"]
    order = [f"{name}, {count} labeled" for name in names for count in ("50", "200", "1,000")]
    assert list(made.planned["problem"].unique()) == order
    binary = made.cells[made.cells["dataset"] == "breast-cancer"]
    assert list(binary["problem"].unique()) == order[:3]


def test_a_data_set_run_at_several_numbers_of_labeled_points_counts_once(tmp_path):
    datasets = [(f"d{i}", "binary") for i in range(3)]
    trials = make_trials(datasets, ("a", "b", "c"), {"none": None}, [0], (10, 20, 30))
    # c is always last; a is first on d0 with 10 and 20 labeled, and b everywhere else
    trials["auc"] = trials["method"].map({"a": 0.8, "b": 0.9, "c": 0.1})
    few = (trials["dataset"] == "d0") & (trials["n_labeled"] < 30) & (trials["method"] == "a")
    trials.loc[few, "auc"] = 1.0
    made, _ = tables_of(tmp_path / "s", trials)
    ranks = made.ranks.set_index("method")
    assert set(ranks["n_datasets"]) == {3}
    assert ranks["wins"].to_dict() == {"a": 1, "b": 2, "c": 0}
    expected = {"a": (4 / 3 + 2 + 2) / 3, "b": (5 / 3 + 1 + 1) / 3, "c": 3}
    assert ranks["mean_rank"].to_dict() == pytest.approx(expected)
    assert ranks["min_rank"]["a"] == pytest.approx(4 / 3)
    assert ranks["max_rank"]["b"] == pytest.approx(5 / 3)


def test_one_data_set_at_several_numbers_of_labeled_points_has_no_mean_rank(tmp_path):
    trials = make_trials([("d", "binary")], ("a", "b"), labeled=(10, 20, 30, 40, 50))
    made, _ = tables_of(tmp_path / "s", trials)
    assert made.ranks.empty


def test_methods_without_any_score_tie_for_the_last_rank(tmp_path):
    trials = make_trials(methods=("a", "b", "c"), budgets={"none": None}, seeds=range(3))
    trials.loc[trials["method"] != "a", "outcome"] = "crashed"
    made, _ = tables_of(tmp_path / "s", trials)
    ranks = made.cells.set_index(["problem", "method"])["rank"].loc["digits"]
    assert ranks.to_dict() == {"a": 1, "b": 2.5, "c": 2.5}


def test_controls_are_never_ranked(tables):
    made, _ = tables
    assert made.cells.loc[made.cells["control"], "rank"].isna().all()
    assert not set(made.ranks["method"]) & {"random", "prior", "oracle"}


def test_lower_is_better_ranks_the_smallest_first(tmp_path):
    trials = make_trials((("diabetes", "regression"),), budgets={"none": None})
    made, _ = tables_of(tmp_path / "s", trials)
    ranked = made.cells[~made.cells["control"]]
    assert ranked.sort_values("rank")["mean"].is_monotonic_increasing


def test_the_long_form_holds_every_metric_that_has_values(tables):
    made, _ = tables
    named = made.cells.set_index("cell")[["problem", "budget", "method"]]
    means = made.means.join(named, on="cell")
    assert set(means.loc[means["problem"] == "digits", "metric"]) == {
        "accuracy",
        "balanced_accuracy",
        "error_rate",
        "f1_macro",
        "matthews_corrcoef",
    }
    error = means[means["metric"] == "error_rate"]
    assert (error.groupby(["problem", "budget"])["rank"].min() == 1).all()
    best = error[error["rank"] == 1]
    twin = made.cells.set_index(["problem", "budget", "method"])
    accuracy = means[means["metric"] == "accuracy"]
    accuracy = accuracy.set_index(["problem", "budget", "method"])["rank"]
    assert (accuracy.loc[pd.MultiIndex.from_frame(best[twin.index.names])] == 1).all()


def test_mean_ranks_leave_out_methods_that_some_data_sets_lack(tmp_path):
    trials = make_trials(methods=("a", "b", "c"), budgets={"none": None})
    trials = trials[~((trials["method"] == "c") & (trials["dataset"] == "digits"))]
    made, _ = tables_of(tmp_path / "s", trials)
    assert set(made.ranks["method"]) == {"a", "b"}
    assert (made.ranks["not_compared"] == "c").all()
    assert made.ranks["mean_rank"].sum() == 1 + 2


def test_one_data_set_of_a_family_has_no_mean_ranks(tmp_path):
    made, _ = tables_of(tmp_path / "s", make_trials((("a", "binary"), ("b", "regression"))))
    assert made.ranks.empty


def test_outcomes_count_every_trial_that_is_not_ok(tables):
    made, results = tables
    assert made.outcomes["count"].sum() == (results.cells["outcome"] != "ok").sum()
    assert set(made.outcomes["outcome"]) == {
        "infeasible",
        "over_budget",
        "timeout",
        "crashed",
        "error",
    }


@pytest.mark.parametrize("ending", [None, "timeout"])
def test_pairs_that_were_left_out_stand_among_outcomes_with_their_reason(tmp_path, ending):
    options = {"budgets": {"none": None}, "seeds": [0], "outcome": lambda row: ending}
    trials = make_trials((("a", "binary"),), ("1nn",), **options)
    made, _ = tables_of(tmp_path / "s", with_pair_left_out(trials, "d", "svm", "does binary"))
    told = made.outcomes.iloc[-1]
    assert (told["problem"], told["method"], told["budget"]) == ("d", "svm", "")
    assert (told["outcome"], told["reason"], told["count"]) == ("infeasible", "does binary", 1)
    assert len(made.outcomes) == (2 if ending else 1)
    assert set(made.cells["problem"]) == {"a"}


def test_warnings_that_differ_in_figures_alone_are_counted_together(tmp_path):
    trials = make_trials(methods=("a", "b"), budgets={"none": None}, seeds=range(4))
    warned = (trials["method"] == "a") & (trials["outcome"] == "ok")
    trials.loc[warned, "reason"] = [f"eigenvalue -{3 + i}.5e-{i}" for i in range(warned.sum())]
    made, _ = tables_of(tmp_path / "s", trials)
    told = made.outcomes[made.outcomes["outcome"] == "ok"]
    assert told["count"].sum() == warned.sum()
    assert set(told["method"]) == {"a"}
    assert len(told) == trials["dataset"].nunique()
    assert told["reason"].iloc[0] == trials.loc[warned, "reason"].iloc[0]


def test_planned_and_measured_use_trials_that_ended_ok(tmp_path):
    trials = make_trials(methods=("a",), budgets={"none": None}, seeds=range(4))
    trials["planned_bytes"] = 1000
    trials["peak_bytes"] = [500, 1000, 1500, 9000] * 2
    trials.loc[trials["peak_bytes"] == 9000, "outcome"] = "over_budget"
    made, _ = tables_of(tmp_path / "s", trials)
    row = made.honesty.iloc[0]
    assert (row["min"], row["median"], row["max"], row["n"]) == (0.5, 1.0, 1.5, 6)
    assert row["within"] == pytest.approx(2 / 3)
    assert made.planned["ratio_mean"].tolist() == [1.0, 1.0]


def test_one_seed_has_a_mean_and_no_interval(tmp_path):
    made, _ = tables_of(tmp_path / "s", make_trials(seeds=[3]))
    scored = made.cells[made.cells["n_scored"] == 1]
    assert scored["mean"].notna().all()
    assert np.isnan(scored[["ci_low", "ci_high", "std"]].to_numpy()).all()


def test_means_hold_time_and_memory_with_their_spread(tables):
    made, results = tables
    (means,) = means_in_parts(made)
    row = means[
        (means["dataset"] == "digits") & (means["budget"] == "10MB") & (means["method"] == "svm")
    ].iloc[0]
    rows = results.cells
    mine = rows[(rows["problem"] == "digits") & (rows["budget"] == "10MB")]
    ok = mine[(mine["method"] == "svm") & (mine["outcome"] == "ok")]
    assert len(ok) == row["n_ok"] == 4  # what was stopped by the limit has no time of its own
    for name in ("tune_s", "fit_s", "predict_s", "peak_bytes"):
        assert row[name] == pytest.approx(ok[name].mean())
        assert row[f"{name}_std"] == pytest.approx(ok[name].std())
    assert {"cpu_s", "cpu_s_std"} <= set(means)
