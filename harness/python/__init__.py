"""What a notebook or a script calls: plan a study, run it, ask its results."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.python.data import Data
    from harness.python.planning import Planned, plan
    from harness.python.running import run
    from harness.python.study_results import Results, results

__all__ = ["Data", "Planned", "Results", "plan", "results", "run"]

_HOMES = {
    "Data": "data",
    "Planned": "planning",
    "plan": "planning",
    "run": "running",
    "Results": "study_results",
    "results": "study_results",
}


def __getattr__(name: str) -> Any:
    """Import each when it is first asked for: a progress bar needs no scikit-learn."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
