"""The tables of a report: records in, one row a cell (data set, budget, method) out.

Everything the page and the CSV files show is worked out here, once, from grouped sums: no chart or
sentence goes back to the rows. A cell with failures keeps its place: methods that failed on some
seeds rank behind all that did not, and methods without any score tie for the last rank.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from harness.records.columns import OUTCOMES
from harness.report.metric_bounds import within_range
from harness.report.results import CELL
from harness.report.scores import FAMILIES, Score, declared_metrics, score_of
from harness.report.statistics import TIE_DECIMALS, compare_mean_ranks, half_width
from harness.report.statistics import ranks as rank_methods
from harness.report.times import TIMES, on_one_cpu, times_per_cpu

if TYPE_CHECKING:
    from harness.report.results import Results

STAGES = ("load", "tune", "fit", "predict")
COSTS = ("cpu_s", "tune_s", "fit_s", "predict_s", "peak_bytes")
"""What `means.csv` has mean and standard deviation of, so that figures can be drawn again."""
_FIGURE = r"-?\d[\d.,]*(?:e[+-]?\d+)?"
HONEST = (0.5, 1.05)
"""Measured over planned peak that the conformance kit accepts of a storage model."""


@dataclass(frozen=True)
class Tables:
    """All tables of one report.

    Attributes
    ----------
    cells : pandas.DataFrame
        The primary metric of each problem: `cell`, CELL columns, `dataset`, `task`, `family`,
        `n_labeled`, `control`, `n`, `n_ok`, `n_scored`, `n_seeds`, `metric`, `mean`, `ci_low` and
        `ci_high` (as shown: within what the metric can be), `std`, `rank`, `status`, `train_s`,
        `predict_s`, `peak_bytes`, `predict_peak_bytes` and `model_bytes` (largest),
        `budget_bytes`, `size`,
        `planned_bytes`, and `mean_` and `std_` of each of COSTS over the trials that ended ok.
        Times are of `n_timed` of these, all on the CPU `cpu`, which is `cpus[timed_on]`.
    means : pandas.DataFrame
        The long form of every metric, as in `means.csv`, with whole intervals.
    rows : pandas.DataFrame
        The trials, with `ok`, and `place` and `problem_place` by which tables are sorted.
    left_out : pandas.DataFrame
        As in `Results`.
    """

    cells: pd.DataFrame
    means: pd.DataFrame
    rows: pd.DataFrame
    left_out: pd.DataFrame

    @cached_property
    def ranks(self) -> pd.DataFrame:
        """Mean ranks over the data sets of a family, per budget."""
        return _mean_ranks(self.cells)

    @cached_property
    def times(self) -> pd.DataFrame:
        """Mean seconds per cell and kind of CPU, of trials that ended "ok"."""
        return times_per_cpu(self.rows)

    @cached_property
    def outcomes(self) -> pd.DataFrame:
        """Outcomes other than "ok", counted by reason, and warnings of trials that ended "ok".

        Pairs that do not go together stand at the end, with the data set as `problem` and no
        budget.
        """
        return _outcomes(self.rows, self.left_out)

    @cached_property
    def planned(self) -> pd.DataFrame:
        """Measured over planned peak per cell, and its parts, of trials that ended "ok" only.

        The parts are the idle worker, data, method and stages.
        """
        return _planned(self.rows)

    @cached_property
    def honesty(self) -> pd.DataFrame:
        """Measured over planned peak per method.

        Quantiles over its trials, NaN if none of them ended "ok", and `over_budget`, how many
        trials were stopped by the limit.
        """
        return _honesty(self.rows)


def make_tables(results: Results, scores: Mapping[str, Score]) -> Tables:
    """Work out the tables of scores; the others are when they are asked for.

    Parameters
    ----------
    results : Results
    scores : mapping of str to Score
        The primary metric of each problem.
    """
    rows = results.cells.assign(
        ok=results.cells["outcome"] == "ok",
        place=_places(results.cells["budget"], results.budgets),
        problem_place=_places(results.cells["problem"], results.problems),
    )
    frame = _cells(rows)
    frame["cpu"] = frame["timed_on"].map(dict(enumerate(results.cpus)))
    primary = pd.Series({problem: score.name for problem, score in scores.items()})
    known = rows.groupby("problem_place")[results.metrics].count()
    means, chosen = [], []
    declared = declared_metrics(results)
    for name in results.metrics:
        score = score_of(name, declared)
        mine = frame["problem"].map(primary) == name
        has = frame["problem_place"].map(known[name] > 0)
        if not (has | mine).any():
            continue
        table = _with_scores(frame[has | mine], rows, score)
        means.append(table)
        shown = {end: within_range(name, table[end]) for end in ("ci_low", "ci_high")}
        chosen.append(table.assign(**shown)[mine[table.index]])
    return Tables(
        cells=_sorted(pd.concat(chosen)),
        means=_sorted(pd.concat(means)),
        rows=rows,
        left_out=results.left_out,
    )


def _places(names: pd.Series, order: Sequence[str]) -> pd.Series:
    return names.map({name: place for place, name in enumerate(order)})


def _cells(rows: pd.DataFrame) -> pd.DataFrame:
    """Everything of a cell but its scores."""
    largest = ("peak_bytes", "predict_peak_bytes", "model_bytes")
    timed = on_one_cpu(rows)
    places = rows["cpu_place"].where(timed)
    kept = {name: rows[name].where(rows["ok"]) for name in (*largest, *COSTS)}
    kept |= {name: rows[name].where(timed) for name in TIMES}
    ok = rows.assign(timed=timed, timed_on=places, **kept)
    frame = (
        ok.groupby("cell", sort=False)
        .agg(
            **{name: (name, "first") for name in CELL},
            place=("place", "first"),
            problem_place=("problem_place", "first"),
            dataset=("dataset", "first"),
            task=("task", "first"),
            n_labeled=("n_labeled", "first"),
            budget_bytes=("budget_bytes", "max"),
            control=("control", "first"),
            truth=("truth", "first"),
            plugin_method=("plugin_method", "first"),
            n=("seed", "size"),
            n_ok=("ok", "sum"),
            n_timed=("timed", "sum"),
            timed_on=("timed_on", "max"),
            train_s=("train_s", "mean"),
            predict_s=("predict_s", "mean"),
            **{name: (name, "max") for name in largest},
            planned_bytes=("planned_bytes", "median"),
            size=("size", "median"),
            **{f"{what}_{name}": (name, what) for name in COSTS for what in ("mean", "std")},
        )
        .reset_index()
    )
    frame["family"] = frame["task"].map(lambda task: FAMILIES.get(task, task))
    seeds = rows[["problem_place", "seed"]].drop_duplicates()["problem_place"].value_counts()
    frame["n_seeds"] = frame["problem_place"].map(seeds)
    frame["status"] = _status(rows).reindex(frame["cell"], fill_value="").to_numpy()
    return frame


def _status(rows: pd.DataFrame) -> pd.Series:
    """Word what ended otherwise than ok, and how often; by cell, of those that have such."""
    total = rows["cell"].value_counts()
    ended = rows.loc[~rows["ok"], ["cell", "outcome"]]
    counts = ended.groupby(["cell", "outcome"]).size().unstack(fill_value=0)
    total = total.reindex(counts.index)
    status = pd.Series("", index=counts.index)
    for name in (name for name in OUTCOMES if name in counts):
        count = counts[name]
        share = " " + count.map(str) + " of " + total.map(str)
        words = name.replace("_", " ") + share.where(count < total, "")
        some = count > 0
        status[some] = status[some].where(status[some] == "", status[some] + ", ") + words[some]
    return status


def _with_scores(frame: pd.DataFrame, rows: pd.DataFrame, score: Score) -> pd.DataFrame:
    """Join mean, interval, spread and rank of one metric to cells."""
    # NaN and not NA where all trials of a cell have failed: charts ask whether a number is finite
    points = rows[score.name].where(rows["ok"]).astype("float64")
    moments = points.groupby(rows["cell"]).agg(["count", "mean", "std"]).reset_index()
    table = frame.merge(moments.rename(columns={"count": "n_scored"}), on="cell", how="left")
    half = half_width(table["std"], table["n_scored"])
    table["metric"] = score.name
    table["ci_low"], table["ci_high"] = table["mean"] - half, table["mean"] + half
    table["rank"] = _ranks(table, score.greater_is_better)
    return table.set_index(frame.index)


def _ranks(table: pd.DataFrame, greater_is_better: bool) -> pd.Series:
    """Rank the methods of each problem and budget; controls are not ranked."""
    ranked = table[~table["control"]]
    complete = ranked["n_scored"] == ranked["n"]
    tier = np.select([complete, ranked["n_scored"] > 0], [0, 1], 2)
    group = [ranked["problem"], ranked["budget"]]
    within = (
        ranked["mean"]
        .round(TIE_DECIMALS)
        .where(tier < 2, 0)
        .groupby([*group, tier])
        .rank(method="average", ascending=not greater_is_better)
    )
    before = sum(
        pd.Series(tier == earlier, ranked.index).groupby(group).transform("sum") * (tier > earlier)
        for earlier in (0, 1)
    )
    return (within + before).reindex(table.index)


def _sorted(table: pd.DataFrame) -> pd.DataFrame:
    by = ["family", "problem_place", "metric", "place", "control", "rank", "method"]
    return table.sort_values(by, kind="stable").reset_index(drop=True)


def _mean_ranks(cells: pd.DataFrame) -> pd.DataFrame:
    """Mean rank over the data sets of a family, among the methods that all of them have.

    A data set that was run with several numbers of points counts once, with the mean of its ranks:
    the test takes data sets to be independent.
    """
    ranked = cells[~cells["control"]]
    tables = []
    for (family, place, budget), part in ranked.groupby(["family", "place", "budget"]):
        ranks = part.pivot(index=["dataset", "problem"], columns="method", values="rank")
        common = ranks.dropna(axis=1)
        datasets = common.index.get_level_values("dataset")
        if datasets.nunique() < 2 or common.shape[1] == 0:
            continue
        # Ranked anew: leaving out a method that some data sets lack closes its gaps.
        anew = rank_methods(common.to_numpy(), greater_is_better=False)
        of_datasets = pd.DataFrame(anew).groupby(datasets).mean().to_numpy()
        mean_rank = of_datasets.mean(axis=0)
        best = np.isclose(of_datasets, of_datasets.min(axis=1, keepdims=True))
        tables.append(
            pd.DataFrame(
                {
                    "family": family,
                    "place": place,
                    "budget": budget,
                    "method": common.columns,
                    "mean_rank": mean_rank,
                    "min_rank": of_datasets.min(axis=0),
                    "max_rank": of_datasets.max(axis=0),
                    "n_datasets": len(of_datasets),
                    "n_methods": common.shape[1],
                    "wins": best.sum(axis=0),
                    "failed": part[part["n_scored"] < part["n"]]
                    .groupby("method")["dataset"]
                    .nunique()
                    .reindex(common.columns, fill_value=0)
                    .to_numpy(),
                    "p_holm": compare_mean_ranks(mean_rank, len(of_datasets)),
                    "not_compared": ", ".join(ranks.columns.difference(common.columns)),
                }
            ).sort_values(["mean_rank", "method"])
        )
    columns = ["family", "place", "budget", "method", "mean_rank", "min_rank", "max_rank"]
    columns += ["n_datasets", "n_methods", "wins", "failed", "p_holm", "not_compared"]
    return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=columns)


def _outcomes(rows: pd.DataFrame, left_out: pd.DataFrame) -> pd.DataFrame:
    rows = rows.assign(reason=rows["reason"].fillna(""))
    names = ["problem_place", "problem", "method", "place", "budget", "outcome", "reason", "ok"]
    told = rows.loc[~rows["ok"] | (rows["reason"] != ""), names]
    # Warnings that differ in their figures alone are one: the first stands for all.
    alike = told["reason"].where(~told["ok"], told["reason"].str.replace(_FIGURE, "0", regex=True))
    places = ["problem_place", "place"]
    by = ["problem_place", "problem", "method", "place", "budget", "outcome"]
    grouped = told.assign(alike=alike).groupby([*by, "alike"])["reason"]
    table = grouped.agg(reason="first", count="size").reset_index()
    table = table.sort_values([*by, "reason"]).drop(columns=[*places, "alike"])
    pairs = left_out.rename(columns={"dataset": "problem"}).assign(budget="", count=1)
    pairs = pairs.sort_values(["problem", "method"])[table.columns]
    return pd.concat([table, pairs] if len(pairs) else [table], ignore_index=True)


def _planned(rows: pd.DataFrame) -> pd.DataFrame:
    parts = ["baseline_bytes", "data_bytes", *(f"{s}_peak_bytes" for s in STAGES)]
    known = _ratios(rows, ["cell", "problem_place", "place", *CELL, *parts])
    known["method_bytes"] = (known["peak_bytes"] - known["data_bytes"]).clip(lower=0)
    parts.insert(2, "method_bytes")
    places = ["problem_place", "place"]
    table = known.groupby("cell").agg(
        **{name: (name, "first") for name in (*places, *CELL)},
        n=("ratio", "size"),
        planned_bytes=("planned_bytes", "mean"),
        peak_bytes=("peak_bytes", "mean"),
        ratio_mean=("ratio", "mean"),
        ratio_min=("ratio", "min"),
        ratio_max=("ratio", "max"),
        **{part: (part, "mean") for part in parts},
    )
    return table.sort_values([*places, "method"], ignore_index=True).drop(columns=places)


def _honesty(rows: pd.DataFrame) -> pd.DataFrame:
    ratios = _ratios(rows, ["method"])
    low, high = HONEST
    ratios["within"] = ratios["ratio"].between(low, high)
    grouped = ratios.groupby("method")
    table = grouped.agg(
        n=("ratio", "size"),
        min=("ratio", "min"),
        median=("ratio", "median"),
        max=("ratio", "max"),
        within=("within", "mean"),
    )
    table["q25"] = grouped["ratio"].quantile(0.25)
    table["q75"] = grouped["ratio"].quantile(0.75)
    over = rows.loc[rows["outcome"] == "over_budget", "method"].value_counts()
    table = table.reindex(table.index.union(over.index))
    for name, counts in {"n": table["n"], "over_budget": over}.items():
        table[name] = counts.reindex(table.index).fillna(0).astype(int)
    phases = rows[["method", "planned_phase"]].dropna().groupby("method")["planned_phase"]
    table["phase"] = phases.agg(lambda phases: phases.mode()[0]).reindex(table.index).fillna("")
    learned = rows.loc[(rows["storage_model"] == "learned").fillna(False), "method"].unique()
    is_learned = table.index.isin(learned)
    table.loc[is_learned, "phase"] = "learned; " + table.loc[is_learned, "phase"]
    table = table.rename_axis("method").reset_index()
    return table.sort_values(["median", "method"], ascending=[False, True], na_position="first")


def _ratios(rows: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Trials that ended "ok" with both figures: a stopped one's peak is the limit, not a need."""
    known = rows["ok"] & (rows["planned_bytes"] > 0) & rows["peak_bytes"].notna()
    rows = rows.loc[known, [*columns, "planned_bytes", "peak_bytes"]]
    return rows.assign(ratio=rows["peak_bytes"] / rows["planned_bytes"])


_ENDS = (("mean", ""), ("std", "_std"))


def csv_tables(
    tables: Tables, best: pd.DataFrame, calibration: list[dict[str, Any]]
) -> dict[str, pd.DataFrame]:
    """Name the tables that stand as CSV beside the page, with the columns that they promise."""
    keys = ["dataset", "task", "n_labeled", "budget", "method"]
    figures = ["n_ok", "n", "metric", "mean", "ci_low", "ci_high", "std", "rank"]
    timed = ["cpu", "n_timed"]
    costs = {f"{what}_{name}": f"{name}{end}" for name in COSTS for what, end in _ENDS}
    per_cpu = tables.times
    times = per_cpu.drop(columns=["cell", "cpu_place"]).rename(columns={"problem": "dataset"})
    return {
        "means": tables.means[[*keys, *figures, *costs, *timed]].rename(columns=costs),
        "ranks": tables.ranks.drop(columns="place"),
        "outcomes": tables.outcomes.rename(columns={"problem": "dataset"}),
        "best": best,
        "planned_vs_measured": tables.planned.rename(columns={"problem": "dataset"}),
        "calibration": pd.DataFrame(calibration),
        **({"times": times} if per_cpu["cpu_place"].max() > 0 else {}),
    }
