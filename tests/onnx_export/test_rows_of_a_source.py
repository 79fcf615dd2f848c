"""Rows as their source has them: the file prepares them as the model does."""

import numpy as np
import pandas as pd
import pytest

from harness.datasets.raw_rows import RowPreparation, _Nominal
from harness.datasets.scaling import scale
from harness.layers import Linear
from harness.trial.fitted_model import FittedModel

onnxruntime = pytest.importorskip("onnxruntime", reason="needs the extra 'onnx'")

COLOURS = {"": [0, 0, 1], "blue": [1, 0, 0], "red": [0, 1, 0]}


def table(n=60, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "length": 1e4 + rng.normal(size=n),
            "colour": rng.choice(["red", "blue"], n),
            "amount": rng.exponential(1000, n),
            "still": np.full(n, 3.0),
        }
    )


def preparation(scaling, dtype, divide_by=1.0):
    """A number, a name in three columns, a logarithm, and a column without spread."""
    rows = table()
    codes = {name: np.array(values, dtype=dtype) for name, values in COLOURS.items()}
    X = np.column_stack(
        [
            rows["length"],
            np.array([COLOURS[name] for name in rows["colour"]]),
            np.log1p(rows["amount"]),
            rows["still"],
        ]
    ).astype(dtype)
    X /= X.dtype.type(divide_by)
    return RowPreparation(
        columns=list(rows.columns),
        n_features=6,
        dtype=dtype,
        divide_by=divide_by,
        scaling=scale(X, scaling),
        numeric=np.array([0, 2, 3]),
        targets=np.array([0, 4, 5]),
        fills=np.array([1e4, np.nan, np.nan]),
        logarithm=np.array([1]),
        nominal=[_Nominal("colour", 1, codes)],
    )


class Plane:
    """Scores that are linear in prepared rows, half of them above 0."""

    def __init__(self, X):
        self.n_features_in_, self.classes_ = X.shape[1], np.arange(2)
        self.coef = np.random.default_rng(5).normal(size=X.shape[1])
        self.middle = np.median(X @ self.coef)

    def decision_function(self, X):
        return X @ self.coef - self.middle

    def layers(self):
        return [Linear(self.coef[:, None], np.array([-self.middle]))]


def model_of(prepared):
    estimator = Plane(prepared(table()))
    row = {"method": "logistic", "dataset": "own", "size": None}
    return FittedModel(estimator, "binary", ("no", "yes"), 2, prepared, 0.0, 1.0, row)


def run(model, rows):
    from harness.onnx_export.model import to_onnx
    from harness.onnx_export.rows import inputs

    session = onnxruntime.InferenceSession(to_onnx(model, model.preparation.dtype))
    return session.run(["label", "scores"], inputs(model.preparation, rows))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("scaling", ["none", "minmax", "standard", "whiten", "unit"])
def test_every_scaling(scaling, dtype):
    model, rows = model_of(preparation(scaling, dtype, divide_by=2.0)), table(40, seed=1)
    rows.loc[3, "length"], rows.loc[4, "colour"] = np.nan, None
    label, scores = run(model, rows)
    expected = model.decision_function(rows)
    rounding = 1e-6 * np.abs(model.prepare(rows)).max()
    np.testing.assert_allclose(scores, expected, rtol=1e-6, atol=rounding)
    clear = np.abs(expected) > 2 * rounding
    assert clear.sum() > 30
    assert (label == model.predict(rows))[clear].all()
    assert set(label) == {"no", "yes"}


@pytest.mark.parametrize(
    ("column", "value"), [("amount", np.nan), ("amount", np.inf), ("colour", "green")]
)
def test_what_the_model_refuses_has_no_label(column, value):
    model, rows = model_of(preparation("standard", "float64")), table(5, seed=2)
    rows.loc[1, column] = value
    label, scores = run(model, rows)
    assert np.isnan(scores).tolist() == [False, True, False, False, False]
    assert label[1] == ""
    assert set(label[[0, 2, 3, 4]]) <= {"no", "yes"}


def test_the_file_names_its_columns():
    import json

    import onnx

    from harness.onnx_export.model import to_onnx

    file = onnx.load_from_string(to_onnx(model_of(preparation("standard", "float64")), "float64"))
    told = {item.key: json.loads(item.value) for item in file.metadata_props}
    assert told["numbers"] == ["length", "amount", "still"]
    assert told["names"] == ["colour"]
    assert told["classes"] == ["no", "yes"]
    assert told["row"]["method"] == "logistic"
    assert [value.doc_string for value in file.graph.input] == ["length, amount, still", "colour"]
