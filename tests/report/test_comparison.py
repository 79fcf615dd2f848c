import json

import numpy as np
import pandas as pd
import pytest
from synthetic_trials import make_trials, write_results

from harness.report.kept import comparison_tables
from harness.report.published_comparison import compare
from harness.report.results import read_results
from harness.report.statistics import mean_interval
from harness.study import published_tables

HEAD = "table,dataset,method,labeled,budget,metric,value"


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """Compare trials, given as method -> scores by seed, with lines of a printed table."""
    monkeypatch.setattr(published_tables, "PUBLISHED", tmp_path)

    def beside(scores, *lines, head=HEAD, datasets=("toy",), metric="auc", change=None):
        (tmp_path / "paper.csv").write_text("\n".join([head, *lines]) + "\n")
        seeds = max(len(values) for values in scores.values())
        trials = make_trials(
            [(name, "binary") for name in datasets],
            methods=tuple(scores),
            budgets={"1MB": None, "none": None},
            seeds=range(seeds),
            labeled=(47,),  # of 516 points: a share of 0.091
        )
        for method, values in scores.items():
            mine = trials["method"] == method
            trials.loc[mine, metric] = np.resize(values, mine.sum())
            trials = trials.drop(trials.index[mine & (trials["seed"] >= len(values))])
        if change:
            trials = change(trials)
        results = read_results(write_results(tmp_path / "results", trials))
        return compare(results, ["paper/t"])

    return beside


def cells(made):
    return made.cells.set_index(["dataset", "method"])


SVM = "t,toy,svm,47,none,auc,0.800"
NYSCK = "t,toy,nysck,47,none,auc,0.900"


def test_cells_hold_mean_interval_and_seeds(beside):
    values = [0.78, 0.80, 0.84]
    (made,) = beside({"svm": values}, SVM)
    cell = cells(made).loc["toy", "svm"]
    assert tuple(cell[["mean", "ci_low", "ci_high"]]) == pytest.approx(mean_interval(values)[:3])
    assert (cell["n_scored"], cell["n"], cell["verdict"]) == (3, 3, "cannot tell")
    assert made.counts == "1 cannot tell"


def test_what_was_not_run_is_shown_with_the_rest(beside):
    lines = (SVM, NYSCK, "t,elsewhere,svm,47,none,auc,0.7", "t,toy,svm,50,none,auc,0.7")
    (made,) = beside({"svm": [0.9, 0.91, 0.9, 0.91, 0.9]}, *lines)
    assert len(made.cells) == 4
    assert made.counts == "1 exceeded, 3 not run"
    assert made.cells["n"].tolist() == [5, 0, 0, 0]
    assert made.cells["dataset"].tolist() == ["toy", "toy", "elsewhere", "toy"]


def test_trials_that_did_not_end_ok_do_not_count(beside):
    def fail(trials):
        trials.loc[trials["seed"] == 0, "outcome"] = "timeout"
        return trials

    (made,) = beside({"svm": [0.1, 0.8, 0.8], "nysck": [0.9]}, SVM, NYSCK, change=fail)
    svm, nysck = (cells(made).loc["toy", name] for name in ("svm", "nysck"))
    assert (svm["n_scored"], svm["n"], svm["mean"]) == (2, 3, pytest.approx(0.8))
    assert (nysck["n_scored"], nysck["n"], nysck["verdict"]) == (0, 1, "not run")


@pytest.mark.parametrize(
    ("labeled", "budget", "matches"),
    [
        ("47", "none", True),
        ("0.091", "none", True),
        ("0.092", "1MB", True),
        ("0.1", "none", False),
        ("47", "1000kB", True),
        ("47", "2MB", False),
        ("", "", True),
        ("46", "none", False),
    ],
)
def test_labeled_and_budget_decide(beside, labeled, budget, matches):
    (made,) = beside({"svm": [0.8, 0.8]}, f"t,toy,svm,{labeled},{budget},auc,0.8")
    assert (cells(made).loc[("toy", "svm"), "n"] > 0) == matches


