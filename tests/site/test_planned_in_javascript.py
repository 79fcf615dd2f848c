"""The site plans as the harness does: every storage model, translated, gives the same bytes."""

import dataclasses
import json
import random

import pytest

from harness.planning.learned.shipped import ShippedStorage, read_shipped
from harness.planning.size import plan
from harness.plugin.registry import Registry
from harness.plugin.shape import Shape
from harness.site.function_body import UntranslatedError
from harness.site.javascript import Translator
from harness.site.storage_models import planning_script

PLANNED = """asked.map(([name, shape, budget]) => {
  const { size, kept, bytes, fits } = planned(known.get(name), new Shape(...shape), budget);
  const beyond = isBeyond(known.get(name), new Shape(...shape), { size, kept });
  return [size, kept, bytes, fits, beyond];
})"""


@pytest.fixture(scope="module")
def methods():
    return [method for method, _ in Registry.load().items("methods")]


@pytest.fixture(scope="module")
def script(methods):
    return planning_script(methods)


def shapes(seed, count):
    """Seeded points of many sizes: from tens to a million, 2 to 3,000 columns, all tasks."""
    draw = random.Random(seed)
    for _ in range(count):
        n = int(10 ** draw.uniform(1.8, 6))
        labeled = max(30, min(n, int(10 ** draw.uniform(1.5, 4))))
        classes = draw.choice([0, 2, 2, 3, 10, 26])
        others = (draw.choice([0, 0, 1000, 50_000]), draw.choice([4, 8]))
        columns = int(10 ** draw.uniform(0.3, 3.5))
        shape = Shape(labeled, max(0, n - labeled), columns, classes, *others)
        yield shape, int(10 ** draw.uniform(5.8, 9))


def with_shipped(method):
    """A method that learns its storage, with the formula that comes along."""
    return method.learned(read_shipped()[method.name]) if method.learns_storage else method


def asked_of(methods, left_out, seed=1, count=16):
    for shape, budget in shapes(seed, count):
        task = {0: "regression", 2: "binary"}.get(shape.n_classes, "multiclass")
        clusters = dataclasses.replace(
            shape, n_labeled=0, n_unlabeled=shape.n, n_classes=max(2, shape.n_classes)
        )
        for method in methods:
            if method.name not in left_out and method.tasks & {task, "clustering"}:
                yield with_shipped(method), shape if task in method.tasks else clusters, budget


def test_sizes_points_and_bytes_are_the_same(methods, script, javascript):
    text, left_out = script
    asked, expected = [], []
    for method, shape, budget in asked_of(methods, left_out):
        found = plan(method, shape, budget, space=method.space)
        given = (shape.n_labeled, shape.n_unlabeled, shape.n_features, shape.n_classes)
        asked.append([method.name, [*given, shape.n_test, shape.itemsize], budget])
        seen = method.training_shape(shape, found.size, found.n_kept)
        shipped = isinstance(method.storage, ShippedStorage)
        beyond = shipped and not method.storage.covers(seen, found.size)
        row = [found.size, found.n_kept, found.planned_bytes, found.feasible, beyond]
        expected.append(row)
    known = "new Map(methods.map((method) => [method.name, method]))"
    given = f"const asked = {json.dumps(asked)}; const known = {known};"
    answered = javascript(f"{text}\n{given}", PLANNED)
    wrong = [row for row in zip(asked, expected, answered, strict=True) if row[1] != row[2]]
    assert not wrong, wrong[:3]
    fits = sum(feasible for *_, feasible, _ in expected)
    assert fits > len(expected) / 4
    assert fits < len(expected)


def test_every_storage_model_is_translated(script):
    _, left_out = script
    assert not left_out


def _a(n, m=2, *, k=3):
    return n // m + k


def _python(n, d):
    parts = {"a": n << 2, **{"b": d}}
    parts["c"] = parts["a"] if n > d >= 1 and "a" in parts else -1
    parts["c"] += _a(n, k=d)
    total = sum(value for value in parts.values() if value) + max((n, d), key=lambda_free) % 7
    return int(total / 2 or 1), [*parts], n is not None, min(n, d) ** 2, not d


def lambda_free(value):
    return -value


@pytest.mark.parametrize(("n", "d"), [(5, 2), (0, 0), (3, 9), (12_345_678, 17)])
def test_python_is_translated_as_it_is_meant(n, d, javascript):
    translator = Translator()
    text, _ = planning_script([])
    name = translator.function(_python)
    result = javascript(f"{text}\n{translator.text}", f"{name}({n}, {d})")
    assert result == list(_python(n, d))


def _loops(n):
    for _ in range(n):
        n += 1
    return n


def test_what_has_no_translation_is_refused_with_its_line():
    with pytest.raises(UntranslatedError, match=r"_loops: for _ in range\(n\)"):
        Translator().function(_loops)
