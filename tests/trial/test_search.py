"""Built-in searches: range, number and spread of what they try, and looking searches up."""

import re

import numpy as np
import pytest

from harness import choice, log_uniform, settings_at, uniform
from harness.errors import HarnessError
from harness.plugin.registry import Registry
from harness.project import ROOT

SPACE = {"C": log_uniform(1e-3, 1e3), "a": uniform(-1, 1), "k": choice(["x", "y"])}


def tried(search, space, trials, seed=0):
    """Return the settings of a search, all of them evaluated in one call."""
    calls = []

    def evaluate(settings):
        calls.append(settings)
        return [0.0] * len(settings)

    found, _ = Registry([]).get("searches", search)
    found.function(space, evaluate, trials, np.random.default_rng(seed))
    (settings,) = calls
    return settings


@pytest.mark.parametrize("search", [search.name for search, _ in Registry([]).items("searches")])
@pytest.mark.parametrize("trials", [1, 7, 16])
def test_settings_stay_in_range_and_number(search, trials):
    settings = tried(search, SPACE, trials)
    assert 1 <= len(settings) <= trials
    for setting in settings:
        assert 1e-3 <= setting["C"] <= 1e3
        assert -1 <= setting["a"] <= 1
        assert setting["k"] in ("x", "y")
    assert settings == tried(search, SPACE, trials)


def test_a_grid_reaches_both_ends():
    settings = tried("grid", {"C": log_uniform(1, 100)}, 3)
    assert [setting["C"] for setting in settings] == pytest.approx([1, 10, 100])


def test_a_grid_is_the_largest_that_may_be_tried():
    assert len(tried("grid", SPACE, 17)) == 8
    assert len(tried("grid", SPACE, 18)) == 18
    assert len(tried("grid", {"k": choice("abcdefgh")}, 5)) == 5


def test_sobol_points_fill_every_part_of_a_range_alike():
    positions = [setting["a"] for setting in tried("sobol", {"a": uniform(0, 1)}, 64)]
    assert (np.histogram(positions, bins=64, range=(0, 1))[0] == 1).all()


def test_random_and_sobol_follow_the_generator():
    for search in ("random", "sobol"):
        assert tried(search, SPACE, 5, seed=1) != tried(search, SPACE, 5, seed=2)


def test_positions_go_to_the_names_in_their_order():
    space = {"b": uniform(0, 10), "a": choice(["low", "high"])}
    assert settings_at(space, [[0.0, 0.5], [0.99, 1.0]]) == [
        {"a": "low", "b": 5.0},
        {"a": "high", "b": 10.0},
    ]


def test_the_search_of_the_manual_is_one():
    text = (ROOT / "docs" / "plugins.md").read_text()
    (code,) = (c for c in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "Search(" in c)
    names = {}
    exec(code, names)
    (search,) = names["harness_searches"]()
    asked = []

    def evaluate(settings):
        asked.extend(settings)
        return [-abs(setting["a"] - 0.5) for setting in settings]

    for trials in (1, 2, 7, 40):
        asked.clear()
        search.function(SPACE, evaluate, trials, np.random.default_rng(0))
        assert len(asked) == trials
    near = [abs(setting["a"] - 0.5) for setting in asked]
    assert np.median(near[20:]) < np.median(near[:20])


def test_searches_are_found_by_name():
    with pytest.raises(HarnessError, match="unknown search 'sobel'; did you mean 'sobol'"):
        Registry([]).get("searches", "sobel")


@pytest.mark.parametrize(("trials", "points"), [(1, 1), (7, 1), (8, 2), (26, 2), (27, 3), (99, 4)])
def test_a_grid_has_as_many_points_a_range_as_trials_allow(trials, points):
    space = {name: uniform(0, 1) for name in "abc"}
    settings = tried("grid", space, trials)
    assert len(settings) == points**3
    assert len({setting["a"] for setting in settings}) == points


def test_one_range_has_a_point_a_trial():
    assert len(tried("grid", {"a": uniform(0, 1)}, 5)) == 5
