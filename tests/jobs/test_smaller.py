"""Trials over a learned plan are planned again for less, each time another trial."""

import pytest

from harness.jobs.smaller import smaller_plans, taken_again
from harness.planning.block_plans import plan_block
from harness.planning.learned.model import LearnedStorage
from harness.planning.learned.runs import GENERATED, Run
from harness.plugin.method import Method
from harness.plugin.shape import Shape
from harness.study.budget import parse_budget
from harness.study.method_choice import MethodChoice
from harness.study.schema import Grid
from harness.study.study import Block

SHAPE = Shape(100, 900, 10, 2)


class Estimator:
    def __init__(self, rank=1):
        self.rank = rank


def learned(method):
    runs = []
    for n_unlabeled in (100, 900):
        for size in (10, 100, 500):
            shape = Shape(100, n_unlabeled, 10, 2)
            own = 300_000 + 8 * shape.n * size
            runs.append(Run(GENERATED, shape, size, 0, "ok", "", own, own, 0.1))
    return method.learned(LearnedStorage(runs))


def block_of(budget):
    grid = Grid(datasets=["a"], methods=["m"], labeled=100, budgets=[budget], seeds=1)
    return Block("a", MethodChoice(name="m", label="m"), 100, parse_budget(budget), (0,), grid)


def test_each_is_for_less_and_another_trial():
    method, block = learned(Method("m", Estimator, size="rank")), block_of("2MB")
    first = plan_block(method, SHAPE, block, {})
    plans = [first, *smaller_plans(method, SHAPE, block, {}, first)]
    assert len(plans) > 3
    told = [plan.planned_bytes for plan in plans]
    assert told == sorted(told, reverse=True)
    trials = [(plan.size, plan.n_kept) for plan in plans]
    assert len(set(trials)) == len(trials)
    assert plans[1].planned_bytes >= 0.9 * first.planned_bytes
    assert all(plan.feasible for plan in plans)


def test_a_method_that_has_nothing_to_give_up_is_not_taken_again():
    method, block = learned(Method("m", Estimator, uses_unlabeled=False)), block_of("2MB")
    first = plan_block(method, SHAPE, block, {})
    assert list(smaller_plans(method, SHAPE, block, {}, first)) == []


@pytest.mark.parametrize("budget", ["2MB", "none"])
def test_a_written_model_stands_for_itself(budget):
    method = Method("m", Estimator, lambda shape, size: 400_000 + 8 * shape.n * size, size="rank")
    block = block_of(budget)
    first = plan_block(method, SHAPE, block, {})
    assert list(smaller_plans(method, SHAPE, block, {}, first)) == []


def test_without_a_budget_nothing_is_over_it():
    method, block = learned(Method("m", Estimator, size="rank")), block_of("none")
    first = plan_block(method, SHAPE, block, {})
    assert list(smaller_plans(method, SHAPE, block, {}, first)) == []


def test_a_row_says_what_was_tried_first():
    over = {
        "taken_again": 0,
        "reason": "Asked for more memory.",
        "n_kept": 900,
        "size_name": "rank",
        "size": 120,
        "planned_bytes": 1_990_000,
    }
    once = taken_again(over, {"taken_again": 0, "reason": "Asked for more.", "size": 110})
    assert once["taken_again"] == 1
    told = "ran over the 1.99 MB learned for rank = 120 and was taken again at less"
    assert once["reason"] == f"{told}; Asked for more."
    twice = taken_again(over | once, {"taken_again": 0, "reason": "", "size": 100})
    assert twice == {"taken_again": 2, "reason": told, "size": 100}
