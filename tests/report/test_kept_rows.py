import numpy as np
import pandas as pd
import pyarrow.parquet
import pytest
from synthetic_trials import make_trials, with_pair_left_out, write_results

from harness.errors import HarnessError
from harness.metrics.names import LATER, METRICS
from harness.report import write_report
from harness.report.results import read_results
from harness.report.rows import IDENTIFIERS, KEPT, kept_rows, read_rows, write_rows


def report(directory, trials):
    write_report(write_results(directory, trials))
    return directory / "tables" / "rows.parquet"


def test_a_report_keeps_a_row_a_trial_with_its_figures(tmp_path, results_directory):
    trials = pd.read_parquet(results_directory / "trials.parquet")
    rows = read_rows(report(tmp_path / "s", trials))
    assert list(rows.columns) == list(KEPT)
    assert len(rows) == len(trials)
    whole = trials.set_index(list(IDENTIFIERS)).loc[
        list(rows[list(IDENTIFIERS)].itertuples(index=False, name=None))
    ]
    assert list(rows["outcome"]) == list(whole["outcome"])
    for name in METRICS:  # to the last bit
        np.testing.assert_array_equal(rows[name], whole[name].to_numpy(float, na_value=np.nan))
    for name in ("tune_s", "fit_s", "predict_s"):
        np.testing.assert_allclose(rows[name], whole[name].to_numpy(float, na_value=np.nan), 1e-6)
    for name in ("size", "planned_bytes", "peak_bytes"):
        np.testing.assert_array_equal(rows[name], whole[name].to_numpy(float, na_value=np.nan))


def test_metrics_of_plugins_are_kept_and_pairs_without_trials_are_not(tmp_path):
    trials = with_pair_left_out(make_trials(), "digits", "budget-svm").assign(brier=0.25)
    rows = read_rows(report(tmp_path / "s", trials))
    assert list(rows.columns) == [*KEPT, "brier"]
    assert len(rows) == len(trials) - 1


def test_the_label_of_the_study_names_the_method_and_not_the_name_of_the_page(tmp_path):
    trials = make_trials(methods=("svm",))
    twice = pd.concat(
        trials.assign(method=f"svm[kernel=rbf,C={c}]", params=f'{{"kernel": "rbf", "C": {c}}}')
        for c in (1, 2)
    )
    results = read_results(write_results(tmp_path / "s", twice))
    assert "svm[C=1]" in set(results.cells["method"])
    assert set(kept_rows(results)["method"]) == {"svm[kernel=rbf,C=1]", "svm[kernel=rbf,C=2]"}


def test_a_row_takes_few_bytes(tmp_path):
    """Measured at 40 to 60 bytes: half of them are four times and three peaks of its own."""
    generator = np.random.default_rng(0)
    trials = make_trials(seeds=range(100))
    trials["cpu_s"] = generator.gamma(2.0, size=len(trials))
    path = report(tmp_path / "s", trials)
    assert path.stat().st_size / len(trials) < 80
    assert pyarrow.parquet.ParquetFile(path).metadata.row_group(0).column(0).compression == "ZSTD"


def test_what_is_no_file_of_rows_is_told(tmp_path):
    with pytest.raises(HarnessError, match=r"none\.parquet: there is no such file"):
        read_rows(tmp_path / "none.parquet")
    odd = tmp_path / "odd.parquet"
    odd.write_bytes(b"PAR1 but not")
    with pytest.raises(HarnessError, match=r"odd\.parquet: is not a file of rows"):
        read_rows(odd)
    rows = kept_rows(read_results(write_results(tmp_path / "s", make_trials())))
    rows.drop(columns=["seed", "auc"]).to_parquet(odd)
    with pytest.raises(HarnessError, match="columns seed, auc are missing"):
        read_rows(odd)
    rows.assign(seed=rows["seed"] + 0.5).to_parquet(odd)
    with pytest.raises(HarnessError, match="a column is not of its type"):
        read_rows(odd)
    write_rows(pd.concat([rows, rows.head(1)]), odd)
    with pytest.raises(HarnessError, match="1 rows repeat a trial"):
        read_rows(odd)
    with pytest.raises(HarnessError, match="cannot be written"):
        write_rows(rows, odd / "below" / "rows.parquet")


def test_rows_of_before_lack_metrics_that_came_later(tmp_path, results_directory):
    trials = pd.read_parquet(results_directory / "trials.parquet")
    path = report(tmp_path / "s", trials)
    table = pyarrow.parquet.read_table(path)
    pyarrow.parquet.write_table(table.drop_columns(list(LATER)), path)
    rows = read_rows(path)
    assert sorted(rows.columns) == sorted(KEPT)
    assert rows[list(LATER)].isna().all(axis=None)
