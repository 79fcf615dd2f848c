"""What a notebook or a script calls: plan a study, run it, ask its results."""

from harness.python.data import Data
from harness.python.planning import Planned, plan
from harness.python.running import run
from harness.python.study_results import Results, results

__all__ = ["Data", "Planned", "Results", "plan", "results", "run"]
