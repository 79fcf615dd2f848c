import json

import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from scipy import stats
from synthetic_trials import make_trials, write_results

from harness.cli import main
from harness.errors import HarnessError
from harness.report.paired import compare_rows
from harness.report.results import read_results
from harness.report.rows import kept_rows, write_rows

METRICS = {("toy", "binary"): "auc"}


@pytest.fixture
def rows(tmp_path):
    """Make kept rows of two methods on one data set with ten seeds, AUC as given."""

    def rows(name, scores, **options):
        trials = make_trials(
            (("toy", "binary"),), tuple(scores), {"1MB": 10**6}, range(10), **options
        )
        trials["outcome"] = "ok"
        for method, values in scores.items():
            trials.loc[trials["method"] == method, "auc"] = values
        return kept_rows(read_results(write_results(tmp_path / name, trials)))

    return rows


def test_pairs_are_those_of_one_seed(rows):
    generator = np.random.default_rng(0)
    easy = generator.normal(0.8, 0.1, 10)  # a seed's split makes both runs easy or hard
    better = easy + generator.normal(0.01, 0.004, 10)
    table = compare_rows(
        rows("ours", {"svm": better, "1nn": easy}),
        rows("theirs", {"svm": easy, "1nn": easy}).sample(frac=1, random_state=0),
        METRICS,
        "kept",
    ).set_index("method")
    assert table.loc["svm", "p"] == pytest.approx(stats.ttest_rel(better, easy).pvalue)
    assert stats.ttest_ind(better, easy).pvalue > 0.5  # what means alone would say
    low, high = stats.t.interval(0.95, 9, (better - easy).mean(), stats.sem(better - easy))
    assert tuple(table.loc["svm", ["ci_low", "ci_high"]]) == pytest.approx((low, high))
    assert table.loc["svm", "p_holm"] == pytest.approx(2 * table.loc["svm", "p"])
    assert tuple(table.loc["1nn", ["n", "n_equal", "p"]]) == (10, 10, 1)


def test_seeds_of_one_run_alone_and_failures_are_counted(rows):
    ours, theirs = (rows(name, {"svm": np.linspace(0.7, 0.8, 10)}) for name in "ab")
    ours.loc[ours["seed"] == 3, "outcome"] = "timeout"
    table = compare_rows(ours, theirs[theirs["seed"] > 0], METRICS, "kept")
    assert tuple(table.loc[0, ["n", "n_equal", "unpaired"]]) == (8, 8, 2)


def test_one_budget_may_be_written_in_two_ways(rows):
    ours, theirs = (rows(name, {"svm": 0.7}) for name in "ab")
    assert len(compare_rows(ours, theirs.assign(budget="1000kB"), METRICS, "kept")) == 1


@pytest.mark.parametrize(
    ("column", "value"), [("n_labeled", 99), ("n_test", 68), ("budget", "2MB"), ("method", "cmn")]
)
def test_other_trials_are_no_pairs(rows, column, value):
    ours, theirs = (rows(name, {"svm": 0.7}) for name in "ab")
    with pytest.raises(HarnessError, match="kept: has no trial in common"):
        compare_rows(ours, theirs.assign(**{column: value}), METRICS, "kept")


@pytest.fixture
def run(tmp_path, monkeypatch):
    trials = make_trials((("toy", "binary"),), ("svm", "1nn"), {"1MB": 10**6}, range(8))
    trials["outcome"], trials["auc"] = "ok", np.linspace(0.6, 0.9, len(trials))
    results = read_results(write_results(tmp_path / "results" / "mine", trials))
    kept = kept_rows(results)
    shift = np.resize([0.02, 0.03], len(kept)) * (kept["method"] == "svm")
    write_rows(kept.assign(auc=kept["auc"] - shift), tmp_path / "rows.parquet")
    study = {"datasets": ["toy"], "methods": ["svm"], "labeled": 100}
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(study))
    (tmp_path / "results" / "mine" / "study.yaml").write_text(yaml.safe_dump(study))
    monkeypatch.chdir(tmp_path)

    def run(*arguments, status=0):
        result = CliRunner().invoke(main, ["compare", "mine.yaml", *arguments])
        assert result.exit_code == status, result.output
        return result.output if status else result.stdout

    return run


def test_the_command_compares_seed_by_seed(run):
    said = [line.rstrip() for line in run("--with", "rows.parquet").splitlines()]
    assert len(said) == 3
    by_method = {"svm": next(line for line in said if "svm" in line)}
    by_method["1nn"] = next(line for line in said if "1nn" in line)
    assert "+0.025" in by_method["svm"]
    assert by_method["svm"].endswith("better")
    assert by_method["1nn"].endswith("equal to the last bit")
    found = json.loads(run("--with", "rows.parquet", "--json"))
    assert {row["method"]: row["n_equal"] for row in found} == {"svm": 0, "1nn": 8}


def test_mistakes_of_the_command(run):
    assert "neither TABLES nor --all" in run("--with", "rows.parquet", "--all", status=1)
    assert "none.parquet: there is no such file" in run("--with", "none.parquet", status=1)
