"""A benchmark harness for learning under a memory budget.

What this module exports is all that a plugin needs. Numerical building blocks that plugins share
are in `harness.kernels`.
"""

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
from harness.plugin.storage import Arrays, Storage

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
    "ReportSection",
    "Search",
    "Shape",
    "Storage",
    "TrialInfo",
    "choice",
    "hookimpl",
    "log_uniform",
    "overhead_bytes",
    "prediction_bytes",
    "settings_at",
    "uniform",
]
__version__ = "0.1.0"
