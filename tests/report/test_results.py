from pathlib import Path

import pandas as pd
import pyarrow.parquet
import pytest
from synthetic_trials import make_trials, with_pair_left_out, write_results

from harness.errors import HarnessError
from harness.report.columns import READ_WHEN_ASKED
from harness.report.display_names import method_names
from harness.report.results import read_results
from harness.study.study import load_study

KEPT = sorted((Path(__file__).resolve().parents[2] / "docs" / "results").glob("*/study.yaml"))


def test_every_missing_file_is_named_at_once(tmp_path):
    with pytest.raises(HarnessError) as error:
        read_results(tmp_path)
    for name in ("trials.parquet", "study.yaml", "provenance.json", "calibration.json"):
        assert name in str(error.value)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("trials.parquet", ""),
        ("trials.parquet", "PAR1 cut short"),
        ("study.yaml", ""),
        ("study.yaml", "a: [1"),
        ("provenance.json", ""),
        ("provenance.json", "[]"),
        ("calibration.json", "{}"),
        ("calibration.json", "[1]"),
    ],
)
def test_a_broken_file_is_named(results_directory, name, content):
    (results_directory / name).write_text(content)
    with pytest.raises(HarnessError, match=name):
        read_results(results_directory)


def test_a_table_without_rows_columns_or_known_outcomes_is_refused(results_directory):
    path = results_directory / "trials.parquet"
    trials = pd.read_parquet(path)
    for broken, words in (
        (trials.iloc[:0], "no trials"),
        (with_pair_left_out(trials, "a", "svm").iloc[-1:], "no trials"),
        (trials.drop(columns=["peak_bytes", "seed"]), "peak_bytes"),
        (trials.assign(outcome="fine"), "'fine' is not one of ok, infeasible"),
        (trials.assign(outcome=None), "null is not one of"),
    ):
        broken.to_parquet(path)
        with pytest.raises(HarnessError, match=words):
            read_results(results_directory)


def test_budgets_stand_by_size_then_by_bytes_then_none(tmp_path):
    budgets = {
        "none": None,
        "1GB": 10**9,
        "640 landmarks": None,
        "200MB": 2e8,
        "80 landmarks": None,
    }
    trials = make_trials(methods=("1nn",), budgets=budgets, seeds=[0])
    results = read_results(write_results(tmp_path / "s", trials))
    assert results.budgets == ["80 landmarks", "640 landmarks", "200MB", "1GB", "none"]


def test_labeled_counts_are_named_only_where_they_tell_apart(tmp_path):
    one = make_trials((("a", "binary"),), ("1nn",), seeds=[0])
    two = make_trials((("b", "binary"),), ("1nn",), seeds=[0], labeled=(10, 2000))
    results = read_results(write_results(tmp_path / "s", pd.concat([one, two])))
    assert list(results.cells["problem"].unique()) == ["a", "b, 10 labeled", "b, 2,000 labeled"]


def test_clusters_of_a_data_set_that_has_another_task_are_named_so(tmp_path):
    classes = make_trials((("a", "multiclass"),), ("1nn",), seeds=[0])
    clusters = make_trials((("a", "clustering"), ("b", "clustering")), ("1nn",), seeds=[0])
    both = pd.concat([classes, clusters.assign(n_labeled=0)])
    results = read_results(write_results(tmp_path / "s", both))
    assert set(results.cells["problem"]) == {"a", "a, clustering", "b"}


def test_cases_of_one_labeled_count_are_told_apart_by_what_differs(tmp_path):
    trials = make_trials((("a", "binary"),), ("1nn",), seeds=[0])
    both = pd.concat([trials, trials.assign(n_unlabeled=50)])
    results = read_results(write_results(tmp_path / "s", both))
    assert set(results.cells["problem"]) == {"a, 400 unlabeled", "a, 50 unlabeled"}
    assert not results.notes


@pytest.mark.parametrize("labeled", [(50,), (50, 100)])
def test_a_pair_that_was_left_out_is_no_problem_and_no_budget(tmp_path, labeled):
    trials = make_trials((("a", "regression"),), ("krr",), {"3MB": 3e6}, [0], labeled)
    trials = with_pair_left_out(trials, "a", "svm")
    results = read_results(write_results(tmp_path / "s", trials))
    assert (results.budgets, len(results.problems)) == (["3MB"], len(labeled))
    assert set(results.cells["method"]) == {"krr"}
    assert results.left_out[["dataset", "method"]].to_numpy().tolist() == [["a", "svm"]]
    assert len(results.trials) == len(labeled) + 1


def test_a_pair_that_was_left_out_is_called_as_where_it_was_run(tmp_path):
    labels = ["svm[kernel=linear,C=1]", "svm[kernel=linear,C=2]"]
    trials = make_trials((("a", "binary"),), labels, {"3MB": 3e6}, [0])
    trials = with_pair_left_out(trials.assign(plugin_method="svm"), "b", labels[0])
    results = read_results(write_results(tmp_path / "s", trials))
    assert list(results.cells["method"]) == ["svm[C=1]", "svm[C=2]"]
    assert list(results.left_out["method"]) == ["svm[C=1]"]


def named(tmp_path, *labels):
    trials = make_trials((("a", "binary"),), labels, {"none": None}, seeds=[0])
    methods = trials["method"].str.partition("[")[0].replace("mine", "svm")
    results = read_results(write_results(tmp_path / "s", trials.assign(plugin_method=methods)))
    assert list(results.cells["label"]) == list(labels)
    return list(results.cells["method"])


