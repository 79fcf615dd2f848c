"""A fitted model as an ONNX file: rows as their source has them in, classes and scores out.

What prepares rows, what scores them and what names classes become one graph. Scores are those of
an estimator's `layers()`, or of scikit-learn's estimators by skl2onnx. `required` is asked before
anything is fitted; the packages are imported where a model is written.
"""

from __future__ import annotations

import importlib.util

from harness.errors import HarnessError

SUFFIX = ".onnx"

_PACKAGES = ("onnx", "onnxruntime", "skl2onnx")


def required() -> None:
    """Refuse to go on without the packages that write and check such files.

    Raises
    ------
    HarnessError
        With the extra that installs them.
    """
    lacking = [name for name in _PACKAGES if importlib.util.find_spec(name) is None]
    if lacking:
        raise HarnessError(
            f"an ONNX file needs packages that are not installed here ({', '.join(lacking)}): "
            "pip install 'memory-budget-harness[onnx]'"
        )
