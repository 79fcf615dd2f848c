"""Sizes of a study's blocks."""

from types import SimpleNamespace

import pytest

from harness import Method, Shape, log_uniform
from harness.planning.block_plans import plan_block
from harness.study.budget import parse_budget
from harness.study.schema import Tuning


class Estimator:
    def __init__(self, rank=1):
        self.rank = rank


class Tuned:
    def __init__(self, C=1.0):
        self.C = C


@pytest.mark.parametrize(
    ("size", "trades", "planned"),
    [("rank", "quality", 20), ("n_unlabeled", "quality", 500), ("rank", "time", 510)],
)
def test_a_budget_of_landmarks_is_no_bound_on_a_subsample_nor_a_cache(size, trades, planned):
    method = Method(
        "m",
        Estimator,
        lambda shape, size: 8 * shape.n,
        size,
        tasks={"binary"},
        size_affects=trades,
    )
    block = SimpleNamespace(
        budget=parse_budget("20 landmarks"), grid=SimpleNamespace(tuning=None, checkpoints=[])
    )
    assert plan_block(method, Shape(10, 500, 5, 2), block, {}).size == planned


@pytest.mark.parametrize(("params", "planned"), [({}, 120), ({"C": 2.0}, 80)])
def test_what_is_not_searched_is_not_planned_as_if_it_were(params, planned):
    def storage(shape, size, tuned=False):
        return 1_000_000 * (120 if tuned else 80)

    method = Method(
        "m", Tuned, storage, None, tasks={"binary"}, space={"C": log_uniform(1e-2, 1e2)}
    )
    grid = SimpleNamespace(tuning=Tuning(validation=600), checkpoints=[])
    block = SimpleNamespace(
        budget=parse_budget("none"), grid=grid, method=SimpleNamespace(ranges={})
    )
    found = plan_block(method, Shape(10, 700, 5, 2), block, params)
    assert found.planned_bytes // 1_000_000 == planned
    few = plan_block(method, Shape(10, 500, 5, 2), block, params)
    assert few.feasible == bool(params), few.reason
