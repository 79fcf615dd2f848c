"""What a notebook defines is written into files that can be imported without the notebook."""

import linecache
import subprocess
import sys
import types

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

import harness
from harness.errors import HarnessError
from harness.plugin.registry import find_sources, load_plugin
from harness.python.methods import given_methods, plugin_files
from harness.python.source import Definitions, changed_params

FIRST = """
import functools
from typing import Self
import numpy as np
from numpy import exp
from sklearn.base import ClassifierMixin
from harness import Method, log_uniform, choice
from harness.estimator import Estimator, PositiveFloat, PositiveInt

X = np.zeros((5, 5))   # the name of an argument below, and nothing that the class uses
SCALE, NAMES = 2.0, ("a", "b")

def near(points: np.ndarray) -> np.ndarray:
    return exp(-points) * SCALE

class Base(ClassifierMixin, Estimator):
    landmarks: PositiveInt = 100
    sigma: PositiveFloat = 1.0
"""

SECOND = """
class Mine(Base):
    kinds = NAMES

    def fit(self, X, y) -> Self:
        self.classes_ = np.unique(y[y != -1])
        self.near_ = sorted(near(value) for value in X[0])
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    @functools.cached_property
    def of_itself(self):
        return Mine

method = Method("mine", Mine, lambda shape, size: SCALE * shape.n * size, "landmarks",
                tasks={"binary"}, space={"sigma": log_uniform(0.1, 10.0)},
                sizes=lambda shape: (1, shape.n_labeled))
"""


@pytest.fixture
def notebook(monkeypatch):
    """Return a function that runs cells as a kernel does: in one module that no file is of."""
    module = types.ModuleType("notebook_of_tests")
    monkeypatch.setitem(sys.modules, module.__name__, module)

    def run(*cells):
        for number, cell in enumerate(cells):
            path = f"<cell {len(linecache.cache)}-{number}>"
            linecache.cache[path] = (len(cell), None, cell.splitlines(keepends=True), path)
            exec(compile(cell, path, "exec"), vars(module))
        return module

    yield run
    for path in [path for path in linecache.cache if path.startswith("<cell ")]:
        del linecache.cache[path]


def loaded(tmp_path, *methods):
    """The methods that the written plugins provide, each file loaded by itself."""
    _, objects = given_methods(list(methods))
    found = {}
    for name, text in plugin_files(objects).items():
        path = tmp_path / name
        path.write_text(text)
        (source,) = (s for s in find_sources([path]) if s.location == str(path.resolve()))
        plugin = load_plugin(source)
        assert plugin.failure == ""
        found |= {method.name: method for method in plugin.provided["methods"]}
    return found


def test_a_method_of_two_cells_is_written_with_what_it_uses(notebook, tmp_path):
    given = notebook(FIRST, SECOND).method
    method = loaded(tmp_path, given)["mine"]
    assert method.estimator is not given.estimator
    assert method.space == given.space
    assert method.tasks == given.tasks
    shape = harness.Shape(10, 20, 3, 2)
    assert method.storage(shape, 7) == given.storage(shape, 7) == 2.0 * 30 * 7
    assert method.sizes(shape) == (1, 10)
    points, y = np.ones((4, 2)), np.array([0, 1, -1, -1])
    ours, theirs = (one.estimator(landmarks=3).fit(points, y) for one in (method, given))
    assert ours.near_ == theirs.near_
    assert ours.of_itself is method.estimator
    assert ours.kinds == ("a", "b")
    text = (tmp_path / "mine.py").read_text()
    assert "X = " not in text
    # no process that has not run the cells lacks anything
    alone = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=False
    )
    assert alone.returncode == 0, alone.stderr


def test_of_a_cell_that_was_run_again_the_last_text_counts(notebook, tmp_path):
    cells = notebook(FIRST, SECOND, FIRST.replace("= 1.0", "= 3.0"), SECOND)
    assert loaded(tmp_path, cells.method)["mine"].estimator().sigma == 3.0


LATER = """
from __future__ import annotations
from typing import TYPE_CHECKING
from sklearn.neighbors import KNeighborsClassifier as Neighbors
if TYPE_CHECKING:
    from nowhere import Points

class Later(Neighbors):
    def fit(self, X: Points, y: Points) -> Later:
        return super().fit(X, y)
"""


def test_annotations_that_are_never_evaluated_stay_so(notebook, tmp_path):
    """And a name of one's own for a class of a package is kept."""
    method = loaded(tmp_path, notebook(LATER).Later)["later"]
    assert "Neighbors = KNeighborsClassifier\n" in (tmp_path / "later.py").read_text()
    assert issubclass(method.estimator._foreign, KNeighborsClassifier)


LAMBDAS = """
from harness import Method
from sklearn.neighbors import KNeighborsClassifier
few, many = (lambda shape, size: 8 * shape.n), (lambda shape, size: 16 * shape.n)
method = Method("few", KNeighborsClassifier, few)
"""


def test_of_two_lambdas_in_a_line_the_one_is_told_from_the_other(notebook, tmp_path):
    shape = harness.Shape(10, 20, 3, 2)
    assert loaded(tmp_path, notebook(LAMBDAS).method)["few"].storage(shape, None) == 240
    same = LAMBDAS.replace("16 *", "8 * 1 *").replace("8 * 1 *", "8 *")
    assert loaded(tmp_path, notebook(same).method)["few"].storage(shape, None) == 240


