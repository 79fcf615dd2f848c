"""The tables of a report: records in, one row a cell (data set, budget, method) out.

Everything the page and the CSV files show is worked out here, once, from grouped sums: no chart or
sentence goes back to the rows. A cell with failures keeps its place: methods that failed on some
seeds rank behind all that did not, and methods without any score tie for the last rank.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

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
LARGEST = ("peak_bytes", "predict_peak_bytes", "model_bytes")
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
        A row a cell and metric, in the order of `means.csv`: `cell`, `metric`, and of the scores
        `n_scored`, `mean`, `std`, whole intervals and `rank`.
    rows : pandas.DataFrame
        The trials, with `ok`, and `place` and `problem_place` by which tables are sorted.
    results : Results
        What they were made of.
    """

    cells: pd.DataFrame
    means: pd.DataFrame
    rows: pd.DataFrame
    results: Results

    @cached_property
    def ranks(self) -> pd.DataFrame:
        """Mean ranks over the data sets of a family, per budget."""
        return _mean_ranks(self.cells)

    @cached_property
    def times(self) -> pd.DataFrame:
        """Mean seconds per cell and kind of CPU, of trials that ended "ok"."""
        further = {name: self.results.column(name) for name in TIMES if name not in self.rows}
        return times_per_cpu(self.rows.assign(**further))

    @cached_property
    def outcomes(self) -> pd.DataFrame:
        """Outcomes other than "ok", counted by reason, and warnings of trials that ended "ok".

        Pairs that do not go together stand at the end, with the data set as `problem` and no
        budget.
        """
        return _outcomes(self.rows, self.results.left_out)

    @cached_property
    def planned(self) -> pd.DataFrame:
        """Measured over planned peak per cell, and its parts, of trials that ended "ok" only.

        The parts are the idle worker, data, method and stages.
        """
        return _planned(self.rows, self.results)

    @cached_property
    def honesty(self) -> pd.DataFrame:
        """Measured over planned peak per method.

        Quantiles over its trials, NaN if none of them ended "ok", and `over_budget`, how many
        trials were stopped by the limit.
        """
        return _honesty(self.rows, self.results)


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
    frame = _cells(rows, results)
    frame["cpu"] = frame["timed_on"].map(dict(enumerate(results.cpus)))
    primary = frame["problem"].map({problem: score.name for problem, score in scores.items()})
    means, chosen = [], []
    declared = declared_metrics(results)
    names = sorted(results.metrics)
    for place, name in enumerate(names):
        has = (primary == name) | frame["problem"].isin(results.problems_with[name])
        if has.any():
            points = results.column(name).where(rows["ok"])
            table = _scores(frame[has], rows, points, score_of(name, declared))
            metric = pd.Categorical.from_codes(np.full(len(table), place), names)
            means.append(table.assign(metric=metric))
            mine = table[primary[has] == name].drop(columns="cell").assign(metric=name)
            shown = {end: within_range(name, mine[end]) for end in ("ci_low", "ci_high")}
            chosen.append(mine.assign(**shown))
    return Tables(
        cells=_sorted(frame.join(pd.concat(chosen)), frame),
        means=_sorted(pd.concat(means), frame),
        rows=rows,
        results=results,
    )


_WORDS = ("problem", "dataset", "task", "budget", "method", "status")
_NUMBERS = ("cell", "control", "n", "n_ok", "n_scored", "n_labeled", "mean", "ci_low", "ci_high")
_SPENT = ("train_s", "predict_s", "peak_bytes", "budget_bytes", "timed_on")


def charted(cells: pd.DataFrame) -> pd.DataFrame:
    """Take of `Tables.cells` what charts are made of, in a form that is fast to take apart."""
    return cells[[*_WORDS, *_NUMBERS, *_SPENT]].astype(dict.fromkeys(_WORDS, object))


def _places(names: pd.Series, order: Sequence[str]) -> pd.Series:
    return names.map({name: place for place, name in enumerate(order)})


