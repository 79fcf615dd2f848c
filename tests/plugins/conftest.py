"""The peak of one trial as the sandbox measures it."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import pytest
import trial_peaks
from blobs import blobs


@pytest.fixture
def two_blobs():
    """120 points of two overlapping normal clouds; the first 6 of each are labeled."""
    return blobs(60, 2)


@pytest.fixture(scope="session")
def trial_process():
    """A process that holds little: what one has used of BLAS, its trials have for nothing."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, initializer=trial_peaks.start) as process:
        yield process


@pytest.fixture(scope="session")
def assert_peak_between(trial_process, tmp_path_factory):
    """Return a function that runs a trial as a study does and asserts its peak, in bytes."""
    folder = tmp_path_factory.mktemp("trials")

    def between(low, high, method, shape, size, task, **tuning):
        trial = method, shape, size, task, folder, tuning or None
        found = trial_process.submit(trial_peaks.measure, *trial)
        outcome, reason, peak = found.result()
        assert outcome == "ok", f"{outcome}: {reason}"
        if peak is None:
            pytest.skip("this machine cannot measure peaks")
        assert low <= peak <= high

    return between


@pytest.fixture(scope="session")
def measured_advice(trial_process, tmp_path_factory):
    """Return a function that asks a measuring check of the conformance kit for its advice."""
    folder = tmp_path_factory.mktemp("measured")

    def ask(check, method, task):
        asked = trial_process.submit(trial_peaks.ask, check, method, task, folder)
        advice, skipped = asked.result()
        if skipped:
            pytest.skip(skipped)
        return advice

    return ask
