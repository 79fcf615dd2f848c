"""Writes a plugin to start from: small, complete, and passing `harness check` as it is.

It assigns a point to the nearest class mean in the space of a Gaussian kernel to landmarks, which
are drawn from all points, with and without a label. Their number is its size.
"""

from __future__ import annotations

import keyword
import re
from pathlib import Path

from harness.errors import HarnessError
from harness.files import is_file, is_folder
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
        return kernels.predict_labels(self.decision_function(X), self.classes_)


def storage(shape, landmarks):  # bytes held at the peak of fit and prediction, X included
    kernel = max(shape.n_labeled, shape.block_rows) * (3 * landmarks + 2 * shape.n_features)
    return shape.data_bytes + shape.block_bytes + 8 * (kernel + 2 * landmarks * shape.n_features)


@hookimpl
def harness_methods():
    tasks, space = {"binary", "multiclass"}, {"sigma": log_uniform(0.1, 10.0)}
    yield Method("@NAME@", @CLASS@, storage, "landmarks", tasks=tasks, space=space)
"""


def method_text(name: str) -> str:
    """Return the source of a plugin with one method of a name that is allowed."""
    return _TEMPLATE.replace("@NAME@", name).replace("@CLASS@", _class_name(name))


def write_method(name: str, folder: Path) -> Path:
    """Write a plugin with one method.

    Parameters
    ----------
    name : str
        Lower case with hyphens; the class and the file are named after it.
    folder : Path
        Made if it does not exist.

    Returns
    -------
    Path
        The file: at most 45 lines that run.

    Raises
    ------
    HarnessError
        If the name is not allowed or taken by a method of a plugin, or the file exists or cannot
        be written.
    """
    if not NAME.fullmatch(name):
        raise HarnessError(
            f"{name!r} cannot name a method: use lower-case letters and digits, joined by "
            "hyphens, such as 'my-method'"
        )
    path = folder / f"{name.replace('-', '_')}.py"
    if is_file(path) or is_folder(path):
        raise HarnessError(f"{path} is there already; choose another name or folder")
    searched = [folder] if is_folder(folder) and folder.resolve() != PLUGINS else []
    for method in read_index(searched)["methods"]:
        if method["name"] == name:
            raise HarnessError(f"method {name!r} is taken: {method['plugin_path']} provides it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(method_text(name))
    except OSError as error:
        raise HarnessError(f"{path} cannot be written: {error.strerror}") from None
    return path


def _class_name(name: str) -> str:
    camel = "".join(part.capitalize() for part in name.split("-"))
    if not camel.isidentifier() or keyword.iskeyword(camel) or camel in _IMPORTED:
        return f"Method{camel}"
    return camel
