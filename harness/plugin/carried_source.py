"""The source of plugins, carried in a file beside objects of their classes.

Pickle writes the name of a class's module and no code. Modules of plugins that are files are
imported under names that no other process knows, so their source goes along, and is imported
under those names before the first of their classes is asked for.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import re
import sys
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from harness.plugin.registry import PACKAGE

_NAMED = re.compile(rb"%s\.(\w+)" % PACKAGE.encode())


class CarriedSource:
    """Modules of plugins that are needed to unpickle what follows them.

    Parameters
    ----------
    files : mapping of str to bytes
        The compressed source of each module by its full name; a package's own is under its name
        with ".__init__" at the end.
    """

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)

    @classmethod
    def of(cls, pickled: bytes) -> CarriedSource:
        """Read the source of all plugins that a pickle names."""
        files: dict[str, bytes] = {}
        for found in sorted(set(_NAMED.findall(pickled))):
            name = f"{PACKAGE}.{found.decode()}"
            carried = {key: _IMPORTER.files[key] for key in _IMPORTER.files if _of(name, key)}
            file = getattr(sys.modules.get(name), "__file__", None)
            if carried:
                files |= carried
            elif file is not None:
                files |= _source(name, Path(file), hasattr(sys.modules[name], "__path__"))
        return cls(files)

    def __reduce__(self) -> tuple[Any, tuple[dict[str, bytes]]]:
        return import_carried, (self.files,)


def _of(package: str, name: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def _source(name: str, file: Path, is_package: bool) -> dict[str, bytes]:
    if not is_package:
        return {name: zlib.compress(file.read_bytes(), 9)}
    found = {}
    for path in sorted(file.parent.rglob("*.py")):
        parts = path.relative_to(file.parent).with_suffix("").parts
        found[".".join([name, *parts])] = zlib.compress(path.read_bytes(), 9)
    return found


def import_carried(files: Mapping[str, bytes]) -> CarriedSource:
    """Import modules that are not there yet from their source, and return them to be carried on.

    Parameters
    ----------
    files : mapping of str to bytes
        As `CarriedSource` has them.
    """
    _IMPORTER.files.update(files)
    if _IMPORTER not in sys.meta_path:
        sys.meta_path.append(_IMPORTER)
    sys.modules.setdefault(PACKAGE, ModuleType(PACKAGE))
    for name in dict.fromkeys(".".join(name.split(".")[:2]) for name in files):
        if name in sys.modules:
            continue
        spec = _IMPORTER.find_spec(name)
        if spec is None or spec.loader is None:
            raise ModuleNotFoundError(f"the source of {name} is not in the file", name=name)
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return CarriedSource(files)


class _Importer(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Imports modules from compressed source."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: object = None
    ) -> importlib.machinery.ModuleSpec | None:
        if self._key(fullname) not in self.files:
            return None
        return importlib.util.spec_from_loader(
            fullname, self, origin=f"<{fullname}>", is_package=self.is_package(fullname)
        )

    def is_package(self, fullname: str) -> bool:
        return f"{fullname}.__init__" in self.files

    def get_source(self, fullname: str) -> str:
        return zlib.decompress(self.files[self._key(fullname)]).decode("utf-8")

    def _key(self, fullname: str) -> str:
        return f"{fullname}.__init__" if self.is_package(fullname) else fullname


_IMPORTER = _Importer()
