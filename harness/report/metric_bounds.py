"""Between what bounds a metric lies, and what of an interval lies there.

Student's interval knows of no bounds: around an AUC of 0.99 it may reach to 1.004. Pages, charts
and sentences show it cut off at what the metric can be; the CSV files keep it whole, since its
width is what other software needs of it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

_SHARE = (0.0, 1.0)
RANGES = {
    "auc": _SHARE,
    "average_precision": _SHARE,
    "accuracy": _SHARE,
    "balanced_accuracy": _SHARE,
    "error_rate": _SHARE,
    "f1_macro": _SHARE,
    "matthews_corrcoef": (-1.0, 1.0),
    "log_loss": (0.0, math.inf),
    "brier_score": (0.0, 2.0),
    "expected_calibration_error": _SHARE,
    "nmse": (0.0, math.inf),
    "r2": (-math.inf, 1.0),
    "mean_absolute_error": (0.0, math.inf),
    "adjusted_rand": (-0.5, 1.0),
    "fowlkes_mallows": _SHARE,
    "silhouette": (-1.0, 1.0),
    "calinski_harabasz": (0.0, math.inf),
}
"""What the built-in metrics can be; of a plugin's metric, nothing is known."""


def within_range(metric: str, ends: ArrayLike, unit: str = "") -> np.ndarray:
    """Cut off ends of intervals at what a metric can be; NaN stays.

    Parameters
    ----------
    metric : str
    ends : array-like
    unit : str, default ""
        "%" if they are in percent.
    """
    least, most = RANGES.get(metric, (-math.inf, math.inf))
    scale = 100 if unit == "%" else 1
    return np.clip(np.asarray(ends, float), scale * least, scale * most)
