"""The line of a plugin that holds most is named, with what stands there."""

import importlib.util
import sys

import pytest

from harness.conformance.peak_line import PeakLine, line_words, source_of

MODULE = """\
import numpy as np


class Learner:
    def fit(self, n):
        self.small = np.zeros(n)
        self.helped = self.largest(n)
        held = np.zeros(2 * n)
        return held.sum() + sorted([1, 2])[0]

    def largest(self, n):
        both = np.ones(4 * n) + np.ones(4 * n)
        return both[:1].copy()
"""


@pytest.fixture
def module(tmp_path):
    path = tmp_path / "learner.py"
    path.write_text(MODULE)
    spec = importlib.util.spec_from_file_location("learner", path)
    made = importlib.util.module_from_spec(spec)
    sys.modules["learner"] = made
    spec.loader.exec_module(made)
    yield made
    del sys.modules["learner"]


def test_the_line_of_the_largest_arrays_is_found_where_it_stands(module):
    source = source_of(module.Learner)
    with PeakLine(source) as found:
        module.Learner().fit(100_000)
    words = line_words(found.file, found.line)
    assert words == "learner.py, line 12: both = np.ones(4 * n) + np.ones(4 * n)"
    assert sys.gettrace() is None


def test_what_others_hold_is_no_line_of_the_plugin(module):
    with PeakLine(source_of(module.Learner)) as found:
        _ = [bytearray(5_000_000) for _ in range(2)]
    assert line_words(found.file, found.line) == ""
