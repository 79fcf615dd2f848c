"""Scores of predictions against the truth: ranking, classification, regression, clustering.

Those of classification are a line or two of NumPy each: every trial computes them all, and
scikit-learn's take 6 ms, most of it spent on checking their input. What computes nothing, such as
a report, asks for names and tasks alone: libraries are imported where something is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial

import numpy as np
from scipy.sparse import csr_matrix, issparse

from harness.errors import unknown_name
from harness.metrics.names import (
    CLASSIFICATION,
    CLUSTERING,
    REGRESSION,
    primary_metric_name,
    quantile_of,
)
from harness.metrics.probabilities import (
    as_probabilities,
    brier_score,
    expected_calibration_error,
    log_loss,
)
from harness.plugin.hookspecs import Metric, hookimpl
from harness.plugin.method import NO_SCORE

SILHOUETTE_SAMPLE = 2000


def auc(y_true: np.ndarray, scores: np.ndarray) -> float:
    """Area under the ROC curve; for several classes the mean over one-vs-rest problems.

    Computed from ranks (Mann & Whitney 1947; ties count half). Classes that do not occur in
    `y_true` have no curve and are left out; NaN for a single class.
    """
    return _one_vs_rest(_rank_auc, y_true, scores)


def average_precision(y_true: np.ndarray, scores: np.ndarray) -> float:
    """Mean precision at each recall; for several classes the mean over one-vs-rest problems.

    Points of equal scores are taken together, as in scikit-learn. Classes that do not occur in
    `y_true` are left out; NaN for a single class.
    """
    return _one_vs_rest(_average_precision, y_true, scores)


def accuracy(y_true: np.ndarray, labels: np.ndarray) -> float:
    """Share of points with the right label."""
    return float(np.mean(y_true == labels))


def error_rate(y_true: np.ndarray, labels: np.ndarray) -> float:
    """Share of points with a wrong label."""
    return float(np.mean(y_true != labels))


def balanced_accuracy(y_true: np.ndarray, labels: np.ndarray) -> float:
    """Mean over the classes of `y_true` of the share of their points with the right label."""
    right, true, _ = _counts(y_true, labels)
    return float(np.mean(right[true > 0] / true[true > 0]))


def f1_macro(y_true: np.ndarray, labels: np.ndarray) -> float:
    """Mean of F1 over the classes that occur in `y_true` or are predicted."""
    right, true, predicted = _counts(y_true, labels)
    occurs = true + predicted > 0
    return float(np.mean(2 * right[occurs] / (true + predicted)[occurs]))


def matthews_corrcoef(y_true: np.ndarray, labels: np.ndarray) -> float:
    """Correlation of true and predicted classes (Matthews 1975; of several, Gorodkin 2004).

    0 where all points are of one class, or are predicted to be.
    """
    right, true, predicted = (counts.astype(float) for counts in _counts(y_true, labels))
    n = true.sum()
    covariance = right.sum() * n - true @ predicted
    spread = (n**2 - true @ true) * (n**2 - predicted @ predicted)
    return float(covariance / np.sqrt(spread)) if spread > 0 else 0.0


def nmse(y_true: np.ndarray, values: np.ndarray) -> float:
    """Mean squared error over the variance of the true values: 1 is what their mean reaches.

    NaN where these are all equal, but for what rounding of their mean makes of that.
    """
    variance = np.var(y_true)
    if not variance > len(y_true) * np.finfo(float).eps ** 2 * np.mean(np.square(y_true)):
        return float("nan")
    return float(np.mean((y_true - values) ** 2) / variance)


def r2(y_true: np.ndarray, values: np.ndarray) -> float:
    """Coefficient of determination: what `nmse` leaves of 1."""
    return 1 - nmse(y_true, values)


def mean_absolute_error(y_true: np.ndarray, values: np.ndarray) -> float:
    """Mean distance from the true value."""
    return float(np.mean(np.abs(y_true - values)))


def pinball(y_true: np.ndarray, values: np.ndarray, quantile: float) -> float:
    """Mean pinball loss of predicted quantiles (Koenker & Bassett 1978)."""
    above = y_true - values
    return float(np.mean(np.maximum(quantile * above, (quantile - 1) * above)))


def silhouette(X: np.ndarray, labels: np.ndarray) -> float:
    """Silhouette of a fixed sample of at most `SILHOUETTE_SAMPLE` points."""
    rows = np.random.default_rng(0).permutation(X.shape[0])[:SILHOUETTE_SAMPLE]
    if not 1 < len(np.unique(labels[rows])) < len(rows):
        return float("nan")
    from sklearn.metrics import silhouette_score

    return silhouette_score(X[rows], labels[rows])


def calinski_harabasz(X: np.ndarray, labels: np.ndarray) -> float:
    """Ratio of dispersion between to dispersion within clusters."""
    if not 1 < len(np.unique(labels)) < X.shape[0]:
        return float("nan")
    if issparse(X):
        return _sparse_dispersions(X, labels)
    from sklearn.metrics import calinski_harabasz_score

    return calinski_harabasz_score(X, labels)


def adjusted_rand(y_true: np.ndarray, labels: np.ndarray) -> float:
    """Share of pairs that both partitions join or part, above that of chance."""
    from sklearn.metrics import adjusted_rand_score

    return adjusted_rand_score(y_true, labels)


def fowlkes_mallows(y_true: np.ndarray, labels: np.ndarray) -> float:
    """Geometric mean of precision and recall over pairs of one cluster."""
    from sklearn.metrics import fowlkes_mallows_score

    return fowlkes_mallows_score(y_true, labels)


def _sparse_dispersions(X: csr_matrix, labels: np.ndarray) -> float:
    """Return the same of sparse points, of which scikit-learn's takes none."""
    _, codes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    n, k = len(codes), len(counts)
    sums = csr_matrix((np.ones(n), (codes, np.arange(n))), (k, n)) @ X
    # n_k |mean|^2 of each cluster, summed up
    of_clusters = float((np.asarray(sums.multiply(sums).sum(axis=1)).ravel() / counts).sum())
    within = float(X.multiply(X).sum()) - of_clusters
    between = of_clusters - float(np.square(np.asarray(sums.sum(axis=0))).sum()) / n
    return between * (n - k) / (within * (k - 1)) if within > 0 else 1.0


