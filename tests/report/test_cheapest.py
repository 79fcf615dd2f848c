"""Of methods that cannot be told apart: bytes within a tenth of the fewest count as equal."""

import math

import pytest

from harness.report.cheapest import take_of


@pytest.mark.parametrize(
    ("level", "taken"),
    [
        ({"svm": (950, 0.835), "logistic": (1000, 0.857)}, "logistic"),
        ({"svm": (900, 0.835), "logistic": (1000, 0.857)}, "svm"),
        ({"a": (100, 0.9), "b": (105, 0.91), "c": (120, 0.99)}, "b"),
        ({"a": (105, 0.9), "b": (100, 0.9)}, "b"),
        ({"unknown": (math.inf, 0.9), "known": (10, 0.8)}, "known"),
        ({"a": (math.inf, 0.8), "b": (math.inf, 0.9)}, "b"),
    ],
)
def test_the_best_of_the_equally_cheap_is_taken(level, taken):
    assert take_of(level, lambda name: level[name][0], lambda name: -level[name][1]) == taken
