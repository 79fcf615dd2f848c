"""Trials that ran over a learned plan, taken again at a smaller size until one fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from harness.planning.block_plans import plan_block
from harness.planning.learned.model import is_learned
from harness.planning.size import Plan
from harness.plugin.method import Method
from harness.plugin.shape import Shape
from harness.study.study import Block
from harness.units import format_bytes

_SHARES = (0.95, 0.9, 0.8, 0.65, 0.5, 0.3)
"""Parts of the budget that are planned for in turn; the limit stays the budget's."""


def smaller_plans(
    method: Method, shape: Shape, block: Block, params: Mapping[str, Any], planned: Plan
) -> Iterator[Plan]:
    """Yield plans for less and less of a block's budget, none twice.

    There are none for a storage model that was written: where a trial runs over that, the model is
    at fault, and its row says so.

    Parameters
    ----------
    method : Method
    shape : Shape
        All points of a trial.
    block : Block
    params : mapping
    planned : Plan
        For all of the budget.
    """
    if not is_learned(method) or block.budget.bytes is None:
        return
    for share in _SHARES:
        budget = replace(block.budget, bytes=int(share * block.budget.bytes))
        smaller = plan_block(method, shape, replace(block, budget=budget), params)
        if not smaller.feasible:
            return
        if (smaller.size, smaller.n_kept) != (planned.size, planned.n_kept):
            planned = smaller
            yield smaller


def taken_again(over: Mapping[str, Any], row: dict[str, Any]) -> dict[str, Any]:
    """Say in a row that its trial was run before, at a larger size, and over its budget.

    Parameters
    ----------
    over : mapping
        The row of the trial before.
    row : dict
        That of the trial that was run instead.
    """
    many = over["taken_again"] + 1
    first = over["reason"] if over["taken_again"] else _larger(over)
    first = first.partition("; ")[0]
    reason = "; ".join(filter(None, [first, row["reason"]]))
    return row | {"taken_again": many, "reason": reason}


def _larger(over: Mapping[str, Any]) -> str:
    at = f"{over['n_kept']:,} unlabeled points"
    if over["size_name"] and over["size_name"] != "n_unlabeled":
        at = f"{over['size_name']} = {over['size']}"
    planned = format_bytes(over["planned_bytes"])
    return f"ran over the {planned} learned for {at} and was taken again at less"