BUILT_IN = (
    Metric("auc", auc, CLASSIFICATION, needs="scores"),
    Metric("average_precision", average_precision, CLASSIFICATION, needs="scores"),
    Metric("accuracy", accuracy, CLASSIFICATION),
    Metric("balanced_accuracy", balanced_accuracy, CLASSIFICATION),
    Metric("error_rate", error_rate, CLASSIFICATION, greater_is_better=False),
    Metric("f1_macro", f1_macro, CLASSIFICATION),
    Metric("matthews_corrcoef", matthews_corrcoef, CLASSIFICATION),
    *(
        Metric(function.__name__, function, CLASSIFICATION, "probabilities", False)
        for function in (log_loss, brier_score, expected_calibration_error)
    ),
    Metric("nmse", nmse, REGRESSION, needs="values", greater_is_better=False),
    Metric("r2", r2, REGRESSION, needs="values"),
    Metric(
        "mean_absolute_error",
        mean_absolute_error,
        REGRESSION,
        needs="values",
        greater_is_better=False,
    ),
    Metric("adjusted_rand", adjusted_rand, CLUSTERING),
    Metric("fowlkes_mallows", fowlkes_mallows, CLUSTERING),
    Metric("silhouette", silhouette, CLUSTERING, needs="features"),
    Metric("calinski_harabasz", calinski_harabasz, CLUSTERING, needs="features"),
)


@hookimpl
def harness_metrics() -> tuple[Metric, ...]:
    """Provide the metrics that every table has."""
    return BUILT_IN


def asked_metrics(names: Iterable[str]) -> list[Metric]:
    """Return those among the metrics that a study names which are made by their names.

    `pinball_0.9` is the pinball loss of the quantile 0.9.
    """
    quantiles = {name: quantile_of(name) for name in names}
    return [
        Metric(name, partial(pinball, quantile=quantile), REGRESSION, "values", False)
        for name, quantile in quantiles.items()
        if quantile is not None
    ]


def primary_metric(task: str, asked: Iterable[str], known: Iterable[Metric]) -> Metric:
    """Return the metric that decides for a task: the first one asked for that applies."""
    by_name = {metric.name: metric for metric in known}
    asked = list(asked)
    for name in asked:
        if name not in by_name:
            raise unknown_name("metric", name, by_name)
    return by_name[
        primary_metric_name(task, asked, {name: m.tasks for name, m in by_name.items()})
    ]


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
        "labels" (n,), "values" (n,), and "scores" (n,) or (n, n_classes), which are called
        "probabilities" if they are, as far as there are any.
    X : (n, d) array, optional
        For metrics that look at the features.

    Returns
    -------
    dict of str to float
        NaN where a metric is not defined for these data.
    """
    from sklearn import config_context

    values = {}
    offered = dict(predictions)
    if "probabilities" in offered:
        offered["scores"] = offered["probabilities"]
        offered["probabilities"] = as_probabilities(offered["scores"], NO_SCORE)
    # predictions were checked when they came in; scikit-learn would check them in every metric
    with config_context(assume_finite=True, skip_parameter_validation=True):
        for metric in known:
            if task not in metric.tasks:
                continue
            if metric.needs == "features":
                if X is not None:
                    values[metric.name] = float(metric.function(X, offered["labels"]))
            elif metric.needs in offered:
                values[metric.name] = float(metric.function(y_true, offered[metric.needs]))
    return values


def _one_vs_rest(
    of_two: Callable[[np.ndarray, np.ndarray], float], y_true: np.ndarray, scores: np.ndarray
) -> float:
    present = np.unique(y_true)
    if len(present) < 2:
        return float("nan")
    if scores.ndim == 2 and scores.shape[1] == 2:
        scores = scores[:, 1] - scores[:, 0]
    if scores.ndim == 1:
        return of_two(y_true == 1, scores)
    return float(np.mean([of_two(y_true == k, scores[:, k]) for k in present]))


def _average_precision(positive: np.ndarray, scores: np.ndarray) -> float:
    order = np.argsort(-scores, kind="stable")
    last = np.append(np.diff(scores[order]) != 0, True)  # of those with one score
    found = np.cumsum(positive[order])[last]
    precision = found / (np.flatnonzero(last) + 1)
    # no product of BLAS, which adds in another order with more threads
    return float(np.sum(np.diff(found, prepend=0) * precision) / found[-1])


def _rank_auc(positive: np.ndarray, scores: np.ndarray) -> float:
    from scipy.stats import rankdata

    n_positive = np.count_nonzero(positive)
    above = rankdata(scores)[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(above / (n_positive * (len(scores) - n_positive)))


def _counts(y_true: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count for each class the points rightly predicted, those of the class, and predicted."""
    y_true, labels = y_true.astype(np.int64), labels.astype(np.int64)
    n = int(max(y_true.max(), labels.max())) + 1
    right = np.bincount(y_true[y_true == labels], minlength=n)
    return right, np.bincount(y_true, minlength=n), np.bincount(labels, minlength=n)
