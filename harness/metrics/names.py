"""Names of metrics, the tasks that each is for, and the one that decides; no library is needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set

CLASSIFICATION = frozenset({"binary", "multiclass"})

REGRESSION = frozenset({"regression"})

CLUSTERING = frozenset({"clustering"})

METRICS = {
    "auc": CLASSIFICATION,
    "accuracy": CLASSIFICATION,
    "balanced_accuracy": CLASSIFICATION,
    "error_rate": CLASSIFICATION,
    "f1_macro": CLASSIFICATION,
    "nmse": REGRESSION,
    "r2": REGRESSION,
    "adjusted_rand": CLUSTERING,
    "fowlkes_mallows": CLUSTERING,
    "silhouette": CLUSTERING,
    "calinski_harabasz": CLUSTERING,
}
"""Columns of built-in metrics, and the tasks that each applies to."""

PRIMARY = {
    "binary": "auc",
    "multiclass": "accuracy",
    "regression": "nmse",
    "clustering": "adjusted_rand",
}
"""What decides if a study names no metric that applies."""


def primary_metric_name(task: str, asked: Iterable[str], tasks: Mapping[str, Set[str]]) -> str:
    """Return the metric that decides for a task: the first one asked for that applies.

    Parameters
    ----------
    task : str
    asked : iterable of str
    tasks : mapping of str to set of str
        Where each metric applies, all that are asked for among them.
    """
    return next((name for name in asked if task in tasks[name]), PRIMARY[task])
