"""Names of metrics, the tasks that each is for, and the one that decides; no library is needed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Set

CLASSIFICATION = frozenset({"binary", "multiclass"})

REGRESSION = frozenset({"regression"})

CLUSTERING = frozenset({"clustering"})

METRICS = {
    "auc": CLASSIFICATION,
    "average_precision": CLASSIFICATION,
    "accuracy": CLASSIFICATION,
    "balanced_accuracy": CLASSIFICATION,
    "error_rate": CLASSIFICATION,
    "f1_macro": CLASSIFICATION,
    "matthews_corrcoef": CLASSIFICATION,
    "log_loss": CLASSIFICATION,
    "brier_score": CLASSIFICATION,
    "expected_calibration_error": CLASSIFICATION,
    "nmse": REGRESSION,
    "r2": REGRESSION,
    "mean_absolute_error": REGRESSION,
    "adjusted_rand": CLUSTERING,
    "fowlkes_mallows": CLUSTERING,
    "silhouette": CLUSTERING,
    "calinski_harabasz": CLUSTERING,
}
"""Columns of built-in metrics, and the tasks that each applies to."""

PROBABILISTIC = ("log_loss", "brier_score", "expected_calibration_error")
"""Those that need probabilities."""

LATER = ("average_precision", "matthews_corrcoef", *PROBABILISTIC, "mean_absolute_error")
"""Those that tables of earlier versions do not have."""

_PINBALL = re.compile(r"pinball_(0\.\d{1,6})")

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


def quantile_of(name: str) -> float | None:
    """Return the quantile of a pinball loss by its name, such as `pinball_0.9`; None of others."""
    found = _PINBALL.fullmatch(name)
    quantile = float(found[1]) if found else 0.0
    return quantile if quantile > 0 else None
