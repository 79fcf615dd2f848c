"""A graph of ONNX operators that is written node by node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import DTypeLike
from onnx import helper, numpy_helper

OPSETS = {"": 18, "ai.onnx.ml": 3}
"""Versions of the operators: of 2022, so that older runtimes read the files."""
IR_VERSION = 8


@dataclass(frozen=True)
class Value:
    """What a node gives.

    Attributes
    ----------
    name : str
    dtype : numpy.dtype
        That of text is `object`.
    """

    name: str
    dtype: np.dtype


class Graph:
    """Nodes, constants, inputs and outputs of a model."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self._inputs: list[onnx.ValueInfoProto] = []
        self._outputs: list[onnx.ValueInfoProto] = []
        self._count = 0

    def input(self, name: str, dtype: DTypeLike, columns: int, told: str) -> Value:
        """Declare an input of any number of rows, and say what it holds."""
        value = Value(name, np.dtype(dtype))
        self._inputs.append(_declared(value, ["rows", columns], told))
        return value

    def output(self, name: str, value: Value, columns: int | None, told: str) -> None:
        """Declare an output: a number a row, or so many columns."""
        made = self.add("Identity", value, name=name)
        shape: list[str | int] = ["rows"] if columns is None else ["rows", columns]
        self._outputs.append(_declared(made, shape, told))

    def constant(self, array: Any) -> Value:
        """Hold an array."""
        array = np.asarray(array)
        if array.dtype.kind == "U":
            array = array.astype(object)
        name = self.new_name("constant")
        self.initializers.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return Value(name, array.dtype)

    def add(
        self,
        op: str,
        *inputs: Value,
        dtype: DTypeLike | None = None,
        domain: str = "",
        name: str | None = None,
        **attributes: Any,
    ) -> Value:
        """Add a node with one output, of the type of its last input unless that is said."""
        out = name or self.new_name(op)
        node = helper.make_node(op, [i.name for i in inputs], [out], domain=domain, **attributes)
        self.nodes.append(node)
        return Value(out, inputs[-1].dtype if dtype is None else np.dtype(dtype))

    def cast(self, value: Value, dtype: DTypeLike) -> Value:
        """Turn a value into another type."""
        if value.dtype == dtype:
            return value
        to = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
        return self.add("Cast", value, dtype=dtype, to=to)

    def combine(self, op: str, value: Value, array: Any) -> Value:
        """Apply an operator to a value and an array, in the wider type of both, as NumPy does."""
        array = np.asarray(array)
        dtype = np.result_type(value.dtype, array.dtype)
        return self.add(op, self.cast(value, dtype), self.constant(array.astype(dtype)))

    def reduce(self, op: str, value: Value) -> Value:
        """Reduce each row to one column."""
        return self.add(op, value, self.constant(np.array([1])), dtype=value.dtype, keepdims=1)

    def scalar(self, value: Value, number: float) -> Value:
        """Hold a number in the type of a value."""
        return self.constant(np.array(number, value.dtype))

    def columns(self, value: Value, columns: Any) -> Value:
        """Pick columns; a single number picks one and drops the axis."""
        picked = self.constant(np.asarray(columns, dtype=np.int64))
        return self.add("Gather", value, picked, dtype=value.dtype, axis=1)

    def new_name(self, kind: str) -> str:
        """Return a name that no node has yet."""
        self._count += 1
        return f"{kind.lower()}_{self._count}"

    def model(self, metadata: Mapping[str, str], told: str) -> onnx.ModelProto:
        """Return the model, checked.

        Parameters
        ----------
        metadata : mapping of str to str
            What the file says of itself.
        told : str
            A sentence on what it is.
        """
        used = {node.domain for node in self.nodes} | {""}
        named = self.nodes, "model", self._inputs, self._outputs, self.initializers
        made = helper.make_model(
            helper.make_graph(*named, doc_string=told),
            producer_name="memory-budget-harness",
            ir_version=IR_VERSION,
            opset_imports=[helper.make_opsetid(name, OPSETS[name]) for name in sorted(used)],
        )
        helper.set_model_props(made, dict(metadata))
        onnx.checker.check_model(made)
        return made


def _declared(value: Value, shape: Sequence[str | int], told: str) -> onnx.ValueInfoProto:
    kind = onnx.TensorProto.STRING
    if value.dtype != object:
        kind = helper.np_dtype_to_tensor_dtype(value.dtype)
    return helper.make_tensor_value_info(value.name, kind, shape, doc_string=told)
