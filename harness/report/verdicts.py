"""What a printed figure is told by ours: reproduced, exceeded, not reached, or no verdict.

That two means are the same is not what a test of their difference can show: the fewer the seeds,
the wider the interval, and the easier it holds anything. So "reproduced" is an equivalence, and
tested as one (two one-sided tests, Schuirmann 1987): the interval of the difference must lie
within a margin that is stated beforehand. The printed mean is uncertain too, and its uncertainty
is counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.report.statistics import MIN_PAIRS, Interval, welch_half_width
from harness.study.published_tables import REDUCTIONS, SECONDS

if TYPE_CHECKING:
    from harness.study.published_tables import Printed

VERDICTS = ("reproduced", "exceeded", "not reached", "cannot tell", "not judged", "not run")
"""What a printed figure can be told."""

MARGINS = {
    **dict.fromkeys(("auc", "accuracy", "balanced_accuracy", "error_rate", "f1_macro"), 0.01),
    **dict.fromkeys(("average_precision", "brier_score", "expected_calibration_error"), 0.01),
    **dict.fromkeys(("r2", "matthews_corrcoef"), 0.01),
    **dict.fromkeys(("adjusted_rand", "fowlkes_mallows", "silhouette"), 0.02),
    **dict.fromkeys(REDUCTIONS, 0.05),
}
"""Differences that nobody would choose a method by: one point of a share, two of an index of
clusters, five of a reduction of the error."""

RELATIVE_MARGINS = dict.fromkeys(
    ("nmse", "mean_absolute_error", "log_loss", "calinski_harabasz"), 0.05
)
"""The same of metrics without a scale of their own, as a share of the printed value."""


@dataclass(frozen=True)
class Judgement:
    """A printed figure judged.

    Attributes
    ----------
    verdict : str
        One of VERDICTS.
    difference : float
        Ours less the printed one; NaN without a score.
    half : float
        Half the width of its 95 % interval; NaN for fewer than two scores.
    margin : float
        What a difference must stay within, or exceed; NaN for what is not judged.
    """

    verdict: str
    difference: float = math.nan
    half: float = math.nan
    margin: float = math.nan


def metric_margin(metric: str, value: float) -> float:
    """Return the difference from a score that nobody would choose a method by.

    Parameters
    ----------
    metric : str
    value : float
        The score, which the margins of metrics without a scale of their own are shares of.

    Returns
    -------
    float
        0 for a metric of a plugin: nobody said what matters in it.
    """
    if metric in RELATIVE_MARGINS:
        return RELATIVE_MARGINS[metric] * abs(value)
    return MARGINS.get(metric, 0.0)


def margin_of(printed: Printed) -> float:
    """Return the margin of a printed figure, in its unit.

    The metric's, or two standard errors of the printed mean (printed standard deviation over the
    square root of the runs) where these are more: nobody can ask to agree more closely with a mean
    than it is known.
    """
    margin = metric_margin(printed.metric, float(printed.value))
    if printed.unit == "%" and printed.metric not in RELATIVE_MARGINS:
        margin *= 100
    if printed.std is None or printed.runs is None:
        return margin
    return max(margin, 2 * printed.std / math.sqrt(printed.runs))


def judge(printed: Printed, ours: Interval, greater_is_better: bool) -> Judgement:
    """Judge a printed mean by ours.

    The interval of the difference counts the spread of our seeds, the printed spread over the
    paper's runs (where none is printed: ours; where the runs are not known: a single one), and the
    rounding of the printed value.

    "reproduced" if it lies within the margin; "exceeded" or "not reached" if it lies beyond the
    margin, on the better or the worse side; else, and for fewer than `MIN_PAIRS` seeds, "cannot
    tell": the spread of two or three is too poorly known to be relied on. "not run" for no scores,
    "not judged" for seconds of another machine and figures in doubt.

    So with equal truths at most one figure in twenty is told apart, and where the truth lies a
    margin away at most one in forty is called reproduced.

    Parameters
    ----------
    printed : Printed
    ours : Interval
        Over seeds; of a reduction, over data sets.
    greater_is_better : bool
    """
    if not ours.n:
        return Judgement("not run")
    difference = ours.mean - float(printed.value)
    if printed.doubt or printed.metric in SECONDS:
        return Judgement("not judged", difference)
    margin = margin_of(printed)
    if ours.n < 2:
        return Judgement("cannot tell", difference, margin=margin)
    half = _half_width(printed, ours)
    if ours.n < MIN_PAIRS:
        verdict = "cannot tell"
    elif abs(difference) + half <= margin:
        verdict = "reproduced"
    elif abs(difference) - half > margin:
        verdict = "exceeded" if (difference > 0) == greater_is_better else "not reached"
    else:
        verdict = "cannot tell"
    return Judgement(verdict, difference, half, margin)


def _half_width(printed: Printed, ours: Interval) -> float:
    runs = printed.runs or 1
    mine, freedom = ours.std**2 / ours.n, ours.n - 1
    # a value is equally likely to be anywhere within its rounding
    rounding = (printed.half_unit**2 / 3, math.inf)
    if printed.std is None:
        return welch_half_width([(mine * (1 + ours.n / runs), freedom), rounding])
    theirs = (printed.std**2 / runs, runs - 1 if runs > 1 else math.inf)
    return welch_half_width([(mine, freedom), theirs, rounding])
