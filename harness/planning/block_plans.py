"""The size that each block's trials get, planned where its method can be loaded.

Methods of plugins that run in an environment of their own are planned by a process there:
`python -m` this module, with a study and the name of the environment.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from harness.datasets.item_types import ItemType
from harness.errors import HarnessError
from harness.planning.learned.model import LEARNED, WRITTEN, LearningError, is_learned
from harness.planning.learned.study import learned_method
from harness.planning.own_bytes import converting_bytes
from harness.planning.size import Plan, plan
from harness.planning.workload import Workload, load_workload
from harness.plugin.environments import Environment, current
from harness.plugin.index import method_entry
from harness.plugin.method import Method
from harness.plugin.registry import Registry, plugin_location
from harness.plugin.shape import Shape
from harness.study.schema import AS_PREPARED
from harness.study.study import Block
from harness.trial.searched_space import searched_space


@dataclass(frozen=True)
class BlockPlan:
    """What the trials of one block get, and what of their method decides how that is told.

    Attributes
    ----------
    plan : Plan
    size_name : str or None
    n_kept : int
        Unlabeled points that fit is given.
    bounded_by_landmarks : bool
    storage_model : str
        Whether it was written or learned.
    """

    plan: Plan
    size_name: str | None
    n_kept: int
    bounded_by_landmarks: bool
    storage_model: str


def block_plans(workload: Workload) -> list[BlockPlan]:
    """Plan all blocks of a study.

    Returns
    -------
    list of BlockPlan
        One for each of the workload's blocks, in their order.

    Raises
    ------
    HarnessError
        If a plugin's environment cannot plan.
    """
    needed = [_environment(workload, block) for block in workload.blocks]
    found: dict[str, Iterable[BlockPlan]] = {}
    for name in dict.fromkeys(needed):
        here = name == current()
        found[name] = iter(_planned_here(workload, name) if here else _asked(workload, name))
    return [next(iter(found[name])) for name in needed]


def _planned_here(workload: Workload, name: str) -> list[BlockPlan]:
    registry = Registry.load(workload.study.plugin_folders)
    blocks = [block for block in workload.blocks if _environment(workload, block) == name]
    return [_planned(workload, block, registry) for block in blocks]


def _planned(workload: Workload, block: Block, registry: Registry) -> BlockPlan:
    found, _ = registry.get("methods", block.method.name)
    params = registry.look_up(block.method.params)
    method, planned = plan_trials(workload, block, found, params)
    seen = method.training_shape(shape_of(workload, block), planned.size, planned.n_kept)
    return BlockPlan(
        planned,
        method.size,
        seen.n_unlabeled,
        method.bounded_by_landmarks,
        LEARNED if is_learned(method) else WRITTEN,
    )


def _environment(workload: Workload, block: Block) -> str:
    """Return the environment of a block's plugin; "" for the Python of the harness."""
    place = method_entry(workload.index, block.method.name)["plugin_path"]
    plugins = workload.index["plugins"]
    return next((p["environment"] for p in plugins if p["path"] == place), "")


def _asked(workload: Workload, name: str) -> list[BlockPlan]:
    """Have the blocks of an environment planned there; what it says meanwhile is passed on."""
    needed = next(p["requirements"] for p in workload.index["plugins"] if p["environment"] == name)
    python = Environment(tuple(needed)).python
    command = [str(python), "-m", "harness.planning.block_plans", str(workload.study.path), name]
    made = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if made.returncode:
        raise HarnessError(f"the environment of {', '.join(needed)} could not plan its trials")
    told = json.loads(made.stdout.splitlines()[-1])
    return [BlockPlan(**{**one, "plan": Plan(**one["plan"])}) for one in told]


def item_type(
    workload: Workload, block: Block, method: Method, params: Mapping[str, Any]
) -> ItemType:
    """Return of which type the numbers are that a block's trials are given.

    Small integers are kept where the method takes them and that saves bytes: of few points a block
    of numbers is as large as all of them.
    """
    entry, asked = workload.entry(block), block.grid.dtype
    number_type = entry.number_type if asked == AS_PREPARED else asked
    if not entry.small_integers:
        return ItemType(number_type)
    numbers = method.training_shape(shape_of(workload, block))
    kept = replace(numbers, held_itemsize=1)
    saves = kept.data_bytes + converting_bytes(kept) < numbers.data_bytes
    whole = asked == AS_PREPARED and not block.grid.streams
    keeps = whole and saves and method.takes_scaled_integers(params)
    return ItemType(number_type, entry.divide_by, keeps)


def shape_of(workload: Workload, block: Block) -> Shape:
    """Return the shape of a block's trials, from the catalog alone.

    What a method takes is not asked: where it keeps small integers, it holds less.
    """
    entry = workload.entry(block)
    sizes, asked = workload.sizes(block), block.grid.dtype
    shape = Shape(
        sizes.n_labeled,
        sizes.n_unlabeled,
        entry.d,
        entry.n_classes,
        n_test=sizes.n_test,
        itemsize=ItemType(entry.number_type if asked == AS_PREPARED else asked).itemsize,
        mapped=block.grid.data == "mapped",
        row_nnz=entry.row_nnz,
    )
    return replace(shape, part=block.grid.part_rows(shape.row_bytes))


def plan_block(method: Method, shape: Shape, block: Block, params: Mapping[str, Any]) -> Plan:
    """Find the size that a block's trials get; `params` are its own, with names looked up.

    Where the method's own storage model or sizes raise, that is the reason why there is none.
    """
    tuning = block.grid.tuning
    space = searched_space(method, params, block.method.ranges) if tuning else {}
    try:
        return plan(
            method,
            shape,
            block.budget.bytes,
            params,
            block.budget.size if method.bounded_by_landmarks else None,
            space=space,
            shown=tuning.shown(shape.n_labeled) if tuning and space else 0,
            paused=bool(block.grid.checkpoints),
        )
    except LearningError as error:
        return Plan(None, 0, _not_learned(error), "error")
    except Exception as error:
        what = f"{type(error).__name__}: {error} {plugin_location(error)}".rstrip()
        return Plan(None, 0, f"its storage model or sizes failed: {what}", "error")


def plan_trials(
    workload: Workload, block: Block, method: Method, params: Mapping[str, Any]
) -> tuple[Method, Plan]:
    """Plan a block's trials; a method without a storage model is given one that is learned.

    Returns
    -------
    method : Method
        With its storage model, if there is one to be had.
    planned : Plan
    """
    shape = shape_of(workload, block)
    if item_type(workload, block, method, params).keeps_integers:
        shape = replace(shape, held_itemsize=1)
    try:
        method = learned_method(workload, block, method, params, shape)
    except LearningError as error:
        return method, Plan(None, 0, _not_learned(error), "error")
    return method, plan_block(method, shape, block, params)


def _not_learned(error: LearningError) -> str:
    return f"its storage could not be learned: {error}"


if __name__ == "__main__":
    planned = _planned_here(load_workload(sys.argv[1]), sys.argv[2])
    print(json.dumps([asdict(one) for one in planned]))
