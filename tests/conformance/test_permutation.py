"""A method that looks at the order of rows is found, with and without random_state."""

import numpy as np

from harness.conformance.permutation import LEVEL, _p_value

LANDMARKS = "[np.random.default_rng(self.random_state).permutation(len(X))[: self.landmarks]]"


def test_first_rows_as_landmarks_without_random_state(checked):
    edits = {LANDMARKS: "[: self.landmarks]", "    random_state: RandomState = None\n": ""}
    failed = checked(edits)
    assert list(failed) == ["permutation equivariant"]
    assert "of its predictions changed by more than 1%" in failed["permutation equivariant"]


def test_first_rows_as_landmarks_behind_a_random_state(checked):
    draw = "np.random.default_rng(self.random_state).permutation(len(X) // 4)"
    order = f"[{draw}[: self.landmarks] + len(X) // 4]"
    failed = checked({LANDMARKS: order})
    assert "p = 0.000" in failed["permutation equivariant"]
    assert "8 random states" in failed["permutation equivariant"]


def test_p_values_are_uniform_when_order_does_not_matter():
    rng = np.random.default_rng(0)
    values = [_p_value(rng.normal(size=(8, 5)), rng.normal(size=(8, 5))) for _ in range(40)]
    assert min(values) > LEVEL
    # Kolmogorov-Smirnov at level 0.001 for 40 values
    gaps = np.abs(np.sort(values) - (np.arange(40) + 0.5) / 40)
    assert gaps.max() < 1.95 / np.sqrt(40)


def test_separate_runs_have_the_smallest_p_value():
    rng = np.random.default_rng(0)
    p = _p_value(rng.normal(size=(8, 5)), 10 + rng.normal(size=(8, 5)))
    assert p < LEVEL
