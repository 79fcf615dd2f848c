"""A file is written only if it predicts what its model does, and the packages are there."""

import importlib.util

import numpy as np
import pytest

from harness import load_model, onnx_export
from harness.errors import HarnessError

pytest.importorskip("onnxruntime", reason="needs the extra 'onnx'")


def file_of(coef):
    """A file that multiplies."""
    from harness.onnx_export.graph import Graph

    graph = Graph()
    X = graph.input("X", np.float64, len(coef), "rows")
    values = graph.combine("MatMul", X, np.array(coef))
    graph.output("value", graph.cast(values, np.float32), None, "a sum")
    number = graph.add("ArgMax", X, dtype=np.int64, axis=1, keepdims=0)
    graph.output("cluster", number, None, "the largest")
    return graph.model({}, "a sum").SerializeToString()


ROWS = np.random.default_rng(0).normal(size=(100, 3))


def test_agreement_is_told_in_parts_of_the_range():
    from harness.onnx_export.check import compare

    values = ROWS @ [1.0, 2.0, 3.0]
    moved = values + 5e-4 * np.ptp(values) * (np.arange(100) == 7)
    found = compare(file_of([1.0, 2.0, 3.0]), {"X": ROWS}, {"values": moved}, [])
    assert found.rows == 100
    assert found.difference == pytest.approx(5e-4, rel=1e-2)
    assert found.other_labels is None
    assert found.inputs == {"X": "float64 (rows, 3)"}
    assert found.outputs["value"] == "float32 (rows)"


def test_other_values_are_refused():
    from harness.onnx_export.check import compare

    with pytest.raises(HarnessError, match=r"differ by 0\.\d+ of their range, and 0\.001 is"):
        compare(file_of([1.0, 2.0, 3.1]), {"X": ROWS}, {"values": ROWS @ [1.0, 2.0, 3.0]}, [])


def test_other_labels_are_refused():
    from harness.onnx_export.check import compare

    labels = ROWS.argmax(axis=1)
    written = file_of([1.0, 2.0, 3.0])
    assert compare(written, {"X": ROWS}, {"labels": labels}, []).other_labels == 0
    with pytest.raises(HarnessError, match="differ by 1 labels"):
        compare(written, {"X": ROWS}, {"labels": np.where(np.arange(100), labels, 3)}, [])


def test_without_the_packages_the_extra_is_named(monkeypatch):
    onnx_export.required()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(HarnessError) as refused:
        onnx_export.required()
    assert str(refused.value) == (
        "an ONNX file needs packages that are not installed here (onnx, onnxruntime, skl2onnx): "
        "pip install 'memory-budget-harness[onnx]'"
    )


def test_a_file_of_onnx_is_no_model_of_joblib(tmp_path):
    path = tmp_path / "model.onnx"
    path.write_bytes(file_of([1.0]))
    with pytest.raises(HarnessError, match=r"model\.onnx: is a file of ONNX, which onnxruntime"):
        load_model(path)
