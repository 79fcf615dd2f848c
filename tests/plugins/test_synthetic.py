"""Generated sets: shapes, kinds of column, classes that a kernel tells apart, a line does not."""

import numpy as np
import pytest
import synthetic
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from harness.datasets.catalog import load_catalog

SETS = {dataset.name: dataset for dataset in synthetic.harness_datasets()}
each_set = pytest.mark.parametrize("name", SETS)


def small(name, n=3000, seed=0):
    return SETS[name].generate(np.random.default_rng(seed), n=n)


def test_sizes_are_the_ones_that_are_declared():
    sizes = {name: (s.n, s.d, s.n_classes, s.task) for name, s in SETS.items()}
    assert sizes == {
        "two-moons": (20_000, 2, 2, "binary"),
        "two-spirals": (20_000, 2, 2, "binary"),
        "covertype-shape": (500_000, 54, 7, "multiclass"),
        "susy-shape": (2_000_000, 18, 2, "binary"),
        "sylva-shape": (72_626, 216, 2, "binary"),
        "hiva-shape": (42_678, 1_617, 2, "binary"),
        "ibn_sina-shape": (20_722, 92, 2, "binary"),
        "orange-shape": (50_000, 230, 2, "binary"),
        "census-shape": (18_186, 119, 0, "regression"),
        "ct-shape": (53_500, 385, 0, "regression"),
        "sarcos-shape": (44_484, 21, 0, "regression"),
    }
    for dataset in SETS.values():
        assert dataset.generate.__defaults__[0] == dataset.n


@each_set
def test_equal_seeds_give_equal_data_and_others_do_not(name):
    X, y = small(name)
    assert X.shape == (3000, SETS[name].d)
    assert y.shape == (3000,)
    assert np.isfinite(X).all()
    again, labels = small(name)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, labels)
    assert not np.array_equal(X, small(name, seed=1)[0])


def test_shapes_of_other_sets_say_whose_they_are():
    named = {name: dataset.stand_in_for for name, dataset in SETS.items()}
    assert named.pop("two-moons") == named.pop("two-spirals") == ""
    catalog = load_catalog()
    for name, real in named.items():
        assert name == f"{real.lower()}-shape"
        entries = [entry for known, entry in catalog.items() if known.startswith(real)]
        assert entries, f"{name} stands in for a set that the catalog does not know"
        assert {entry.d for entry in entries} & {SETS[name].d}
        assert {entry.task for entry in entries} & {SETS[name].task}


@pytest.mark.parametrize(
    ("name", "share"), [("hiva", 0.035), ("ibn_sina", 0.378), ("orange", 0.018)]
)
def test_the_rare_class_is_as_rare_as_the_real_one(name, share):
    _, y = small(f"{name}-shape", 20_000)
    assert y.mean() == pytest.approx(share, rel=0.3)


def test_regressions_have_a_target_that_can_be_learned():
    X, y = small("ct-shape", 4000)
    fit = KernelRidge(kernel="rbf", gamma=0.2 / 385, alpha=0.1).fit(X[:2000], y[:2000])
    assert 0.5 < fit.score(X[2000:], y[2000:]) < 0.95


@pytest.mark.parametrize("name", [name for name in SETS if SETS[name].n_classes])
def test_every_class_occurs(name):
    _, y = small(name, 20_000)
    assert set(y) == set(range(SETS[name].n_classes))


@each_set
def test_blocks_are_no_seam(name, monkeypatch):
    monkeypatch.setattr(synthetic, "_ROWS", 700)
    X, y = small(name)
    for part in (slice(0, 1400), slice(1400, 2900)):
        np.testing.assert_allclose(X[part].mean(0), X.mean(0), atol=5 * X.std(0).max() / 35)
        np.testing.assert_allclose(y[part].mean(), y.mean(), atol=5 * y.std() / 35)


@pytest.mark.parametrize(
    ("name", "gain"),
    [
        ("two-moons", 0.1),
        ("two-spirals", 0.25),
        ("covertype-shape", 0.0),
        ("susy-shape", 0.03),
        ("sylva-shape", 0.005),
    ],
)
def test_a_kernel_gains_on_a_line(name, gain):
    X, y = small(name, 6000)
    X = StandardScaler().fit_transform(X)
    line, kernel = (
        model.fit(X[:3000], y[:3000]).score(X[3000:], y[3000:])
        for model in (LogisticRegression(max_iter=300), SVC(C=3.0))
    )
    assert kernel > line + gain
    assert kernel > np.bincount(y).max() / len(y) + gain


def test_dummies_of_covertype_are_one_of_four_and_one_of_forty():
    X, _ = small("covertype-shape")
    for group in (X[:, 10:14], X[:, 14:]):
        assert set(np.unique(group)) == {0, 1}
        np.testing.assert_array_equal(group.sum(1), 1)


def test_moons_and_spirals_are_where_they_should_be():
    X, y = synthetic.two_moons(np.random.default_rng(0), 1000, noise=0.0)
    centre = np.where(y[:, None] == 0, [0.0, 0.0], [1.0, 0.5])
    np.testing.assert_allclose(np.linalg.norm(X - centre, axis=1), 1)
    X, y = synthetic.two_spirals(np.random.default_rng(0), 1000, noise=0.0)
    radius = np.linalg.norm(X, axis=1)
    angle = np.arctan2(X[:, 1], X[:, 0]) - np.pi * y
    np.testing.assert_allclose(np.cos(angle - radius), 1)
    # as many points on each length of arm
    assert np.median(radius) == pytest.approx(3 * np.pi / np.sqrt(2), rel=0.05)