def test_a_label_goes_before_the_name_of_the_method(beside):
    def rename(trials):
        trials["plugin_method"] = trials["method"].replace({"a": "svm", "b": "svm"})
        return trials

    (made,) = beside({"a": [0.6, 0.6], "b": [0.7, 0.7], "svm": [0.8, 0.8]}, SVM, change=rename)
    assert cells(made).loc[("toy", "svm"), "ours"] == "svm"
    assert set(made.cells.loc[made.cells["further"], "method"]) == {"a", "b"}
    (made,) = beside({"a": [0.6, 0.6], "b": [0.7, 0.7]}, SVM, change=rename)
    assert cells(made).loc[("toy", "svm"), "ours"] == "a"
    assert list(made.cells.loc[made.cells["further"], "method"]) == ["b"]


def test_parameters_of_the_method_decide_where_the_paper_names_them(beside):
    def fix(trials):
        kernels = trials["method"].map({"linear": "linear", "rbf": "rbf"})
        trials["params"] = [json.dumps({"kernel": kernel}) for kernel in kernels]
        return trials.assign(plugin_method="svm")

    (made,) = beside(
        {"linear": [0.6, 0.6], "rbf": [0.8, 0.8]},
        *("t,toy,svm,47,none,auc,0.8,rbf", "t,toy,svm,47,none,auc,0.6,linear"),
        "t,toy,svm,47,none,auc,0.6,poly",
        head=f"{HEAD},kernel",
        change=fix,
    )
    printed = made.cells[~made.cells["further"]]
    assert list(printed["ours"].fillna("-")) == ["rbf", "linear", "-"]


def tell_kernels(trials):
    """Labels as a study gives them by default say their parameters."""
    names = trials["method"].str.extract(r"kernel=(\w+)(?:,sigma=2)?(?:,selector=(\w+))?")
    trials["params"] = [
        json.dumps({"kernel": kernel, "selector": selector})
        for kernel, selector in names.fillna("").to_numpy()
    ]
    return trials.assign(plugin_method=trials["method"].str.partition("[")[0])


def test_rows_are_of_a_kernel_and_columns_of_a_selector(beside):
    scores = {
        f"svm[kernel={kernel},selector={selector}]": [value] * 5
        for kernel, values in {"rbf,sigma=2": (0.8, 0.7, 0.9), "linear": (0.6, 0.5, 0.65)}.items()
        for selector, value in zip(("uniform", "dbh", "cssp"), values, strict=True)
    }
    (made,) = beside(
        scores | {"1nn": [0.95, 0.95]},
        *("t,toy,svm,47,none,auc,0.800,rbf,uniform", "t,toy,svm,47,none,auc,0.8,rbf,dbh"),
        *("t,toy,svm,47,none,auc,0.6,linear,uniform", "t,toy,svm,47,none,auc,0.4,linear,dbh"),
        head=f"{HEAD},kernel,selector",
        change=tell_kernels,
    )
    uniform, dbh, cssp = (f"svm[selector={name}]" for name in ("uniform", "dbh", "cssp"))
    for _, row in made.cells.groupby("row"):
        assert list(row["method"]) == [uniform, dbh, cssp]  # 1nn has no kernel
    rbf = made.cells.set_index(["kernel", "method"]).loc["rbf"]
    assert list(rbf["verdict"]) == ["reproduced", "not reached", ""]
    assert rbf.loc[cssp, "ours"] == "svm[kernel=rbf,sigma=2,selector=cssp]"
    assert list(made.totals["rank_of_all"]) == [4, 6, 2]


def test_of_several_places_the_one_with_the_most_figures_is_taken(beside):
    def rename(trials):
        odd = (trials["method"] == "svm") & (trials["budget"] == "1MB")
        return trials[~odd].sort_values("budget")

    lines = ("t,toy,svm,,,auc,0.8", "t,toy,nysck,,,auc,0.8")
    (made,) = beside({"svm": [0.8, 0.8], "nysck": [0.7, 0.7]}, *lines, change=rename)
    assert list(made.cells["n"]) == [2, 2]


