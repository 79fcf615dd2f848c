"""Which code decides what a trial computes: of the harness, and of each plugin.

Asked once, in the process that describes all plugins (`harness.plugin.index`).
"""

from __future__ import annotations

import functools
import importlib.metadata
import inspect
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.plugin.registry import FileSource, PackageSource
from harness.plugin.source_digest import Modules, digest
from harness.project import PACKAGE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from harness.plugin.registry import Plugin

LIBRARIES = ("numpy", "scipy", "scikit-learn")
"""What every trial computes with."""

ROOTS = (
    "harness.jobs.trial_process",
    "harness.jobs.referee",
    "harness.planning.size",
    "harness.trial.search",
    "harness.datasets.rows",
    "harness.datasets.splits",
)
"""Modules that run and score trials; what they import belongs to them."""

LEARNING = ("harness.planning.learned.study", "harness.planning.learned.measuring")
"""Modules that learn storage models."""

APART = {
    "harness.kernels": "each method's own imports say which of them it uses",
    "harness.plugin.registry": "finds plugins, whose code is digested by itself",
    "harness.plugin.index": "describes plugins",
    "harness.planning.workload": "joins a study with what it names, which is in a fingerprint",
    "harness.study.study": "what it reads from the study is in a fingerprint",
    "harness.study.schema": "what it reads from the study is in a fingerprint",
    "harness.study.budget": "what it reads from the study is in a fingerprint",
    "harness.datasets.meta": "describes prepared data, whose digest is in a fingerprint",
    "harness.plugin.hookspecs": "what plugins provide, not what is done with it",
    "harness.records.table": "how rows are written",
    "harness.trial.reach": "which files a trial may read",
    "harness.trial.taken_home": "hands over a fitted model, which no trial of a study does",
    "harness.errors": "how messages are put",
    "harness.files": "where files may be, and how they are written",
    "harness.units": "how figures are written",
}
"""Modules and packages that decide no outcome, and why."""


def harness_code() -> dict[str, Any]:
    """Digest the code that runs and scores trials.

    Returns
    -------
    dict
        "code": a digest; "learning": that of the code that learns storage models, which decides
        the size of methods that have none; "versions": of `LIBRARIES`, by name.
    """
    versions = {name: importlib.metadata.version(name) for name in LIBRARIES}
    decides = _harness().closure(ROOTS, APART)
    learns = _harness().closure(LEARNING, {*APART, *decides})
    return {"code": digest(decides), "learning": digest(learns), "versions": versions}


def plugin_code(plugin: Plugin) -> dict[str, Any]:
    """Digest a plugin's code with all that it uses of itself and of the harness.

    Returns
    -------
    dict
        "code": a digest; "versions": of the other packages that it imports, by name.
    """
    source = plugin.source
    if isinstance(source, FileSource):
        name, top, path = source.name, source.name, source.path
    else:
        assert isinstance(source, PackageSource), "what is built in is digested with the harness"
        name = source.entry_point.module
        top = name.partition(".")[0]
        path = _package_of(name)
    modules = Modules({top: path}, used=_harness())
    closure = modules.closure([name], APART.keys() - {"harness.kernels"})
    return {"code": digest(closure), "versions": _versions(modules.outside(closure))}


@functools.cache
def _harness() -> Modules:
    return Modules({"harness": PACKAGE})


def _package_of(name: str) -> Path:
    """Return the folder, or the file, of an imported module's top-level package."""
    path = Path(inspect.getfile(sys.modules[name]))
    if path.name == "__init__.py":
        path = path.parent
    return path.parents[name.count(".") - 1] if "." in name else path


def _versions(modules: Iterable[str]) -> dict[str, str]:
    names = {name for module in modules for name in _providers().get(module, ())}
    return {name: importlib.metadata.version(name) for name in sorted(names)}


@functools.cache
def _providers() -> Mapping[str, list[str]]:
    return importlib.metadata.packages_distributions()
