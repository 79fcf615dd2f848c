"""The budget as a library: any code, callable or command under a memory budget, and its peak.

Limits and marks are those of `harness.sandbox`, as in trials. `measure` and `run_command` run in a
child; `budget` is for a block of code of this process.
"""

from harness.measuring.block import budget
from harness.measuring.command import CommandResult, run_command
from harness.measuring.function import Measurement, measure

__all__ = ["CommandResult", "Measurement", "budget", "measure", "run_command"]