def test_figures_in_doubt_are_shown_but_neither_judged_nor_ranked(beside):
    lines = (f"{SVM},,", f"{NYSCK},,no such spread", "t,toy,cmn,47,none,auc,0.9,,no such spread")
    scores = {"svm": [0.8] * 5, "nysck": [0.7] * 5}
    (made,) = beside(scores, *lines, head=f"{HEAD},note,doubt")
    found = cells(made).loc["toy"]
    assert list(found["verdict"]) == ["reproduced", "not judged", "not run"]
    assert found.loc["nysck", "mean"] == pytest.approx(0.7)
    assert found.loc["nysck", "doubt"] == "no such spread"
    assert made.totals.empty
    assert made.counts == "1 reproduced, 1 not judged, 1 not run"


def test_a_row_of_one_method_does_not_keep_the_others_from_being_ranked(beside):
    lines = (SVM, NYSCK, "t,toy,svm,47,1MB,auc,0.7")
    (made,) = beside({"svm": [0.8, 0.8], "nysck": [0.7, 0.7]}, *lines)
    assert made.n_settings == 1
    assert list(made.totals["rank"]) == [1, 2]


def test_generated_stand_ins_are_shown_and_never_judged(tmp_path, monkeypatch):
    monkeypatch.setattr(published_tables, "PUBLISHED", tmp_path)
    lines = [f"t,{name},svm,47,none,auc,0.800" for name in ("toy", "toy-shape")]
    (tmp_path / "paper.csv").write_text("\n".join([HEAD, *lines]) + "\n")
    datasets = [("toy", "binary"), ("toy-shape", "binary")]
    trials = make_trials(datasets, ("svm",), {"none": None}, range(6), (47,)).assign(auc=0.8)
    known = [{"name": "toy"}, {"name": "toy-shape", "stand_in_for": "toy"}]
    folder = write_results(tmp_path / "results", trials, provenance={"datasets": known})
    (made,) = compare(read_results(folder), ["paper/t"])
    real, shape = made.cells.itertuples()
    assert (real.verdict, real.doubt) == ("reproduced", "")
    assert shape.verdict == "not judged"
    assert "generated data of the shape of toy" in shape.doubt
    assert shape.n_scored == 6


REDUCTION = "t,*,xnv,47,none,{}_reduction,{},%,{},18 sets"


def test_reductions_are_averaged_over_data_sets_against_the_better_rival(beside):
    values = {
        "a": {"xnv": (0.10, 0.14), "sssl-m": (0.20, 0.28), "sssl-2m": (0.3, 0.3)},
        "b": {"xnv": (0.30, 0.32), "sssl-m": (0.90, 0.9), "sssl-2m": (0.30, 0.34)},
        "c": {"xnv": (0.10, 0.14)},
    }

    def fill(trials):
        trials["nmse"] = np.nan
        for dataset, methods in values.items():
            for method, pair in methods.items():
                mine = (trials["dataset"] == dataset) & (trials["method"] == method)
                trials.loc[mine, "error_rate"] = np.asarray(pair)[trials.loc[mine, "seed"]]
        return trials[(trials["dataset"] != "c") | (trials["method"] == "xnv")]

    errors, spreads = beside(
        {name: [0.5, 0.5] for name in ("xnv", "sssl-m", "sssl-2m")},
        REDUCTION.format("error", 16, "sssl-m sssl-2m"),
        REDUCTION.format("error", 28, "xks"),
        REDUCTION.format("std", 30, "sssl-m sssl-2m"),
        REDUCTION.format("error", 11, "sssl-m sssl-2m").replace("47", "46"),
        REDUCTION.format("error", 15, "sssl-m sssl-2m").replace("none", "200 landmarks"),
        head=f"{HEAD},unit,against,doubt",
        datasets="abc",
        change=fill,
    )
    expected = [100 * (1 - 0.12 / 0.24), 100 * (1 - 0.31 / 0.32)]
    against_sssl, against_xks, other_count, other_budget = errors.cells.itertuples()
    assert against_sssl.method == "xnv against sssl-m / sssl-2m"
    assert against_sssl.mean == pytest.approx(np.mean(expected))
    assert against_sssl.ci_low == pytest.approx(mean_interval(expected).low)
    assert (against_sssl.n_scored, against_sssl.n) == (2, 3)
    assert against_sssl.note == "ours over a, b"
    assert against_sssl.verdict == "not judged"
    assert (against_xks.n_scored, against_xks.n) == (0, 3)
    assert (other_count.n, other_budget.n) == (0, 0)
    assert {cell.verdict for cell in (against_xks, other_count, other_budget)} == {"not run"}
    assert spreads.cells["mean"].item() == pytest.approx(50)  # half of the spread on both


