import math

import pytest

from harness import choice, log_uniform, uniform


def test_distributions():
    assert uniform(0, 2).grid(3) == [0, 1, 2]
    assert log_uniform(1e-2, 1e2).grid(3) == pytest.approx([1e-2, 1, 1e2])
    assert log_uniform(1, 100).at(0.5) == pytest.approx(10)
    assert choice("abc").grid(2) == ["a", "b", "c"]
    assert choice("abc").at(0.999) == "c"
    assert math.isclose(uniform(3, 5).grid(1)[0], 4)
    with pytest.raises(ValueError, match="low < high"):
        log_uniform(0, 1)
