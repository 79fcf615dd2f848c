"""CSA and simplex: they find optima, stay in bounds and number, and hold their variance."""

import csa
import numpy as np
import pytest
import supervised
from sklearn.datasets import load_breast_cancer

from harness import choice, log_uniform, uniform
from harness.metrics.functions import BUILT_IN
from harness.trial.search import random
from harness.trial.tuning import tune

SEEDS = range(20)


class Landscape:
    """Evaluates settings by a function to be minimised, and keeps all that was asked."""

    def __init__(self, function, head_params=frozenset()):
        self.function = function
        self.head_params = head_params
        self.calls = []

    def __call__(self, settings):
        self.calls.append(settings)
        return [-self.function(setting) for setting in settings]

    @property
    def asked(self):
        return [setting for call in self.calls for setting in call]


def run(search, space, function, trials, seed):
    """Return the least value that a search finds."""
    landscape = Landscape(function)
    search(space, landscape, trials, np.random.default_rng(seed))
    return min(map(function, landscape.asked))


def sphere(d):
    def function(setting):
        return sum((setting[f"x{i}"] - 0.3 - 0.1 * i) ** 2 for i in range(d))

    return {f"x{i}": uniform(-1, 1) for i in range(d)}, function


def rosenbrock():
    """A bent valley over six decades of each parameter, its floor at 1, 1."""

    def function(setting):
        u, v = np.log10(setting["u"]) + 1, np.log10(setting["v"]) + 1
        return 10 * (v - u**2) ** 2 + (1 - u) ** 2

    return {name: log_uniform(1e-3, 1e3) for name in "uv"}, function


def rastrigin():
    """A bowl with 25 dents, of which the one at 0.2, -0.3 is the deepest."""

    def function(setting):
        shifted = np.array([setting["u"] - 0.2, setting["v"] + 0.3])
        return float(np.sum(shifted**2 + 0.05 * (1 - np.cos(5 * np.pi * shifted))))

    return {name: uniform(-1, 1) for name in "uv"}, function


def edge():
    """Best at a corner of the space."""
    return {"u": log_uniform(1e-2, 1e2), "v": uniform(0, 1)}, lambda s: s["u"] + 1 - s["v"] - 0.01


@pytest.mark.parametrize(
    ("problem", "tolerance"),
    [
        (sphere(1), 1e-7),
        (sphere(2), 1e-5),
        (sphere(3), 1e-3),
        (rosenbrock(), 1e-1),
        (rastrigin(), 1e-3),
        (edge(), 1e-6),
    ],
    ids=["sphere 1", "sphere 2", "sphere 3", "rosenbrock", "rastrigin", "edge"],
)
def test_the_optimum_is_found_where_random_search_does_not_find_it(problem, tolerance):
    found, drawn = (
        np.array([run(search, *problem, 60, seed) for seed in SEEDS])
        for search in (csa.search, random)
    )
    assert np.mean(found < tolerance) >= 0.9
    assert np.mean(drawn < tolerance) <= 0.2


def test_an_optimum_among_choices():
    def function(setting):
        return (np.log(setting["C"]) - 1) ** 2 + {"a": 0.5, "b": 0.0, "c": 0.3}[setting["kind"]]

    space = {"C": log_uniform(1e-3, 1e3), "kind": choice(["a", "b", "c"])}
    found = [run(csa.search, space, function, 60, seed) for seed in SEEDS]
    assert np.mean(np.array(found) < 1e-3) >= 0.9


@pytest.mark.parametrize("trials", [1, 2, 4, 5, 6, 17, 18, 26, 27, 60, 121])
@pytest.mark.parametrize("head_params", [set(), {"x0"}, {"x1", "kind"}, {"x0", "x1", "kind"}])
@pytest.mark.parametrize("space", [sphere(1)[0], {**sphere(2)[0], "kind": choice(["a", "b"])}])
def test_never_more_than_the_trials_and_never_out_of_bounds(space, head_params, trials):
    # a slope that leads out of the space
    landscape = Landscape(lambda setting: -100.0 * setting["x0"], head_params)
    csa.search(space, landscape, trials, np.random.default_rng(0))
    assert min(5, trials) <= len(landscape.asked) <= trials
    assert all(-1 <= setting["x0"] <= 1 for setting in landscape.asked)
    assert all(setting.keys() == space.keys() for setting in landscape.asked)


def test_the_five_states_are_scored_together():
    space, function = sphere(2)
    landscape = Landscape(function)
    csa.search(space, landscape, 60, np.random.default_rng(0))
    sizes = [len(call) for call in landscape.calls]
    assert sizes[:5] == [5] * 5
    assert set(sizes[5:]) == {1}


