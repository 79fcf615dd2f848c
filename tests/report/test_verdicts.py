"""Verdicts are held against their definition, then against simulated papers and studies."""

from decimal import Decimal

import numpy as np
import pytest
from scipy import stats

from harness.metrics.names import METRICS
from harness.report.statistics import MIN_PAIRS, Interval, mean_interval
from harness.report.verdicts import (
    MARGINS,
    RELATIVE_MARGINS,
    VERDICTS,
    judge,
    margin_of,
)
from harness.study.published_tables import REDUCTIONS, Printed, Setting


def figure(value, std=None, runs=None, metric="auc", **said):
    setting = Setting("toy", 0.1, None, None, None, ())
    return Printed(setting, "svm", metric, Decimal(value), std=std, runs=runs, **said)


def ours(mean, std, n):
    return Interval(mean, mean, mean, std, n)


def test_every_metric_has_a_margin():
    assert set(MARGINS) | set(RELATIVE_MARGINS) == {*METRICS, *REDUCTIONS}
    assert not set(MARGINS) & set(RELATIVE_MARGINS)


def test_the_margin_is_the_metrics_or_two_standard_errors_of_the_printed_mean():
    assert margin_of(figure("0.800")) == 0.01
    assert margin_of(figure("80.0", unit="%")) == 1
    assert margin_of(figure("0.800", std=0.3, runs=100)) == pytest.approx(0.06)
    assert margin_of(figure("0.800", std=0.03, runs=100)) == 0.01
    assert margin_of(figure("0.800", std=0.3)) == 0.01  # of how many runs is not known
    assert margin_of(figure("0.200", metric="nmse")) == pytest.approx(0.01)
    assert margin_of(figure("-0.200", metric="nmse")) > 0


@pytest.mark.parametrize("value", ["0.8", "0.80", "0.8000"])
@pytest.mark.parametrize(("std", "runs"), [(0.02, 10), (None, 10), (None, None), (0.02, None)])
def test_the_interval_counts_both_sides_and_the_rounding(value, std, runs):
    found = judge(figure(value, std, runs), ours(0.85, 0.03, 20), True)
    mine, rounding = 0.03**2 / 20, (0.5 * 10.0 ** -len(value.split(".")[1])) ** 2 / 3
    if std is None:
        parts = [(mine + 0.03**2 / (runs or 1), 19), (rounding, np.inf)]
    else:
        parts = [(mine, 19), (std**2 / (runs or 1), 9 if runs else np.inf), (rounding, np.inf)]
    total = sum(variance for variance, _ in parts)
    freedom = total**2 / sum(variance**2 / f for variance, f in parts)
    assert found.difference == pytest.approx(0.05)
    assert found.half == pytest.approx(stats.t.ppf(0.975, freedom) * np.sqrt(total))


def test_without_rounding_the_interval_is_that_of_welchs_test():
    generator = np.random.default_rng(0)
    a, b = generator.normal(0.8, 0.01, 12), generator.normal(0.79, 0.03, 30)
    printed = figure(repr(float(b.mean())), b.std(ddof=1), 30)
    found = judge(printed, mean_interval(a), True)
    low, high = stats.ttest_ind(a, b, equal_var=False).confidence_interval(0.95)
    interval = (found.difference - found.half, found.difference + found.half)
    assert interval == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("mean", "word"),
    [
        (0.800, "reproduced"),
        (0.805, "reproduced"),
        (0.795, "reproduced"),
        (0.809, "cannot tell"),
        (0.811, "cannot tell"),
        (0.789, "cannot tell"),
        (0.820, "exceeded"),
        (0.780, "not reached"),
    ],
)
def test_the_word_is_where_the_interval_lies(mean, word):
    found = judge(figure("0.800", 0.006, 30), ours(mean, 0.006, 30), True)
    assert found.half == pytest.approx(0.0031, abs=1e-4)
    assert found.verdict == word
    turned = {"exceeded": "not reached", "not reached": "exceeded"}
    found = judge(figure("0.800", 0.006, 30), ours(mean, 0.006, 30), False)
    assert found.verdict == turned.get(word, word)


