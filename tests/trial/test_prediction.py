import tracemalloc

import numpy as np
import pytest

from harness.trial.prediction import join, named, predict, transduction


class Scores:
    def __init__(self, raw, classes=None):
        self.raw = raw
        if classes is not None:
            self.classes_ = np.array(classes)

    def decision_function(self, X):
        return self.raw


X = np.zeros((3, 2))


def test_two_classes_give_one_score_a_point():
    found = predict(Scores(np.array([-1.0, 2.0, 0.5]), [0, 1]), X, "binary", 2)
    assert found["scores"].tolist() == [-1, 2, 0.5]
    assert found["labels"].tolist() == [0, 1, 1]


def test_two_columns_are_brought_to_one():
    raw = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    found = predict(Scores(raw, [0, 1]), X, "binary", 2)
    assert found["scores"] == pytest.approx([-0.8, 0.6, 0])


def test_classes_without_a_labeled_point_rank_last():
    raw = np.array([[1.0, 2.0], [3.0, 0.0], [0.0, 0.5]])
    found = predict(Scores(raw, [0, 2]), X, "multiclass", 3)
    assert found["labels"].tolist() == [2, 0, 2]
    assert (found["scores"][:, 1] < found["scores"][:, [0, 2]].min()).all()
    two_of_three = predict(Scores(np.array([1.0, -1.0, 1.0]), [0, 2]), X, "multiclass", 3)
    assert two_of_three["labels"].tolist() == [2, 0, 2]
    assert two_of_three["scores"].shape == (3, 3)


def test_the_label_of_unlabeled_points_is_no_class():
    found = predict(Scores(np.ones(3), [-1, 0, 1]), X, "binary", 2)
    assert found["labels"].tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (np.array([1.0, np.nan, np.inf]), "2 values of 3 that are NaN or infinite"),
        (np.zeros((3, 7)), r"shape \(3, 7\), expected \(3,\) or \(3, 2\)$"),
        (np.zeros(2), r"shape \(2,\), expected \(3,\)"),
        (["a", "b", "c"], "list of <U1, not numbers"),
        (None, "not numbers"),
    ],
)
def test_what_is_no_prediction_is_refused_by_name(raw, message):
    with pytest.raises(ValueError, match="decision_function gave .*" + message):
        predict(Scores(raw, [0, 1]), X, "binary", 2)


def test_regression_and_clustering_ask_predict():
    class Values:
        def predict(self, X):
            return np.arange(len(X)) + 0.5

    assert predict(Values(), X, "regression", 0)["values"].tolist() == [0.5, 1.5, 2.5]
    with pytest.raises(ValueError, match="not whole numbers"):
        predict(Values(), X, "clustering", 3)


def test_transduction_takes_what_fit_left():
    class Fitted:
        classes_ = np.array([0, 1])
        decision_scores_ = np.array([5.0, -1.0, 2.0])

    found = transduction(Fitted(), 3, "binary", 2)
    assert found.rows(slice(1, 3))["scores"].tolist() == [-1, 2]
    assert transduction(Scores(None), 3, "binary", 2) is None

    class Labels:
        transduction_ = np.array([0, 1, 1])

    assert transduction(Labels(), 3, "binary", 2).rows(slice(1, 3))["labels"].tolist() == [1, 1]


def test_what_fit_left_is_handed_over_in_blocks_and_not_copied_whole():
    class Fitted:
        classes_ = np.arange(26)
        decision_scores_ = np.random.default_rng(0).random((20_000, 26))

    tracemalloc.start()
    blocks = transduction(Fitted(), 20_000, "multiclass", 26).blocks(slice(100, 20_000))
    n_labels = sum(len(part["labels"]) for part in blocks)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n_labels == 19_900
    assert most < 0.1 * Fitted.decision_scores_.nbytes
    parts = transduction(Fitted(), 20_000, "multiclass", 26).blocks(slice(100, 20_000))
    joined = np.concatenate([part["scores"] for part in parts])
    assert np.array_equal(joined, Fitted.decision_scores_[100:])


