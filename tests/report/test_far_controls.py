"""Controls far from all methods leave the axis to the methods, and are named beside it."""

import numpy as np
import pandas as pd
import pytest

from harness.report.far_controls import far_controls

METHODS = [("a", 0.97), ("b", 0.99)]


def cells(*controls, methods=METHODS, spread=0.0):
    rows = [(name, mean, False) for name, mean in methods]
    rows += [(name, mean, True) for name, mean in controls]
    made = pd.DataFrame(rows, columns=["method", "mean", "control"])
    return made.assign(ci_low=made["mean"] - spread, ci_high=made["mean"] + spread)


@pytest.mark.parametrize(
    ("mean", "side"),
    [(0.5, "below"), (0.95, "below"), (0.965, ""), (0.98, ""), (1.0, ""), (1.05, "above")],
)
def test_what_is_farther_than_half_of_what_methods_span_is_far(mean, side):
    found = far_controls(cells(("chance", mean)))
    assert found["far"] == ["", "", side]
    assert found["edge"] == [None, None, f"chance {mean:.2g}" if side else None]


def test_intervals_are_part_of_what_methods_span():
    assert far_controls(cells(("chance", 0.95), spread=0.02))["far"][-1] == ""


def test_controls_of_one_side_are_named_together_once():
    found = far_controls(cells(("prior", 0.5), ("random", 0.49), ("oracle", 2.0), ("prior", 0.51)))
    assert found["far"] == ["", "", "below", "below", "above", "below"]
    assert found["edge"][2:] == ["prior 0.5 to 0.51, random 0.49", None, "oracle 2", None]


def test_a_control_that_comes_near_at_some_budget_is_drawn():
    assert far_controls(cells(("prior", 0.5), ("prior", 0.97)))["far"] == [""] * 4


@pytest.mark.parametrize("methods", [[], [("a", 0.9)], [("a", np.nan), ("b", np.nan)]])
def test_where_methods_span_nothing_controls_give_the_scale(methods):
    found = far_controls(cells(("prior", 0.5), ("lost", np.nan), methods=methods))
    assert set(found["far"]) == {""}
    assert set(found["edge"]) == {None}


def test_a_control_without_a_score_is_nowhere():
    found = far_controls(cells(("lost", np.nan)))
    assert found == {"far": [""] * 3, "edge": [None] * 3}
