import numpy as np
import pytest
import threadpoolctl
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix, random_array
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    f1_score,
    r2_score,
    roc_auc_score,
)

from harness.errors import HarnessError
from harness.metrics.functions import (
    BUILT_IN,
    accuracy,
    auc,
    balanced_accuracy,
    evaluate,
    f1_macro,
    nmse,
    primary_metric,
    r2,
)
from harness.metrics.names import METRICS
from harness.plugin.hookspecs import Metric
from harness.plugin.index import _describe


def test_every_column_of_scores_has_its_metric():
    assert [metric.name for metric in BUILT_IN] == list(METRICS)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(5, 80))
def test_classification_scores_are_those_of_scikit_learn(seed, n_classes, n):
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n)])
    labels = np.where(rng.random(len(y)) < 0.5, y, 0)
    assert accuracy(y, labels) == pytest.approx(accuracy_score(y, labels))
    assert balanced_accuracy(y, labels) == pytest.approx(balanced_accuracy_score(y, labels))
    assert f1_macro(y, labels) == pytest.approx(f1_score(y, labels, average="macro"))
    tied = rng.integers(0, 4, len(y)).astype(float)
    assert auc((y > 0).astype(int), tied) == pytest.approx(roc_auc_score(y > 0, tied))


def test_auc_of_two_classes_is_the_same_from_one_column_or_two():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 2, 50), rng.normal(size=50)
    expected = roc_auc_score(y, scores)
    assert auc(y, scores) == pytest.approx(expected)
    assert auc(y, np.column_stack([-scores, scores])) == pytest.approx(expected)


def test_auc_of_several_classes_is_the_mean_over_one_vs_rest():
    rng = np.random.default_rng(1)
    y, scores = rng.integers(0, 3, 60), rng.normal(size=(60, 3))
    expected = np.mean([roc_auc_score(y == k, scores[:, k]) for k in range(3)])
    assert auc(y, scores) == pytest.approx(expected)


def test_auc_without_a_second_class_is_not_defined():
    assert np.isnan(auc(np.zeros(5, dtype=int), np.arange(5.0)))


def test_nmse_of_the_mean_is_one_and_of_constants_undefined():
    y = np.array([1.0, 2.0, 4.0])
    assert nmse(y, np.full(3, y.mean())) == pytest.approx(1)
    assert np.isnan(nmse(np.ones(3), np.ones(3)))


@pytest.mark.parametrize("task", ["binary", "multiclass"])
def test_the_truth_scores_at_the_end_of_every_scale(task):
    n_classes = 2 if task == "binary" else 4
    y = np.arange(40) % n_classes
    predictions = {"labels": y, "probabilities": np.eye(n_classes)[y]}
    values = evaluate(BUILT_IN, task, y, predictions)
    assert values.pop("log_loss") == pytest.approx(0)
    assert values == {
        "auc": 1,
        "average_precision": 1,
        "matthews_corrcoef": pytest.approx(1),
        "brier_score": 0,
        "expected_calibration_error": 0,
        "accuracy": 1,
        "balanced_accuracy": 1,
        "error_rate": 0,
        "f1_macro": 1,
    }


def test_tasks_have_their_own_metrics():
    y = np.array([0.0, 1.0, 2.0])
    assert evaluate(BUILT_IN, "regression", y, {"values": y}) == {
        "nmse": 0,
        "r2": 1,
        "mean_absolute_error": 0,
    }
    X = np.array([[0.0], [0.1], [5.0], [5.1]])
    labels = np.array([1, 1, 0, 0])
    values = evaluate(BUILT_IN, "clustering", 1 - labels, {"labels": labels}, X)
    assert values["adjusted_rand"] == 1
    assert values["silhouette"] > 0.9
    alone = evaluate(BUILT_IN, "clustering", labels, {"labels": np.zeros(4, dtype=int)}, X)
    assert np.isnan(alone["silhouette"])
    assert np.isnan(alone["calinski_harabasz"])


def test_clusters_of_sparse_points_score_as_those_of_dense_ones():
    X = random_array((80, 15), density=0.2, rng=0).toarray()
    labels = np.arange(80) % 3
    X[:, 0] += labels
    dense, sparse = (
        evaluate(BUILT_IN, "clustering", labels, {"labels": labels}, points)
        for points in (X, csr_matrix(X))
    )
    assert sparse["calinski_harabasz"] > 1
    assert sparse == pytest.approx(dense, rel=1e-9)


