"""What is kept of comparisons, and their verdicts judged anew by the rule and papers of today.

`published.csv` holds means, intervals and numbers of seeds, which is all that a verdict asks for:
nothing is run again when the rule changes, or what is known of a printed figure.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from harness.errors import HarnessError
from harness.files import write_whole
from harness.report.published_comparison import RANKS, WHY_FEWER, Comparison
from harness.report.scores import SCORES
from harness.report.statistics import Interval, half_width
from harness.report.verdicts import VERDICTS, judge
from harness.study.published_tables import REDUCTIONS, Printed, read_printed

FILE = "published.csv"
_KEYS = ("table", "dataset", "kernel", "labeled", "budget", "method", "metric", "unit")
_TEXTS = tuple(name for name in _KEYS if name != "labeled")
_NUMBERS = ("labeled", "printed", "n_scored", "n", "mean", "ci_low", "ci_high")
"""What a verdict is made of, besides what is printed today."""
_FIGURES = ("printed", "printed_std", "runs", "ours", "n_scored", "n", "mean", "ci_low", "ci_high")
_JUDGED = ("std", "difference", "difference_half", "margin", "verdict")
KEPT = (*_KEYS, *_FIGURES, *_JUDGED, *RANKS, "note", "doubt", "why_fewer")
"""The columns of `published.csv`."""


def comparison_tables(comparisons: list[Comparison]) -> dict[str, pd.DataFrame]:
    """Name the tables that stand as CSV beside the page: every cell, and the sums of ranks."""
    if not comparisons:
        return {}
    cells = [
        made.cells.assign(
            table=made.name,
            metric=made.score.name,
            unit=made.unit,
            why_fewer=made.cells["n_scored"].lt(made.cells["runs"]).map({True: made.why_fewer}),
        )
        for made in comparisons
    ]
    totals = [
        made.totals.reset_index().assign(
            table=made.name, metric=made.score.name, n_settings=made.n_settings
        )
        for made in comparisons
    ]
    return {
        "published": pd.concat(cells)[list(KEPT)],
        "published_ranks": pd.concat(totals)[["table", "metric", "n_settings", "method", *RANKS]],
    }


def judge_kept(folder: Path) -> pd.DataFrame:
    """Judge the kept comparison of a study anew, and leave the file as it is.

    Parameters
    ----------
    folder : Path
        Holds `published.csv` and `study.yaml`.

    Returns
    -------
    pandas.DataFrame
        With the columns of today, a row a cell in the order of the file; `changed` says whether
        the file has another verdict.

    Raises
    ------
    HarnessError
        If a file is missing or unreadable, or a kept figure is not among the printed ones of
        today: then the study's report has to be made again.
    """
    path = Path(folder) / FILE
    table = _read(path)
    why = _why_fewer(Path(folder) / "study.yaml")
    printed = _printed_figures(table, path)
    rows = []
    for number, row in enumerate(table.to_dict("records"), start=2):
        if math.isnan(row["printed"]):
            rows.append(row | {"std": _std(row), "verdict": ""})
            continue
        waiting = printed[_key(row, row["printed"])]
        if not waiting:
            what = f"{row['table']}, {row['method']} on {row['dataset']}, {row['printed']:g}"
            raise HarnessError(
                f"{path}: line {number}: {what}: is not among the printed figures any more; "
                "make the report of the study again"
            )
        rows.append(row | _judged(waiting.pop(0), row, why))
    made = pd.DataFrame(rows).reindex(columns=[*KEPT])
    kept = table["verdict"].fillna("") if "verdict" in table else ""
    return made.assign(changed=made["verdict"] != kept)


def write_kept(folder: Path, judged: pd.DataFrame) -> None:
    """Put what `judge_kept` returned in the place of the comparison that is kept."""
    write_whole(judged[[*KEPT]].to_csv(index=False), Path(folder) / FILE)


def count_words(table: pd.DataFrame) -> list[str]:
    """Say how many cells of each printed table and metric have which verdict, a line each."""
    judged = table[table["verdict"] != ""]
    lines = []
    for (name, metric), mine in judged.groupby(["table", "metric"], sort=False):
        found = mine["verdict"].value_counts()
        counts = ", ".join(f"{found[word]} {word}" for word in VERDICTS if word in found)
        lines.append(f"{name}, {metric}: {counts}")
    return lines


def _read(path: Path) -> pd.DataFrame:
    try:
        table = pd.read_csv(path, dtype=dict.fromkeys(_TEXTS, "string"))
    except FileNotFoundError:
        raise HarnessError(f"{path}: there is no kept comparison") from None
    except (OSError, ValueError) as error:
        raise HarnessError(f"{path}: cannot be read: {error}") from None
    lacking = sorted({*_TEXTS, *_NUMBERS} - set(table))
    if lacking:
        raise HarnessError(f"{path}: columns {', '.join(lacking)} are missing")
    words = [name for name in _NUMBERS if not pd.api.types.is_numeric_dtype(table[name])]
    if words:
        raise HarnessError(f"{path}: {', '.join(words)}: holds something else than numbers")
    return table.fillna(dict.fromkeys(_TEXTS, "") | {"n_scored": 0})


def _why_fewer(path: Path) -> str:
    try:
        study = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise HarnessError(f"{path}: cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise HarnessError(f"{path}: is not YAML: {error}") from None
    return str(study.get(WHY_FEWER) or "") if isinstance(study, Mapping) else ""


def _printed_figures(table: pd.DataFrame, path: Path) -> dict[tuple[Any, ...], list[Printed]]:
    """Gather the printed figures by what a kept row says of them."""
    found: dict[tuple[Any, ...], list[Printed]] = defaultdict(list)
    for name in table["table"].unique():
        for figure in read_printed(name, str(path)):
            setting = figure.setting
            said = {
                "table": name,
                "dataset": setting.dataset,
                "kernel": dict(setting.params).get("kernel", ""),
                "labeled": math.nan if setting.labeled is None else setting.labeled,
                "budget": setting.budget.text if setting.budget else "",
                "method": figure.label,
                "metric": figure.metric,
                "unit": figure.unit,
            }
            found[_key(said, float(figure.value))].append(figure)
    return found


def _key(row: Mapping[str, Any], value: float) -> tuple[Any, ...]:
    labeled = "" if math.isnan(row["labeled"]) else float(row["labeled"])
    return (*(row[name] for name in _TEXTS), labeled, value)


def _std(row: Mapping[str, Any]) -> float:
    """Return the standard deviation behind the interval of a row."""
    half = (row["ci_high"] - row["ci_low"]) / 2
    return half / float(half_width(1.0, row["n_scored"])) if row["n_scored"] > 1 else math.nan


def _judged(figure: Printed, row: Mapping[str, Any], why: str) -> dict[str, Any]:
    n, std = int(row["n_scored"]), _std(row)
    metric = figure.metric
    better = SCORES[metric].greater_is_better if metric in SCORES else metric in REDUCTIONS
    ours = Interval(row["mean"], row["ci_low"], row["ci_high"], std, n)
    judged = judge(figure, ours, better)
    return {
        "printed_std": figure.std,
        "runs": figure.runs,
        "std": std,
        "difference": judged.difference,
        "difference_half": judged.half,
        "margin": judged.margin,
        "verdict": judged.verdict,
        "doubt": figure.doubt,
        "why_fewer": why if figure.runs and n < figure.runs else "",
    }
