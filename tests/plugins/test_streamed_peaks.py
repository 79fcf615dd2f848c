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


@pytest.mark.memory
@pytest.mark.slow
@pytest.mark.parametrize("name", ["nystrom-krr", "bsgd"])
def test_a_search_on_the_first_part_holds_what_was_planned(assert_peak_between, name):
    method = named(name)
    shape = Shape(20_000, 0, 40, 2, n_test=2048, itemsize=4, part=1024)
    planned = plan(method, shape, None, {method.size: 50}, space=method.space).planned_bytes
    tuning = {"search": "grid", "trials": 4, "folds": 3}
    assert_peak_between(planned / 3, planned, method, shape, 50, "binary", **tuning)
