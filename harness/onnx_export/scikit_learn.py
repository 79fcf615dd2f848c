"""Estimators of scikit-learn within a graph, by skl2onnx."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from onnx import ModelProto, TensorProto, compose, helper
from sklearn.base import is_classifier
from sklearn.pipeline import Pipeline
from sklearn.semi_supervised import SelfTrainingClassifier

from harness.errors import HarnessError
from harness.onnx_export.graph import OPSETS, Graph, Value

_INPUT, _PREFIX = "X", "scikit_learn_"
_MOST_SHOWN = 120


def through_skl2onnx(
    graph: Graph, estimator: Any, X: Value, n_features: int, scores: str | None
) -> Value:
    """Return what a fitted estimator makes of rows.

    Parameters
    ----------
    graph : Graph
    estimator : fitted estimator
        Of scikit-learn.
    X : Value
        Turned into float32, which is what converters are written for.
    n_features : int
    scores : {"decision_function", "predict_proba"} or None
        What is asked of a classifier; None asks for what `predict` gives.

    Returns
    -------
    Value
        A column a class, two for two classes; or what is predicted, in one axis.

    Raises
    ------
    HarnessError
        If skl2onnx does not convert it.
    """
    if isinstance(estimator, SelfTrainingClassifier):
        estimator = estimator.estimator_  # which answers for it
    found = compose.add_prefix(_converted(estimator, n_features, scores), _PREFIX)
    body = found.graph
    X = graph.cast(X, np.float32)
    graph.nodes.append(helper.make_node("Identity", [X.name], [body.input[0].name]))
    graph.nodes.extend(body.node)
    graph.initializers.extend(body.initializer)
    out = body.output[-1 if scores else 0]
    is_number = out.type.tensor_type.elem_type == TensorProto.INT64
    made = Value(out.name, np.dtype(np.int64 if is_number else np.float32))
    return made if scores else graph.add("Reshape", made, graph.constant([-1]), dtype=made.dtype)


def _converted(estimator: Any, n_features: int, scores: str | None) -> ModelProto:
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType

    last = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    asked: dict[str, bool] = {"raw_scores": True} if scores == "decision_function" else {}
    # a map of names to scores is nothing that other nodes read; not all converters know of it
    tried = [{**asked, "zipmap": False}, asked] if is_classifier(last) else [{}]
    rows = [(_INPUT, FloatTensorType([None, n_features]))]
    opsets, why = dict(OPSETS), ""
    for options in tried:
        try:
            given = {id(last): options}
            with warnings.catch_warnings():
                # it reads attributes that scikit-learn deprecates, which is no concern of a user's
                warnings.simplefilter("ignore", FutureWarning)
                return convert_sklearn(
                    estimator, initial_types=rows, target_opset=opsets, options=given
                )
        except NameError as error:  # of an option
            why = str(error)
        except Exception as error:  # whatever a converter leads to
            why = str(error)
            break
    why = " ".join(why.split())
    shown = why if len(why) <= _MOST_SHOWN else f"{why[:_MOST_SHOWN]}..."
    raise HarnessError(f"skl2onnx does not convert {type(last).__name__}: {shown}")
