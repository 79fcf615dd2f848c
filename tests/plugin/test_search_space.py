import math

import pytest

from harness import choice, log_uniform, uniform
from harness.errors import HarnessError
from harness.plugin.search_space import contains, read_range


def test_distributions():
    assert uniform(0, 2).grid(3) == [0, 1, 2]
    assert log_uniform(1e-2, 1e2).grid(3) == pytest.approx([1e-2, 1, 1e2])
    assert log_uniform(1, 100).at(0.5) == pytest.approx(10)
    assert choice("abc").grid(2) == ["a", "b", "c"]
    assert choice("abc").at(0.999) == "c"
    assert math.isclose(uniform(3, 5).grid(1)[0], 4)
    with pytest.raises(ValueError, match="low < high"):
        log_uniform(0, 1)


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ([0.1, 1, 10], [0.1, 1, 10]),
        (["step", None], ["step", None]),
        ({"uniform": [0, 1]}, [0, 1]),
        ({"log_uniform": [1e-2, 1e4]}, pytest.approx([1e-2, 1e4])),
    ],
)
def test_ranges_as_a_study_writes_them(written, values):
    assert read_range(written).grid(2) == values


@pytest.mark.parametrize(
    "written",
    [
        [],
        3,
        "log_uniform",
        {"log": [1, 2]},
        {"uniform": [1]},
        {"uniform": [0, True]},
        {"uniform": [0, math.inf]},
        {"log_uniform": ["1", "2"]},
        {"uniform": [0, 1], "log_uniform": [1, 2]},
    ],
)
def test_what_is_no_range_is_told_with_what_is_allowed(written):
    with pytest.raises(HarnessError, match=r"list of values nor a range, such as \{log_uniform"):
        read_range(written)


@pytest.mark.parametrize("written", [{"uniform": [2, 2]}, {"log_uniform": [0, 1]}])
def test_a_range_without_values_is_refused(written):
    with pytest.raises(HarnessError, match="first end must be below the second"):
        read_range(written)


def test_what_a_range_contains():
    assert contains(log_uniform(0.1, 10), 10)
    assert not contains(log_uniform(0.1, 10), 0.01)
    assert not contains(uniform(0, 2), True)
    assert contains(choice([None, 5]), None)
    assert not contains(choice([1.0, 5]), 2)
