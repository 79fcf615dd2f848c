"""The plugin manager: finds plugins, loads them, and answers what they provide.

Plugins come from `plugins/` of the current folder, from those that came with the harness, from
folders that a study names and from installed packages (entry point group `harness`); all are
treated alike, but that one of the current folder stands in place of one that came along under its
name. A plugin that cannot be loaded stays
listed with its reason and stops only what asks for it.

Loading a plugin imports numpy and scikit-learn. What only needs to know which plugins there are
(Snakemake, most commands) reads `harness.plugin.index` instead.
"""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.metadata
import importlib.util
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pluggy

from harness.errors import HarnessError, unknown_name
from harness.files import is_file
from harness.plugin import hookspecs
from harness.plugin.environments import not_made
from harness.plugin.requirements import declared_requirements, unmet
from harness.project import PLUGINS, own

ENTRY_POINTS = "harness"
PACKAGE = "harness_plugins"
"""What modules of plugins that are files are imported below."""

PROVIDERS = {
    "methods": "harness_methods",
    "datasets": "harness_datasets",
    "metrics": "harness_metrics",
    "kernels": "harness_kernels",
    "landmark selectors": "harness_landmark_selectors",
    "searches": "harness_searches",
    "report sections": "harness_report_sections",
}
"""What can be provided, and by which hook."""

BUILT_IN = {
    "metrics": "harness.metrics.functions",
    "kernels": "harness.plugin.built_in_kernels",
    "landmark selectors": "harness.plugin.built_in_kernels",
    "searches": "harness.trial.search",
}
"""What comes with the harness, and the modules that provide it, by the hooks that plugins have."""

NAMED = {"kernel": "kernels", "selector": "landmark selectors"}
"""Parameters of estimators whose values may be names, and of what."""


@dataclass(frozen=True)
class FileSource:
    """Where one plugin is: a file or a package folder."""

    name: str
    origin: str
    path: Path

    @functools.cached_property
    def sha256(self) -> str:
        """Digest of the plugin's source."""
        if self.path.is_file():
            return digest_files([self.path])
        return digest_files(self.path.rglob("*.py"), self.path)

    @functools.cached_property
    def requirements(self) -> tuple[str, ...]:
        """What the plugin needs besides what the harness installs."""
        return declared_requirements(self.path)

    @property
    def location(self) -> str:
        """The file or folder."""
        return str(self.path)

    def load(self) -> ModuleType:
        """Import the plugin's module."""
        # one module per file however often it is loaded: its classes must stay picklable, and a
        # model that was fitted with other code must not be given this one
        where = hashlib.sha256(f"{self.path} {self.sha256}".encode()).hexdigest()[:8]
        name = f"{PACKAGE}.{self.name}_{where}"
        location = self.path if self.path.is_file() else self.path / "__init__.py"
        spec = importlib.util.spec_from_file_location(
            name,
            location,
            submodule_search_locations=None if self.path.is_file() else [str(self.path)],
        )
        if spec is None or spec.loader is None:
            raise ImportError(f"{location} is not a Python file")
        module = importlib.util.module_from_spec(spec)
        # pickle imports the parent package of a class it restores
        sys.modules.setdefault(PACKAGE, ModuleType(PACKAGE))
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
        return module


@dataclass(frozen=True)
class PackageSource:
    """Where one plugin is: an entry point of an installed package."""

    name: str
    package: str
    version: str
    entry_point: importlib.metadata.EntryPoint

    @property
    def origin(self) -> str:
        """The package, in words."""
        return f"package {self.package}"

    @property
    def sha256(self) -> str:
        """Digest of the package's name and version."""
        text = f"{self.package} {self.version} {self.location}"
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def location(self) -> str:
        """What the entry point names."""
        return self.entry_point.value

    @property
    def requirements(self) -> tuple[str, ...]:
        """None: they were installed with the package."""
        return ()

    def load(self) -> ModuleType:
        """Import the plugin's module."""
        return self.entry_point.load()


@dataclass(frozen=True)
class BuiltInSource:
    """A module of the harness that provides what plugins may provide."""

    name: str
    origin: str = "the harness"
    location: str = "the harness itself"
    sha256: str = ""
    requirements: tuple[str, ...] = ()

    def load(self) -> ModuleType:
        """Import the module."""
        return importlib.import_module(self.name)


Source = FileSource | PackageSource | BuiltInSource


@dataclass
class Plugin:
    """One plugin and what it provides, or why it could not be loaded."""

    source: Source
    failure: str = ""
    module: ModuleType | None = None
    provided: dict[str, list[Any]] = field(default_factory=dict)


def digest_files(paths: Iterable[Path], folder: Path | None = None) -> str:
    """Digest of the names and contents of files, with their places within a folder if given."""
    digest = hashlib.sha256()
    for path in sorted(paths):
        name = path.relative_to(folder).as_posix() if folder else path.name
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()


def searched_folders(folders: Sequence[Path] = ()) -> list[Path]:
    """List the folders that are searched for plugins, the current folder's `plugins/` first.

    Parameters
    ----------
    folders : sequence of Path
        Those that a study names, searched last.
    """
    mine = own("plugins")
    return [*([mine] if mine else []), PLUGINS, *folders]


