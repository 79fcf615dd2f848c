"""Sizes of a study's blocks."""

from types import SimpleNamespace

import pytest

from harness import Method, Shape
from harness.budget import parse_budget
from harness.planning import plan_block


class Estimator:
    def __init__(self, rank=1):
        self.rank = rank


@pytest.mark.parametrize(
    ("size", "trades", "planned"),
    [("rank", "quality", 20), ("n_unlabeled", "quality", 500), ("rank", "time", 510)],
)
def test_a_budget_of_landmarks_is_no_bound_on_a_subsample_nor_a_cache(size, trades, planned):
    method = Method(
        "m", Estimator, lambda shape, size: 8 * shape.n, size, tasks={"binary"}, size_trades=trades
    )
    block = SimpleNamespace(budget=parse_budget("20 landmarks"), grid=SimpleNamespace(tuning=None))
    assert plan_block(method, Shape(10, 500, 5, 2), block, {}).size == planned
