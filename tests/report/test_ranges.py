"""Intervals are shown no further than a metric can be, and kept whole in the CSV files."""

import math
import re

import numpy as np
import pandas as pd
import pytest
from synthetic_trials import make_trials, write_results

from harness.metrics.functions import BUILT_IN
from harness.report import write_report
from harness.report.metric_bounds import RANGES, within_range

NEAR_ONE = [1.0, 1.0, 1.0, 0.95, 1.0]


def test_every_built_in_metric_has_a_range():
    assert set(RANGES) == {metric.name for metric in BUILT_IN}


@pytest.mark.parametrize(
    ("metric", "unit", "found"),
    [
        ("auc", "", [0, 1, 0.5]),
        ("auc", "%", [0, 1.1, 0.5]),
        ("nmse", "", [0, 1.1, 0.5]),
        ("r2", "", [-0.1, 1, 0.5]),
        ("brier", "", [-0.1, 1.1, 0.5]),
    ],
)
def test_ends_are_cut_off_at_what_the_metric_can_be(metric, unit, found):
    ends = within_range(metric, [-0.1, 1.1, 0.5, math.nan], unit)
    assert list(ends[:3]) == found
    assert np.isnan(ends[3])


def test_the_page_shows_no_interval_beyond_the_range(tmp_path):
    trials = make_trials((("australian", "binary"),), ("svm",), {"none": None}, labeled=(50,))
    trials = trials.assign(outcome="ok", auc=NEAR_ONE, n_unlabeled=450, n_test=0)
    study = {"metrics": ["auc"], "published": "hou2017/table3"}
    directory = write_results(tmp_path / "s", trials, study=study)
    page = write_report(directory).read_text(encoding="utf-8")
    assert "0.990 [0.962, 1.000]" in page
    assert "0.962 to 1.000" in page
    assert '"high": [1.0]' in page
    assert "1.018" not in re.sub(r"<script>.*?</script>", "", page, flags=re.DOTALL)
    for name in ("means", "best", "published"):
        table = pd.read_csv(directory / "tables" / f"{name}.csv")
        mine = table[(table["metric"] == "auc") & (table["method"] == "svm")]
        assert list(mine["ci_high"]) == pytest.approx([1.0178], abs=1e-4)