def test_what_packages_have_is_imported(tmp_path):
    text = plugin_files(given_methods([LabelSpreading])[1])["label_spreading.py"]
    assert "from sklearn.semi_supervised import LabelSpreading\n" in text
    assert loaded(tmp_path, LabelSpreading)["label-spreading"].estimator is LabelSpreading


@pytest.mark.parametrize(
    ("estimator", "tasks"),
    [
        (KNeighborsClassifier(3, weights="distance"), {"binary", "multiclass"}),
        (RandomForestClassifier(n_estimators=7, random_state=0), {"binary", "multiclass"}),
    ],
    ids=["parameters", "its own seed"],
)
def test_estimators_keep_their_parameters_but_the_seed(tmp_path, estimator, tasks):
    method = loaded(tmp_path, {"given": estimator})["given"]
    assert method.tasks == tasks
    assert str(dict(method.params)) == str(changed_params(estimator))
    assert "random_state" not in method.params
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = X[:, 0] if "regression" in tasks else (X[:, 0] > 0).astype(int)
    made = method.estimator(**method.params).fit(X, y)
    if "random_state" not in method.parameters:
        assert np.array_equal(made.predict(X), estimator.fit(X, y).predict(X))


@pytest.mark.parametrize(
    ("pipeline", "tasks", "parameter"),
    [
        (make_pipeline(StandardScaler(), SVC(C=10)), {"binary", "multiclass"}, "svc__C"),
        (make_pipeline(StandardScaler(), Ridge(10)), {"regression"}, "ridge__alpha"),
    ],
    ids=["of classes", "of regression"],
)
def test_pipelines_have_the_parameters_of_their_steps(tmp_path, pipeline, tasks, parameter):
    method = loaded(tmp_path, {"given": pipeline})["given"]
    assert method.tasks == tasks
    assert method.estimator().get_params()[parameter] == 10
    X = np.random.default_rng(0).normal(size=(40, 3))
    y = X[:, 0] if "regression" in tasks else (X[:, 0] > 0).astype(int)
    made = method.estimator().fit(X, y)
    assert np.array_equal(made.predict(X), pipeline.fit(X, y).predict(X))


def test_two_of_one_class_are_told_apart_by_name():
    named, objects = given_methods(
        ["svm", {"nysck": {"rank": 3}, "as": "three"}, {"knn-3": KNeighborsClassifier(3)}]
    )
    assert named == ["svm", {"nysck": {"rank": 3}, "as": "three"}, "knn-3"]
    mapping = {"svm": None, "nysck": {"rank": 3}, "knn": KNeighborsClassifier}
    assert given_methods(mapping)[0] == ["svm", {"nysck": {"rank": 3}}, "knn"]
    assert [method.name for method in objects] == ["knn-3"]
    assert len(plugin_files(given_methods({"a b": SVC, "a-b": SVC})[1])) == 2


VALUES = [
    (float("inf"), 'float("inf")'),
    (np.int64(3), "3"),
    ({"a": (1,), 2: [None, True]}, "{'a': (1,), 2: [None, True]}"),
    (frozenset(), "frozenset(set())"),
    (RBF(2.0) + WhiteKernel(), "Sum(k1=RBF(length_scale=2.0), k2=WhiteKernel())"),
    (np.exp, "exp"),
    (harness.choice([1, "a"]), "choice([1, 'a'])"),
]


@pytest.mark.parametrize(("value", "text"), VALUES, ids=[text for _, text in VALUES])
def test_values_are_written_as_source(value, text):
    found = Definitions("method 'x'")
    assert found.value(value) == text
    known = {}
    exec(found.text, known)
    assert str(eval(text, known)) == str(value)


LOCAL = """
from sklearn.neighbors import KNeighborsClassifier
def make():
    class Inner(KNeighborsClassifier):
        pass
    return Inner
Inner = make()
"""


@pytest.mark.parametrize(
    ("cells", "told"),
    [
        ([LOCAL, "method = Inner"], "Inner is defined within a function"),
        (
            [FIRST, "DATA = object()\n" + SECOND.replace("= NAMES", "= DATA")],
            "method 'mine': uses 'DATA': <object object at .*> cannot be written into a file",
        ),
        (
            [FIRST, "import notebook_of_tests as own\n" + SECOND.replace("= NAMES", "= own.X")],
            "uses the module 'notebook_of_tests', whose changes would not be noticed",
        ),
        (["method = print"], "no method: give a name, a class with fit and predict"),
    ],
    ids=["local class", "object", "own module", "function"],
)
def test_what_cannot_be_written_is_refused_in_a_sentence(notebook, cells, told):
    with pytest.raises(HarnessError, match=told) as caught:
        plugin_files(given_methods([notebook(*cells).method])[1])
    assert "\n" not in str(caught.value)


def test_a_class_whose_source_is_gone_is_refused(notebook):
    method = notebook(FIRST, SECOND).method
    for path in [path for path in linecache.cache if path.startswith("<cell ")]:
        del linecache.cache[path]
    with pytest.raises(HarnessError, match="source of Mine cannot be found: define it in a file"):
        plugin_files([method])
