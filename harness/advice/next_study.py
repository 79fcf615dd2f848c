"""A study that tries what was advised."""

from __future__ import annotations

from collections.abc import Sequence

from harness.advice.sizes import Fit
from harness.strict_yaml import written

_STUDY = """\
# Tries what `harness advise` put first. harness plan @CALLED@, then harness run @CALLED@
title: @TITLE@
@DATASETS@
methods: @METHODS@
labeled: @LABELED@
@EVALUATION@budgets: [@BUDGET@]
seeds: 5
metrics: [@METRIC@]
tuning: @TUNING@
"""

_TUNING = "{search: random, trials: 10, folds: 3}"


def study_text(
    fits: Sequence[Fit],
    dataset: str | None,
    labeled: int,
    test: int,
    budget: str,
    metric: str,
    task: str,
    called: str,
) -> str:
    """Return the text of a study.

    Parameters
    ----------
    fits : sequence of Fit
        The methods that are tried.
    dataset : str or None
        Its name in the catalog; None for one that is still to be added.
    labeled, test : int
        Points with a label, and points that are held out.
    budget, metric, task : str
    called : str
        What commands call the study.
    """
    name = dataset or "my-data"
    datasets = f"datasets: [{name}]"
    if dataset is None:
        datasets += "  # first: harness add FILE --name my-data --no-study"
    clusters = task == "clustering"
    told = {
        "CALLED": called,
        "TITLE": written(f"What is best on {name} in {budget}?"),
        "DATASETS": datasets + ("\ntask: clustering" if clusters else ""),
        "METHODS": written([fit.method for fit in fits]),
        "LABELED": str(labeled),
        "EVALUATION": f"evaluation: {{test: {test}}}\n" if test and not clusters else "",
        "BUDGET": budget,
        "METRIC": metric,
        "TUNING": _TUNING if not clusters and any(fit.space for fit in fits) else "none",
    }
    text = _STUDY
    for key, value in told.items():
        text = text.replace(f"@{key}@", value)
    return text
