"""Estimators of scikit-learn as ONNX, as `sklearn_method` wraps them."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.cluster import KMeans
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from harness import sklearn_method
from harness.errors import HarnessError
from harness.trial.fitted_model import FittedModel
from harness.trial.prediction import predict

onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra 'onnx'")


def model_of(method, task, labels=None):
    load = {"binary": load_breast_cancer, "regression": load_diabetes}.get(task, load_digits)
    X, y = load(return_X_y=True)
    # both as float32 has them: trees ask whether a value is below a threshold between two others
    X = (X / np.maximum(np.abs(X).max(axis=0), 1e-9)).astype(np.float32).astype(np.float64)
    n_classes = len(np.unique(y)) if task in ("binary", "multiclass") else 0
    y_seen = y[:300].copy()
    if n_classes:
        y_seen[150:] = -1
        if labels is not None:
            y_seen[~np.isin(y_seen, labels)] = -1
    params = {"n_clusters": 4, "random_state": 0} if task == "clustering" else method.params
    estimator = method.estimator(**params).fit(X[:300], y_seen)
    names = tuple(f"class {c}" for c in range(n_classes))
    row = {"method": method.name, "dataset": task, "size": None}
    return FittedModel(estimator, task, names, n_classes, None, 0.0, 1.0, row), X[300:400]


def run(model, X):
    from harness.onnx_export.model import to_onnx

    session = onnxruntime.InferenceSession(to_onnx(model, X.dtype))
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": X}), strict=True))


@pytest.mark.parametrize("task", ["binary", "multiclass"])
@pytest.mark.parametrize(
    "classifier",
    [
        GaussianNB,
        GradientBoostingClassifier,
        KNeighborsClassifier,
        LinearSVC,
        LogisticRegression,
        RandomForestClassifier,
        SVC,
    ],
)
def test_classifiers(classifier, task):
    space = {"n_estimators": 5} if "n_estimators" in classifier().get_params() else {}
    method = sklearn_method(classifier, params=space)
    model, X = model_of(method, task)
    found, expected = run(model, X), predict(model.estimator, X, task, model.n_classes)
    scores = expected["scores"]
    np.testing.assert_allclose(found["scores"], scores, rtol=1e-4, atol=2e-5 * np.ptp(scores))
    assert (found["label"] == np.array(model.class_names)[expected["labels"].astype(int)]).all()


@pytest.mark.parametrize("labels", [[1, 5, 6], [2, 7]], ids=["three classes", "two classes"])
def test_classes_without_a_label_are_below_all_others(labels):
    model, X = model_of(sklearn_method(LogisticRegression), "multiclass", labels)
    found, expected = run(model, X), predict(model.estimator, X, "multiclass", 10)
    np.testing.assert_allclose(found["scores"], expected["scores"], rtol=1e-4, atol=1e-4)
    assert set(found["label"]) <= {f"class {c}" for c in labels}


def test_pipelines():
    steps = [("scale", StandardScaler()), ("svm", SVC())]
    method = sklearn_method(
        Pipeline, "pipeline", tasks={"binary", "multiclass"}, params={"steps": steps}
    )
    model, X = model_of(method, "multiclass")
    expected = predict(model.estimator, X, "multiclass", 10)
    assert (run(model, X)["label"] == np.array(model.class_names)[expected["labels"]]).all()


@pytest.mark.parametrize("regressor", [KNeighborsRegressor, Ridge])
def test_regressors(regressor):
    model, X = model_of(sklearn_method(regressor), "regression")
    expected = predict(model.estimator, X, "regression", 0)["values"]
    np.testing.assert_allclose(run(model, X)["value"], expected, rtol=1e-4)


def test_clusterers():
    model, X = model_of(sklearn_method(KMeans), "clustering")
    assert (run(model, X)["cluster"] == model.estimator.predict(X)).all()


class Foreign(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_, self.n_features_in_ = np.unique(y), X.shape[1]
        return self

    def predict(self, X):
        return np.zeros(len(X), int)


def test_others_are_refused_by_name():
    model, X = model_of(sklearn_method(Foreign, "mine"), "binary")
    with pytest.raises(HarnessError) as refused:
        run(model, X)
    assert str(refused.value) == (
        "mine cannot be written as ONNX (Foreign has no layers() and is not of scikit-learn); "
        "what can are methods whose scores are kernel values, random features and products, and "
        "what skl2onnx converts: write it as model.joblib"
    )


def test_one_class_is_refused():
    model, X = model_of(sklearn_method(SVC), "binary", labels=[1])
    with pytest.raises(HarnessError, match="only one class was labeled"):
        run(model, X)
