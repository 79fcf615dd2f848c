import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from harness.report import statistics


def test_interval_equals_scipys_t_interval():
    values = np.random.default_rng(0).normal(3, 2, 12)
    found = statistics.mean_interval(values)
    low, high = stats.t.interval(0.95, 11, values.mean(), stats.sem(values))
    assert (found.low, found.high) == pytest.approx((low, high), rel=1e-12)
    assert found.n == 12
    assert found.std == pytest.approx(values.std(ddof=1))


def test_interval_of_two_values_has_the_closed_form():
    # With one degree of freedom t is Cauchy, so the half width is tan(0.95 pi / 2) |a - b| / 2.
    found = statistics.mean_interval([1.0, 3.0])
    assert found.high - found.mean == pytest.approx(math.tan(0.95 * math.pi / 2), rel=1e-12)


def test_interval_covers_the_mean_as_often_as_it_says():
    draws = np.random.default_rng(1).normal(size=(4000, 5))
    half = statistics.half_width(draws.std(axis=1, ddof=1), 5)
    covered = np.mean(np.abs(draws.mean(axis=1)) <= half)
    assert covered == pytest.approx(0.95, abs=0.012)


@pytest.mark.parametrize(("values", "n"), [([], 0), ([2.0], 1), ([2.0, np.nan], 1)])
def test_fewer_than_two_values_have_no_interval(values, n):
    found = statistics.mean_interval(values)
    assert found.n == n
    assert np.isnan([found.low, found.high, found.std]).all()


def test_ranks_share_ties_and_put_failures_last():
    scores = [[0.9, 0.8, 0.9, np.nan, np.nan], [0.1, 0.2, 0.3, 0.4, np.nan]]
    assert statistics.ranks(scores).tolist() == [[1.5, 3, 1.5, 4.5, 4.5], [4, 3, 2, 1, 5]]
    lower = statistics.ranks(scores, greater_is_better=False)
    assert lower.tolist() == [[2.5, 1, 2.5, 4.5, 4.5], [1, 2, 3, 4, 5]]


def test_every_block_hands_out_the_same_sum_of_ranks():
    generator = np.random.default_rng(2)
    scores = generator.integers(0, 4, (50, 7)).astype(float)
    scores[generator.random(scores.shape) < 0.3] = np.nan
    assert (statistics.ranks(scores).sum(axis=1) == 7 * 8 / 2).all()


def test_holm_by_hand():
    found = statistics.holm([0.01, 0.04, 0.03, 0.005])
    assert found == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.holm([0.9, 0.8]).tolist() == [1.0, 1.0]


def test_holm_leaves_out_what_was_not_tested():
    found = statistics.holm([np.nan, 0.02, 0.03])
    assert math.isnan(found[0])
    assert found[1:] == pytest.approx([0.04, 0.04])
    assert statistics.holm([]).shape == (0,)


def test_holm_lies_between_no_correction_and_bonferroni_and_keeps_the_order():
    p = np.random.default_rng(3).random(40) ** 3
    found = statistics.holm(p)
    assert (found >= p).all()
    assert (found <= np.minimum(40 * p, 1) + 1e-15).all()
    assert (np.diff(found[np.argsort(p)]) >= 0).all()


def test_paired_p_equals_scipys_test():
    generator = np.random.default_rng(4)
    a, b = generator.normal(size=(2, 9))
    assert statistics.paired_p(a - b) == pytest.approx(stats.ttest_rel(a, b).pvalue, rel=1e-12)


def test_paired_p_where_t_is_not_defined():
    assert math.isnan(statistics.paired_p([0.1] * (statistics.MIN_PAIRS - 1)))
    assert statistics.paired_p([0.0] * 6) == 1.0
    assert statistics.paired_p([0.1] * 6) == 2**-5
    assert statistics.paired_p(np.array([0.3] * 6) - 0.1) == 2**-5


def test_compare_with_pairs_over_the_seeds_that_both_have():
    generator = np.random.default_rng(5)
    scores = pd.DataFrame(generator.normal(size=(8, 3)), columns=["a", "b", "c"])
    scores.loc[:3, "c"] = np.nan
    scores["b"] += 3
    found = statistics.compare_with(scores, "b")
    assert list(found.index) == ["a", "c"]
    assert found["n"].tolist() == [8, 4]
    assert math.isnan(found.loc["c", "p_holm"])
    expected = stats.ttest_rel(scores["a"], scores["b"])
    assert found.loc["a", "p_holm"] == pytest.approx(expected.pvalue)
    assert found.loc["a", "difference"] == pytest.approx((scores["a"] - scores["b"]).mean())


def test_compare_with_nobody_is_empty():
    found = statistics.compare_with(pd.DataFrame({"a": [1.0, 2.0]}), "a")
    assert found.empty
    assert list(found.columns) == ["n", "difference", "p", "p_holm"]


def test_false_alarms_of_holm_stay_below_five_percent():
    generator = np.random.default_rng(6)
    alarms = 0
    for _ in range(300):
        scores = pd.DataFrame(generator.normal(size=(6, 5)), columns=list("abcde"))
        alarms += (statistics.compare_with(scores, "a")["p_holm"] < 0.05).any()
    assert alarms <= stats.binom.ppf(0.999, 300, 0.05)


def test_mean_ranks_of_two_methods_have_the_closed_form():
    # k = 2: z = (R_1 - R_2) sqrt(N), since k (k + 1) / 6 = 1.
    found = statistics.compare_mean_ranks([1.25, 1.75], 16)
    assert math.isnan(found[0])
    assert found[1] == pytest.approx(2 * stats.norm.sf(2.0))


def test_mean_ranks_of_few_data_sets_are_not_tested():
    found = statistics.compare_mean_ranks([1.0, 2.0], statistics.MIN_PAIRS - 1)
    assert np.isnan(found).all()
