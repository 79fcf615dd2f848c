"""A fitted model as ONNX: what prepares rows, what scores them, and what names classes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from harness.errors import HarnessError
from harness.layers import columns
from harness.onnx_export.graph import Graph, Value
from harness.onnx_export.rows import ROWS, prepared_rows
from harness.onnx_export.scikit_learn import through_skl2onnx
from harness.onnx_export.scores import through
from harness.plugin.abilities import fitted_classes, layers_of, scorer
from harness.plugin.method import NO_SCORE
from harness.scikit_learn import foreign

if TYPE_CHECKING:
    from harness.trial.fitted_model import FittedModel

LABEL, SCORES, VALUE, CLUSTER = "label", "scores", "value", "cluster"
"""Outputs."""


def to_onnx(model: FittedModel, dtype: DTypeLike) -> bytes:
    """Return the file of a fitted model.

    Its inputs are rows as the source has them: "X", or "numbers" and "names" where some columns
    are names; where the model does not know how rows are prepared, "X" are prepared rows. Its
    outputs are "label" and "scores", "value", or "cluster".

    Parameters
    ----------
    model : FittedModel
    dtype : dtype
        Of prepared rows.

    Raises
    ------
    HarnessError
        If its method cannot be written so.
    """
    from harness.datasets.raw_rows import RowPreparation

    graph = Graph()
    preparation = model.preparation if isinstance(model.preparation, RowPreparation) else None
    d = int(model.estimator.n_features_in_)
    if preparation is None:
        X = graph.input(ROWS, dtype, d, "rows that are encoded and scaled")
    else:
        X = prepared_rows(graph, preparation)
    missing = graph.reduce("ReduceMax", graph.cast(graph.add("IsNaN", X, dtype=bool), np.float32))
    unknown = graph.add("Greater", missing, graph.scalar(missing, 0), dtype=bool)
    try:
        _predict(graph, model, X, d, unknown)
    except HarnessError as error:
        raise HarnessError(
            f"{model.row['method']} cannot be written as ONNX ({error}); what can are methods "
            "whose scores are kernel values, random features and products, and what skl2onnx "
            "converts: write it as model.joblib"
        ) from error
    row = model.row
    told = f"{row['method']} on {row['dataset']}, size {row['size']}"
    metadata = {"row": json.dumps(row), "classes": json.dumps(model.class_names)}
    if preparation is not None:
        numbers = [preparation.columns[place] for place in preparation.numeric]
        metadata["numbers"] = json.dumps([str(name) for name in numbers])
        metadata["names"] = json.dumps([str(column.name) for column in preparation.nominal])
    return graph.model(metadata, told).SerializeToString()


def _predict(graph: Graph, model: FittedModel, X: Value, d: int, unknown: Value) -> None:
    """Add the estimator and the outputs."""
    estimator, n_classes = model.estimator, model.n_classes
    found = layers_of(estimator)
    scoring = scorer(estimator) if model.task in ("binary", "multiclass") else None
    name = scoring[0] if scoring else None
    if found is not None:
        raw, width = through(graph, found, X), columns(found)
    else:
        raw = through_skl2onnx(graph, _of_scikit_learn(estimator), X, d, name)
        width = max(2, len(fitted_classes(estimator, n_classes)))
    if model.task == "regression":
        _add_value(graph, model, raw, unknown, flat=found is None)
    elif model.task == "clustering":
        if found is not None:
            raw = graph.add("ArgMax", raw, dtype=np.int64, axis=1, keepdims=0)
        raw = graph.add("Where", _flat(graph, unknown), graph.scalar(raw, -1), raw)
        graph.output(CLUSTER, raw, None, "number of the cluster; -1 of a row with a gap")
    elif found is None and name is None:
        _add_labels(graph, model, graph.cast(raw, np.int64), unknown)
    else:
        # skl2onnx has two columns for two classes, of a decision its opposite and itself
        if found is None and name == "decision_function" and width == 2:
            raw, width = graph.columns(raw, [1]), 1
        _add_classes(graph, model, raw, width, unknown)


def _of_scikit_learn(estimator: Any) -> Any:
    """Return the estimator of scikit-learn that it is, or is around."""
    inner = foreign(estimator)
    if inner is None:
        raise HarnessError("only one class was labeled")
    if not type(inner).__module__.startswith("sklearn."):
        raise HarnessError(f"{type(inner).__name__} has no layers() and is not of scikit-learn")
    return inner


def _add_value(graph: Graph, model: FittedModel, raw: Value, unknown: Value, flat: bool) -> None:
    values = graph.cast(raw if flat else graph.columns(raw, 0), np.float64)
    values = graph.add("Mul", values, graph.scalar(values, model.scale))
    values = graph.add("Add", values, graph.scalar(values, model.center))
    nothing = graph.scalar(values, np.nan)
    values = graph.add("Where", _flat(graph, unknown), nothing, values)
    graph.output(VALUE, graph.cast(values, np.float32), None, "the target, in its own units")


def _add_classes(graph: Graph, model: FittedModel, raw: Value, width: int, unknown: Value) -> None:
    """Add classes and scores as `harness.trial.prediction` makes them of an estimator's scores."""
    n_classes, classes = model.n_classes, fitted_classes(model.estimator, model.n_classes)
    classes = classes[classes >= 0].astype(np.int64)
    if width == 1:
        above = graph.add("Greater", graph.columns(raw, 0), graph.scalar(raw, 0), dtype=bool)
        numbers = graph.add("Where", above, *(graph.constant(classes[i]) for i in (1, 0)))
    else:
        best = graph.add("ArgMax", raw, dtype=np.int64, axis=1, keepdims=0)
        numbers = graph.add("Gather", graph.constant(classes), best, dtype=np.int64)
    if width == 1 and n_classes > 2:
        raw = graph.add("Concat", graph.add("Neg", raw), raw, axis=1)
    if n_classes == 2 and width == 2:
        raw = graph.add("Sub", graph.columns(raw, [1]), graph.columns(raw, [0]))
    if n_classes > 2 and not np.array_equal(classes, np.arange(n_classes)):
        lowest = graph.add("Mul", graph.columns(raw, [0]), graph.scalar(raw, 0))
        lowest = graph.add("Add", lowest, graph.scalar(raw, NO_SCORE))
        places = np.full(n_classes, len(classes))
        places[classes] = np.arange(len(classes))
        raw = graph.columns(graph.add("Concat", raw, lowest, axis=1), places)
    scores = graph.cast(graph.add("Where", unknown, graph.scalar(raw, np.nan), raw), np.float32)
    _add_labels(graph, model, numbers, unknown)
    if n_classes == 2:
        told = f"above 0 for {model.class_names[1]}"
        graph.output(SCORES, graph.columns(scores, 0), None, told)
    else:
        graph.output(SCORES, scores, n_classes, ", ".join(model.class_names))


def _add_labels(graph: Graph, model: FittedModel, numbers: Value, unknown: Value) -> None:
    nothing = graph.constant(np.int64(model.n_classes))
    numbers = graph.add("Where", _flat(graph, unknown), nothing, numbers)
    names = graph.constant(np.array([*model.class_names, ""], dtype=object))
    told = "the class; nothing for a row with a gap"
    graph.output(LABEL, graph.add("Gather", names, numbers, dtype=object), None, told)


def _flat(graph: Graph, column: Value) -> Value:
    return graph.columns(column, 0)