def test_a_class_without_a_label_has_one_score_in_all_blocks():
    """Ranked below every other, and by nothing else: its AUC is one half."""
    rng = np.random.default_rng(0)
    parts = [predict(Scores(rng.normal(size=(3, 2)), [0, 2]), X, "multiclass", 3) for _ in "ab"]
    scores = np.concatenate([part["scores"] for part in parts])
    assert len(np.unique(scores[:, 1])) == 1
    assert scores[:, 1].max() < scores.min(axis=1, initial=0, where=[True, False, True]).min()


def test_columns_are_put_in_the_order_of_the_classes():
    raw = np.array([[0.0, 0.2, 0.9], [0.8, 0.3, 0.1], [0.4, 0.5, 0.3]])
    found = predict(Scores(raw, [2, 0, 1]), X, "multiclass", 3)
    assert found["labels"].tolist() == [1, 2, 0]
    assert found["labels"].tolist() == found["scores"].argmax(axis=1).tolist()


def test_parts_are_joined_in_their_order_and_what_one_lacks_is_left_out():
    def part(first, stop, **more):
        return {"scores": np.arange(first, stop, dtype=float)[:, None] * [1, 2], **more}

    joined = join([part(0, 3), part(3, 4), part(4, 9)], 9)
    np.testing.assert_array_equal(joined["scores"], np.arange(9)[:, None] * [1, 2])
    labels = np.array([7, 8])
    whole = join([part(0, 2, labels=labels), part(2, 4, labels=labels)], 4)
    assert whole["labels"].tolist() == [7, 8, 7, 8]
    assert list(whole) == ["labels", "scores"]
    assert join([part(0, 2, labels=labels), part(2, 4)], 4).keys() == {"scores"}
    assert join([part(0, 2), part(2, 4, labels=labels)], 4).keys() == {"scores"}
    assert join([], 0) == {}


def left(**attributes):
    return type("Left", (), {name: np.asarray(value) for name, value in attributes.items()})()


@pytest.mark.parametrize(
    ("estimator", "n_classes", "message"),
    [
        (left(transduction_=[0, 1]), 2, r"shape \(2,\), expected \(3,\)$"),
        (left(transduction_=np.ones((3, 2))), 2, r"shape \(3, 2\), expected \(3,\)$"),
        (left(decision_scores_=np.ones(3), classes_=[0, 1, 2]), 3, r"expected \(3, 3\)$"),
        (left(decision_scores_=np.ones((3, 3)), classes_=[0, 1]), 2, r"\(3,\) or \(3, 2\)$"),
    ],
)
def test_what_fit_left_has_a_number_for_each_point_or_for_each_class(
    estimator, n_classes, message
):
    task = "binary" if n_classes == 2 else "multiclass"
    with pytest.raises(ValueError, match=message):
        transduction(estimator, 3, task, n_classes)


class Both(Scores):
    """Has decision values, and probabilities beside them."""

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-self.raw))
        return np.column_stack([1 - p, p])


def test_probabilities_are_taken_where_they_are_asked_for():
    estimator = Both(np.array([-1.0, 2.0, 0.5]), [0, 1])
    assert predict(estimator, X, "binary", 2)["scores"].tolist() == [-1, 2, 0.5]
    found = predict(estimator, X, "binary", 2, probabilities=True)
    assert found["scores"] == pytest.approx(np.tanh(np.array([-1, 2, 0.5]) / 2))
    only = predict(Scores(np.array([-1.0, 2.0, 0.5]), [0, 1]), X, "binary", 2, True)
    assert only["scores"].tolist() == [-1, 2, 0.5]


def test_scores_are_called_probabilities_if_all_of_them_are():
    part = {"scores": np.zeros(2), "labels": np.zeros(2)}
    assert set(named(part, "predict_proba", "label_distributions_")) == {"probabilities", "labels"}
    assert named(part, "label_distributions_", "decision_function") is part
    assert named(part, "predict_proba", None) is part
    labels = {"labels": np.zeros(2)}
    assert named(labels, None) is labels