def test_the_first_metric_asked_for_that_applies_decides():
    assert primary_metric("binary", ["nmse", "accuracy"], BUILT_IN).name == "accuracy"
    assert primary_metric("regression", ["accuracy"], BUILT_IN).name == "nmse"
    assert primary_metric("clustering", [], BUILT_IN).name == "adjusted_rand"
    with pytest.raises(HarnessError, match="did you mean 'accuracy'"):
        primary_metric("binary", ["acuracy"], BUILT_IN)


@pytest.mark.parametrize("value", [0.1, 3.3, 7.25, 1e6 + 0.1, 0.0])
def test_errors_of_a_constant_have_no_scale(value):
    truth = np.full(1000, value)
    assert np.isnan(nmse(truth, truth + 1e-12))
    assert np.isnan(r2(truth, truth + 1e-12))


def test_the_coefficient_of_determination_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    truth, values = rng.normal(size=(2, 50))
    assert r2(truth, values) == pytest.approx(r2_score(truth, values))


def test_what_a_metric_says_of_itself_is_read_or_refused():
    assert Metric("m", accuracy, {"binary"}).tasks == frozenset({"binary"})
    assert Metric("m", accuracy, ["binary"], needs="scores").tasks == frozenset({"binary"})
    with pytest.raises(ValueError, match="tasks = 'binary'; give a set"):
        Metric("m", accuracy, "binary")
    with pytest.raises(ValueError, match="needs 'score' is not 'labels' or"):
        Metric("m", accuracy, {"binary"}, needs="score")


def test_the_index_has_all_of_a_metric_and_of_a_generated_set(tmp_path):
    (tmp_path / "own.py").write_text(
        "from harness import GeneratedDataset, Metric, hookimpl\n"
        "import numpy as np\n"
        "@hookimpl\n"
        "def harness_metrics(): return [Metric('brier', None, {'binary'}, needs='scores')]\n"
        "@hookimpl\n"
        "def harness_datasets():\n"
        "    return [GeneratedDataset('g', None, 'binary', *np.array([5, 3, 2]))]\n"
    )
    index = _describe([tmp_path])
    assert [m["tasks"] for m in index["metrics"] if m["name"] == "brier"] == [["binary"]]
    assert [d["n"] for d in index["datasets"] if d["name"] == "g"] == [5]


@pytest.mark.parametrize("predicted", [2, 9])
def test_a_predicted_class_above_all_true_ones_is_a_wrong_one(predicted):
    truth, labels = np.array([0, 0, 1, 1]), np.array([0, 0, 1, predicted])
    scored = evaluate(BUILT_IN, "multiclass", truth, {"labels": labels})
    assert scored["accuracy"] == 0.75
    assert scored["balanced_accuracy"] == 0.75


@pytest.mark.parametrize("metric", BUILT_IN, ids=lambda metric: metric.name)
def test_the_truth_is_better_than_noise_in_the_direction_that_a_metric_names(metric):
    """A search that takes the worst setting would be as quiet as one that takes the best."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X, noise = 5.0 * y[:, None] + rng.normal(size=(60, 2)), rng.permutation(y)
    (task,) = {"binary", "regression", "clustering"} & set(metric.tasks)
    if task == "binary":
        y, noise = y % 2, noise % 2

    def scored(labels):
        predictions = {"labels": labels, "values": labels.astype(float)}
        predictions["probabilities"] = 1.8 * (labels - 0.5)
        return evaluate([metric], task, y, predictions, X)[metric.name]

    assert (scored(y) > scored(noise)) is metric.greater_is_better
    assert scored(y) != scored(noise)


@pytest.mark.parametrize("draw", range(5))
def test_no_metric_depends_on_the_number_of_threads(draw):
    """BLAS adds long products in another order with each number."""
    rng = np.random.default_rng(draw)
    y = rng.integers(2, size=40_000)
    scores = rng.standard_normal(len(y)) + y
    given = {
        "scores": scores,
        "labels": (scores > 0.5).astype(int),
        "probabilities": np.column_stack([1 / (1 + np.exp(scores)), 1 / (1 + np.exp(-scores))]),
    }

    def values(threads):
        with threadpoolctl.threadpool_limits(threads):
            return {m.name: m.function(y, given[m.needs]) for m in BUILT_IN if m.needs in given}

    assert values(1) == values(2)
    assert {"auc", "average_precision", "accuracy"} <= values(1).keys()
