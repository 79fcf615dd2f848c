"""A benchmark harness for learning under a memory budget.

What this module exports is all that a plugin needs. Numerical building blocks that plugins share
are in `harness.kernels`. `budget` and `measure` are for code of any kind, `plan`, `run` and
`results` for notebooks.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from harness.errors import OverBudget
from harness.planning.own_bytes import overhead_bytes, prediction_bytes
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
from harness.plugin.method import Method
from harness.plugin.search_space import Distribution, choice, log_uniform, settings_at, uniform
from harness.plugin.shape import PREDICT_BLOCK, Shape
from harness.plugin.storage import Arrays, Storage, beside

if TYPE_CHECKING:
    from harness.datasets.adding import add
    from harness.measuring import budget, measure
    from harness.python import Data, Planned, Results, plan, results, run
    from harness.scikit_learn import sklearn_method
    from harness.trial.fitted_model import load_model

__all__ = [
    "PREDICT_BLOCK",
    "Arrays",
    "Data",
    "Distribution",
    "Evaluate",
    "GeneratedDataset",
    "Kernel",
    "LandmarkSelector",
    "Method",
    "Metric",
    "OverBudget",
    "Planned",
    "ReportSection",
    "Results",
    "Search",
    "Shape",
    "Storage",
    "TrialInfo",
    "add",
    "beside",
    "budget",
    "choice",
    "hookimpl",
    "load_model",
    "log_uniform",
    "measure",
    "overhead_bytes",
    "plan",
    "prediction_bytes",
    "results",
    "run",
    "settings_at",
    "sklearn_method",
    "uniform",
]
__version__ = "0.1.0"

_LATER = {
    "add": "harness.datasets.adding",
    **dict.fromkeys(("budget", "measure"), "harness.measuring"),
    **dict.fromkeys(("Data", "Planned", "Results", "plan", "results", "run"), "harness.python"),
    "load_model": "harness.trial.fitted_model",
    "sklearn_method": "harness.scikit_learn",
}


def __getattr__(name: str) -> Any:
    """Import what only users of the library need when it is first asked for."""
    home = _LATER.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)
