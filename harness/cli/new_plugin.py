"""Writes plugins to start from that are no methods: a data set, a metric, a kernel, a search."""

from __future__ import annotations

import re
from pathlib import Path

from harness.errors import HarnessError
from harness.files import is_file, is_folder
from harness.plugin.index import read_index
from harness.project import PLUGINS

_HYPHENS = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_UNDERSCORES = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")

_DATASET = """\
# @NAME@: two rings, one around the other, as points with noise. Make it your own.
import numpy as np

from harness import GeneratedDataset, hookimpl


def generate(rng):  # a numpy.random.Generator: the same points in every run
    y = np.arange(1000) % 2
    angle = rng.uniform(0, 2 * np.pi, len(y))
    radius = 1 + y + 0.2 * rng.standard_normal(len(y))
    X = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return X, y


@hookimpl
def harness_datasets():
    yield GeneratedDataset("@NAME@", generate, task="binary", n=1000, d=2, n_classes=2)
"""

_METRIC = """\
# @NAME@: the share of points of the rarest class that are found. Make it your own.
import numpy as np

from harness import Metric, hookimpl


def score(y_true, y_predicted):  # class numbers; needs="scores" gives scores instead
    classes, counts = np.unique(y_true, return_counts=True)
    rarest = classes[counts.argmin()]
    return float(np.mean(y_predicted[y_true == rarest] == rarest))


@hookimpl
def harness_metrics():
    yield Metric("@NAME@", score, tasks={"binary", "multiclass"})
"""

_KERNEL = """\
# @NAME@: the exponential kernel, exp(-|x - z| / width). Make it your own.
import numpy as np
from scipy.spatial.distance import cdist, pdist

from harness import Kernel, hookimpl


def values(X, Z, width):  # of shape (len(X), len(Z))
    return np.exp(-cdist(X, Z) / width)


def unit(X):  # the width that sigma = 1 stands for
    return np.median(pdist(X[:300]))


@hookimpl
def harness_kernels():
    yield Kernel("@NAME@", values, unit, shift_invariant=True)
"""

_SEARCH = """\
# @NAME@: half of the trials anywhere, half near the best of these. Make it your own.
from harness import Search, hookimpl, settings_at


def search(space, evaluate, trials, rng):  # at most so many different settings in all
    first = rng.random((-(-trials // 2), len(space)))
    scores = evaluate(settings_at(space, first))  # greater is better
    best = max(zip(scores, first), key=lambda pair: pair[0])[1]
    near = best + 0.1 * rng.normal(size=(trials // 2, len(space)))
    evaluate(settings_at(space, near.clip(0, 1)))


@hookimpl
def harness_searches():
    yield Search("@NAME@", search)
"""

_KINDS = {
    "dataset": ("datasets", _HYPHENS, "hyphens, such as 'my-data'", _DATASET),
    "metric": ("metrics", _UNDERSCORES, "underscores, such as 'my_score'", _METRIC),
    "kernel": ("kernels", _HYPHENS, "hyphens, such as 'my-kernel'", _KERNEL),
    "search": ("searches", _HYPHENS, "hyphens, such as 'my-search'", _SEARCH),
}
"""Of each kind: what the index calls them, names that are allowed, and a plugin."""


def write_plugin(kind: str, name: str, folder: Path) -> Path:
    """Write a plugin that provides one thing, and runs as it is.

    Parameters
    ----------
    kind : {"dataset", "metric", "kernel", "search"}
    name : str
        What studies call it; the file is named after it.
    folder : Path
        Made if it does not exist.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    HarnessError
        If the name is not allowed or taken, or the file exists or cannot be written.
    """
    plural, allowed, how, template = _KINDS[kind]
    if not allowed.fullmatch(name):
        raise HarnessError(
            f"{name!r} cannot name a {kind}: use lower-case letters and digits, joined by {how}"
        )
    path = new_file(f"{name.replace('-', '_')}.py", folder)
    for owner, known in _known(kind, plural, path.parent):
        if known == name:
            raise HarnessError(f"{kind} {name!r} is taken: {owner} provides it")
    return write_new(template.replace("@NAME@", name), path)


def new_file(name: str, folder: Path) -> Path:
    """Return the path of a plugin to be written, and refuse one that would replace another.

    Raises
    ------
    HarnessError
        If the file is there, or a plugin that came with the harness is called so, in whose place
        it would stand.
    """
    path = folder / name
    if is_file(path) or is_folder(path):
        raise HarnessError(f"{path} is there already; choose another name or folder")
    shipped = is_file(PLUGINS / name) or is_folder(PLUGINS / path.stem)
    if shipped and folder.resolve() != PLUGINS:
        raise HarnessError(
            f"{path} would stand in place of the plugin {path.stem!r} that came with the harness; "
            "choose another name"
        )
    return path


def write_new(text: str, path: Path) -> Path:
    """Write a file that is not there, and its folder.

    Raises
    ------
    HarnessError
        If it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise HarnessError(f"{path} cannot be written: {error.strerror}") from None
    return path


def _known(kind: str, plural: str, folder: Path) -> list[tuple[str, str]]:
    """List the names of a kind that there are, each with its owner."""
    from harness.datasets import load_catalog
    from harness.metrics.names import METRICS
    from harness.records.columns import COLUMNS

    searched = [folder] if is_folder(folder) and folder.resolve() != PLUGINS else []
    known = [(item["plugin_path"], item["name"]) for item in read_index(searched)[plural]]
    if kind == "dataset":
        known += [(origin, name) for name, origin in load_catalog().origins.items()]
    elif kind == "metric":
        known += [("the table of results", name) for name in (*METRICS, *COLUMNS)]
    return known