def test_label_parameters_are_tried_where_features_are_at_hand():
    space, function = sphere(3)
    for seed in SEEDS:
        landscape = Landscape(function, head_params={"x0", "x2"})
        csa.search(space, landscape, 60, np.random.default_rng(seed))
        together = [len({s["x1"] for s in call}) for call in landscape.calls]
        assert [len(call) for call in landscape.calls] == [20] + [4] * 6 + [1] * 16
        assert together == [5] + [1] * 22
        values = {(s["x0"], s["x2"]) for call in landscape.calls[:7] for s in call}
        assert len(values) == 4
        assert len({s["x1"] for call in landscape.calls[7:] for s in call}) == 1
        assert min(map(function, landscape.asked)) < 0.03


def test_one_seed_one_search():
    space, function = rastrigin()

    def asked(seed):
        landscape = Landscape(function)
        csa.search(space, landscape, 40, np.random.default_rng(seed))
        return landscape.asked

    assert asked(3) == asked(3)
    assert asked(3) != asked(4)


def test_settings_without_a_score_are_left():
    def function(setting):
        x, y = setting["x0"], setting["x1"]
        return np.nan if x + y < 0.5 else (x - 0.5) ** 2 + (y - 0.6) ** 2

    found = [run_where_scored(function, seed) for seed in SEEDS]
    assert np.mean(np.array(found) < 1e-3) >= 0.9


def run_where_scored(function, seed):
    landscape = Landscape(function)
    csa.search(sphere(2)[0], landscape, 60, np.random.default_rng(seed))
    return np.nanmin([function(setting) for setting in landscape.asked])


def test_where_nothing_is_scored_the_search_ends():
    landscape = Landscape(lambda setting: np.nan)
    csa.search(sphere(2)[0], landscape, 60, np.random.default_rng(0))
    assert 5 <= len(landscape.asked) <= 60


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("m", [2, 5, 9])
def test_acceptance_holds_its_variance_at_any_scale_of_the_costs(m, scale):
    for seed in SEEDS:
        costs = scale * np.random.default_rng(seed).normal(size=m)
        chances = csa.acceptance(costs)
        assert chances.sum() == pytest.approx(1)
        assert chances.var() == pytest.approx(0.99 * (m - 1) / m**2)
        assert (np.diff(chances[np.argsort(costs)]) >= 0).all()
        np.testing.assert_allclose(csa.acceptance(costs + scale), chances, atol=1e-6)


@pytest.mark.parametrize(
    ("costs", "chances"),
    [
        ([1, 1, 1, 1], [0.25] * 4),
        ([0, 3, 3, 1], [0, 0.5, 0.5, 0]),
        ([0, np.inf, 5, 1], [0, 1, 0, 0]),
        ([np.inf, 0, np.inf, 1], [0.5, 0, 0.5, 0]),
    ],
)
def test_the_worst_states_share_what_no_temperature_tells_apart(costs, chances):
    np.testing.assert_allclose(csa.acceptance(np.array(costs, dtype=float)), chances)


def test_reflection_is_the_identity_inside_and_even_about_the_walls():
    inside = np.linspace(0, 1, 11)
    np.testing.assert_allclose(csa.reflect(inside), inside, atol=1e-15)
    for wall in (0.0, 1.0):
        np.testing.assert_allclose(
            csa.reflect(wall + inside), csa.reflect(wall - inside), atol=1e-9
        )
    far = csa.reflect(1e17 * np.tan(np.linspace(-1.57, 1.57, 101)))
    assert ((far >= 0) & (far <= 1)).all()


def test_starts_are_spread_along_every_axis():
    for seed in SEEDS:
        starts = csa.spread(5, 3, np.random.default_rng(seed))
        assert (np.sort((starts * 5).astype(int), axis=0) == np.arange(5)[:, None]).all()


def test_a_method_is_tuned_by_it():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    (method,) = (m for m in supervised.harness_methods() if m.name == "svm")
    metric = next(metric for metric in BUILT_IN if metric.name == "auc")
    order = np.random.default_rng(0).permutation(len(X))[:150]
    poor = {"C": 0.01, "sigma": 0.25}

    def tuned():
        return tune(
            method.estimator,
            method.space,
            X[order],
            y[order],
            search=csa.search,
            trials=20,
            task="binary",
            n_classes=2,
            uses_unlabeled=False,
            metric=metric,
            folds=5,
            rng=np.random.default_rng(1),
            defaults=poor,
            standard_errors=1.0,
        )

    setting, score = tuned()
    assert setting != poor
    assert score > 0.98
    assert (setting, score) == tuned()
