"""The trials of a study as what is to be learned: its own points, shapes and budgets."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping
from typing import Any

from harness.datasets.meta import Meta
from harness.datasets.sizes import GIVEN, rules_of
from harness.errors import DamagedFileError
from harness.files import is_file
from harness.planning.learned.design import Design
from harness.planning.learned.kept import kept_path, learn
from harness.planning.learned.question import Question
from harness.planning.learned.runs import GENERATED
from harness.planning.workload import PREPARED, RESULTS, Workload
from harness.plugin.index import method_entry
from harness.plugin.method import Method
from harness.plugin.registry import NAMED
from harness.plugin.search_space import Distribution
from harness.plugin.shape import Shape
from harness.study.study import Block
from harness.trial.searched_space import searched_space

_DIGITS = 16
# Blocks that differ in their seeds, or in budgets that are learned together, ask for the same.
_LEARNED: dict[tuple[Any, ...], Method] = {}
_MOST_VALUES = 6
"""Values of one tuned parameter that are tried."""


def learned_method(
    workload: Workload, block: Block, method: Method, params: Mapping[str, Any], shape: Shape
) -> Method:
    """Return a block's method with a storage model: its own, or one that is learned.

    Trials are measured on the points of the block's data set where these are prepared, else on
    generated ones of the same shape. The budgets of all blocks that differ in nothing else are
    learned together.

    Parameters
    ----------
    workload : Workload
    block : Block
    method : Method
    params : mapping
        The block's own, names looked up.
    shape : Shape
        All points of a trial.

    Raises
    ------
    LearningError
        If none of its trials could be measured.
    """
    if not method.learns_storage or (shape.is_sparse and not method.takes_sparse(params)):
        return method
    design, question = asked(workload, block, method, params, shape)
    index = workload.index
    entry = method_entry(index, block.method.name)
    path = kept_path(entry, index["harness"], block.method.params)
    budgets, settings = tuple(question.budgets), tuple(question.settings)
    key = (path.resolve(), question.data, shape, budgets, settings)
    if key not in _LEARNED:
        _LEARNED[key] = learn(design, question, path)
    return _LEARNED[key]


def asked(
    workload: Workload, block: Block, method: Method, params: Mapping[str, Any], shape: Shape
) -> tuple[Design, Question]:
    """Return what is to be measured for a block, and the same for the process that measures.

    Parameters are those of `learned_method`.
    """
    data, prepared = _points(workload, block)
    budgets = dict.fromkeys(
        (budget.bytes, budget.size if method.bounded_by_landmarks else None)
        for budget in workload.budgets(block)
    )
    space = searched_space(method, params, block.method.ranges) if block.grid.tuning else {}
    settings = list(_settings(method, space))
    design = Design(method, shape, list(budgets), params, data, settings, bool(space))
    limits = block.grid.limits
    question = Question(
        method=block.method.name,
        plugins=_plugins(workload.index, block),
        folders=[str(folder) for folder in workload.study.plugin_folders],
        params=dict(block.method.params),
        task=workload.task(block),
        shape=dataclasses.asdict(shape),
        budgets=list(budgets),
        data=data,
        prepared=prepared,
        withheld=_withheld(workload),
        enforcement=workload.study.settings.enforcement,
        threads=limits.threads,
        seconds=limits.time,
        settings=settings,
        tuned=bool(space),
        runs=[],
    )
    return design, question


def _settings(method: Method, space: Mapping[str, Distribution]) -> Iterator[str]:
    """Yield settings that differ from the defaults in one tuned parameter each, at its ends."""
    for name, over in sorted(space.items()):
        for value in over.grid(2)[:_MOST_VALUES]:
            # other objects have no name by which a run could be told
            if isinstance(value, (str, int, float, bool)) and value != method.default(name):
                yield json.dumps({name: value})


def _points(workload: Workload, block: Block) -> tuple[str, dict[str, Any] | None]:
    """Say whose points are measured: those of prepared data, or generated ones."""
    folder = workload.prepared(block.dataset)
    if not is_file(folder / "meta.json"):
        return GENERATED, None
    try:
        digest = Meta.read_alone(folder).sha256[:_DIGITS]
    except DamagedFileError:
        return GENERATED, None
    labeled, rules = block.labeled, block.grid.split_rules
    known = rules_of(rules)
    special = known["groups"] or known["temporal"] or known["unlabeled"] or known["test"] == GIVEN
    if special and workload.task(block) != "clustering":  # others of the same sizes
        labeled, n_unlabeled, n_test = workload.sizes(block)
        rules = {"test": n_test, "unlabeled_per_labeled": max(n_unlabeled, 1e-9) / labeled}
        if not n_test:
            rules = "transductive"
    if block.grid.is_prequential:  # as many as there are to be predicted, and to learn from
        n = workload.entry(block).n
        labeled, test = min(workload.sizes(block).n_labeled, n // 2), -(-n // 4)
        rules = {"test": test, "unlabeled_per_labeled": 1e-9}
    prepared = {
        "folder": str(folder),
        "labeled": labeled,
        "rules": rules,
        "dataset": block.dataset,
        "n_train": workload.entry(block).n_train,
    }
    return digest, prepared


def _plugins(index: Mapping[str, Any], block: Block) -> list[str]:
    wanted = {method_entry(index, block.method.name)["plugin_path"]}
    for parameter, kind in NAMED.items():
        name = block.method.params.get(parameter)
        wanted |= {item["plugin_path"] for item in index[kind] if item["name"] == name}
    return sorted(wanted)


def _withheld(workload: Workload) -> list[str]:
    entries = workload.catalog.declared()
    files = [file.path for entry in entries for file in entry.every_file if file.path]
    return [str(path) for path in (PREPARED, RESULTS, *files)]
