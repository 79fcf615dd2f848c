"""Digests of what code computes: a module with all that it imports, without comments.

What a trial computes is decided by its method's module and by every module that this one uses, not
by all modules that there are. So imports are followed name by name: through a package's
`__init__`, which gathers names from many modules, to the module that defines the name. Comments,
docstrings and the layout of the source change nothing; imports for type checkers count for
nothing.
"""

from __future__ import annotations

import ast
import hashlib
import sys
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path


@dataclass(frozen=True)
class Use:
    """A module that source imports, and the names that it takes from it.

    Attributes
    ----------
    module : str
        Dotted name.
    names : frozenset of str or None
        None if all of the module may be used.
    """

    module: str
    names: frozenset[str] | None = None


class Source:
    """One parsed file.

    Parameters
    ----------
    path : Path
    name : str
        Dotted name of the module, by which relative imports are resolved.
    """

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self.tree = ast.parse(path.read_bytes())
        _strip(self.tree)

    @cached_property
    def code(self) -> str:
        """What the file computes, in one spelling."""
        return ast.unparse(self.tree)

    @property
    def package(self) -> str:
        """The package that the module is, or is in."""
        is_package = self.path.name == "__init__.py"
        return self.name if is_package else self.name.rpartition(".")[0]

    @cached_property
    def imports(self) -> dict[str, tuple[str, str | None]]:
        """What each imported name stands for: a module, and a name in it or None."""
        found: dict[str, tuple[str, str | None]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for item in node.names:
                    found[item.asname or item.name] = (item.name, None)
            elif isinstance(node, ast.ImportFrom):
                module = self._absolute(node)
                for item in node.names:
                    found[item.asname or item.name] = (module, item.name)
        return found

    def attributes(self, alias: str) -> frozenset[str] | None:
        """Return which attributes of a name are used; None if that cannot be told."""
        return None if "." in alias else self._attributes.get(alias, frozenset())

    @cached_property
    def _attributes(self) -> dict[str, frozenset[str] | None]:
        bases: dict[ast.Name, str] = {}
        names = []
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                bases[node.value] = node.attr
            elif isinstance(node, ast.Name):
                names.append(node)
        used: dict[str, frozenset[str]] = {}
        for node, attribute in bases.items():
            used[node.id] = used.get(node.id, frozenset()) | {attribute}
        return {**used, **{node.id: None for node in names if node not in bases}}

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.package.split(".")
        base = parts[: len(parts) - (node.level - 1)]
        return ".".join([*base, *([node.module] if node.module else [])])


class Modules:
    """Modules below some folders, parsed once each.

    Parameters
    ----------
    roots : mapping of str to Path
        Top-level packages whose imports are followed, and their folders or files.
    used : Modules, optional
        Others that these import, and that import none of these.
    """

    def __init__(self, roots: Mapping[str, Path], used: Modules | None = None) -> None:
        self.roots = dict(roots)
        self._used = used
        self._sources: dict[str, Source | None] = {}
        self._needed: dict[str, frozenset[str]] = {}

    def find(self, name: str) -> Source | None:
        """Return a module's source; None if it is not below the roots."""
        if name.partition(".")[0] not in self.roots:
            return self._used.find(name) if self._used else None
        if name not in self._sources:
            path = self._path(name)
            self._sources[name] = Source(path, name) if path else None
        return self._sources[name]

    def closure(self, names: Iterable[str], apart: Container[str] = ()) -> dict[str, Source]:
        """Return modules and all that they use, by name.

        Parameters
        ----------
        names : iterable of str
            Dotted names of modules.
        apart : container of str
            Modules and packages that are left out, with what only they use.
        """
        found: dict[str, Source] = {}
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name in found or any(part in apart for part in _itself_and_above(name)):
                continue
            source = self.find(name)
            if source is None:
                continue
            found[source.name] = source
            waiting += self._needs(source)
        return found

    def outside(self, closure: Mapping[str, Source]) -> set[str]:
        """Return the top-level modules that a closure imports from elsewhere.

        The standard library is not among them.
        """
        imported = {
            module.partition(".")[0]
            for source in closure.values()
            for module, _ in source.imports.values()
        }
        own = self.roots.keys() | (self._used.roots.keys() if self._used else set())
        return imported - own - sys.stdlib_module_names - {""}

    def _path(self, name: str) -> Path | None:
        top, *rest = name.split(".")
        root = self.roots[top]
        if root.is_file():
            return None if rest else root
        package = root.joinpath(*rest, "__init__.py")
        module = root.joinpath(*rest[:-1], f"{rest[-1]}.py") if rest else package
        return next((path for path in (package, module) if path.is_file()), None)

    def _needs(self, source: Source) -> frozenset[str]:
        if self._used and source.name.partition(".")[0] not in self.roots:
            return self._used._needs(source)
        if source.name not in self._needed:
            defining = (self._defining(use) for use in self._uses(source))
            self._needed[source.name] = frozenset().union(*defining)
        return self._needed[source.name]

    def _uses(self, source: Source) -> Iterator[Use]:
        for alias, (module, name) in source.imports.items():
            inner = f"{module}.{name}" if name else module
            if self.find(inner) is not None:  # a module, of which attributes are used
                yield Use(inner, source.attributes(alias))
            elif name:
                yield Use(module, None if name == "*" else frozenset({name}))

    def _defining(self, use: Use) -> set[str]:
        """Return the modules that define what is used, through the packages that gather it."""
        source = self.find(use.module)
        if source is None:
            return set()
        if source.path.name != "__init__.py":
            return {use.module}
        names = source.imports.keys() if use.names is None else use.names
        found = set()
        for name in names:
            if name in source.imports:
                module, inner = source.imports[name]
                found |= self._defining(Use(module, frozenset({inner}) if inner else None))
            elif self.find(f"{use.module}.{name}") is not None:
                found.add(f"{use.module}.{name}")
            else:
                found.add(use.module)
        return found


def digest(closure: Mapping[str, Source]) -> str:
    """Digest what modules compute.

    Returns
    -------
    str
        SHA-256, in hexadecimal digits.
    """
    found = hashlib.sha256()
    for name in sorted(closure):
        found.update(f"{name}\0{closure[name].code}\0".encode())
    return found.hexdigest()


def _itself_and_above(name: str) -> Iterator[str]:
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        yield ".".join(parts[:count])


def _strip(tree: ast.Module) -> None:
    """Take out docstrings and what only type checkers import."""
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        body[:] = [
            part
            for part in body
            if not (isinstance(part, ast.If) and _is_type_checking(part.test))
            and not (isinstance(part, ast.Expr) and _is_text(part.value))
        ] or [ast.Pass()]


def _is_type_checking(test: ast.expr) -> bool:
    name = test.attr if isinstance(test, ast.Attribute) else getattr(test, "id", "")
    return name == "TYPE_CHECKING"


def _is_text(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, str)