def _cells(rows: pd.DataFrame, results: Results) -> pd.DataFrame:
    """Everything of a cell but its scores."""
    timed = on_one_cpu(rows)

    def figure(name: str, how: str) -> pd.Series:
        ended = results.column(name).where(timed if name in TIMES else rows["ok"])
        return ended.groupby(rows["cell"]).agg(how)

    frame = (
        rows.assign(timed=timed, timed_on=rows["cpu_place"].where(timed))
        .groupby("cell", sort=False)
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
            planned_bytes=("planned_bytes", "median"),
        )
        .assign(
            size=results.column("size").groupby(rows["cell"]).median(),
            **{name: figure(name, "mean") for name in ("train_s", "predict_s")},
            **{name: figure(name, "max") for name in LARGEST},
            **{f"{how}_{name}": figure(name, how) for name in COSTS for how in ("mean", "std")},
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


def _scores(
    frame: pd.DataFrame, rows: pd.DataFrame, points: pd.Series, score: Score
) -> pd.DataFrame:
    """Return mean, interval, spread and rank of one metric, with the index of the cells."""
    # NaN and not NA where all trials of a cell have failed: charts ask whether a number is finite
    moments = points.astype("float64").groupby(rows["cell"]).agg(["count", "mean", "std"])
    table = moments.rename(columns={"count": "n_scored"}).reindex(frame["cell"])
    table = table.reset_index().set_index(frame.index)
    half = half_width(table["std"], table["n_scored"])
    table["ci_low"], table["ci_high"] = table["mean"] - half, table["mean"] + half
    table["rank"] = _ranks(frame.join(table.drop(columns="cell")), score.greater_is_better)
    return table


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


def _sorted(table: pd.DataFrame, frame: pd.DataFrame) -> pd.DataFrame:
    """Bring cells or their scores, which have the index of `frame`, into the order of tables."""

    def of_cell(name: str) -> np.ndarray:
        codes = pd.factorize(frame[name], sort=True)[0]
        return pd.Series(codes, frame.index).reindex(table.index).to_numpy()

    metric = table["metric"].astype("category").cat.codes
    within = [of_cell("method"), table["rank"], of_cell("control"), of_cell("place")]
    order = np.lexsort([*within, metric, of_cell("problem_place"), of_cell("family")])
    return table.iloc[order].reset_index(drop=True)


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


def _planned(rows: pd.DataFrame, results: Results) -> pd.DataFrame:
    known = _ratios(rows, ["cell", "problem_place", "place", *CELL])

    def of_part(name: str) -> pd.Series:
        if name == "method_bytes":
            held = (known["peak_bytes"] - results.column("data_bytes")[known.index]).clip(lower=0)
        else:
            held = results.column(name)[known.index]
        return held.groupby(known["cell"]).mean()

    parts = ("baseline_bytes", "data_bytes", "method_bytes", *(f"{s}_peak_bytes" for s in STAGES))
    places = ["problem_place", "place"]
    table = known.groupby("cell").agg(
        **{name: (name, "first") for name in (*places, *CELL)},
        n=("ratio", "size"),
        planned_bytes=("planned_bytes", "mean"),
        peak_bytes=("peak_bytes", "mean"),
        ratio_mean=("ratio", "mean"),
        ratio_min=("ratio", "min"),
        ratio_max=("ratio", "max"),
    )
    table = table.assign(**{name: of_part(name) for name in parts})
    return table.sort_values([*places, "method"], ignore_index=True).drop(columns=places)


def _honesty(rows: pd.DataFrame, results: Results) -> pd.DataFrame:
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
    phases = results.column("planned_phase").dropna().groupby(rows["method"])
    table["phase"] = phases.agg(lambda phases: phases.mode()[0]).reindex(table.index).fillna("")
    is_learned = (results.column("storage_model") == "learned").fillna(False)
    learned = rows.loc[is_learned, "method"].unique()
    told = table.index.isin(learned)
    table.loc[told, "phase"] = "learned; " + table.loc[told, "phase"]
    table = table.rename_axis("method").reset_index()
    return table.sort_values(["median", "method"], ascending=[False, True], na_position="first")


def _ratios(rows: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Trials that ended "ok" with both figures: a stopped one's peak is the limit, not a need."""
    known = rows["ok"] & (rows["planned_bytes"] > 0) & rows["peak_bytes"].notna()
    rows = rows.loc[known, [*columns, "planned_bytes", "peak_bytes"]]
    return rows.assign(ratio=rows["peak_bytes"] / rows["planned_bytes"])
