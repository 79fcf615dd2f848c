"""The answer that a report starts with: which method at which budget, in words one can quote."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from harness.report.cheapest import take_of
from harness.report.pairs import PairedScores, compare_with_best
from harness.report.scores import Score
from harness.report.statistics import MIN_PAIRS, TIE_DECIMALS
from harness.units import format_bytes

if TYPE_CHECKING:
    from harness.report.results import Results
    from harness.report.tables import Tables

SIGNIFICANCE = 0.05
NO_SCORE = "\N{EN DASH}"


@dataclass(frozen=True)
class Answer:
    """The best method of one problem at one budget.

    Attributes
    ----------
    problem, budget : str
    method : str or None
        None where no method has a score.
    score : str
        The mean with its interval.
    verdict : str
        "yes", "no" (not told apart), "few" (too few seeds), "alone" or "none".
    comparison : str
        Whether the next best is really worse.
    warning : str
        What speaks against quoting the answer, if anything.
    sentence : str
        All of it, to be quoted.
    predict_peak_bytes : float
        The most that the method held while it predicted; NaN where that is not known.
    model_bytes : float
        Of the fitted model in a file; likewise.
    cheapest : str or None
        Of the methods that finished every seed and cannot be told apart from the best, the one of
        the smallest measured peak, by the rule of `take_of`; the best itself where nothing can be
        told.
    cheapest_score : str
    cheapest_peak_bytes, cheapest_train_s : float
        Its largest peak over seeds, and its mean time of tuning and fitting; NaN where unknown.
    """

    problem: str
    budget: str
    method: str | None
    score: str
    verdict: str
    comparison: str
    warning: str
    sentence: str
    predict_peak_bytes: float = math.nan
    model_bytes: float = math.nan
    cheapest: str | None = None
    cheapest_score: str = NO_SCORE
    cheapest_peak_bytes: float = math.nan
    cheapest_train_s: float = math.nan


def at_budget(budget: str) -> str:
    """Write "at 10MB", or "without a limit"."""
    return "without a limit" if budget == "none" else f"at {budget}"


def format_score(
    mean: float, low: float = math.nan, high: float = math.nan, digits: int | None = None
) -> str:
    """Write a score, and its interval if there is one.

    With as many decimal places as the interval bears, or `digits` of them.
    """
    if math.isnan(mean):
        return NO_SCORE
    if math.isnan(low):
        return f"{mean:.{decimals(mean) if digits is None else digits}f}"
    digits = decimals(mean, (high - low) / 2) if digits is None else digits
    return f"{mean:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def decimals(mean: float, half: float = 0.0) -> int:
    """Return the decimal places that an interval bears, at most five.

    Two digits of the half width if they are below 36, else one, as the Particle Data Group rounds
    errors; without an interval, three digits of the mean.
    """
    if half > 0 and math.isfinite(half):
        place = math.floor(math.log10(half))
        return min(5, max(0, (1 if half / 10**place < 3.55 else 0) - place))
    whole = math.floor(math.log10(abs(mean))) + 1 if mean else 0
    return min(5, max(0, 3 - max(0, whole)))


def equal_decimals(cells: pd.DataFrame, scores: Mapping[str, Score]) -> dict[str, int | None]:
    """Return the decimal places that a column of scores has, by problem.

    All problems of a metric have those that most of its means bear; None where their sizes are so
    different that each needs its own.
    """
    known = cells[cells["n_scored"] > 0]
    halves = ((known["ci_high"] - known["ci_low"]) / 2).fillna(0)
    bears = pd.Series(
        [decimals(mean, half) for mean, half in zip(known["mean"], halves, strict=True)],
        known.index,
        dtype="int64",
    )
    names = {problem: score.name for problem, score in scores.items()}
    grouped = bears.groupby(known["problem"].map(names))
    digits: dict[str, int | None] = {}
    for metric, mine in grouped:
        spread = int(mine.quantile(0.95) - mine.quantile(0.05))
        digits[metric] = int(mine.mode().max()) if spread < 3 else None
    return {problem: digits.get(name) for problem, name in names.items()}


def make_answers(results: Results, scores: Mapping[str, Score], tables: Tables) -> list[Answer]:
    """Find and word the answer of each problem and budget, in the order of the tables."""
    paired = PairedScores(results, scores)
    return answers_of(tables.cells.join(compare_with_best(paired, tables.cells)), scores)


def answers_of(compared: pd.DataFrame, scores: Mapping[str, Score]) -> list[Answer]:
    """Find and word the answer of each problem and budget, in the order of the tables.

    Parameters
    ----------
    compared : pandas.DataFrame
        `Tables.cells` joined with `compare_with_best` of them.
    scores : mapping of str to Score
        The primary metric of each problem.
    """
    groups = itertools.groupby(compared.itertuples(index=False), _place)
    digits = equal_decimals(compared, scores)
    return [
        _answer(problem, budget, list(group), scores[problem], digits[problem])
        for (problem, budget), group in groups
    ]


def _place(cell: Any) -> tuple[str, str]:
    return cell.problem, cell.budget


def _answer(
    problem: str, budget: str, group: list[Any], score: Score, digits: int | None
) -> Answer:
    ranked = [cell for cell in group if not cell.control]
    scored = [cell for cell in ranked if cell.n_scored]  # in the order of their ranks
    where = f"{at_budget(budget)[:1].upper()}{at_budget(budget)[1:]} on {problem}"
    if not scored:
        reason = _nothing_fits(ranked)
        sentence = f"{where}, no method has a score: {reason}."
        return Answer(problem, budget, None, NO_SCORE, "none", reason, "", sentence)
    best = scored[0]
    verdict, comparison = _compare(best, scored, ranked, score)
    warning = _warning(best, group, score)
    n = int(best.n_scored)
    bounds = f"95 % interval {_bounds(best, digits)}, {n} seeds"
    interval = bounds if n > 1 else "one seed, so no interval"
    mean = format_score(best.mean, best.ci_low, best.ci_high, digits)
    sentence = (
        f"{where}, {best.method} is best: {score.label} {mean.split(' [')[0]} ({interval}). "
        f"{comparison}{' ' + warning if warning else ''}"
    )
    sign = -1 if score.greater_is_better else 1
    cheapest = take_of(_level(scored), _cost, lambda cell: sign * float(cell.mean))
    return Answer(
        problem,
        budget,
        best.method,
        mean,
        verdict,
        comparison,
        warning,
        sentence,
        _known(best.predict_peak_bytes),
        _known(best.model_bytes),
        cheapest=cheapest.method,
        cheapest_score=format_score(cheapest.mean, cheapest.ci_low, cheapest.ci_high, digits),
        cheapest_peak_bytes=_known(cheapest.peak_bytes),
        cheapest_train_s=_known(cheapest.train_s),
    )


def _known(value: float) -> float:
    return math.nan if pd.isna(value) else float(value)


def _level(scored: list[Any]) -> list[Any]:
    """Return the best and what cannot be told apart from it, if that finished every seed."""
    return [
        cell
        for place, cell in enumerate(scored)
        if place == 0 or (cell.n_scored == cell.n and cell.p_holm >= SIGNIFICANCE)
    ]


def _cost(cell: Any) -> float:
    return math.inf if pd.isna(cell.peak_bytes) else float(cell.peak_bytes)


def _bounds(cell: Any, digits: int | None) -> str:
    if digits is None:
        digits = decimals(cell.mean, (cell.ci_high - cell.ci_low) / 2)
    return f"{cell.ci_low:.{digits}f} to {cell.ci_high:.{digits}f}"


def _compare(best: Any, scored: list[Any], ranked: list[Any], score: Score) -> tuple[str, str]:
    if len(scored) == 1:
        others = [cell for cell in ranked if cell is not best]
        return "alone", (
            f"No other method has a score here ({_statuses(others)})."
            if others
            else "It is the only method."
        )
    other = scored[1]
    following = other.method
    pairs = int(other.pairs)
    gap = abs(other.difference)
    if math.isnan(gap):
        return "few", f"The next best, {following}, shares no seed with it to be compared on."
    level = [cell.method for cell in scored[2:] if cell.p_holm >= SIGNIFICANCE]
    also = f" Nor can {_list(level)} be told apart from it." if level else ""
    failed = other.n_scored < other.n
    why = "it failed on others" if failed else "of seeds that only one of them has"
    behind = f"on the seeds that both finished, and ranks behind because {why}."
    seeds = "one seed" if pairs == 1 else f"{pairs} seeds"
    verdict = "few" if pairs < MIN_PAIRS else "no"
    if other.ties == pairs:
        return verdict, f"{following} scores the same ({seeds}).{also}"
    if round(gap, TIE_DECIMALS) == 0:
        if other.rank == best.rank:
            return verdict, f"{following} has the same mean and shares its rank ({seeds}).{also}"
        return verdict, f"The next, {following}, has the same mean {behind}"
    way = "lower" if other.difference < 0 else "higher"
    if (way == "lower") != score.greater_is_better:
        return "no", f"The next, {following}, scores better by {gap:.2g} {behind}"
    next_best = f"The next best, {following}, is {way} by {gap:.2g}"
    if pairs < MIN_PAIRS:
        few = f"{seeds} {'is' if pairs == 1 else 'are'} too few"
        return "few", f"{next_best}; {few} to tell whether that is more than chance."
    if other.p_holm < SIGNIFICANCE:
        return "yes", f"{next_best}: really worse (p = {other.p_holm:.2g}, {pairs} seeds)."
    return "no", (
        f"{next_best}, which may be chance (p = {other.p_holm:.2g}, {pairs} seeds).{also}"
    )


def _list(names: list[str], most: int = 6) -> str:
    shown = names[:most] + ([f"{len(names) - most} more"] if len(names) > most else [])
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def _warning(best: Any, group: list[Any], score: Score) -> str:
    sign = 1 if score.greater_is_better else -1
    words = []
    if best.n_scored < best.n:
        words.append(f"No method finished every seed; this one did {best.n_scored} of {best.n}.")
    floor = [
        cell.method
        for cell in group
        if cell.control and not cell.truth and sign * (cell.mean - best.mean) >= 0
    ]
    if floor:
        words.append(f"It is no better than the control {floor[0]}.")
    return " ".join(words)


def _nothing_fits(ranked: list[Any]) -> str:
    if not ranked:
        return "only controls were run"
    needs = [cell.planned_bytes for cell in ranked if cell.status.startswith("infeasible")]
    needs = [need for need in needs if need == need]
    least = f"; the smallest would need {format_bytes(min(needs))}" if needs else ""
    return f"{_statuses(ranked)}{least}"


def _statuses(cells: list[Any]) -> str:
    return "; ".join(
        f"{status or 'no score'}: {count} method{'s' * (count > 1)}"
        for status, count in Counter(cell.status for cell in cells).most_common()
    )


def overall_sentences(tables: Tables) -> list[dict[str, str]]:
    """Word the answer over data sets: one sentence a family and budget, by mean rank."""
    sentences = []
    for (family, budget), part in tables.ranks.groupby(["family", "budget"], sort=False):
        best = part.iloc[0]
        n = int(best["n_datasets"])
        first = f" (first on {best['wins']})" if best["wins"] else ""
        text = (
            f"has the best mean rank ({best['mean_rank']:.3g}) of the {best['n_methods']} methods "
            f"that were run on all {n} {family} data sets{first}."
        )
        if len(part) > 1:
            text += " " + _compare_ranks(part, n)
        if best["failed"]:
            text += f" It failed on some seeds of {best['failed']} of them."
        sentences.append(
            {
                "family": family,
                "where": at_budget(budget)[:1].upper() + at_budget(budget)[1:],
                "method": best["method"],
                "left_out": best["not_compared"],
                "text": text,
            }
        )
    return sentences


def _compare_ranks(part: pd.DataFrame, n: int) -> str:
    following = part.iloc[1]
    if following["failed"] == n:
        return "None of the others finished every seed on any of them."
    next_best = f"The next best is {following['method']} ({following['mean_rank']:.3g})"
    if math.isclose(following["mean_rank"], part.iloc[0]["mean_rank"]):
        return f"{following['method']} shares that rank."
    if n < MIN_PAIRS:
        return f"{next_best}; {n} data sets are too few to tell whether that holds beyond them."
    if following["p_holm"] < SIGNIFICANCE:
        return f"{next_best}: really worse (p = {following['p_holm']:.2g})."
    level = list(part["method"].iloc[2:][part["p_holm"].iloc[2:] >= SIGNIFICANCE])
    also = f" Nor can {_list(level)} be told apart from it." if level else ""
    return f"{next_best}, which may be chance (p = {following['p_holm']:.2g}).{also}"


def best_table(answers: list[Answer], tables: Tables) -> pd.DataFrame:
    """Return `best.csv`: the answers with the figures behind them."""
    words = pd.DataFrame(
        {
            "problem": [answer.problem for answer in answers],
            "budget": [answer.budget for answer in answers],
            "method": [answer.method for answer in answers],
            "cheapest": [answer.cheapest for answer in answers],
            "cheapest_peak_bytes": [answer.cheapest_peak_bytes for answer in answers],
            "cheapest_train_s": [answer.cheapest_train_s for answer in answers],
            "next_is_worse": [answer.verdict for answer in answers],
            "sentence": [answer.sentence for answer in answers],
        }
    )
    figures = ["metric", "n_ok", "n", "mean", "ci_low", "ci_high"]
    figures += ["predict_peak_bytes", "model_bytes"]
    primary = tables.cells.drop(columns=["ci_low", "ci_high"])
    whole = primary.merge(tables.means[["cell", "metric", "ci_low", "ci_high"]])
    place = ["problem", "budget", "method"]
    table = words.merge(whole[[*place, *figures]], on=place, how="left")
    cheapest = ["cheapest", "cheapest_peak_bytes", "cheapest_train_s"]
    order = ["problem", "budget", "method", *figures, *cheapest, "next_is_worse", "sentence"]
    return table[order].rename(columns={"problem": "dataset"})
