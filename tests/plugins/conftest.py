"""Plugins as modules, a toy problem, and the peak of one trial measured in a forked child."""

from __future__ import annotations

import ctypes
import gc
import os
import sys
from pathlib import Path

import numpy as np
import pytest
import threadpoolctl

from harness.method import PREDICT_BLOCK, Method, Shape

sys.path.insert(0, str(Path(__file__).parents[2] / "plugins"))


M_MMAP_THRESHOLD = -3


@pytest.fixture
def two_blobs():
    """120 points of two overlapping normal clouds; the first 6 of each are labeled."""
    return blobs(60, 2)


def blobs(per_class, n_classes, d=4, labeled=6, seed=0):
    """Return X, y with -1 where unlabeled, and the whole truth."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(n_classes), per_class)
    centres = 1.5 * rng.normal(size=(n_classes, d))
    X = centres[truth] + rng.normal(size=(len(truth), d))
    y = np.full(len(truth), -1)
    for label in range(n_classes):
        y[np.flatnonzero(truth == label)[:labeled]] = label
    order = rng.permutation(len(truth))
    X = X[order]
    X.setflags(write=False)
    return X, y[order], truth[order]


def status_bytes(field):
    """Return a field of /proc/self/status that counts memory."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1]) * 1024
    raise AssertionError(f"no {field} in /proc/self/status")


def peak_bytes(call):
    """Return the bytes that `call` adds, at most, to a child forked for it."""
    reading, writing = os.pipe()
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    child = os.fork()
    if not child:
        # Freed arrays go back at once; else malloc learns to keep them, up to 32 MB of them.
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1 << 17)
        report = b"failed"
        try:
            start, mapped = status_bytes("VmRSS"), status_bytes("RssFile")
            Path("/proc/self/clear_refs").write_text("5")
            call()
            # Pages of libraries that a fork has yet to map are no memory of the trial's.
            mapped = status_bytes("RssFile") - mapped
            report = str(status_bytes("VmHWM") - start - mapped).encode()
        except BaseException as error:
            report = f"failed: {error!r}".encode()
        finally:
            os.write(writing, report)
            os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as stream:
        report = stream.read()
    os.waitpid(child, 0)
    assert report.lstrip("-").isdigit(), report
    return int(report)


@pytest.fixture(scope="session")
def measured_trial():
    """Return a function that runs one trial as the harness does and returns its peak in bytes."""
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("the high-water mark of a process can only be reset on Linux")
    with threadpoolctl.threadpool_limits(1):
        _warm_up()
        idle = min(peak_bytes(lambda: None) for _ in range(3))
        yield lambda *args, **kwargs: peak_bytes(lambda: trial(*args, **kwargs)) - idle


def _warm_up():
    """Touch all of BLAS's packing buffers, in NumPy's and in SciPy's library.

    A panel of the right-hand matrix is packed whole, up to some 14,000 columns: a process that has
    only seen small matrices takes 5 MB more for a large one, and 25 MB for a very large one.
    """
    from scipy.linalg.blas import dgemm, sgemm

    for dtype, gemm in ((np.float32, sgemm), (np.float64, dgemm)):
        A, B = np.ones((512, 512), dtype), np.ones((512, 16384), dtype)
        A @ B
        B.T @ A
        gemm(1.0, A.T, B.T, trans_b=True)
        gemm(1.0, B.T, A.T)


def toy_data(shape: Shape, task: str, seed=0):
    """Return X of a shape, with y of a task, half of its memory never needed twice."""
    rng = np.random.default_rng(seed)
    dtype = np.float64 if shape.itemsize == 8 else np.float32
    X = rng.standard_normal((shape.n, shape.n_features), dtype=dtype)
    if task == "regression":
        y = X[:, 0].astype(np.float64)
        y[shape.n_labeled :] = np.nan
    elif task == "clustering":
        y = np.full(shape.n, -1)
    else:
        y = np.full(shape.n, -1)
        known = slice(0, shape.n_labeled)
        y[known] = np.arange(shape.n_labeled) % shape.n_classes
        X[known, 0] += y[known]
    X.setflags(write=False)
    return X, y


def trial(method: Method, shape: Shape, size, task, **params):
    """Load, fit, predict all else in blocks, as a worker would, with the arrays it would hold."""
    seen = method.seen(shape, size)
    X, y = toy_data(seen, task)
    points = shape.n + shape.n_test
    rows = np.arange(points)
    scores = np.zeros((points, max(1, shape.n_classes)))
    labels = np.zeros(points)
    sized = {} if method.size in (None, "n_unlabeled") else {method.size: size}
    if task == "clustering":
        sized["n_clusters"] = shape.n_classes
    estimator = method.estimator(**{**method.params, **sized, **params}).fit(X, y)
    done = seen.n if hasattr(estimator, "transduction_") else 0
    scored = hasattr(estimator, "decision_function") and task != "regression"
    starts = [*range(done, seen.n, PREDICT_BLOCK), *range(seen.n, points, PREDICT_BLOCK)]
    for start in starts:
        stop = min(start + PREDICT_BLOCK, seen.n if start < seen.n else points)
        # Points that fit did not see are loaded a block at a time.
        block = None
        block = X[start:stop] if start < seen.n else X[np.arange(start, stop) % len(X)]
        if scored:
            found = estimator.decision_function(block)
            scores[start:stop] = found.reshape(len(block), -1)
        else:
            labels[start:stop] = estimator.predict(block)
    assert np.isfinite(scores).all()
    assert np.isfinite(labels).all()
    return rows, scores, labels
