"""A job that has less memory than its budget: no row is false, and the next run completes them."""

import re

import pytest
from project import PLUGINS, TABLE

from harness.records.table import read_rows

BUDGET = 450_000_000


@pytest.mark.slow
@pytest.mark.memory
def test_what_an_outer_limit_ends_has_no_row_until_it_was_run(project, outer_group):
    """`takes-too-much` takes 400 MB of its 450: all that the group has for the whole study."""
    study = project.write(
        datasets=["breast_cancer"],
        methods=["takes-too-much"],
        labeled=40,
        budgets="450MB",
        seeds=2,
        plugins=[str(PLUGINS / "misbehaving.py")],
    )
    # what prepares trials takes as much as they do, and is not what this asks for
    assert project.run(study, "--until", "calibration", "dataset")[0] == 0
    outer_group.limit(560_000_000)
    status, said = project.run(study, group=outer_group)
    assert status == 1
    told = (
        rf"harness: the limit of 560 MB of the memory cgroup \S+/{outer_group.name}, outside of "
        "the harness, was reached, and the kernel ended this trial: it has no row and is run "
        "again next time. Reserve at least 800 MB beside the budget of 450 MB."
    )
    assert re.search(told, said), said[-3000:]
    journals = (project.folder / "results").rglob("journal/**/*.jsonl")
    assert [row for path in journals for row in read_rows(path)] == []

    status, said = project.run(study, *TABLE)
    assert status == 0, said[-3000:]
    rows = project.rows()
    assert list(rows["seed"]) == [0, 1]
    assert set(rows["outcome"]) == {"ok"}
    assert rows["peak_bytes"].max() < BUDGET
