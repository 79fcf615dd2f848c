"""The rows that a trial maps."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from harness.plugin.shape import block_rows
from harness.trial.mapped import write_rows


@dataclass(frozen=True)
class Rows:
    """What `write_rows` reads of an assignment."""

    features: Path
    seen: np.ndarray
    mapped: Path | None = None


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
