"""The splits of a study, as far as they are known before data are prepared: files and sizes.

Nothing heavy is imported here, unless a study names a file of splits.
"""

from __future__ import annotations

from harness.datasets.entry import Entry
from harness.datasets.openml_tasks import keep_task
from harness.datasets.sizes import Sizes, rules_of, sizes_within, split_sizes
from harness.datasets.split_files import SplitFile, read_splits
from harness.errors import HarnessError
from harness.study.schema import Grid
from harness.study.study import Study


def splits_of(study: Study, grid: Grid, entry: Entry) -> SplitFile | None:
    """Return the splits that a study takes from a file; None where it draws them.

    Folds of a task of OpenML are fetched where they are not kept yet.

    Raises
    ------
    HarnessError
        If they cannot be had or read, are of other data, or lack one of the study's seeds.
    """
    source = study.split_source(grid, entry.name, entry.n_train)
    if source is None:
        return None
    if (number := grid.task_number(entry.name)) is not None:
        keep_task(number, entry)
    found = read_splits(source, entry.n)
    found.refuse_unfit(grid.seeds, grid.transductive)
    return found


def sizes_of(study: Study, grid: Grid, entry: Entry, labeled: int | float) -> Sizes:
    """Return how many points of each part trials have, from the catalog alone."""
    if grid.task_of(entry.task) == "clustering":
        if entry.n_unlabeled:
            raise HarnessError(
                f"data set {entry.name!r}: {entry.n_unlabeled} of its points have no label that "
                "clusters could be compared with; cluster an entry that has all labels"
            )
        return Sizes(0, entry.n, 0)
    rules = grid.split_rules
    column = (rules_of(rules)["unlabeled"] or {}).get("column", 0)
    if column >= entry.d:
        raise HarnessError(
            f"data set {entry.name!r}: evaluation.unlabeled.column is {column}; its prepared "
            f"features are 0 to {entry.d - 1}"
        )
    found = splits_of(study, grid, entry)
    if found is None:
        return split_sizes(
            *(entry.n, entry.n_classes, labeled, rules, entry.name, entry.n_train),
            n_unlabeled=entry.n_unlabeled,
            largest_group=entry.largest_group,
        )
    if found.says_labeled and labeled:
        raise HarnessError(f"labeled: is said by {found.told}; leave it out")
    if found.says_labeled:
        return found.sizes
    if not labeled:
        raise HarnessError(
            f"labeled: {found.told} has training and test rows alone: give counts or shares of "
            "labeled points, which are drawn among its training rows"
        )
    assert not isinstance(rules, str), "a file is named in a mapping"
    known = entry.n - entry.n_unlabeled
    return sizes_within(
        *(found.train_sizes, found.sizes.n_test, known, entry.n_classes, labeled, rules),
        where=f"{entry.name}: {found.told}",
    )


def bad_splits(study: Study, grid: Grid, entry: Entry) -> list[HarnessError]:
    """List what a study asks of a data set's splits that it does not have."""
    mistakes = {}
    for labeled in grid.labeled:
        try:
            sizes_of(study, grid, entry, labeled)
        except HarnessError as error:
            # of a test part alone, each labeled count says the same
            mistakes[str(error)] = HarnessError(f"{study.path}: {error}")
    shown = [key for key in ("labeled", "validation") if getattr(grid.tuning, key, None)]
    if shown and entry.n_unlabeled and grid.task_of(entry.task) != "clustering":
        told = (
            f"{study.path}: tuning.{shown[0]}: shows labels of unlabeled points, and "
            f"{entry.n_unlabeled} points of {entry.name} have none; leave it out"
        )
        mistakes[told] = HarnessError(told)
    return list(mistakes.values())
