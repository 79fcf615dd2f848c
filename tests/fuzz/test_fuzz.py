"""Damaged studies, catalogs, rows and results: no traceback, no hang, nothing outside touched.

`HARNESS_FUZZ_INPUTS` says how many inputs are tried (default 80) and `HARNESS_FUZZ_SEED` which:

    HARNESS_FUZZ_INPUTS=5000 HARNESS_FUZZ_SEED=1 pytest -s -m '' tests/fuzz
"""

import os
import warnings

import numpy as np
import pytest
from sandbox import Sandbox
from targets import TARGETS

from harness.datasets import load_catalog, prepare

INPUTS = int(os.environ.get("HARNESS_FUZZ_INPUTS", "80"))
SEED = int(os.environ.get("HARNESS_FUZZ_SEED", "0"))


@pytest.fixture
def sandbox(tmp_path, built_in, monkeypatch):
    built_in("baselines", "controls")
    monkeypatch.setenv("HARNESS_CACHE", "cache")
    monkeypatch.delenv("HARNESS_MIRROR", raising=False)
    monkeypatch.setattr("harness.datasets.fetching.RETRIES", 0)
    prepare(load_catalog()["wine"], tmp_path / "around" / "wine")
    return Sandbox(tmp_path / "around")


@pytest.mark.slow
def test_damaged_files_are_refused_in_words_and_nothing_outside_is_touched(sandbox):
    for number in range(INPUTS):
        target = TARGETS[number % len(TARGETS)]
        rng = np.random.default_rng([SEED, number])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            sandbox.attempt(target.__name__, number, lambda t=target, r=rng: t(r, sandbox))
    print(f"\nseed {SEED}: {sandbox.figure()}\n{dict(sorted(sandbox.counts.items()))}")
    assert not sandbox.faults, "\n\n".join([sandbox.figure(), *sandbox.faults[:20]])
    if INPUTS >= 80:  # some of each kind were good enough to get far, and some were not
        for name in ("study", "catalog", "results"):
            assert sandbox.counts[f"{name}: accepted"], name
            assert sandbox.counts[f"{name}: refused"], name
