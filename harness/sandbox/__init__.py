"""Run one callable in a forked child under limits, and measure it.

::

    from harness.sandbox import Limits, Sandbox

    def trial(monitor):
        with monitor.stage("load"):
            X = np.load("X.npy")
        with monitor.stage("fit"):
            w = np.linalg.lstsq(X[:, :-1], X[:, -1])[0]
        return {"n": len(X)}, {"w": w}

    with Sandbox() as sandbox:
        result = sandbox.run(trial, Limits(memory=100_000_000, seconds=60))
        print(result.outcome, result.peak_bytes, result.value, result.arrays["w"])

The child notes its memory first, sets the limit second, and only then calls. Whatever the callable
does (segfault, endless loop, daemons, 100 MB of output), it costs its own trial and nothing else.
Nothing in here knows of learning.
"""

from harness.sandbox.backends import BackendReport, backends
from harness.sandbox.calibration import calibrate
from harness.sandbox.doctor import doctor_text
from harness.sandbox.heap import return_freed
from harness.sandbox.isolation import Isolation, Reach, isolations
from harness.sandbox.limits import Limits, Result, StageUsage, tolerance
from harness.sandbox.monitor import Monitor, SentFile
from harness.sandbox.prefault import map_array
from harness.sandbox.runner import Sandbox

__all__ = [
    "BackendReport",
    "Isolation",
    "Limits",
    "Monitor",
    "Reach",
    "Result",
    "Sandbox",
    "SentFile",
    "StageUsage",
    "backends",
    "calibrate",
    "doctor_text",
    "isolations",
    "map_array",
    "return_freed",
    "tolerance",
]