def find_sources(folders: Sequence[Path] = ()) -> list[Source]:
    """List every plugin there is, folder by folder and by name, without importing any.

    Parameters
    ----------
    folders : sequence of Path
        Folders besides those that are searched anyway. A path to a single file is accepted too.

    Raises
    ------
    HarnessError
        If a folder does not exist.
    """
    sources: list[Source] = []
    found: set[Path] = set()
    for folder in searched_folders(folders):
        if not folder.exists():
            raise HarnessError(f"plugins: there is no folder {str(folder)!r}")
        replaced = {source.name for source in sources} if folder == PLUGINS else set()
        candidates = [folder] if folder.is_file() else sorted(folder.iterdir())
        for path in candidates:
            is_plugin = (path.suffix == ".py" and is_file(path)) or is_file(path / "__init__.py")
            if path.name.startswith("_") or path.stem in replaced:
                continue
            # a folder may be named twice, or be one that is searched anyway
            if is_plugin and path.resolve() not in found:
                found.add(path.resolve())
                sources.append(FileSource(path.stem, str(path.parent), path.resolve()))
    for entry in sorted(importlib.metadata.entry_points(group=ENTRY_POINTS), key=lambda e: e.name):
        if entry.dist is not None:  # as every entry point of an installed package has
            sources.append(PackageSource(entry.name, entry.dist.name, entry.dist.version, entry))
    return sources


def comes_with_harness(source: Source) -> bool:
    """Whether a plugin is one of the project's own files."""
    return isinstance(source, FileSource) and source.path.parent == PLUGINS.resolve()


def load_plugin(source: Source) -> Plugin:
    """Import one plugin and call its providers; a failure of any kind is kept as its reason."""
    plugin = Plugin(source)
    try:
        if unmet(source.requirements):
            plugin.failure = not_made(source.requirements)
            return plugin
        plugin.module = source.load()
        manager = _manager()
        manager.register(plugin.module, name=source.name)
        manager.check_pending()
        for kind, hook in PROVIDERS.items():
            where = f"{hook} in {Path(source.location).name}"
            calls = getattr(manager.hook, hook)()
            plugin.provided[kind] = [item for result in calls for item in _items(where, result)]
    except (Exception, SystemExit) as error:
        plugin.provided = {}
        plugin.failure = f"{type(error).__name__}: {error} {plugin_location(error)}".rstrip()
    return plugin


def plugin_location(error: BaseException) -> str:
    """Write where in a plugin an exception came through last: "(file.py, line 18)".

    Returns
    -------
    str
        Empty if it came through none.
    """
    place = ""
    for frame, line in traceback.walk_tb(error.__traceback__):
        if frame.f_globals.get("__name__", "").startswith(f"{PACKAGE}."):
            place = f"({Path(frame.f_code.co_filename).name}, line {line})"
    return place


@functools.cache
def built_in(kind: str) -> tuple[Plugin, ...]:
    """Return what provides things of a kind that come with the harness, if any do."""
    return (load_plugin(BuiltInSource(BUILT_IN[kind])),) if kind in BUILT_IN else ()


class Registry:
    """Loaded plugins, and what comes with the harness, asked by name.

    Parameters
    ----------
    plugins : iterable of Plugin
    """

    def __init__(self, plugins: Iterable[Plugin]) -> None:
        self.plugins = list(plugins)
        self.manager = _manager()
        for plugin in self.plugins:
            if not plugin.failure:
                self.manager.register(plugin.module, name=plugin.source.location)

    @classmethod
    def load(
        cls, folders: Sequence[Path] = (), wanted: Callable[[Source], bool] | None = None
    ) -> Registry:
        """Find and load plugins, all of them or those that `wanted` accepts."""
        sources = find_sources(folders)
        return cls(load_plugin(s) for s in sources if wanted is None or wanted(s))

    def items(self, kind: str) -> Iterator[tuple[Any, Plugin]]:
        """Iterate over what is provided of one kind, what is built in first, with its plugin."""
        for plugin in (*built_in(kind), *self.plugins):
            for item in plugin.provided.get(kind, []):
                yield item, plugin

    def get(self, kind: str, name: str) -> tuple[Any, Plugin]:
        """Return what is provided under a name, with its plugin.

        Raises
        ------
        HarnessError
            If there is none, or more than one.
        """
        one = "search" if kind == "searches" else kind.removesuffix("s")
        found = [(item, plugin) for item, plugin in self.items(kind) if item.name == name]
        if len(found) == 1:
            return found[0]
        if not found:
            raise unknown_name(one, name, (item.name for item, _ in self.items(kind)))
        owners = " and ".join(plugin.source.location for _, plugin in found)
        raise HarnessError(f"{one} {name!r} is provided twice, by {owners}")

    def look_up(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Replace the names of kernels and landmark selectors of plugins by the objects."""
        provided = {
            parameter: item
            for parameter, kind in NAMED.items()
            for plugin in self.plugins
            for item in plugin.provided.get(kind, [])
            if params.get(parameter) == item.name
        }
        return {**params, **provided}


def _manager() -> pluggy.PluginManager:
    manager = pluggy.PluginManager(hookspecs.PROJECT)
    manager.add_hookspecs(hookspecs)
    return manager


def _items(where: str, result: Any) -> Iterator[Any]:
    """Iterate over what a hook returned or yields, and refuse what cannot be provided."""
    if not isinstance(result, Iterable):
        message = f"{where} returned {_an_object(result)}; yield it, or return it in a list"
        raise TypeError(message)
    for item in result:
        if not isinstance(getattr(item, "name", getattr(item, "title", None)), str):
            message = f"{where} gave {_an_object(item)}, which has no name; yield each by itself"
            raise TypeError(message)
        yield item


def _an_object(item: Any) -> str:
    return f"an object of type {type(item).__name__}"
