"""Sizes of a study's blocks."""

from types import SimpleNamespace

import pytest

from harness import Method, Shape
from harness.budget import parse_budget
from harness.planning import plan_block


class Estimator:
    def __init__(self, rank=1):
        self.rank = rank


@pytest.mark.parametrize(("size", "planned"), [("rank", 20), ("n_unlabeled", 500)])
def test_a_budget_of_landmarks_is_no_bound_on_a_subsample_of_points(size, planned):
    method = Method("m", Estimator, lambda shape, size: 8 * shape.n, size=size, tasks={"binary"})
    block = SimpleNamespace(budget=parse_budget("20 landmarks"), grid=SimpleNamespace(tuning=None))
    assert plan_block(method, Shape(10, 500, 5, 2), block, {}).size == planned
