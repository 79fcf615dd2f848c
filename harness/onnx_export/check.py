"""What an ONNX file gives beside what its model gave, by onnxruntime."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime

from harness.errors import HarnessError
from harness.plugin.method import NO_SCORE

MOST = 1e-3
"""What scores or values may differ by, in parts of their range, before a file is refused."""


@dataclass(frozen=True)
class Agreement:
    """How a file's predictions differ from those of its model.

    Attributes
    ----------
    rows : int
        Rows that both predicted.
    difference : float or None
        Largest difference of scores or values, in parts of their range; None of labels alone.
    other_labels : int or None
        Rows with another label; None of a regression.
    inputs, outputs : dict of str to str
        Names, with type and shape.
    """

    rows: int
    difference: float | None
    other_labels: int | None
    inputs: dict[str, str]
    outputs: dict[str, str]


def compare(
    written: bytes, given: Mapping[str, Any], predicted: Mapping[str, np.ndarray], names: list[str]
) -> Agreement:
    """Run a file on rows, and compare.

    Parameters
    ----------
    written : bytes
    given : mapping of str to ndarray
        Its inputs.
    predicted : mapping of str to ndarray
        "values", "labels" as numbers of classes or clusters, and "scores" of the model.
    names : list of str
        Of the classes; empty for numbers.

    Raises
    ------
    HarnessError
        If scores or values differ by more than `MOST`.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(written, options, providers=["CPUExecutionProvider"])
    outputs = [out.name for out in session.get_outputs()]
    found = dict(zip(outputs, session.run(outputs, dict(given)), strict=True))
    rows = len(next(iter(found.values())))
    difference = None
    for ours, theirs in (("values", "value"), ("scores", "scores")):
        if ours in predicted and theirs in found:
            difference = _difference(predicted[ours], found[theirs])
    other = None
    if "labels" in predicted:
        labels = predicted["labels"].astype(np.int64)
        expected = np.array(names, dtype=object)[labels] if names else labels
        other = int(np.count_nonzero(expected != found["label" if names else "cluster"]))
    told = f"{difference:.2g} of their range" if difference is not None else f"{other} labels"
    if (not (other or 0) <= MOST * rows and difference is None) or not (difference or 0) <= MOST:
        raise HarnessError(
            f"an ONNX file would predict something else than the model: on {rows} rows the two "
            f"differ by {told}, and {MOST:g} is allowed; write it as model.joblib"
        )
    return Agreement(
        rows,
        difference,
        other,
        {value.name: _told(value) for value in session.get_inputs()},
        {value.name: _told(value) for value in session.get_outputs()},
    )


def _difference(expected: np.ndarray, found: np.ndarray) -> float:
    known = expected > NO_SCORE / 2
    spread = float(np.ptp(expected[known])) or float(np.abs(expected[known]).max()) or 1.0
    return float(np.abs(expected - found)[known].max()) / spread


def _told(value: Any) -> str:
    kind = {"tensor(float)": "float32", "tensor(double)": "float64"}.get(value.type)
    kind = kind or value.type.removeprefix("tensor(").removesuffix(")")
    return f"{kind} ({', '.join(str(length) for length in value.shape)})"
