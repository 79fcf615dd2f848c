"""A row of a study's table is found by number or fingerprint, and planned as it was."""

from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from harness.errors import HarnessError
from harness.jobs.recorded import Recorded, find_row
from harness.plugin.method import N_UNLABELED
from harness.records.columns import COLUMNS
from harness.records.table_writer import write_table


@dataclass(frozen=True)
class Block:
    fingerprint: str
    cell: str = ""
    seeds: tuple[int, ...] = ()


@pytest.fixture
def find(tmp_path):
    """Find a row in a table of 12: seeds 0 to 9 of one block, the last of them twice, and none."""
    rows = [{"fingerprint": f"made-{seed}", "seed": seed} for seed in range(10)]
    rows += [rows[9] | {"reason": "again"}, {"reason": "never"}]
    write_table([dict.fromkeys(COLUMNS) | row for row in rows], tmp_path / "trials.parquet")
    blocks = Block("other"), Block("made", "first"), Block("made", "second")
    workload = SimpleNamespace(results=tmp_path, blocks=blocks)
    return lambda row: find_row(workload, row)


def test_a_row_has_a_number(find):
    found = find("3")
    assert (found.seed, found.row["seed"], found.block.seeds) == (3, 3, (3,))
    assert found.block.cell == "first"
    assert find("0").seed == 0
    assert find("10").row["reason"] == "again"


@pytest.mark.parametrize("row", ["12", "13", "1" * 5000])
def test_a_number_beyond_the_table_is_told_with_the_last(find, row):
    with pytest.raises(HarnessError, match=r"there is no row .*: the table has rows 0 to 11") as e:
        find(row)
    assert len(str(e.value)) < 100


def test_of_rows_with_one_fingerprint_the_last_counts(find):
    assert find("made-9").row["reason"] == "again"
    assert find("made-2").seed == 2
    with pytest.raises(HarnessError, match="no row 'made-99'"):
        find("made-99")
    with pytest.raises(HarnessError, match="row 11 was never run: never"):
        find("11")


@pytest.mark.parametrize(
    ("size_name", "kept", "planned"),
    [
        ("rank", 100, None),  # all of them
        ("rank", 99, 99),
        ("rank", 1, 1),
        ("rank", 0, None),  # a method that is given none has none taken
        (N_UNLABELED, 50, None),  # there the size says it
    ],
)
def test_points_that_a_budget_took_are_taken_again(size_name, kept, planned):
    row = {"size": 7, "size_name": size_name, "n_kept": kept, "n_unlabeled": 100}
    found = Recorded(row | {"planned_bytes": 5}, Block("made"), 0).planned
    assert (found.size, found.planned_bytes, found.n_kept) == (7, 5, planned)
