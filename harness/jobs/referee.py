"""The side of a trial that knows the truth: hands out labels of a split, scores predictions."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from harness.datasets import Meta, Split, features_file, given_row_bytes, numbers_at
from harness.datasets.streams import in_runs
from harness.jobs.drawn_splits import BlockSplits, seed_sequence
from harness.jobs.label_release import LabelRelease, joined_chunks
from harness.metrics.functions import asked_metrics, evaluate, primary_metric
from harness.planning.block_plans import item_type
from harness.planning.size import Plan
from harness.planning.workload import Workload
from harness.plugin.hookspecs import Metric
from harness.plugin.method import Method
from harness.plugin.registry import Registry
from harness.study.study import Block
from harness.trial.assignment import Assignment
from harness.trial.searched_space import searched_space
from harness.trial.streaming import label_type


def known_metrics(registry: Registry, asked: Iterable[str]) -> list[Metric]:
    """Return the built-in metrics, those of plugins, and those that a study makes by a name."""
    return [*(metric for metric, _ in registry.items("metrics")), *asked_metrics(asked)]


def primary(workload: Workload, block: Block, registry: Registry) -> Metric:
    """Return the metric by which a block's trials are tuned."""
    asked = workload.study.settings.metrics
    return primary_metric(workload.task(block), asked, known_metrics(registry, asked))


