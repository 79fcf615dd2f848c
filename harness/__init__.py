"""A benchmark harness for learning under a memory budget.

What this module exports is all that a plugin needs. Numerical building blocks that plugins share
are in `harness.kernels`.
"""

from harness.hookspecs import (
    GeneratedDataset,
    Kernel,
    LandmarkSelector,
    Metric,
    ReportSection,
    TrialInfo,
    hookimpl,
)
from harness.method import PREDICT_BLOCK, Method, Shape, overhead_bytes
from harness.space import choice, log_uniform, uniform

__all__ = [
    "PREDICT_BLOCK",
    "GeneratedDataset",
    "Kernel",
    "LandmarkSelector",
    "Method",
    "Metric",
    "ReportSection",
    "Shape",
    "TrialInfo",
    "choice",
    "hookimpl",
    "log_uniform",
    "overhead_bytes",
    "uniform",
]
__version__ = "0.1.0"
