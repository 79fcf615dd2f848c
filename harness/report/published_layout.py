"""How a printed table beside ours is laid out: a grid on the page, lines in a terminal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from harness.report.answers import NO_SCORE, decimals
from harness.study.published_tables import ALL_DATASETS, REDUCTIONS

if TYPE_CHECKING:
    import pandas as pd

    from harness.report.published_comparison import Comparison
    from harness.study.published_tables import Setting

MARKS = {
    "reproduced": "=",
    "exceeded": "\N{BLACK UP-POINTING TRIANGLE}",
    "not reached": "\N{BLACK DOWN-POINTING TRIANGLE}",
    "cannot tell": "?",
    "not judged": "\N{MIDDLE DOT}",
    "not run": "",
}
"""So that a verdict can be read without its colour."""
COLOURS = {
    "reproduced": "blue",
    "exceeded": "green",
    "not reached": "red",
    "not judged": "dim",
    "not run": "dim",
}
"""Of a terminal."""
WORDS = {
    "reproduced": "the difference, with its 95 % interval, lies within the margin",
    "exceeded": "ours is better by more than the margin, with all of the interval",
    "not reached": "ours is worse by more than the margin, with all of the interval",
    "cannot tell": "the interval reaches over the margin, or there are fewer than five seeds",
    "not judged": "seconds of another machine, or a figure in doubt: point at it",
    "not run": "no trial that ended ok",
}


def legend(comparisons: Iterable[Comparison]) -> dict[str, str]:
    """Explain the verdicts that occur."""
    found = {verdict for made in comparisons for verdict in made.cells["verdict"]}
    return {verdict: words for verdict, words in WORDS.items() if verdict in found}


def layout(made: Comparison) -> dict[str, Any]:
    """Arrange a comparison as the paper does: a row a setting, a column a method.

    Returns
    -------
    dict
        `methods` (the paper's, then the study's further ones), `printed` and `further` (each of
        the two), `shared` (what
        is true of every setting, in words), `rows` (list of {"dataset", "words", "cells": method
        -> row of `Comparison.cells`} of the settings that the study has), `others` (the same of
        those that it has not), `seeds` ("30", or "4 to 5"), `of` ("seeds", or "data sets"
        of a reduction), `doubts` and `other_doubts` (why figures of `rows` and of `others` are not
        judged -> how many).
    """
    shared, own = _settings_in_words(made)
    rows: list[dict[str, Any]] = []
    others: list[dict[str, Any]] = []
    had = _had(made)
    for number, cells in made.cells.groupby("row"):
        (rows if had[cells.index].all() else others).append(
            {
                "dataset": cells["dataset"].iloc[0],
                "words": own[number],
                "cells": {cell.method: cell for cell in cells.itertuples()},
            }
        )
    methods = made.cells.sort_values("further", kind="stable")
    return {
        "methods": list(methods["method"].drop_duplicates()),
        "printed": list(methods.loc[~methods["further"], "method"].drop_duplicates()),
        "further": list(methods.loc[methods["further"], "method"].drop_duplicates()),
        "shared": shared,
        "rows": rows,
        "others": others,
        "seeds": seeds_words(made),
        "of": _counted(made),
        "margins": margin_words(made),
        "doubts": _doubts(made.cells[had]),
        "other_doubts": _doubts(made.cells[~had]),
    }


def seeds_words(made: Comparison) -> str:
    """Say how many seeds there are here and runs in the paper, and why fewer; nothing if none."""
    scored = made.cells[made.cells["n_scored"] > 0]
    if scored.empty:
        return ""
    of = _counted(made)
    words = f"{of} here: {_span(scored['n_scored'])}"
    runs = scored["runs"].dropna()
    if runs.empty:
        return words
    words += f", runs in the paper: {_span(runs)}" if of == "seeds" else f", there: {_span(runs)}"
    if of == "seeds" and (scored["n_scored"] < scored["runs"]).any():
        words += f" (fewer here: {made.why_fewer or 'the study does not say why'})"
    return words


def margin_words(made: Comparison) -> str:
    """Say what margins the verdicts of a table have; nothing if none is judged."""
    margins = made.cells["margin"].dropna()
    if margins.empty:
        return ""
    least, most = (f"{value:.3g}" for value in (margins.min(), margins.max()))
    return f"margin {least}" if least == most else f"margins {least} to {most}"


def _span(counts: pd.Series) -> str:
    least, most = int(counts.min()), int(counts.max())
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def _counted(made: Comparison) -> str:
    return "data sets" if made.score.name in REDUCTIONS else "seeds"


def _had(made: Comparison) -> pd.Series:
    """Tell of each cell whether the study has its setting."""
    return made.cells.groupby("row")["n"].transform("any")


def _doubts(cells: pd.DataFrame) -> dict[str, str]:
    """Say of each reason for doubt how many of the printed figures it is about."""
    figures = cells[~cells["further"]]
    found = figures.loc[figures["doubt"] != "", "doubt"].value_counts(sort=False)
    return {
        words: "all figures" if n == len(figures) else f"{n} of {len(figures)} figures"
        for words, n in found.items()
    }


def ours_text(cell: Any, digits: int | None = None) -> str:
    """Write our mean, and half of its interval's width, with at least the digits as printed."""
    if not cell.n_scored:
        return NO_SCORE
    half = (cell.ci_high - cell.ci_low) / 2
    if digits is None:
        digits = max(_printed_digits(cell), decimals(cell.mean, half))
    if half != half:
        return f"{cell.mean:.{digits}f}"
    return f"{cell.mean:.{digits}f} ± {half:.{digits}f}"