class Referee:
    """Assigns and scores the trials of one block.

    Parameters
    ----------
    registry : Registry
        With the plugins that provide metrics.
    workload : Workload
    block : Block
    meta : Meta
        Of the prepared data set.
    """

    def __init__(self, registry: Registry, workload: Workload, block: Block, meta: Meta) -> None:
        self.workload, self.block, self.meta = workload, block, meta
        self.task = workload.task(block)
        self.study_seed = workload.study.settings.seed
        asked = workload.study.settings.metrics
        self.metrics = known_metrics(registry, asked)
        self.probabilistic = [
            metric.name
            for metric in self.metrics
            if metric.name in asked
            and metric.needs == "probabilities"
            and self.task in metric.tasks
        ]
        self.primary = primary(workload, block, registry)
        self.features = features_file(workload.prepared(block.dataset))
        self.y = np.load(workload.prepared(block.dataset) / "y.npy", allow_pickle=False)
        self.splits = BlockSplits(workload, block, meta, self.y)

    def assign(
        self, method: Method, params: Mapping[str, Any], planned: Plan, seed: int
    ) -> Assignment:
        """Draw the split of a seed and put together what the trial may know."""
        split_seed, trial_seed = seed_sequence(self.study_seed, self.block.dataset, seed).spawn(2)
        rng = np.random.default_rng(split_seed)
        parts = self.splits.draw(seed, rng)
        grid, part, stream = self.block.grid, None, None
        item = item_type(self.workload, self.block, method, params)
        if grid.streams:
            part = grid.part_rows(given_row_bytes(self.features, item))
        if grid.is_prequential:
            stream = self.splits.stream(seed)[0]
            nothing = np.empty(0, dtype=np.int64)
            parts = Split(nothing, nothing, stream.scored)
        elif part is not None:
            order = in_runs(len(parts.labeled), part, rng)
            parts = parts._replace(labeled=parts.labeled[order])
        unlabeled, tuning = rng.permutation(parts.unlabeled), self.block.grid.tuning
        ranges = self.block.method.ranges
        if not searched_space(method, params, ranges):
            tuning = None
        shown = tuning.shown(len(parts.labeled)) if tuning else 0
        groups = np.empty(0, dtype=np.int64)
        if tuning and self.splits.groups is not None:
            groups = self.splits.groups[np.concatenate([parts.labeled, unlabeled[:shown]])]
        return Assignment(
            method=method,
            params=params,
            size=planned.size,
            n_kept=planned.n_kept,
            task=self.task,
            n_classes=self.meta.n_classes,
            features=self.features,
            labeled=parts.labeled,
            unlabeled=unlabeled,
            test=parts.test,
            y_labeled=self.y[parts.labeled],
            transductive=self.block.grid.transductive,
            mapped=None,
            item=item,
            tuning=tuning,
            y_search=self.y[unlabeled[:shown]],
            groups=groups,
            metric=self.primary,
            seed=trial_seed,
            checkpoints=tuple(self.block.grid.checkpoints),
            ranges=ranges,
            costs=True,
            probabilities=bool(self.probabilistic),
            part=part,
            stream=stream,
        )

    def release(self, assignment: Assignment, seed: int) -> LabelRelease | None:
        """Return what tells the labels of an assignment's stream; None if it has none."""
        if assignment.stream is None:
            return None
        stream, told = self.splits.stream(seed)
        kind = label_type(self.task == "regression", self.meta.n_classes)
        y = self.y[stream.rows].astype(kind)
        y[~told] = np.nan if self.task == "regression" else -1
        return LabelRelease(stream, y, max(1, self.meta.n_classes))

    def predicted(
        self, assignment: Assignment, predictions: Mapping[str, np.ndarray]
    ) -> Mapping[str, np.ndarray]:
        """Return what can be scored: what is there for all points, and of an oracle the truth."""
        truth = self.y[_scored(assignment)]
        if assignment.method.control == "truth":
            return self._truth(truth)
        return {n: p for n, p in predictions.items() if np.ndim(p) and len(p) == len(truth)}

    def lacks(self, predictions: Mapping[str, np.ndarray]) -> str:
        """Say which metrics of the study need probabilities that a trial did not give."""
        if "probabilities" in predictions or not self.probabilistic:
            return ""
        return f"no {', '.join(self.probabilistic)}: its method gives no probabilities"

    def score(
        self, assignment: Assignment, predictions: Mapping[str, np.ndarray]
    ) -> dict[str, Any]:
        """Score predictions; a metric that fails, or predictions of another length, are an error.

        Returns
        -------
        dict
            Columns of the record: metrics, or `outcome` and `reason`.
        """
        rows = _scored(assignment)
        given, predictions = predictions, self.predicted(assignment, predictions)
        if not predictions:
            wrong = {name: len(p) if np.ndim(p) else 0 for name, p in given.items()}
            reason = f"predicted {wrong or 'nothing'} where {len(rows)} points are scored"
            return {"outcome": "error", "reason": reason}
        return self._scores(rows, predictions)

    def _scores(self, rows: np.ndarray, predictions: Mapping[str, np.ndarray]) -> dict[str, Any]:
        """Score predictions of some points of the data set."""
        truth = self.y[rows]
        X = numbers_at(self.features, rows) if self.task == "clustering" else None
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return evaluate(self.metrics, self.task, truth, predictions, X)
        except Exception as error:
            reason = f"could not be scored: {type(error).__name__}: {error}"
            return {"outcome": "error", "reason": reason}

    def score_curve(
        self,
        assignment: Assignment,
        deliveries: Iterable[tuple[Mapping[str, Any], Mapping[str, np.ndarray]]],
        end: Mapping[str, Any] | None,
        scores: Mapping[str, Any],
    ) -> list[dict[str, Any]]:
        """Score what a fit delivered at its checkpoints.

        Parameters
        ----------
        assignment : Assignment
        deliveries : iterable of (dict, dict of str to array)
            Points as `harness.trial.checkpoints.point` gives them, and what was predicted there.
        end : mapping or None
            The point at the end of the fit, if it came to one. It stands in the place of one of
            the same step.
        scores : mapping
            What the trial itself scored: that is the end's.

        Returns
        -------
        list of dict
            In order: the points, each with "scores" (dict of str to float) or, where it could not
            be scored, "reason".
        """
        curve = []
        for reached, predictions in deliveries:
            if end is None or reached["step"] != end["step"]:
                curve.append({**reached, **_as_point(self.score(assignment, predictions))})
        return curve if end is None else [*curve, {**end, **_as_point(scores)}]

    def score_chunks(self, assignment: Assignment, release: LabelRelease) -> list[dict[str, Any]]:
        """Score what was predicted on the way through a stream: a point for some chunks each.

        Returns
        -------
        list of dict
            As `score_curve` gives them. A point has the scores of the chunks since the one before.
        """
        stream, curve, first = release.stream, [], 0
        for number, reached in release.points:
            after = number + 1 - stream.first_scored
            predicted = joined_chunks(release.chunks[first:after])
            rows = stream.scored[first * stream.chunk : after * stream.chunk]
            if assignment.method.control == "truth":
                predicted = self._truth(self.y[rows])
            curve.append({**reached, **_as_point(self._scores(rows, predicted))})
            first = after
        return curve

    def _truth(self, truth: np.ndarray) -> dict[str, np.ndarray]:
        if self.task == "regression":
            return {"values": truth}
        labels = truth.astype(np.int64)
        return {"labels": labels, "probabilities": np.eye(self.meta.n_classes)[labels]}


def _scored(assignment: Assignment) -> np.ndarray:
    return assignment.unlabeled if assignment.transductive else assignment.test


def _as_point(scores: Mapping[str, Any]) -> dict[str, Any]:
    return {"reason": scores["reason"]} if "reason" in scores else {"scores": dict(scores)}
