"""Layers of scores as nodes of a graph."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from functools import singledispatch

import numpy as np

from harness.errors import HarnessError
from harness.kernels.functions import KERNELS
from harness.layers import (
    Add,
    Center,
    Expand,
    KernelValues,
    Layer,
    Linear,
    Nearest,
    Normalize,
    OneVsOne,
    Signs,
    Sum,
    Waves,
)
from harness.onnx_export.graph import Graph, Value


def through(graph: Graph, layers: Iterable[Layer], X: Value) -> Value:
    """Return what layers make of rows.

    Raises
    ------
    HarnessError
        If one of them is a kernel of a plugin.
    """
    for layer in layers:
        X = _through(layer, graph, X)
    return X


@singledispatch
def _through(layer: object, graph: Graph, X: Value) -> Value:
    raise HarnessError(f"layers() gave a {type(layer).__name__}, which is none of harness.layers")


@_through.register
def _(layer: Center, graph: Graph, X: Value) -> Value:
    if layer.point is not None:
        X = graph.combine("Sub", X, layer.point)
    return X if layer.dtype is None else graph.cast(X, layer.dtype)


@_through.register
def _(layer: Linear, graph: Graph, X: Value) -> Value:
    X = graph.combine("MatMul", X, layer.coef)
    return X if layer.intercept is None else graph.combine("Add", X, layer.intercept)


@_through.register
def _(layer: Add, graph: Graph, X: Value) -> Value:
    return graph.combine("Add", X, layer.values)


@_through.register
def _(layer: Waves, graph: Graph, X: Value) -> Value:
    X = graph.combine("MatMul", X, layer.frequencies)
    m = layer.frequencies.shape[1]
    if layer.phases is None:
        waves = graph.add("Concat", graph.add("Cos", X), graph.add("Sin", X), axis=1)
        return graph.add("Mul", waves, graph.scalar(waves, m**-0.5))
    waves = graph.add("Cos", graph.combine("Add", X, layer.phases))
    return graph.add("Mul", waves, graph.scalar(waves, (2 / m) ** 0.5))


@_through.register
def _(layer: Normalize, graph: Graph, X: Value) -> Value:
    limits = np.finfo(X.dtype)
    largest = graph.reduce("ReduceMax", graph.add("Abs", X))
    least = graph.scalar(X, limits.tiny / limits.eps)
    known = graph.add("Greater", largest, least, dtype=bool)
    one, zero = graph.scalar(X, 1), graph.scalar(X, 0)
    # in two steps: squares of small numbers would be none
    near_one = graph.add("Div", X, graph.add("Where", known, largest, one))
    near_one = graph.add("Where", known, near_one, zero)
    norms = graph.add("Sqrt", graph.reduce("ReduceSumSquare", near_one))
    return graph.add("Div", near_one, graph.add("Where", known, norms, one))


@_through.register
def _(layer: Signs, graph: Graph, X: Value) -> Value:
    above = graph.add("Greater", X, graph.scalar(X, 0), dtype=bool)
    return graph.add("Where", above, graph.scalar(X, 1), graph.scalar(X, -1))


@_through.register
def _(layer: Sum, graph: Graph, X: Value) -> Value:
    first, *others = (through(graph, branch, X) for branch in layer.branches)
    for other in others:
        dtype = np.result_type(first.dtype, other.dtype)
        first = graph.add("Add", graph.cast(first, dtype), graph.cast(other, dtype))
    return first


@_through.register
def _(layer: Nearest, graph: Graph, X: Value) -> Value:
    number = graph.add("ArgMax", X, dtype=np.int64, axis=1, keepdims=0)
    return graph.add("Gather", graph.constant(layer.table), number, dtype=layer.table.dtype)


@_through.register
def _(layer: OneVsOne, graph: Graph, X: Value) -> Value:
    pairs = list(itertools.combinations(range(layer.n_classes), 2))
    first, second = np.zeros((2, len(pairs), layer.n_classes), X.dtype)
    for place, (i, j) in enumerate(pairs):
        first[place, i] = second[place, j] = 1
    confidences = graph.combine("MatMul", X, first - second)
    below = graph.add("Less", X, graph.scalar(X, 0), dtype=bool)
    won = graph.add("Where", below, graph.scalar(X, 0), graph.scalar(X, 1))
    # a vote for i where the pair is not below 0, else for j: won first + (1 - won) second
    votes = graph.combine("Add", graph.combine("MatMul", won, first - second), second.sum(axis=0))
    size = graph.add("Add", graph.add("Abs", confidences), graph.scalar(X, 1))
    third = graph.add("Mul", size, graph.scalar(X, 3))
    return graph.add("Add", votes, graph.add("Div", confidences, third))


@_through.register
def _(layer: Expand, graph: Graph, X: Value) -> Value:
    present = np.asarray(layer.present)
    if layer.columns == layer.n_classes:
        X = graph.columns(X, present)
    elif layer.columns == 1:
        X = graph.add("Concat", graph.add("Neg", X), X, axis=1)
    lowest = graph.add("Sub", graph.reduce("ReduceMin", X), graph.scalar(X, 1))
    places = np.full(layer.n_classes, len(present))
    places[present] = np.arange(len(present))
    return graph.columns(graph.add("Concat", X, lowest, axis=1), places)


@_through.register
def _(layer: KernelValues, graph: Graph, X: Value) -> Value:
    Z, X = layer.points, graph.cast(X, layer.points.dtype)
    name = _kernel_name(layer)
    if name == "linear":
        return graph.combine("MatMul", X, Z.T)
    if name == "poly2":
        products = graph.combine("MatMul", X, Z.T / Z.dtype.type(layer.width**2))
        shifted = graph.add("Add", products, graph.scalar(products, 1))
        return graph.add("Mul", shifted, shifted)
    if name == "rbf":
        exponents = _gaussian_exponents(graph, X, Z, 1 / layer.width**2)
    else:
        exponents = _distances(graph, X, Z, name)
        part = -1 / layer.width if name == "laplacian" else -1 / (2 * layer.width**2)
        exponents = graph.add("Mul", exponents, graph.scalar(exponents, part))
    return graph.add("Exp", graph.add("Min", exponents, graph.scalar(exponents, 0)))


def _kernel_name(layer: KernelValues) -> str:
    for name, kernel in KERNELS.items():
        if layer.kernel is kernel or layer.kernel == name:
            return name
    name = getattr(layer.kernel, "name", type(layer.kernel).__name__)
    raise HarnessError(f"its kernel {name} is one of a plugin; ONNX has {', '.join(KERNELS)} here")


def _gaussian_exponents(graph: Graph, X: Value, Z: np.ndarray, scale: float) -> Value:
    """Return -|x - z|^2 / 2 width^2 as `gaussian_kernel` does: one product and two norms."""
    scale = Z.dtype.type(scale)
    products = graph.combine("MatMul", X, Z.T * scale)
    squares = graph.reduce("ReduceSumSquare", X)
    half = graph.add("Mul", squares, graph.scalar(X, scale / 2))
    norms = np.einsum("ij,ij->i", Z, Z) * (scale / 2)
    return graph.combine("Sub", graph.add("Sub", products, half), norms)


def _distances(graph: Graph, X: Value, Z: np.ndarray, kernel: str) -> Value:
    """Return sums over features of |x - z|, or of (x - z)^2 / (x + z)."""
    apart = graph.add("Unsqueeze", X, graph.constant(np.array([1])), dtype=X.dtype)
    terms = difference = graph.combine("Sub", apart, Z[None])
    if kernel == "laplacian":
        terms = graph.add("Abs", difference)
    else:
        total = graph.combine("Add", apart, Z[None])
        nothing = graph.add("Equal", total, graph.scalar(X, 0), dtype=bool)
        total = graph.add("Where", nothing, graph.scalar(X, 1), total)
        terms = graph.add("Div", graph.add("Mul", difference, difference), total)
    return graph.add("ReduceSum", terms, graph.constant(np.array([2])), dtype=X.dtype, keepdims=0)
