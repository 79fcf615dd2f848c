"""A method that looks at the order of rows is found, with and without random_state."""

import numpy as np
from sklearn.linear_model import Ridge

from harness.conformance import permutation
from harness.conformance.permutation import LEVEL, LOOKS, _judged, _p_value
from harness.conformance.problems import make_problem
from harness.scikit_learn import sklearn_method

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


def test_what_the_last_look_finds_earlier_ones_do_not_let_go():
    rng = np.random.default_rng(0)
    found, let_go, went_on = 0, 0, 0
    for _ in range(100):
        as_given, moved = rng.normal(size=(8, 5)), 1.5 + rng.normal(size=(8, 5))
        last = bool(_judged(as_given, moved, is_last=True))
        earlier = [bool(_judged(as_given[:n], moved[:n], is_last=False)) for n in LOOKS[:-1]]
        found, let_go = found + last, let_go + (last and not all(earlier))
        went_on += bool(_judged(as_given[:4], moved[:4] - 1.5, is_last=False))
    assert found > 80
    assert let_go < 5
    assert went_on < 40  # of those that do not care for the order


def test_a_method_whose_random_state_changes_nothing_is_fitted_twice(monkeypatch):
    fits = []

    def said(method, problem, order, seed):
        fits.append(seed)
        return np.arange(5.0)

    monkeypatch.setattr(permutation, "_said", said)
    monkeypatch.setattr(permutation, "takes_random_state", lambda method: True)
    problem = make_problem(sklearn_method(Ridge), "regression")
    assert permutation.is_permutation_equivariant(None, problem) == ""
    assert fits == [0, LOOKS[-1]]
