"""What the page "What fits me?" knows of kept studies, as plain JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from harness.advice.advise import LEAST_WEIGHT
from harness.advice.model import CONFIDENCE, RIDGE, Scores, drawn_anew, scores_of
from harness.advice.nearness import CLASSES_SCALE, FAR, NEAR
from harness.report.cheapest import EQUALLY_CHEAP
from harness.report.metric_bounds import RANGES
from harness.report.scores import SCORES

RULES = {
    "near": NEAR,
    "far": FAR,
    "ridge": RIDGE,
    "least_weight": LEAST_WEIGHT,
    "classes_scale": CLASSES_SCALE,
    "equally_cheap": EQUALLY_CHEAP,
    "upper": (1 + CONFIDENCE) / 2,
}
"""Constants of the model, by the names that `advice.js` has for them."""


def advice_data(
    evidence: pd.DataFrame, controls: Sequence[str], metrics: Sequence[str]
) -> dict[str, Any]:
    """Return the scores of each metric, as `advice.js` reads them.

    Parameters
    ----------
    evidence : pandas.DataFrame
        From `read_evidence`.
    controls : sequence of str
        Methods that are left out.
    metrics : sequence of str
    """
    return {name: _plain(scores_of(evidence, name, controls)) for name in metrics}


def _plain(scores: Scores) -> dict[str, Any]:
    settings = scores.settings
    least, most = (None if np.isinf(end) else end for end in RANGES[scores.metric])
    names = settings["dataset"].drop_duplicates().tolist()
    told = ["study", "task", "n_labeled", "n_unlabeled", "n_test", "budget", "n_features"]
    told += ["n_classes", "bytes"]
    return {
        "label": SCORES[scores.metric].label,
        "sign": scores.sign,
        "range": [least, most],
        "methods": scores.methods,
        "table": [[None if np.isnan(v) else round(v, 6) for v in row] for row in scores.table],
        "places": scores.places.round(9).tolist(),
        "datasets": scores.datasets.tolist(),
        "names": names,
        "draws": drawn_anew(scores).tolist(),
        "settings": settings[told].to_dict("list"),
    }
