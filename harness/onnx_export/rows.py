"""Rows as their source has them, encoded and scaled within the graph as a data set was.

The same steps as `harness.datasets.raw_rows.RowPreparation`, in the same order and types. What it
refuses, a graph cannot refuse: such rows get NaN everywhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from harness.onnx_export.graph import Graph, Value

if TYPE_CHECKING:
    import pandas as pd

    from harness.datasets.raw_rows import RowPreparation
    from harness.datasets.scaling import Scaling

NUMBERS, NAMES, ROWS = "numbers", "names", "X"
"""Inputs: columns of numbers and of names, or rows where all columns are numbers."""


def prepared_rows(graph: Graph, preparation: RowPreparation) -> Value:
    """Declare inputs for rows of the source, and return them prepared."""
    made = preparation
    numeric, nominal = list(made.numeric), made.nominal
    parts, places = [], []
    if numeric:
        told = ", ".join(str(made.columns[place]) for place in numeric)
        name = NUMBERS if nominal else ROWS
        X = graph.input(name, made.dtype, len(numeric), told)
        parts.append(_numbers(graph, X, made))
        places += list(made.targets)
    if nominal:
        told = ", ".join(str(column.name) for column in nominal)
        names = graph.input(NAMES, object, len(nominal), told)
        for place, column in enumerate(nominal):
            keys = list(column.codes)
            table = np.array([column.codes[key] for key in keys]).reshape(len(keys), -1)
            unknown = np.full((1, table.shape[1]), np.nan)
            table = np.concatenate([table, unknown]).astype(made.dtype)
            number = graph.add(
                "LabelEncoder",
                graph.columns(names, place),
                dtype=np.int64,
                domain="ai.onnx.ml",
                keys_strings=keys,
                values_int64s=list(range(len(keys))),
                default_int64=len(keys),
            )
            parts.append(graph.add("Gather", graph.constant(table), number, dtype=made.dtype))
            places += range(column.position, column.position + table.shape[1])
    X = parts[0]
    if len(parts) > 1:
        X = graph.columns(graph.add("Concat", *parts, axis=1), np.argsort(places))
    if made.divide_by != 1:
        X = graph.add("Div", X, graph.scalar(X, made.divide_by))
    return _scaled(graph, X, made.scaling)


def _numbers(graph: Graph, X: Value, made: RowPreparation) -> Value:
    if len(made.logarithm):
        logarithm = np.isin(np.arange(len(made.numeric)), made.logarithm)
        X = graph.cast(X, np.float64)
        logs = graph.add("Log", graph.add("Add", X, graph.scalar(X, 1)))
        X = graph.add("Where", graph.constant(logarithm), logs, X)
    missing = graph.add("IsNaN", X, dtype=bool)
    endless = graph.add("IsInf", X, dtype=bool)
    gaps = graph.add("Or", missing, endless)
    fills = graph.constant(made.fills.astype(X.dtype))
    return graph.cast(graph.add("Where", gaps, fills, X), made.dtype)


def _scaled(graph: Graph, X: Value, scaling: Scaling) -> Value:
    """Do what `Scaling.apply` does."""
    if scaling.name == "none":
        return X
    if scaling.name == "unit":
        squares = graph.reduce("ReduceSumSquare", graph.cast(X, np.float64))
        norms = graph.add("Sqrt", squares)
        zero = graph.add("Equal", norms, graph.scalar(norms, 0), dtype=bool)
        norms = graph.add("Where", zero, graph.scalar(norms, 1), norms)
        return graph.add("Div", X, graph.cast(norms, X.dtype))
    scaled = X
    for shift in scaling.shifts:
        scaled = graph.combine("Sub", scaled, shift)
    scaled = graph.cast(graph.combine("Div", scaled, scaling.divisor), X.dtype)
    if scaling.constant.any():
        constant = graph.constant(scaling.constant)
        known = graph.add("Mul", scaled, graph.scalar(scaled, 0))  # NaN stays
        scaled = graph.add("Where", constant, known, scaled)
    return scaled if scaling.root is None else graph.combine("MatMul", scaled, scaling.root)


def inputs(preparation: RowPreparation, table: pd.DataFrame) -> dict[str, Any]:
    """Return rows of the source as the graph is given them, by the names of its inputs."""
    from harness.datasets.raw_rows import written_names

    made, found = preparation, {}
    if len(made.numeric):
        held = table.iloc[:, made.numeric].to_numpy(dtype=np.float64, na_value=np.nan)
        found[NUMBERS if made.nominal else ROWS] = held.astype(made.dtype)
    if made.nominal:
        names = [written_names(table[column.name]) for column in made.nominal]
        found[NAMES] = np.column_stack(names)
    return found
