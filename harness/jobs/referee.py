"""The side of a trial that knows the truth: draws splits, hands out labels, scores predictions."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from harness.datasets import Meta, Split, features_file, numbers_at, split
from harness.datasets.split_files import read_splits
from harness.metrics.functions import asked_metrics, evaluate, primary_metric
from harness.planning.block_plans import item_type
from harness.planning.size import Plan
from harness.planning.workload import Workload
from harness.plugin.hookspecs import Metric
from harness.plugin.method import Method
from harness.plugin.registry import Registry
from harness.study.study import Block
from harness.trial.assignment import Assignment
from harness.trial.run import searched_space


def seed_sequence(study_seed: int, dataset: str, seed: int) -> np.random.SeedSequence:
    """Return where all randomness of a trial comes from, the same for every method and budget."""
    name = int.from_bytes(hashlib.sha256(dataset.encode()).digest()[:8])
    return np.random.SeedSequence([study_seed, name, seed])


def known_metrics(registry: Registry, asked: Iterable[str]) -> list[Metric]:
    """Return the built-in metrics, those of plugins, and those that a study makes by a name."""
    return [*(metric for metric, _ in registry.items("metrics")), *asked_metrics(asked)]


def primary(workload: Workload, block: Block, registry: Registry) -> Metric:
    """Return the metric by which a block's trials are tuned."""
    asked = workload.study.settings.metrics
    return primary_metric(workload.task(block), asked, known_metrics(registry, asked))


def draw_split(
    workload: Workload,
    block: Block,
    meta: Meta,
    y: np.ndarray,
    seed: int,
    rng: np.random.Generator | None = None,
) -> Split:
    """Draw the split of a seed, or take it from the file that the study names.

    Parameters
    ----------
    workload : Workload
    block : Block
    meta : Meta
        Of the prepared data set.
    y : ndarray (n,)
        All of its targets.
    seed : int
    rng : Generator, optional
        What draws; by default that of the seed, from its start.
    """
    task = workload.task(block)
    if task == "clustering":
        nothing = np.empty(0, dtype=np.int64)
        return Split(nothing, np.arange(meta.n), nothing)
    path = workload.study.split_file(block.grid, block.dataset)
    if path is not None:
        return read_splits(path, meta.n).split(seed)
    if rng is None:
        sequence = seed_sequence(workload.study.settings.seed, block.dataset, seed)
        rng = np.random.default_rng(sequence.spawn(2)[0])
    return split(y, task, block.labeled, block.grid.split_rules, rng, block.dataset, meta.n_train)


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

    def assign(
        self, method: Method, params: Mapping[str, Any], planned: Plan, seed: int
    ) -> Assignment:
        """Draw the split of a seed and put together what the trial may know."""
        split_seed, trial_seed = seed_sequence(self.study_seed, self.block.dataset, seed).spawn(2)
        rng = np.random.default_rng(split_seed)
        parts = draw_split(self.workload, self.block, self.meta, self.y, seed, rng)
        unlabeled, tuning = rng.permutation(parts.unlabeled), self.block.grid.tuning
        ranges = self.block.method.ranges
        if not searched_space(method, params, ranges):
            tuning = None
        shown = tuning.shown(len(parts.labeled)) if tuning else 0
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
            item=item_type(self.workload, self.block, method, params),
            tuning=tuning,
            y_search=self.y[unlabeled[:shown]],
            metric=self.primary,
            seed=trial_seed,
            checkpoints=tuple(self.block.grid.checkpoints),
            ranges=ranges,
            costs=True,
            probabilities=bool(self.probabilistic),
        )

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
        truth = self.y[rows]
        given, predictions = predictions, self.predicted(assignment, predictions)
        if not predictions:
            wrong = {name: len(p) if np.ndim(p) else 0 for name, p in given.items()}
            reason = f"predicted {wrong or 'nothing'} where {len(truth)} points are scored"
            return {"outcome": "error", "reason": reason}
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

    def _truth(self, truth: np.ndarray) -> dict[str, np.ndarray]:
        if self.task == "regression":
            return {"values": truth}
        labels = truth.astype(np.int64)
        return {"labels": labels, "probabilities": np.eye(self.meta.n_classes)[labels]}


def _scored(assignment: Assignment) -> np.ndarray:
    return assignment.unlabeled if assignment.transductive else assignment.test


def _as_point(scores: Mapping[str, Any]) -> dict[str, Any]:
    return {"reason": scores["reason"]} if "reason" in scores else {"scores": dict(scores)}
