"""Effects, levels and intervals of scores that are made up, so that the truth is known."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.advice.advise import advise, told_of
from harness.advice.evidence import COLUMNS
from harness.advice.model import (
    expect,
    fit_effects,
    level_interval,
    scores_of,
    setting_levels,
    shares,
)
from harness.advice.nearness import NEAR, Query
from harness.advice.sizes import Fit

METHODS = ("best", "middle", "worst")
EFFECTS = np.array([0.1, 0.0, -0.1])


def evidence(rows):
    """Rows of (data set, labeled, budget in bytes, {method: score}) as the harness keeps them."""
    told = {"study": "made-up", "task": "binary", "n_test": 0, "n_features": 10, "n_classes": 2}
    cells = [
        told
        | {"dataset": dataset, "n_labeled": labeled, "n_unlabeled": 900, "budget": f"{many}B"}
        | {"budget_bytes": float(many), "method": method, "label": method, "metric": metric}
        | {"n": 5, "n_ok": 5, "mean": score, "planned_bytes": 1e6}
        for dataset, labeled, many, metric, scores in rows
        for method, score in scores.items()
    ]
    return pd.DataFrame(cells)[COLUMNS]


def query(labeled=100, budget=10**7):
    return Query(labeled, 900, 10, 2, budget, "binary")


def many_datasets(n=12, metric="auc", seed=0):
    """Data sets of levels that differ more than methods do; each leaves one method out."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(n):
        scores = rng.uniform(0.5, 0.8) + EFFECTS
        told = dict(zip(METHODS, scores, strict=True))
        told.pop(METHODS[number % 3])
        rows.append((f"set-{number}", 100, 10**7, metric, told))
    return evidence(rows)


def test_effects_are_found_whatever_the_levels_and_the_gaps():
    scores = scores_of(many_datasets(), "auc")
    found = fit_effects(scores.table, np.ones(12), ridge=1e-9)
    assert found == pytest.approx(EFFECTS, abs=1e-6)
    levels = setting_levels(scores, found)
    assert scores.table - levels[:, None] == pytest.approx(
        np.where(np.isfinite(scores.table), EFFECTS, np.nan), abs=1e-6, nan_ok=True
    )


def test_the_ridge_keeps_a_method_that_one_data_set_tells_of_near_the_mean():
    table = np.full((9, 3), np.nan)
    table[:, :2] = [0.6, 0.5]
    table[0, 2] = 0.9
    found = fit_effects(table, np.ones(9))
    assert 0 < found[2] < 0.15  # 0.35 above the mean where it was seen
    assert found[0] > found[1]


@pytest.mark.parametrize("metric", ["auc", "nmse"])
def test_the_best_comes_first_whichever_way_the_metric_is_read(metric):
    found = expect(scores_of(many_datasets(metric=metric), metric), query().coordinates, METHODS)
    order = list(METHODS) if metric == "auc" else list(METHODS[::-1])
    assert found["method"].tolist() == order
    assert found["behind"].tolist() == sorted(found["behind"])
    assert found["behind"][0] == 0
    assert (found["low"] < found["score"]).all()
    assert (found["score"] < found["high"]).all()


def test_settings_that_are_near_decide():
    """One method wins with few labels and few bytes, another with many, on the same data sets."""
    rows = []
    for number in range(6):
        rows.append((f"set-{number}", 20, 10**6, "auc", {"frugal": 0.8, "greedy": 0.6}))
        rows.append((f"set-{number}", 2000, 10**8, "auc", {"frugal": 0.8, "greedy": 0.9}))
    scores = scores_of(evidence(rows), "auc")
    for labeled, budget, first in ((20, 10**6, "frugal"), (2000, 10**8, "greedy")):
        found = expect(scores, query(labeled, budget).coordinates, scores.methods)
        assert found["method"][0] == first


def test_a_data_set_counts_once_however_many_settings_it_has():
    one = [("often", 100 + i, 10**7, "auc", {"a": 0.9, "b": 0.5}) for i in range(50)]
    other = [("once", 100, 10**7, "auc", {"a": 0.5, "b": 0.9})]
    scores = scores_of(evidence(one + other), "auc")
    weight = shares(scores, query().coordinates)
    assert weight[:-1].sum() == pytest.approx(weight[-1], rel=0.01)
    assert fit_effects(scores.table, weight) == pytest.approx([0, 0], abs=0.01)


@given(st.integers(9, 40), st.integers(0, 2**32 - 1))
def test_the_interval_is_of_a_further_data_set(n, seed):
    """Of n levels and one more, drawn alike, the last is outside in a fifth at most."""
    levels = np.random.default_rng(seed).permutation(n + 1).astype(float)
    outside = 0
    for last in range(n + 1):
        low, middle, high = level_interval(np.delete(levels, last), np.ones(n))
        outside += not low <= levels[last] <= high
        assert low <= middle <= high
    assert outside <= 0.2 * (n + 1)


def test_few_data_sets_leave_an_interval_open():
    low, middle, high = level_interval(np.arange(5.0), np.ones(5))
    assert (low, middle, high) == (-np.inf, 2, np.inf)


def test_nothing_is_said_of_a_method_that_no_near_study_has():
    near = [(f"near-{i}", 100, 10**7, "auc", {"a": 0.8, "b": 0.7}) for i in range(3)]
    far = [(f"far-{i}", 100, 10**12, "auc", {"a": 0.7, "c": 0.9}) for i in range(3)]
    scores = scores_of(evidence(near + far), "auc")
    fits = [Fit("a", planned_bytes=1), Fit("b", planned_bytes=1), Fit("c", planned_bytes=1)]
    fits += [Fit("d", reason="needs 1 GB"), Fit("e", unknown="never measured")]
    found = advise(scores, query(), fits)
    assert found.near
    assert found.ranked["method"].tolist() == ["a", "b"]
    assert [fit.method for fit in found.unranked] == ["c", "e"]
    assert [fit.method for fit in found.refused] == ["d"]
    assert set(found.nearest) == {"near-0", "near-1", "near-2"}


def test_where_no_study_is_near_all_shapes_tell_and_this_is_said():
    scores = scores_of(evidence([("far", 100, 10**12, "auc", {"a": 0.7, "c": 0.9})]), "auc")
    told, scale = told_of(scores, query().coordinates, ["a", "c"])
    assert (told, scale > NEAR) == (["a", "c"], True)
    assert not advise(scores, query(), [Fit("a"), Fit("c")]).near


def test_a_method_that_may_not_be_had_is_not_the_first():
    found = expect(scores_of(many_datasets(), "auc"), query().coordinates, ["middle", "worst"])
    assert found["method"].tolist() == ["middle", "worst"]
    assert found["behind"][0] == 0