def test_methods_are_named_by_the_parameters_in_which_their_versions_differ(tmp_path):
    of_kernels = (
        "svm[kernel=linear,selector=dbh]",
        "svm[kernel=poly2,sigma=28,sigma_unit=absolute,selector=dbh]",
        "svm[kernel=poly2,sigma=28,sigma_unit=absolute,selector=cssp]",
    )
    found = named(tmp_path, *of_kernels, "mine", "krr[kernel=rbf,alpha=1]", "1nn", "sock[steps=3]")
    assert found == [
        "svm[linear, dbh]",
        "svm[poly2, dbh]",
        "svm[poly2, cssp]",
        "mine",
        "krr[rbf, alpha=1]",
        "1nn",
        "sock[steps=3]",
    ]


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        (
            ["svm", "svm[kernel=laplacian,selector=cssp,C=0.5]"],
            ["svm", "svm[laplacian, cssp, C=0.5]"],
        ),
        (
            ["svm[kernel=rbf]", "svm[kernel=poly2,selector=cssp]"],
            ["svm[rbf]", "svm[poly2, cssp]"],
        ),
        (
            ["svm[kernel=rbf,C=1]", "svm[kernel=rbf,C=10]", "svm"],
            ["svm[rbf, C=1]", "svm[rbf, C=10]", "svm"],
        ),
        (["svm[kernel=rbf,C=1]", "svm[kernel=rbf,C=10]"], ["svm[C=1]", "svm[C=10]"]),
        (["svm[C=1,kernel=rbf]", "svm[C=1]"], ["svm[C=1, rbf]", "svm[C=1]"]),
        (
            ["svm[kernel=poly2,sigma=1]", "svm[kernel=poly2,sigma=2]", "svm[kernel=linear]"],
            ["svm[poly2, sigma=1]", "svm[poly2, sigma=2]", "svm[linear]"],
        ),
        (
            ["svm[kernel=poly2,sigma=1]", "svm[sigma=1]"],
            ["svm[poly2, sigma=1]", "svm[sigma=1]"],
        ),
        (["svm[a=x,c=1]", "svm[b=x,c=1]"], ["svm[a=x]", "svm[b=x]"]),
        (["svm[a=x,c=1]", "svm[a=y,c=1]", "svm[y]"], ["svm[a=x,c=1]", "svm[a=y,c=1]", "svm[y]"]),
        (["svm[variant=literal]", "svm"], ["svm[variant=literal]", "svm"]),
    ],
    ids=[
        "none that differs is left out",
        "nor if another would do",
        "unnamed is not shared",
        "numbers keep theirs",
        "none is bare",
        "a width that differs is said",
        "a width without its kernel is said",
        "a value of two parameters keeps both",
        "same as another label",
        "a single parameter",
    ],
)
def test_names_of_methods_are_never_the_same(tmp_path, labels, names):
    assert named(tmp_path, *labels) == names


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.parent.name)
def test_kept_results_name_their_methods_as_a_report_would_today(path):
    methods = {(method.name, method.label) for _, _, method, _, _ in load_study(path).cells()}
    labels = pd.DataFrame(sorted(methods), columns=["plugin_method", "label"])
    means = pd.read_csv(path.parent / "means.csv")
    assert set(method_names(labels).values()) == set(means["method"])


def test_a_repeated_trial_counts_once_and_is_told(tmp_path):
    trials = make_trials((("a", "binary"),), ("1nn",), seeds=[0])
    again = pd.concat([trials, trials.iloc[-1:].assign(auc=0.123)])
    results = read_results(write_results(tmp_path / "s", again))
    assert len(results.cells) == len(trials)
    assert results.cells["auc"].iloc[-1] == 0.123
    assert "1 rows repeat" in results.notes[0]


def test_large_seeds_are_told_apart(tmp_path):
    seeds = [2**63 - 1, 2**63 - 2]
    trials = make_trials((("a", "binary"),), ("1nn",), {"none": None}, seeds)
    results = read_results(write_results(tmp_path / "s", trials))
    assert (list(results.cells["seed"]), results.notes) == (seeds, [])


def test_further_float_columns_are_metrics(tmp_path):
    trials = make_trials(seeds=[0]).assign(brier=0.25, comment="text")
    results = read_results(write_results(tmp_path / "s", trials))
    assert "brier" in results.metrics
    assert "comment" not in results.metrics
    assert "train_s" not in results.metrics


def test_a_column_that_is_read_when_asked_is_the_one_that_was_left_out(tmp_path):
    trials = make_trials(methods=("1nn", "prior"), budgets={"1MB": 10**6}, labeled=(10, 20))
    some = with_pair_left_out(trials.iloc[:9], "a", "svm")
    folder = write_results(tmp_path / "s", pd.concat([some, trials, trials.iloc[3:5]]))
    path = folder / "trials.parquet"
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(path), path, row_group_size=7)
    held, asked = read_results(folder), read_results(folder, READ_WHEN_ASKED)
    assert not {*READ_WHEN_ASKED} & {*asked.cells}
    assert asked.notes
    assert len(asked.left_out) == 1
    for name in READ_WHEN_ASKED:
        pd.testing.assert_series_equal(held.column(name), asked.column(name), check_dtype=False)
        parts = [asked.column(name, some) for some in asked.parts(4)]
        pd.testing.assert_series_equal(held.column(name), pd.concat(parts), check_dtype=False)
    whole = asked.whole.cells[list(held.cells)]
    pd.testing.assert_frame_equal(held.cells, whole, check_dtype=False)