@pytest.mark.parametrize("mean", [0.8, 0.9, 0.5])
@pytest.mark.parametrize("std", [0, 1e-9, 0.001])
def test_few_seeds_tell_nothing_however_alike_they_are(mean, std):
    printed = figure("0.8000", 0.001, 100)
    for n in range(1, MIN_PAIRS):
        assert judge(printed, ours(mean, std, n), True).verdict == "cannot tell"
    word = {0.8: "reproduced", 0.9: "exceeded", 0.5: "not reached"}[mean]
    assert judge(printed, ours(mean, std, MIN_PAIRS), True).verdict == word


def test_one_seed_tells_nothing_and_none_was_not_run():
    assert judge(figure("0.9"), mean_interval([0.1]), True).verdict == "cannot tell"
    assert judge(figure("0.9"), mean_interval([]), True).verdict == "not run"


def test_a_figure_in_doubt_and_seconds_are_not_judged():
    many = ours(0.8, 0.001, 30)
    assert judge(figure("0.800", doubt="no such spread"), many, True).verdict == "not judged"
    assert judge(figure("0.800", metric="seconds"), many, False).verdict == "not judged"


def test_a_figure_of_one_digit_is_not_reproduced():
    assert judge(figure("0.8"), ours(0.8, 0.001, 100), True).verdict == "cannot tell"


def rates(shift, seeds, std, printed_spread, repetitions=1000, runs=30):
    """Return how often each word is said of a study whose truth is the printed one's, shifted."""
    generator = np.random.default_rng(20261124)
    found = dict.fromkeys(VERDICTS, 0)
    for _ in range(repetitions):
        theirs = generator.normal(0.85, std, runs)
        printed = figure(
            f"{theirs.mean():.3f}", round(theirs.std(ddof=1), 4) if printed_spread else None, runs
        )
        mine = mean_interval(generator.normal(0.85 + shift * margin_of(printed), std, seeds))
        found[judge(printed, mine, True).verdict] += 1 / repetitions
    return found


@pytest.mark.slow
@pytest.mark.parametrize("printed_spread", [True, False])
@pytest.mark.parametrize("std", [0.003, 0.01, 0.03])
def test_reproduced_is_earned_by_seeds_and_equal_truths_are_rarely_told_apart(std, printed_spread):
    found = [rates(0, seeds, std, printed_spread) for seeds in (2, 5, 30)]
    reproduced = [words["reproduced"] for words in found]
    assert reproduced[0] == 0
    # with a spread of three margins 30 seeds are not enough: "cannot tell", and not by chance
    least, most = {0.003: (0.99, 1), 0.01: (0.9, 1), 0.03: (0, 0.02)}[std]
    assert least <= reproduced[2] <= most + 1e-9
    assert reproduced[1] <= reproduced[2] + 0.005
    for words in found:
        assert words["exceeded"] + words["not reached"] < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("printed_spread", [True, False])
@pytest.mark.parametrize("std", [0.003, 0.01, 0.03])
@pytest.mark.parametrize("seeds", [2, 5, 30])
def test_a_margin_away_is_neither_reproduced_nor_exceeded_more_than_one_time_in_twenty(
    seeds, std, printed_spread
):
    found = rates(1, seeds, std, printed_spread)
    assert found["reproduced"] <= 0.05
    assert found["exceeded"] <= 0.05
    assert found["not reached"] < 0.01


def test_more_seeds_reproduce_more():
    """A spread of the margin: 5, 10, 30 and 100 seeds reproduce 0.05 to 1 of equal truths."""
    found = [rates(0, seeds, 0.01, True)["reproduced"] for seeds in (5, 10, 30, 100)]
    assert found == sorted(found)
    assert found[0] < 0.3 < found[1] < found[2]


def test_two_margins_away_many_seeds_tell():
    assert rates(2, 30, 0.01, True)["exceeded"] > 0.9
    assert rates(-2, 30, 0.01, True)["not reached"] > 0.9
