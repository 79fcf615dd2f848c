"""The rows that a trial maps."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from harness.datasets.item_types import ItemType
from harness.plugin.shape import block_rows
from harness.trial.mapped import write_rows


@dataclass(frozen=True)
class Rows:
    """What `write_rows` reads of an assignment."""

    features: Path
    seen: np.ndarray
    mapped: Path | None = None
    item: ItemType | None = None


@pytest.mark.parametrize("blocks", [0.5, 1, 2.5])
def test_they_are_those_of_fit_in_their_order(tmp_path, blocks):
    width = 4096
    step = block_rows(width * 8)
    n = int(step * blocks)
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(n + 7, 1)), width, axis=1)
    np.save(tmp_path / "X.npy", X)
    seen = rng.permutation(len(X))[:n]
    assigned = write_rows(Rows(tmp_path / "X.npy", seen), tmp_path / "rows.npy")
    assert assigned.mapped == tmp_path / "rows.npy"
    np.testing.assert_array_equal(np.load(assigned.mapped), X[seen])


def test_they_are_of_the_type_that_the_trial_is_given(tmp_path):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, size=(900, 300)).astype(np.uint8)
    np.save(tmp_path / "X.npy", codes)
    seen = rng.permutation(900)[:800]
    numbers = codes[seen].astype(np.float32) / np.float32(255)
    for keeps, expected in ((False, numbers), (True, codes[seen])):
        rows = Rows(tmp_path / "X.npy", seen, item=ItemType("float32", 255, keeps))
        written = np.load(write_rows(rows, tmp_path / "rows.npy").mapped)
        assert written.dtype == expected.dtype
        np.testing.assert_array_equal(written, expected)