def test_reductions_leave_generated_stand_ins_out(tmp_path, monkeypatch):
    monkeypatch.setattr(published_tables, "PUBLISHED", tmp_path)
    line = REDUCTION.format("error", 16, "sssl-m").removesuffix(",18 sets")
    (tmp_path / "paper.csv").write_text(f"{HEAD},unit,against\n{line}\n")
    datasets = [(name, "binary") for name in ("a", "b", "b-shape")]
    trials = make_trials(datasets, ("xnv", "sssl-m"), {"none": None}, range(3), (47,))
    trials["outcome"] = "ok"
    trials["error_rate"] = 0.2 + 0.01 * trials["seed"].astype(float)
    trials.loc[trials["method"] == "xnv", "error_rate"] -= 0.1
    known = [{"name": "b-shape", "stand_in_for": "b"}]
    folder = write_results(tmp_path / "results", trials, provenance={"datasets": known})
    (made,) = compare(read_results(folder), ["paper/t"])
    (cell,) = made.cells.itertuples()
    assert cell.note == "ours over a, b"
    assert cell.n == 2


def test_ranks_share_ties_and_count_further_methods_apart(beside):
    lines = [
        f"t,{data},{method},47,none,auc,{value}"
        for data, values in {"a": (0.9, 0.8, 0.8), "b": (0.7, 0.8, 0.9)}.items()
        for method, value in zip(("svm", "nysck", "harmonic"), values, strict=True)
    ]
    scores = {"svm": [0.8, 0.8], "nysck": [0.7, 0.7], "harmonic": [0.7, 0.7]}
    (made,) = beside(scores | {"1nn": [0.75, 0.75], "oracle": [1, 1]}, *lines, datasets="ab")
    found = cells(made)
    methods = ["svm", "nysck", "harmonic"]
    assert list(found.loc["a"].loc[methods, "printed_rank"]) == [1, 2.5, 2.5]
    assert list(found.loc["b"].loc[methods, "printed_rank"]) == [3, 2, 1]
    assert list(found.loc["a"].loc[methods, "rank"]) == [1, 2.5, 2.5]
    assert list(found.loc["a"].loc[[*methods, "1nn"], "rank_of_all"]) == [1, 3.5, 3.5, 2]
    assert made.n_settings == 2
    totals = made.totals
    assert list(totals.index) == [*methods, "1nn"]  # controls are not ranked
    assert list(totals["printed_rank"][:3]) == [4, 4.5, 3.5]
    assert list(totals["rank"][:3]) == [2, 5, 5]
    assert list(totals["rank_of_all"]) == [2, 7, 7, 4]
    assert np.isnan(totals.loc["1nn", ["printed_rank", "rank"]]).all()


def test_a_printed_rank_breaks_the_ties_of_rounding(beside):
    lines = (f"{NYSCK},2", f"{SVM.replace('0.800', '0.900')},1", "t,toy,cmn,47,none,auc,0.9,3")
    (made,) = beside({"svm": [0.8], "nysck": [0.8]}, *lines, head=f"{HEAD},rank")
    found = cells(made).loc["toy"]
    assert list(found.loc[["nysck", "svm"], "printed_rank"]) == [2, 1]
    assert list(found.loc[["nysck", "svm"], "rank"]) == [1.5, 1.5]
    assert np.isnan(found.loc["cmn", "printed_rank"])


