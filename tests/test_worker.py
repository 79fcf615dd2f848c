"""What a trial finds that its worker has warmed up."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from harness.errors import HarnessError
from harness.sandbox import Limits, Sandbox
from harness.worker import warm_up


def nearest_of_2000(monitor):
    X = np.random.default_rng(0).standard_normal((2000, 64))
    search = NearestNeighbors(n_neighbors=5, algorithm="brute").fit(X)
    return {"n": len(search.kneighbors(X[:300], return_distance=False))}, {}


def run(trial, limits):
    """Run a trial where the limit is on a process's data; None where there is no such limit."""
    warm_up()
    try:
        sandbox = Sandbox("rlimit-data")
    except HarnessError:
        return None
    with sandbox:
        result = sandbox.run(trial, limits)
    return result.outcome, result.reason, result.value


def test_nearest_neighbors_of_scikit_learn_fit_in_less_than_a_buffer_of_blas():
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context) as process:
        limits = Limits(memory=5_000_000, seconds=20)
        found = process.submit(run, nearest_of_2000, limits).result()
    if found is None:
        pytest.skip("this system does not limit a process's data")
    assert found == ("ok", "", {"n": 300})
