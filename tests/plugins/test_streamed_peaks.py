"""What trials on streamed points hold, measured: it does not grow with the points."""

import pytest
from registered import named

from harness.planning.size import plan
from harness.plugin.shape import Shape


@pytest.mark.memory
@pytest.mark.slow
@pytest.mark.parametrize("name", ["fogd", "projectron", "random"])
def test_ten_times_the_points_take_no_more(assert_peak_between, name):
    method = named(name)
    size = 50 if method.size else None
    fixed = {method.size: size} if size else {}
    shapes = [Shape(n, 0, 40, 2, n_test=2048, itemsize=4, part=1024) for n in (10_000, 100_000)]
    plans = {plan(method, shape, None, fixed).planned_bytes for shape in shapes}
    assert len(plans) == 1
    assert max(plans) < shapes[1].matrix_bytes(100_000) / 10
    for shape in shapes:
        assert_peak_between(0, max(plans), method, shape, size, "binary")