def test_methods_with_failed_seeds_rank_behind(beside):
    def fail(trials):
        trials.loc[(trials["method"] == "svm") & (trials["seed"] == 0), "outcome"] = "crashed"
        trials.loc[trials["method"] == "harmonic", "outcome"] = "crashed"
        return trials

    lines = (SVM, NYSCK, "t,toy,harmonic,47,none,auc,0.95")
    scores = {"svm": [0.9, 0.9], "nysck": [0.5, 0.5], "harmonic": [1, 1]}
    (made,) = beside(scores, *lines, change=fail)
    assert list(cells(made).loc["toy"]["rank"]) == [2, 1, 3]


def test_methods_not_run_throughout_are_named_and_not_ranked(beside):
    lines = [
        f"t,{data},{method},47,none,auc,0.8" for data in "ab" for method in ("svm", "1nn", "nysck")
    ]

    def drop(trials):
        return trials[(trials["dataset"] == "a") | (trials["method"] != "nysck")]

    scores = {"svm": [0.8], "1nn": [0.7], "nysck": [0.9]}
    (made,) = beside(scores, *lines, datasets="ab", change=drop)
    assert made.left_out == ["nysck"]
    assert list(made.totals.index) == ["svm", "1nn"]
    assert list(made.totals["rank"]) == [2, 4]


def test_seconds_are_those_of_the_processor_and_lower_is_better(beside):
    lines = (SVM.replace("auc", "seconds"), NYSCK.replace("auc", "seconds"), SVM)
    seconds, auc = beside({"svm": [0.1, 0.1], "nysck": [5, 5]}, *lines, metric="cpu_s")
    assert seconds.score.name == "seconds"
    assert not seconds.score.greater_is_better
    assert list(cells(seconds).loc["toy"]["verdict"]) == ["not judged", "not judged"]
    assert list(cells(seconds).loc["toy"]["rank"]) == [1, 2]
    assert auc.score.name == "auc"


def test_seconds_of_training_are_those_of_the_fit_without_tuning(beside):
    def slow(trials):
        return trials.assign(tune_s=100.0)

    lines = [SVM.replace("auc", f"{stage}_seconds") for stage in ("train", "test")]
    train, test = beside({"svm": [2, 2]}, *lines, metric="fit_s", change=slow)
    assert cells(train).loc[("toy", "svm"), "mean"] == 2
    assert cells(test).loc[("toy", "svm"), "mean"] < 1
    assert cells(test).loc[("toy", "svm"), "verdict"] == "not judged"


def test_percent_is_compared_with_percent(beside):
    scores = {"svm": [0.799, 0.801, 0.8, 0.8, 0.8]}
    head = f"{HEAD},unit,std,runs"
    (made,) = beside(scores, "t,toy,svm,,,auc,80.0,%,3,20", head=head)
    cell = cells(made).loc["toy", "svm"]
    assert cell["mean"] == pytest.approx(80)
    assert cell["verdict"] == "cannot tell"  # twenty runs of 3 % know their mean to 1.4
    assert (cell["printed_std"], cell["runs"]) == (3, 20)
    assert cell["margin"] == pytest.approx(2 * 3 / 20**0.5)
    (made,) = beside(scores, "t,toy,svm,,,auc,80.0,%,1,100", head=head)
    assert cells(made).loc[("toy", "svm"), "verdict"] == "reproduced"


def test_the_tables_hold_every_cell(beside):
    made = beside({"svm": [0.8] * 5, "1nn": [0.7] * 5}, SVM, NYSCK)
    tables = comparison_tables(made)
    table = tables["published"]
    assert list(table["method"]) == ["svm", "nysck", "1nn"]
    assert list(table["verdict"]) == ["reproduced", "not run", ""]
    assert pd.isna(table["printed"].iloc[2])
    assert tables["published_ranks"].empty  # one method of the paper is no order
    assert comparison_tables([]) == {}
