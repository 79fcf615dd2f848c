"""Plugins as modules, and the peak of one trial as the sandbox measures it."""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
import trial_peaks
from blobs import blobs

sys.path.insert(0, str(Path(__file__).parents[2] / "plugins"))


@pytest.fixture
def two_blobs():
    """120 points of two overlapping normal clouds; the first 6 of each are labeled."""
    return blobs(60, 2)


@pytest.fixture(scope="session")
def assert_peak_between(tmp_path_factory):
    """Return a function that runs a trial as a study does and asserts its peak, in bytes.

    In a process of its own: what tests in this one have used of BLAS, a trial forked from here
    would have for nothing.
    """
    folder = tmp_path_factory.mktemp("trials")
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, context, initializer=trial_peaks.start) as process:

        def measure(method, shape, size, task, **tuning):
            trial = method, shape, size, task, folder, tuning or None
            found = process.submit(trial_peaks.measure, *trial)
            outcome, reason, peak = found.result()
            assert outcome == "ok", f"{outcome}: {reason}"
            if peak is None:
                pytest.skip("this machine cannot measure peaks")
            return peak

        def between(low, high, *trial, **tuning):
            """Hold one trial's peak between two figures, or the middle one of three.

            File pages that come and go while a trial runs can move one reading by 1 MB.
            """
            peaks = [measure(*trial, **tuning)]
            if not low <= peaks[0] <= high:
                peaks += [measure(*trial, **tuning), measure(*trial, **tuning)]
            assert low <= sorted(peaks)[len(peaks) // 2] <= high, peaks

        yield between
