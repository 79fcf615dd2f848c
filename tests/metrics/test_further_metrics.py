"""Metrics of probabilities, of ranks and of errors, against scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics

from harness.metrics.functions import (
    BUILT_IN,
    asked_metrics,
    average_precision,
    evaluate,
    matthews_corrcoef,
    mean_absolute_error,
)
from harness.metrics.names import LATER, METRICS, PROBABILISTIC, quantile_of
from harness.metrics.probabilities import (
    as_probabilities,
    brier_score,
    expected_calibration_error,
    log_loss,
)
from harness.plugin.method import NO_SCORE


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(5, 80))
def test_they_are_those_of_scikit_learn(seed, n_classes, n):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n)])
    p = rng.dirichlet(np.full(n_classes, 0.3), len(y))
    labels = np.where(rng.random(len(y)) < 0.5, y, 0)
    classes = list(range(n_classes))
    assert log_loss(y, p) == pytest.approx(metrics.log_loss(y, p, labels=classes))
    expected = metrics.brier_score_loss(y, p[:, 1] if n_classes == 2 else p, labels=classes)
    assert brier_score(y, p) == pytest.approx(expected)
    assert matthews_corrcoef(y, labels) == pytest.approx(metrics.matthews_corrcoef(y, labels))
    tied = rng.integers(0, 4, (len(y), n_classes)).astype(float)
    each = [metrics.average_precision_score(y == k, tied[:, k]) for k in classes]
    assert average_precision(y, tied) == pytest.approx(
        metrics.average_precision_score(y, tied[:, 1] - tied[:, 0])
        if n_classes == 2
        else np.mean(each)
    )


def test_errors_of_values_are_those_of_scikit_learn():
    truth, values = np.random.default_rng(0).normal(size=(2, 50))
    expected = metrics.mean_absolute_error(truth, values)
    assert mean_absolute_error(truth, values) == pytest.approx(expected)
    found = evaluate(
        asked_metrics(["pinball_0.9", "nmse"]), "regression", truth, {"values": values}
    )
    expected = metrics.mean_pinball_loss(truth, values, alpha=0.9)
    assert found == {"pinball_0.9": pytest.approx(expected)}


def test_the_best_constant_by_a_pinball_loss_is_the_quantile():
    truth = np.arange(101.0)
    (metric,) = asked_metrics(["pinball_0.8"])
    losses = [metric.function(truth, np.full(101, value)) for value in truth]
    assert np.argmin(losses) == 80


@pytest.mark.parametrize(
    "name", ["pinball", "pinball_0", "pinball_0.0", "pinball_1", "pinball_.5"]
)
def test_a_quantile_is_between_nought_and_one(name):
    assert quantile_of(name) is None
    assert asked_metrics([name]) == []


def test_calibration_is_the_distance_of_certainty_from_accuracy():
    certainty = np.repeat([0.55, 0.95], 100)
    p = np.column_stack([1 - certainty, certainty])
    y = np.concatenate([np.arange(100) < 55, np.arange(100) < 80]).astype(int)
    assert expected_calibration_error(y, p) == pytest.approx(0.075)
    assert expected_calibration_error(np.ones(3, int), np.tile([0.0, 1.0], (3, 1))) == 0


def test_what_needs_probabilities_is_left_out_where_there_are_none():
    y = np.array([0, 1, 1, 0])
    scores = np.array([-0.5, 0.2, 0.9, -0.1])
    labels = (scores > 0).astype(int)
    found = evaluate(BUILT_IN, "binary", y, {"labels": labels, "scores": scores})
    assert not set(PROBABILISTIC) & set(found)
    assert found["auc"] == 1
    found = evaluate(BUILT_IN, "binary", y, {"labels": labels, "probabilities": scores})
    assert set(PROBABILISTIC) <= set(found)
    assert found["auc"] == 1
    assert found["brier_score"] == pytest.approx(np.mean(((1 + scores) / 2 - y) ** 2))


def test_a_class_that_no_labeled_point_had_has_no_probability():
    scores = np.array([[NO_SCORE, 0.25, 0.75]])
    assert as_probabilities(scores, NO_SCORE).tolist() == [[0, 0.25, 0.75]]
    assert log_loss(np.array([0]), np.array([[0.0, 0.25, 0.75]])) == pytest.approx(36.04, abs=0.01)


def test_tables_of_before_lack_what_came_later():
    assert set(LATER) < set(METRICS)
    assert set(PROBABILISTIC) <= set(LATER)
    assert {m.name for m in BUILT_IN if m.needs == "probabilities"} == set(PROBABILISTIC)
