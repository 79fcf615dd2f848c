"""Scores of predictions against the truth: ranking, classification, regression, clustering."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping

import numpy as np
from sklearn import config_context, metrics

from harness.errors import unknown_name
from harness.hookspecs import Metric

CLASSIFICATION = frozenset({"binary", "multiclass"})
REGRESSION = frozenset({"regression"})
CLUSTERING = frozenset({"clustering"})

PRIMARY = {"binary": "auc", "multiclass": "accuracy", "regression": "nmse"}
"""What decides if a study names no metric that applies; for clustering the adjusted Rand index."""

SILHOUETTE_SAMPLE = 2000


def auc(y_true: np.ndarray, scores: np.ndarray) -> float:
    """Area under the ROC curve; for several classes the mean over one-vs-rest problems.

    Classes that do not occur in `y_true` have no curve and are left out; NaN for a single class.
    """
    present = np.unique(y_true)
    if len(present) < 2:
        return float("nan")
    if scores.ndim == 2 and scores.shape[1] == 2:
        scores = scores[:, 1] - scores[:, 0]
    if scores.ndim == 1:
        return metrics.roc_auc_score(y_true, scores)
    return float(np.mean([metrics.roc_auc_score(y_true == k, scores[:, k]) for k in present]))


def error_rate(y_true: np.ndarray, labels: np.ndarray) -> float:
    """Share of points with a wrong label."""
    return float(np.mean(y_true != labels))


def nmse(y_true: np.ndarray, values: np.ndarray) -> float:
    """Mean squared error over the variance of the true values: 1 is what their mean reaches."""
    variance = np.var(y_true)
    return float(np.mean((y_true - values) ** 2) / variance) if variance > 0 else float("nan")


def silhouette(X: np.ndarray, labels: np.ndarray) -> float:
    """Silhouette of a fixed sample of at most `SILHOUETTE_SAMPLE` points."""
    rows = np.random.default_rng(0).permutation(len(X))[:SILHOUETTE_SAMPLE]
    if not 1 < len(np.unique(labels[rows])) < len(rows):
        return float("nan")
    return metrics.silhouette_score(X[rows], labels[rows])


def calinski_harabasz(X: np.ndarray, labels: np.ndarray) -> float:
    """Ratio of dispersion between to dispersion within clusters."""
    if not 1 < len(np.unique(labels)) < len(X):
        return float("nan")
    return metrics.calinski_harabasz_score(X, labels)


BUILT_IN = (
    Metric("auc", auc, CLASSIFICATION, needs="scores"),
    Metric("accuracy", metrics.accuracy_score, CLASSIFICATION),
    Metric("balanced_accuracy", metrics.balanced_accuracy_score, CLASSIFICATION),
    Metric("error_rate", error_rate, CLASSIFICATION, greater_is_better=False),
    Metric(
        "f1_macro",
        functools.partial(metrics.f1_score, average="macro", zero_division=0),
        CLASSIFICATION,
    ),
    Metric("nmse", nmse, REGRESSION, needs="values", greater_is_better=False),
    Metric("r2", metrics.r2_score, REGRESSION, needs="values"),
    Metric("adjusted_rand", metrics.adjusted_rand_score, CLUSTERING),
    Metric("fowlkes_mallows", metrics.fowlkes_mallows_score, CLUSTERING),
    Metric("silhouette", silhouette, CLUSTERING, needs="features"),
    Metric("calinski_harabasz", calinski_harabasz, CLUSTERING, needs="features"),
)


def primary_metric(task: str, asked: Iterable[str], known: Iterable[Metric]) -> Metric:
    """Return the metric that decides for a task: the first one asked for that applies."""
    by_name = {metric.name: metric for metric in known}
    for name in asked:
        if name not in by_name:
            raise unknown_name("metric", name, by_name)
        if task in by_name[name].tasks:
            return by_name[name]
    return by_name[PRIMARY.get(task, "adjusted_rand")]


def evaluate(
    known: Iterable[Metric],
    task: str,
    y_true: np.ndarray,
    predictions: Mapping[str, np.ndarray],
    X: np.ndarray | None = None,
) -> dict[str, float]:
    """Compute every metric that applies to a task and to what was predicted.

    Parameters
    ----------
    known : iterable of Metric
    task : str
    y_true : (n,) array
    predictions : mapping
        "labels" (n,), "scores" (n,) or (n, n_classes), "values" (n,), as far as there are any.
    X : (n, d) array, optional
        For metrics that look at the features.

    Returns
    -------
    dict of str to float
        NaN where a metric is not defined for these data.
    """
    values = {}
    # predictions were checked when they came in; checking them again in every metric takes longer
    # than the metrics do
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for metric in known:
            if task not in metric.tasks:
                continue
            if metric.needs == "features":
                if X is not None:
                    values[metric.name] = float(metric.function(X, predictions["labels"]))
            elif metric.needs in predictions:
                values[metric.name] = float(metric.function(y_true, predictions[metric.needs]))
    return values
