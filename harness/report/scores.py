"""Which metric a data set is judged by, and which way is better.

A study may mix tasks, so the choice is made per data set: the metric that was asked for, else the
first of the study's `metrics` that this data set has, else the default of its task.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from harness.errors import unknown_name
from harness.metrics.functions import BUILT_IN
from harness.metrics.names import PRIMARY
from harness.plugin.method import TASKS

if TYPE_CHECKING:
    from harness.report.results import Results


@dataclass(frozen=True)
class Score:
    """How a metric is read.

    Attributes
    ----------
    name : str
    greater_is_better : bool
    tasks : set of str
        Where it applies.
    label : str
        What axes and tables call it.
    declared : bool
        False for a plugin's metric whose direction nothing states.
    """

    name: str
    greater_is_better: bool
    tasks: Set[str]
    label: str
    declared: bool = True

    @property
    def direction(self) -> str:
        """Which way is better, in words."""
        return "higher is better" if self.greater_is_better else "lower is better"


_LABELS = {
    "auc": "AUC",
    "f1_macro": "macro F1",
    "matthews_corrcoef": "Matthews correlation",
    "brier_score": "Brier score",
    "nmse": "normalised MSE",
    "r2": "R²",
    "adjusted_rand": "adjusted Rand index",
    "fowlkes_mallows": "Fowlkes-Mallows index",
    "calinski_harabasz": "Calinski-Harabasz index",
}
SCORES = {
    metric.name: Score(
        metric.name,
        metric.greater_is_better,
        metric.tasks,
        _LABELS.get(metric.name, metric.name.replace("_", " ")),
    )
    for metric in BUILT_IN
}
FAMILIES = {"binary": "classification", "multiclass": "classification"}
"""Tasks whose data sets are ranked together; other tasks are families of their own."""


def score_of(name: str, declared: Mapping[str, Any]) -> Score:
    """Look a metric up among the built-in ones, then among those that provenance declares.

    Parameters
    ----------
    name : str
    declared : mapping
        `metrics` of `provenance.json`: name -> {"greater_is_better": bool, "tasks": [str]}.
    """
    if name in SCORES:
        return SCORES[name]
    given = declared.get(name)
    given = given if isinstance(given, Mapping) else {}
    return Score(
        name,
        bool(given.get("greater_is_better", True)),
        frozenset(given.get("tasks", TASKS)),
        name,
        declared="greater_is_better" in given,
    )


def declared_metrics(results: Results) -> Mapping[str, Any]:
    """Return what `provenance.json` says of metrics, if anything."""
    declared = results.provenance.get("metrics")
    return declared if isinstance(declared, Mapping) else {}


def choose_scores(results: Results, metric: str | None = None) -> dict[str, Score]:
    """Choose the metric of each problem.

    Parameters
    ----------
    results : Results
    metric : str, optional
        Wanted wherever it applies.

    Raises
    ------
    HarnessError
        If there is no metric of that name, or no data set has it.
    """
    declared = declared_metrics(results)
    found = [name for name in results.metrics if results.problems_with[name]]
    if metric is not None and metric not in found:
        raise unknown_name("metric", metric, found, str(results.directory))
    asked = results.study.get("metrics") or []
    listed = asked if isinstance(asked, list) else [asked]
    wanted = [*([metric] if metric else []), *map(str, listed)]
    tasks = results.cells.drop_duplicates("problem").set_index("problem")["task"].sort_index()
    chosen = {}
    for problem, task in tasks.items():
        has = [name for name in found if problem in results.problems_with[name]]
        default = PRIMARY.get(task, has[0] if has else "accuracy")
        name = _first(wanted, default, has, task, declared)
        chosen[problem] = score_of(name, declared)
    return chosen


def _first(
    wanted: Iterable[str], default: str, has: list[str], task: str, declared: Mapping[str, Any]
) -> str:
    """Take the first that has values; where nothing has any, the first that would apply."""
    candidates = [*wanted, default]
    for name in candidates:
        if name in has:
            return name
    if has:
        return has[0]
    return next(
        name for name in candidates if task in score_of(name, declared).tasks or name == default
    )
