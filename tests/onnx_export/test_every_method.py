"""Every method of the plugins: its ONNX file predicts what its model does, or is refused."""

import functools
import re
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits

from harness.errors import HarnessError
from harness.plugin.abilities import predicts_new_rows
from harness.plugin.method import NO_SCORE
from harness.plugin.registry import Registry
from harness.trial.fitted_model import FittedModel
from harness.trial.prediction import predict
from harness.trial.run import make_estimator

pytest.importorskip("onnxruntime", reason="needs the extra 'onnx'")

REFUSED = {
    *("clusk", "cmn", "harmonic", "oracle", "prior", "random"),
    *("anchor-graph", "knn-clusk", "label-propagation", "label-spreading"),
    *("poisson-learning", "pvm"),
}
"""No sequence of layers: normalised by what depends on all points, or no function of a row."""

SOURCES = {
    "binary": (load_breast_cancer, 2),
    "multiclass": (load_digits, 10),
    "regression": (load_diabetes, 0),
    "clustering": (load_digits, 10),
}
METHODS = {method.name: method for method, _ in Registry.load().items("methods")}
CASES = [
    (name, task)
    for name, method in METHODS.items()
    if not method.learns_storage
    for task in sorted(method.tasks)
]
FOREIGN = [name for name, method in METHODS.items() if method.learns_storage]
NOT_CONVERTED = {
    *("hist-boosting", "lightgbm", "self-training-hist-boosting", "xgboost"),
    "tensor-sketch-ridge",
}
"""Of other libraries, or in a version that skl2onnx does not know."""


@functools.cache
def points(task):
    X, y = SOURCES[task][0](return_X_y=True)
    order = np.random.default_rng(4).permutation(len(X))
    X, y = X[order], y[order]
    X = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    return X, (y - y.mean()) / y.std() if task == "regression" else y


def fitted(name, task, dtype=np.float64, labels=None, **params):
    """A model of 300 points, of which 150 have a label, and rows that it has not seen."""
    method, (X, y) = METHODS[name], points(task)
    seen, unseen = X[:300].astype(dtype), X[300:400].astype(dtype)
    given = np.where(np.arange(300) < 150, y[:300], np.nan if task == "regression" else -1)
    if task == "clustering":
        given[:] = -1
    if labels is not None:
        given[~np.isin(given, labels)] = -1
    if not method.uses_unlabeled and task != "clustering":
        known = np.arange(300) < 150
        seen, given = seen[known], given[known]
    n_classes = SOURCES[task][1]
    size = 40 if method.size and method.size != "n_unlabeled" else None
    estimator = make_estimator(method, params, size=size, n_classes=n_classes, random_state=3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(seen, given if task == "regression" else given.astype(int))
    names = tuple(f"class {c}" for c in range(n_classes)) if task != "clustering" else ()
    row = {"method": name, "dataset": task, "size": size}
    model = FittedModel(estimator, task, names, n_classes, None, 0.5, 2.0, row)
    return model, unseen


def run(model, X):
    """What the file of a model gives for prepared rows, by the names of its outputs."""
    import onnxruntime

    from harness.onnx_export.model import to_onnx

    session = onnxruntime.InferenceSession(to_onnx(model, X.dtype))
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": X}), strict=True))


def assert_same(model, X):
    found = run(model, X)
    expected = predict(model.estimator, X, model.task, model.n_classes)
    if model.task == "regression":
        values = expected["values"] * 2.0 + 0.5
        np.testing.assert_allclose(found["value"], values, rtol=1e-4, atol=5e-5 * np.ptp(values))
        return
    numbers = expected["labels"].astype(int)
    if model.task == "clustering":
        assert (found["cluster"] == numbers).all()
        assert len(set(numbers)) > 1
        return
    if "scores" in expected:
        scores = expected["scores"]
        known = scores > NO_SCORE / 2
        atol = 5e-5 * np.ptp(scores[known])
        np.testing.assert_allclose(found["scores"][known], scores[known], rtol=1e-4, atol=atol)
    assert (found["label"] == np.array(model.class_names)[numbers]).all()
    assert len(set(numbers)) > 1


@pytest.mark.parametrize("name", FOREIGN)
def test_a_foreign_method_has_a_file_or_is_refused_in_a_sentence(name):
    model, X = fitted(name, "binary")
    if name in NOT_CONVERTED:
        with pytest.raises(HarnessError, match=f"{name} cannot be written as ONNX") as refused:
            run(model, X)
        assert "\n" not in str(refused.value)
        return
    found, expected = run(model, X)["scores"], predict(model.estimator, X, "binary", 2)["scores"]
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=5e-5 * np.ptp(expected))


@pytest.mark.parametrize(("name", "task"), CASES)
def test_a_file_predicts_what_its_model_does(name, task):
    model, X = fitted(name, task)
    if name not in REFUSED:
        assert_same(model, X)
    elif predicts_new_rows(model.estimator):
        with pytest.raises(HarnessError, match=re.escape(name)) as refused:
            run(model, X)
        assert "\n" not in str(refused.value)
        assert "write it as model.joblib" in str(refused.value)


@pytest.mark.parametrize("name", ["nysck", "krr", "svm", "budget-svm", "xnv", "rff-mssksc"])
def test_rows_of_float32(name):
    assert_same(*fitted(name, "multiclass", np.float32))


@pytest.mark.parametrize("labels", [[0, 3, 4], [2, 7]], ids=["three classes", "two classes"])
@pytest.mark.parametrize("name", ["nysck", "svm", "1nn", "nystroem-ridge", "linear-svm", "tsvm"])
def test_classes_without_a_label_are_never_predicted(name, labels):
    model, X = fitted(name, "multiclass", labels=labels)
    found, expected = run(model, X), predict(model.estimator, X, "multiclass", 10)
    assert (found["label"] == np.array(model.class_names)[expected["labels"].astype(int)]).all()
    np.testing.assert_allclose(
        found["scores"][:, labels], expected["scores"][:, labels], rtol=1e-4, atol=1e-4
    )
    absent = np.delete(found["scores"], labels, axis=1)
    assert (absent.max(axis=1) < found["scores"][:, labels].min(axis=1)).all()


@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly2", "chi2", "laplacian"])
@pytest.mark.parametrize("name", ["budget-svm", "ssokmf", "svm"])
def test_every_kernel(name, kernel, monkeypatch):
    X, y = points("multiclass")
    monkeypatch.setitem(globals(), "points", lambda task: (X - X.min(), y))
    assert_same(*fitted(name, "multiclass", kernel=kernel))


@pytest.mark.parametrize(
    ("name", "params"),
    [
        ("nysck", {"variant": "literal"}),
        ("xks", {"combine": True}),
        ("xnv", {"combine": True}),
        ("rff-mssksc", {"dtype": "float64"}),
        ("fs-mssksc", {"dtype": "float64"}),
        ("sock", {"transfer": "poly-step"}),
        ("nysck", {"decision_threshold": "zero"}),
    ],
)
def test_other_ways_to_scores(name, params):
    assert_same(*fitted(name, "binary", **params))


@pytest.mark.parametrize("decoding", ["hamming", "cosine"])
def test_both_decodings_of_clusters(decoding):
    assert_same(*fitted("ksc", "clustering", decoding=decoding))
