"""What the referee hands to a trial, without a study around it."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from harness.jobs.referee import Referee, seed_sequence
from harness.plugin.method import block_rows


@dataclass(frozen=True)
class Rows:
    """What `write_rows` reads of an assignment."""

    seen: np.ndarray
    mapped: Path | None = None


@pytest.mark.parametrize("blocks", [0.5, 1, 2.5])
def test_mapped_rows_are_those_of_fit_in_their_order(tmp_path, blocks):
    width = 4096
    step = block_rows(width * 8)
    n = int(step * blocks)
    rng = np.random.default_rng(0)
    X = np.repeat(rng.normal(size=(n + 7, 1)), width, axis=1)
    np.save(tmp_path / "X.npy", X)
    referee = object.__new__(Referee)
    referee.features = tmp_path / "X.npy"
    seen = rng.permutation(len(X))[:n]
    assigned = referee.write_rows(Rows(seen), tmp_path / "rows.npy")
    assert assigned.mapped == tmp_path / "rows.npy"
    np.testing.assert_array_equal(np.load(assigned.mapped), X[seen])


def test_randomness_depends_on_study_data_set_and_seed_alone():
    def draw(*key):
        return seed_sequence(*key).generate_state(4).tolist()

    assert draw(1, "wine", 2) == draw(1, "wine", 2)
    others = [
        draw(*key) for key in ((1, "wine", 2), (2, "wine", 2), (1, "iris", 2), (1, "wine", 3))
    ]
    assert len({tuple(state) for state in others}) == 4
