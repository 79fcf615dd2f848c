"""What a study gave, as a notebook asks it: rows, the best method at each budget, the page."""

from __future__ import annotations

import html
import os
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError, unknown_name
from harness.files import is_folder
from harness.planning.workload import RESULTS
from harness.python.html_table import html_table
from harness.units import format_bytes

if TYPE_CHECKING:
    import pandas

    from harness.plugin.hookspecs import Metric
    from harness.report.answers import Answer
    from harness.report.predictions import KeptPredictions
    from harness.report.results import Results as Read
    from harness.report.scores import Score
    from harness.report.tables import Tables

_OUTCOME = ["data set", "method", "budget", "outcome"]


class Results:
    """The results of one study, as they were when it ended.

    Shown in a notebook it is a table of the best method at each budget, then what did not end
    well.

    Parameters
    ----------
    folder : str or Path
        What a run of the study left, `results/NAME`.

    Attributes
    ----------
    name : str
        The study's name, and that of the folder.
    folder : Path
        Absolute.
    trials : DataFrame
        One row a trial: what was asked, planned, measured and scored. `docs/report.md` and the
        README name its columns; bytes and seconds are plain numbers.
    outcomes : DataFrame
        What did not end `ok`, and warnings of what did, counted by reason: columns `problem`,
        `method`, `budget`, `outcome`, `reason`, `count`.

    Raises
    ------
    HarnessError
        If the folder lacks files of a study's results, or they are damaged.
    """

    def __init__(self, folder: str | Path) -> None:
        from harness.report.results import read_results

        self.folder = Path(folder).absolute()
        self.name = self.folder.name
        self._read: Read = read_results(self.folder)
        rows = self._read.trials
        self.trials: pandas.DataFrame = rows[rows["seed"].notna()].reset_index(drop=True)

    @property
    def outcomes(self) -> pandas.DataFrame:
        """Outcomes that are not `ok`, and warnings, by reason."""
        return self._judged()[1].outcomes.copy()

    def best(self, metric: str | None = None) -> pandas.DataFrame:
        """Name the best method of each data set at each budget.

        Parameters
        ----------
        metric : str, optional
            Judge by this one; by default as the report does.

        Returns
        -------
        DataFrame
            A row for each data set and budget: `dataset`, `budget`, `method`, `metric`, `n_ok` of
            `n` seeds, `mean` with its 95 % interval `ci_low` to `ci_high`, `predict_peak_bytes`
            (the most that it held while it predicted), `next_is_worse` ("yes", "no", "few" seeds,
            "alone" or "none") and `sentence`. `method` is missing where none has a score.

        Raises
        ------
        HarnessError
            If the study has no such metric.
        """
        from harness.report.answers import best_table

        _, tables, answers = self._judged(metric)
        return best_table(answers, tables)

    def predictions(
        self,
        dataset: str | Sequence[str] | None = None,
        method: str | Sequence[str] | None = None,
        n_labeled: int | Sequence[int] | None = None,
        budget: str | Sequence[str] | None = None,
        seed: int | Sequence[int] | None = None,
    ) -> pandas.DataFrame:
        """Return what trials predicted: a row for each scored point of each trial.

        Parameters
        ----------
        dataset, method, budget : str or sequence of str, optional
            Only trials of these, as the study calls them; all by default.
        n_labeled, seed : int or sequence of int, optional
            Likewise.

        Returns
        -------
        DataFrame
            Columns `dataset`, `task`, `method`, `n_labeled`, `budget`, `seed`, `point` (its
            number in the prepared data), `label` (the truth: a class number, or a value),
            `predicted`, `probabilities` (whether scores are some) and `score`. Of two classes
            `score` is of the second one, its probability or above 0 where it is predicted. Of
            more there are `score_0`, `score_1` and so on. Scores are NaN where a method has none.

        Raises
        ------
        HarnessError
            If there are no such trials, nothing was kept of them, their data are not prepared
            here, or they are more than 50 million rows.
        """
        from harness.report.predictions import as_table

        wanted = {"dataset": dataset, "method": method, "n_labeled": n_labeled}
        kept = self._kept()
        table = as_table(kept.read(kept.rows(**wanted, budget=budget, seed=seed)))
        if table.empty:
            why = "; ".join(kept.lacking) or "no trial ended ok"
            raise HarnessError(f"{self.folder}: no predictions: {why}")
        return table

    def rescore(self, metric: str | Metric) -> pandas.DataFrame:
        """Compute a metric from what trials predicted; nothing is run and nothing is written.

        Parameters
        ----------
        metric : str or Metric
            The name of a built-in one, `pinball_0.9` for a quantile's, or one of your own.

        Returns
        -------
        DataFrame
            A row for each trial whose predictions were kept: `fingerprint`, `dataset`, `task`,
            `method`, `n_labeled`, `budget`, `seed`, and the metric by its name; NaN where the
            method gives nothing that it could be computed from.

        Raises
        ------
        HarnessError
            If there is no such metric, or a data set is not prepared here.
        """
        from harness.metrics.functions import BUILT_IN, asked_metrics
        from harness.report.rescoring import rescore

        if isinstance(metric, str):
            known = {one.name: one for one in (*BUILT_IN, *asked_metrics([metric]))}
            if metric not in known:
                raise unknown_name("metric", metric, known)
            metric = known[metric]
        return rescore(self._kept(), [metric]).table

    def _kept(self) -> KeptPredictions:
        from harness.planning.workload import PREPARED
        from harness.report.predictions import KeptPredictions

        return KeptPredictions(self.folder, [self.folder.parent.parent / PREPARED, PREPARED])

    def report(self) -> Path:
        """Return the page of the study, relative to the current folder where it is below it.

        A notebook shows it by `IPython.display.IFrame(results.report(), "100%", 600)`.

        Raises
        ------
        HarnessError
            If it is not there.
        """
        page = self.folder / "report.html"
        if not page.is_file():
            raise HarnessError(f"{page}: is not there; run the study again")
        here = Path.cwd()
        return page.relative_to(here) if page.is_relative_to(here) else page

    @cached_property
    def _by_default(self) -> tuple[Mapping[str, Score], Tables, list[Answer]]:
        return self._judge(None)

    def _judged(
        self, metric: str | None = None
    ) -> tuple[Mapping[str, Score], Tables, list[Answer]]:
        return self._by_default if metric is None else self._judge(metric)

    def _judge(self, metric: str | None) -> tuple[Mapping[str, Score], Tables, list[Answer]]:
        from harness.report.answers import make_answers
        from harness.report.scores import choose_scores
        from harness.report.tables import make_tables

        scores = choose_scores(self._read, metric)
        tables = make_tables(self._read, scores)
        return scores, tables, make_answers(self._read, scores, tables)

    def __repr__(self) -> str:
        counts = self.trials["outcome"].value_counts()
        ended = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
        lines = [f"Results of {self.name!r}: {len(self.trials)} trials ({ended})"]
        for row in self._answers():
            method, score = row["best method"], row["score"]
            lines.append(f"  {row['data set']}, {row['budget']}: {method}, {score}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        """Return the best methods and what did not end well, as HTML."""
        counts = self.trials["outcome"].value_counts()
        ended = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
        title = html.escape(self._read.title)
        parts = [f"<p><strong>{title}</strong>: {len(self.trials)} trials ({ended})</p>"]
        parts.append(html_table(self._answers()))
        outcomes = self.outcomes
        if len(outcomes):
            shown = outcomes.rename(columns={"problem": "data set", "count": "trials"})
            rows = shown[[*_OUTCOME, "trials", "reason"]].to_dict("records")
            parts += ["<p>What did not end well, and warnings:</p>", html_table(rows)]
        return "\n".join(parts)

    def _answers(self) -> list[dict[str, Any]]:
        scores, _, answers = self._judged()
        return [
            {
                "data set": answer.problem,
                "budget": "no limit" if answer.budget == "none" else answer.budget,
                "best method": answer.method or "none",
                "score": f"{scores[answer.problem].label} {answer.score}",
                "holds while predicting": ""
                if answer.predict_peak_bytes != answer.predict_peak_bytes
                else format_bytes(answer.predict_peak_bytes),
                "next best": answer.comparison,
            }
            for answer in answers
        ]


def results(name: str | os.PathLike[str]) -> Results:
    """Return the results of a study that was run.

    Parameters
    ----------
    name : str or path
        Of the study, as `harness run` takes it, or the folder of its results.

    Raises
    ------
    HarnessError
        If there are none.
    """
    given = Path(name)
    named = given.stem if given.suffix in (".yaml", ".yml") else given.name
    for folder in (RESULTS / named, given):
        if is_folder(folder):
            return Results(folder)
    known = [path.parent.name for path in RESULTS.glob("*/trials.parquet")]
    raise unknown_name("results", str(name), known, str(RESULTS.absolute()))
