"""A benchmark harness for learning under a memory budget.

What this module exports is all that a plugin needs. Numerical building blocks that plugins share
are in `harness.kernels`. `budget` and `measure` are for code of any kind.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from harness.errors import OverBudget
from harness.planning.size import overhead_bytes, prediction_bytes
from harness.plugin.hookspecs import (
    Evaluate,
    GeneratedDataset,
    Kernel,
    LandmarkSelector,
    Metric,
    ReportSection,
    Search,
    TrialInfo,
    hookimpl,
)
from harness.plugin.method import PREDICT_BLOCK, Method, Shape
from harness.plugin.search_space import Distribution, choice, log_uniform, settings_at, uniform
from harness.plugin.storage import Arrays, Storage, beside

if TYPE_CHECKING:
    from harness.measuring import budget, measure
    from harness.scikit_learn import sklearn_method

__all__ = [
    "PREDICT_BLOCK",
    "Arrays",
    "Distribution",
    "Evaluate",
    "GeneratedDataset",
    "Kernel",
    "LandmarkSelector",
    "Method",
    "Metric",
    "OverBudget",
    "ReportSection",
    "Search",
    "Shape",
    "Storage",
    "TrialInfo",
    "beside",
    "budget",
    "choice",
    "hookimpl",
    "log_uniform",
    "measure",
    "overhead_bytes",
    "prediction_bytes",
    "settings_at",
    "sklearn_method",
    "uniform",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    """Import what only users of the library need when it is first asked for."""
    if name in ("budget", "measure"):
        from harness import measuring

        return getattr(measuring, name)
    if name == "sklearn_method":
        from harness.scikit_learn import sklearn_method

        return sklearn_method
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