def difference_text(cell: Any, digits: int | None = None) -> str:
    """Write ours less the printed value, and half of its 95 % interval's width, if it is judged.

    A single seed has no interval; what is not judged has no text.
    """
    if cell.margin != cell.margin:
        return ""
    if digits is None:
        digits = max(_printed_digits(cell), decimals(cell.difference, cell.difference_half))
    words = f"{cell.difference:+.{digits}f}"
    half = cell.difference_half
    return f"{words} ± {half:.{digits}f}" if half == half else words


def _printed_digits(cell: Any) -> int:
    return len(cell.printed_text.partition(".")[2])


def _digits_of_all(cells: list[Any]) -> int:
    """Return the digits that our figures can share: one more than printed, if any bears it."""
    printed = max(map(_printed_digits, cells), default=0)
    halves = [(cell.mean, (cell.ci_high - cell.ci_low) / 2) for cell in cells if cell.n_scored]
    return max(printed, min(printed + 1, max((decimals(*pair) for pair in halves), default=0)))


def leaders(made: Comparison) -> str:
    """Say whose total rank is lowest: as printed, here, and with the study's further methods."""
    words = {"printed_rank": "as printed", "rank": "here"}
    if made.cells["further"].any():
        words["rank_of_all"] = "here of all methods"
    found = []
    for column, where in words.items():
        totals = made.totals[column].dropna()
        names = list(totals.index[totals == totals.min()])
        found.append(f"{where} {' and '.join(names)} ({totals.min():g})")
    return ", ".join(found)


def headline(made: Comparison) -> str:
    """Say which table, which metric, and what is true of every setting."""
    shared, _ = _settings_in_words(made)
    unit = " in %" if made.unit else ""
    words = [f"{made.name}: {made.score.label}{unit}", made.score.direction, shared]
    return ", ".join(filter(None, words))


def lines(made: Comparison, all_settings: bool = False) -> list[dict[str, Any]]:
    """Write a comparison line by line, and its total ranks as the last lines.

    Parameters
    ----------
    made : Comparison
    all_settings : bool, default False
        Whether printed settings that the study does not have are among them.
    """
    _, own = _settings_in_words(made)
    found = []
    cells = list(made.cells[_had(made) | all_settings].itertuples())
    digits = _digits_of_all(cells)
    for cell in cells:
        words = {"setting": own[cell.row]} if any(own.values()) else {}
        figures = {
            "method": cell.method,
            "printed": cell.printed_text or None,
            "ours": ours_text(cell, digits),
            _counted(made): f"{cell.n_scored}/{cell.n}",
            "difference": difference_text(cell, digits) or None,
            "margin": f"{cell.margin:.3g}" if cell.margin == cell.margin else None,
            "verdict": cell.verdict or None,
            "ranks": _ranks(cell),
        }
        found.append(
            {"data set": "all" if cell.dataset == ALL_DATASETS else cell.dataset} | words | figures
        )
    return found + [
        {"data set": "total rank", "method": total.Index, "ranks": _ranks(total)}
        for total in made.totals.itertuples()
    ]


def not_had(made: Comparison) -> str:
    """Say how many printed settings the study does not have; nothing if it has all."""
    count = made.cells.loc[~_had(made), "row"].nunique()
    settings = "setting" if count == 1 else "settings"
    return f"{count} printed {settings} that this study does not have" if count else ""


def _settings_in_words(made: Comparison) -> tuple[str, dict[int, str]]:
    """Say what is true of every setting, and of each by its number what is its own."""
    words = made.cells.groupby("row")["setting"].first().map(_words)
    shared = [word for word in words.iloc[0] if all(word in mine for mine in words)]
    own = {
        number: ", ".join(word for word in mine if word not in shared)
        for number, mine in words.items()
    }
    return ", ".join(shared), own


def _ranks(row: Any) -> str | None:
    figures = (row.printed_rank, row.rank, row.rank_of_all)
    if row.rank_of_all != row.rank_of_all:
        return None
    return " / ".join(NO_SCORE if rank != rank else f"{rank:g}" for rank in figures)


def _words(setting: Setting) -> list[str]:
    """Say a setting but for its data set, leaving out what the paper leaves open."""
    words = []
    if setting.labeled is not None:
        share = 0 < setting.labeled < 1
        count = f"{100 * setting.labeled:g} %" if share else f"{setting.labeled:,}"
        words.append(f"{count} labeled")
    if setting.unlabeled is not None:
        words.append(f"{setting.unlabeled:,} unlabeled")
    if setting.test is not None:
        words.append(f"{setting.test:,} test")
    words += [f"{value} {name}" for name, value in setting.params]
    if setting.budget is not None:
        words.append("no limit" if setting.budget.text == "none" else setting.budget.text)
    return words
