"""Runs the trials of `trials_*.py` on request, in a process that holds nothing of the test run.

Requests and answers are JSON, a line each, on stdin and stdout.
"""

import dataclasses
import functools
import json
import sys

import numpy as np
import trials_beyond_one_process
import trials_that_answer
import trials_that_end
import trials_that_hold

from harness.errors import HarnessError
from harness.sandbox import Limits, Sandbox, calibrate, seccomp

TRIALS = {
    name: trial
    for module in (
        trials_that_answer,
        trials_that_hold,
        trials_that_end,
        trials_beyond_one_process,
    )
    for name, trial in vars(module).items()
}


def main() -> None:
    square = np.ones((256, 256))
    square @ square  # else each trial pays for the buffers of BLAS
    answers, sys.stdout = sys.stdout, sys.stderr
    with Sandbox(sys.argv[1]) as sandbox:
        for line in sys.stdin:
            request = json.loads(line)
            if "calibrate" in request:
                answer = calibrate(sandbox, **request["calibrate"])
            else:
                function = TRIALS[request["trial"]]
                patched = seccomp.refuse_uncounted
                if request["args"].pop("without_filter", False):
                    seccomp.refuse_uncounted = lambda: False
                trial = functools.partial(function, **request["args"])
                answer = _run(sandbox, trial, request)
                seccomp.refuse_uncounted = patched
            print(json.dumps(answer), file=answers, flush=True)


def _run(sandbox, trial, request):
    try:
        result = sandbox.run(trial, Limits(**request["limits"]), request["timeline"])
    except HarnessError as error:
        return {"refused": str(error)}
    answer = dataclasses.asdict(result)
    answer["arrays"] = _lists(result.arrays)
    answer["deliveries"] = [(v, _lists(arrays)) for v, arrays in result.deliveries]
    return answer


def _lists(arrays):
    return {name: array.tolist() for name, array in arrays.items()}


main()
