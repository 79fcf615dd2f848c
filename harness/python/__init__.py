"""What a notebook or a script calls: run a study, ask its results."""

from harness.python.data import Data
from harness.python.running import run
from harness.python.study_results import Results, results

__all__ = ["Data", "Results", "results", "run"]
