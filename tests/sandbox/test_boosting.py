"""C++ libraries of trees, refused memory for real: their own exceptions are a budget that ended.

They need `pip install '.[boosting]'`.
"""

from functools import partial

import pytest

from harness import sklearn_method
from harness.plugin.shape import Shape
from harness.sandbox import Limits, Sandbox
from harness.trial.generated import assign
from harness.trial.run import run_trial
from harness.trial.warm_up import warm_up

SHAPE = Shape(4_000, 500, 60, 2)


def method_of(library):
    module = pytest.importorskip(library, reason="needs pip install '.[boosting]'")
    if library == "lightgbm":
        params = {"n_jobs": 1, "verbose": -1, "num_leaves": 127}
        return sklearn_method(module.LGBMClassifier, library, params=params, tasks={"binary"})
    return sklearn_method(module.XGBClassifier, library, params={"n_jobs": 1}, tasks={"binary"})


@pytest.mark.slow
@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
@pytest.mark.parametrize("enforcement", ["auto", "rlimit-data"])
def test_a_refused_allocation_is_over_budget(library, enforcement, tmp_path):
    method = method_of(library)
    warm_up()
    with Sandbox(enforcement) as sandbox:
        assignment = assign(method, "binary", SHAPE, None, tmp_path)
        run = partial(run_trial, assignment)
        whole = sandbox.run(run, Limits(200_000_000, 120))
        assert whole.outcome == "ok", whole.reason
        for part in (0.3, 0.5, 0.7, 0.9):
            result = sandbox.run(run, Limits(int(part * whole.peak_bytes), 120))
            assert result.outcome == "over_budget", (part, result.reason)
