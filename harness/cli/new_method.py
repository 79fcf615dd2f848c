"""Writes a plugin to start from: small, complete, and passing `harness check` as it is.

It assigns a point to the nearest class mean in the space of a Gaussian kernel to landmarks, which
are drawn from all points, with and without a label. Their number is its size.
"""

from __future__ import annotations

import importlib
import keyword
import re
from pathlib import Path

from harness.cli.new_plugin import new_file, write_new
from harness.errors import HarnessError
from harness.files import is_folder
from harness.plugin.index import read_index
from harness.project import PLUGINS

NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
"""Names of methods: lower case with hyphens."""

_IMPORTED = {"Estimator", "ClassifierMixin", "Method", "NearestCentroid"}

_TEMPLATE = """\
# @NAME@: the nearest class mean in the space of a kernel to landmarks. Make it your own.
import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.neighbors import NearestCentroid
from sklearn.utils.validation import check_is_fitted, validate_data

from harness import Method, hookimpl, kernels, log_uniform
from harness.estimator import Estimator, PositiveFloat, PositiveInt, RandomState
from harness.semi_supervised import predict_labels


class @CLASS@(ClassifierMixin, Estimator):
    landmarks: PositiveInt = 100
    sigma: PositiveFloat = 1.0
    random_state: RandomState = None

    def fit(self, X, y):  # y is -1 where a point has no label
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=[np.float64, np.float32])
        self._Z = X[np.random.default_rng(self.random_state).permutation(len(X))[: self.landmarks]]
        self._kernel = kernels.bind_kernel("rbf", self._Z, self.sigma)
        K = self._kernel(X[y != -1], self._Z)
        self._means = NearestCentroid().fit(K, y[y != -1])
        self.classes_ = self._means.classes_
        return self

    def decision_function(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=self._Z.dtype)
        return self._means.decision_function(self._kernel(X, self._Z))

    def predict(self, X):
        return predict_labels(self.decision_function(X), self.classes_)


def storage(shape, landmarks):  # bytes held at the peak of fit and prediction, X included
    kernel = max(shape.n_labeled, shape.block_rows) * (3 * landmarks + 2 * shape.n_features)
    return shape.data_bytes + shape.block_bytes + 8 * (kernel + 2 * landmarks * shape.n_features)


@hookimpl
def harness_methods():
    tasks, space = {"binary", "multiclass"}, {"sigma": log_uniform(0.1, 10.0)}
    yield Method("@NAME@", @CLASS@, storage, "landmarks", tasks=tasks, space=space)
"""


_AROUND = """\
# @NAME@: @CLASS@ of @PACKAGE@. Its storage is learned; `harness measure` shows what it holds.
from @MODULE@ import @CLASS@

from harness import hookimpl, sklearn_method


@hookimpl
def harness_methods():
    yield sklearn_method(@CLASS@, "@NAME@"@SIZE@)
"""

_SIZES = {
    "n_components": "",
    "n_estimators": "(1, 500)",
    "n_landmarks": "",
    "max_leaf_nodes": "(2, 10_000)",
}
"""Parameters that trade memory for quality, as scikit-learn calls them, and their range; without
one it goes up to the number of points."""


def method_text(name: str, source: str | None = None) -> str:
    """Return the source of a plugin with one method of a name that is allowed.

    Parameters
    ----------
    name : str
    source : str, optional
        Dotted name of a class that it is around.

    Raises
    ------
    HarnessError
        If there is no such class, or it is none that can be a method.
    """
    if source is not None:
        return _text_around(name, source)
    return _TEMPLATE.replace("@NAME@", name).replace("@CLASS@", _class_name(name))


def _text_around(name: str, source: str) -> str:
    from harness.scikit_learn import sklearn_method

    module, _, class_name = source.rpartition(".")
    try:
        estimator = getattr(importlib.import_module(module), class_name)
    except (ImportError, AttributeError, ValueError) as error:
        raise HarnessError(
            f"--from {source}: there is no such class ({error}); give its module and its name, "
            "such as sklearn.semi_supervised.LabelSpreading"
        ) from None
    method = sklearn_method(estimator, name)
    size = next((parameter for parameter in _SIZES if parameter in method.parameters), None)
    sized = "" if size is None else f', size="{size}"'
    if size is not None and _SIZES[size]:
        sized += f", sizes=lambda shape: {_SIZES[size]}"
    text = _AROUND.replace("@SIZE@", sized)
    text = text.replace("@CLASS@", class_name).replace("@MODULE@", module)
    return text.replace("@PACKAGE@", module.partition(".")[0]).replace("@NAME@", name)


def write_method(name: str, folder: Path, source: str | None = None) -> Path:
    """Write a plugin with one method.

    Parameters
    ----------
    name : str
        Lower case with hyphens; the class and the file are named after it.
    folder : Path
        Made if it does not exist.
    source : str, optional
        Dotted name of a class that the method is around, "sklearn.svm.SVC"; by default an example.

    Returns
    -------
    Path
        The file: at most 45 lines that run.

    Raises
    ------
    HarnessError
        If the name is not allowed or taken by a method of a plugin, the class cannot be a method,
        or the file exists or cannot be written.
    """
    if not NAME.fullmatch(name):
        raise HarnessError(
            f"{name!r} cannot name a method: use lower-case letters and digits, joined by "
            "hyphens, such as 'my-method'"
        )
    path = new_file(f"{name.replace('-', '_')}.py", folder)
    searched = [folder] if is_folder(folder) and folder.resolve() != PLUGINS else []
    for method in read_index(searched)["methods"]:
        if method["name"] == name:
            raise HarnessError(f"method {name!r} is taken: {method['plugin_path']} provides it")
    return write_new(method_text(name, source), path)


def _class_name(name: str) -> str:
    camel = "".join(part.capitalize() for part in name.split("-"))
    if not camel.isidentifier() or keyword.iskeyword(camel) or camel in _IMPORTED:
        return f"Method{camel}"
    return camel
