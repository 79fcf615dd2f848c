"""The conformance kit: checks a plugin's methods against what the harness expects of a method.

Everything that a plugin could crash or hang runs in the sandbox that trials run in, and what is
found is told in one sentence each: what is wrong, and what to change.
"""

from harness.conformance.finding import Finding
from harness.conformance.kit import check_file, check_methods

__all__ = ["Finding", "check_file", "check_methods"]
