"""The text of a file that defines what a notebook holds, with all that it needs of the notebook.

Workers import a method from a file. What a package provides is imported there too. What a cell or
a file of one's own defines is copied with the imports, constants, functions and classes that it
uses. Nothing is pickled: the file can be read, and changed code is noticed as in a plugin.
"""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.metadata
import inspect
import linecache
import math
import symtable
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from harness.errors import HarnessError, shown
from harness.plugin.search_space import Choice, Uniform

_ELSEWHERE = "define it in a file of plugins/, and name the method"
_ITS_OWN_SEED = "random_state"
"""A parameter that every trial sets."""


class Definitions:
    """Imports and definitions, collected in an order in which they run.

    Parameters
    ----------
    what : str
        Named in messages: "method 'mine'".
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._bound: dict[str, object] = {}
        self._modules: list[str] = []
        self._names: dict[str, list[str]] = {}
        self._texts: list[str] = []
        self._later: set[str] = set()

    @property
    def text(self) -> str:
        """All that was collected."""
        lines = [f"from {home} import {', '.join(sorted(n))}" for home, n in self._names.items()]
        imports = [*sorted(self._later), *sorted([*self._modules, *lines])]
        return "\n\n\n".join(["\n".join(imports), *self._texts])

    def reference(self, item: Any) -> str:
        """Return what a class or a function is called, having imported or defined it.

        Raises
        ------
        HarnessError
            If it can be neither.
        """
        name: str = item.__name__
        if name == "<lambda>":
            return self._lambda(item)
        home = _home(item)
        if home is not None:
            top = item.__qualname__.partition(".")[0]
            self._import(home, top, getattr(sys.modules[home], top))
            return item.__qualname__
        if self._bind(name, item):
            text, known = self._source(item)
            self._copy(text, known)
        return name

    def value(self, value: Any) -> str:
        """Write a value as source: a number, a text, a container, a function, an estimator.

        Raises
        ------
        HarnessError
            If it is none of them.
        """
        if hasattr(value, "dtype") and hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
            value = value.item()
        if isinstance(value, float) and not math.isfinite(value):
            return f'float("{value}")'
        if value is None or isinstance(value, bool | int | float | str | bytes):
            return repr(value)
        if isinstance(value, Mapping):
            items = (f"{self.value(key)}: {self.value(item)}" for key, item in value.items())
            return f"{{{', '.join(items)}}}"
        if isinstance(value, list | tuple | set | frozenset):
            return self._container(value)
        if isinstance(value, Choice):
            return f"{self.harness('choice')}({self.value(list(value.values))})"
        if isinstance(value, Uniform):
            kind = self.harness("log_uniform" if value.log else "uniform")
            return f"{kind}({value.low!r}, {value.high!r})"
        if isinstance(value, type | FunctionType) or _home(value) is not None:
            return self.reference(value)
        if hasattr(value, "get_params"):
            given = (f"{k}={self.value(v)}" for k, v in changed_params(value).items())
            return f"{self.reference(type(value))}({', '.join(given)})"
        raise HarnessError(
            f"{self._what}: {' '.join(shown(value).split())} cannot be written into a file: it is "
            f"no number, text, function, class or estimator; {_ELSEWHERE}"
        )

    def harness(self, name: str) -> str:
        """Return a name that plugins take from the harness, having imported it."""
        import harness

        self._import("harness", name, getattr(harness, name))
        return name

    def _container(self, values: Any) -> str:
        made = [self.value(item) for item in values]
        if isinstance(values, tuple):
            return f"({', '.join(made)}{',' if len(made) == 1 else ''})"
        if isinstance(values, list):
            return f"[{', '.join(made)}]"
        text = f"{{{', '.join(sorted(made))}}}" if made else "set()"
        return text if isinstance(values, set) else f"frozenset({text})"

    def _import(self, home: str, name: str, item: object) -> None:
        if self._bind(name, item) and home != "builtins":
            self._names.setdefault(home, []).append(name)

    def _bind(self, name: str, item: object) -> bool:
        """Note what a name stands for; tell whether it is new."""
        if name not in self._bound:
            self._bound[name] = item
            return True
        if self._bound[name] is item:
            return False
        raise HarnessError(
            f"{self._what}: two things that it uses are called {name!r}: rename one"
        )

    def _copy(self, text: str, known: Mapping[str, Any]) -> None:
        self._define_free_names(text, known)
        self._texts.append(text)

    def _define_free_names(self, text: str, known: Mapping[str, Any]) -> None:
        for name in sorted(_free_names(text)):
            if name in known:
                self._define(name, known[name])

    def _define(self, name: str, value: Any) -> None:
        if isinstance(value, ModuleType):
            self._import_module(name, value)
            return
        is_definition = isinstance(value, type | FunctionType) and value.__name__ != "<lambda>"
        if is_definition and self._bound.get(name) is value:
            return
        home = None if is_definition else _home_of_name(name, value)
        if home is not None:
            self._import(home, name, value)
        elif is_definition and value.__name__ == name:
            self.reference(value)
        elif self._bind(name, value):
            try:
                self._texts.append(f"{name} = {self.value(value)}")
            except HarnessError as error:
                told = str(error).removeprefix(f"{self._what}: ")
                raise HarnessError(f"{self._what}: uses {name!r}: {told}") from None

    def _import_module(self, name: str, module: ModuleType) -> None:
        whole = module.__name__
        if not _is_installed(whole):
            raise HarnessError(
                f"{self._what}: uses the module {whole!r}, whose changes would not be noticed: "
                f"import the names that it needs from it (from {whole} import ...)"
            )
        if self._bind(name, module):
            self._modules.append(f"import {whole}" + (f" as {name}" if name != whole else ""))

    def _lambda(self, function: Any) -> str:
        code = function.__code__
        found = {
            ast.unparse(node)
            for node in ast.walk(_parsed(code.co_filename))
            if isinstance(node, ast.Lambda)
            and node.lineno <= code.co_firstlineno <= (node.end_lineno or node.lineno)
            and _alike(node, code)
        }
        if len(found) != 1 or code.co_freevars:
            raise HarnessError(
                f"{self._what}: a lambda's source cannot be told: write a function by def"
            )
        (text,) = found
        self._define_free_names(text, function.__globals__)
        return f"({text})"

    def _source(self, item: Any) -> tuple[str, Mapping[str, Any]]:
        """Return the source of a class or function that no package provides, and its globals."""
        name = item.__name__
        if "<locals>" in item.__qualname__:
            raise HarnessError(
                f"{self._what}: {name} is defined within a function: define it at the top of a "
                "cell or file"
            )
        if any(code.co_flags & annotations.compiler_flag for code in _codes(item)):
            self._later.add("from __future__ import annotations")
        node, path = _definition(item)
        if node is not None:
            first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
            lines = linecache.getlines(path)[first - 1 : node.end_lineno]
            known = vars(sys.modules[item.__module__])
            return textwrap.dedent("".join(lines)).rstrip(), known
        raise HarnessError(f"{self._what}: the source of {name} cannot be found: {_ELSEWHERE}")


def changed_params(estimator: Any) -> dict[str, Any]:
    """Return the parameters of an estimator that are not its class's defaults.

    `random_state` is not among them: each trial sets its own.
    """
    accepted = inspect.signature(type(estimator)).parameters
    changed = {}
    for name, value in estimator.get_params(deep=False).items():
        default = accepted[name].default if name in accepted else inspect.Parameter.empty
        plain = isinstance(value, str | int | float | bool | type(None))
        same = value is default or (plain and type(value) is type(default) and value == default)
        if not same and name != _ITS_OWN_SEED:
            changed[name] = value
    return changed


def _free_names(text: str) -> set[str]:
    """Return the names that source takes from around it."""
    found = set()
    tables = [symtable.symtable(text, "<source>", "exec")]
    for table in tables:
        tables += table.get_children()
        found |= {s.get_name() for s in table.get_symbols() if s.is_global() and s.is_referenced()}
        if table.get_type() == "module":
            found |= {s.get_name() for s in table.get_symbols() if not s.is_assigned()}
    return found


@functools.lru_cache(8)
def _parse(text: str) -> ast.AST:
    try:
        return ast.parse(text)
    except SyntaxError:  # as of a cell that awaits
        return ast.Module([], [])


def _parsed(path: str) -> ast.AST:
    return _parse("".join(linecache.getlines(path)))


def _definition(item: Any) -> tuple[ast.ClassDef | ast.FunctionDef | None, str]:
    """Return what defines a class or function, and the file or cell that it is in."""
    places = [(code.co_filename, code.co_firstlineno) for code in _codes(item)]
    for path, line in places:
        for node in _named(path, item.__name__):
            if node.lineno - len(node.decorator_list) <= line <= (node.end_lineno or line):
                return node, path
    if any(map(linecache.getlines, {path for path, _ in places})):
        return None, ""
    # a class without code of its own: the last that was called so
    file = getattr(sys.modules[item.__module__], "__file__", None) or ""
    cells = [path for path in linecache.cache if not Path(path).is_file()]
    for path in (file, *reversed(cells)):
        for node in _named(path, item.__name__):
            return node, path
    return None, ""


def _named(path: str, name: str) -> list[ast.ClassDef | ast.FunctionDef]:
    nodes = reversed(list(ast.walk(_parsed(path))))
    kinds = (ast.ClassDef, ast.FunctionDef)
    return [node for node in nodes if isinstance(node, kinds) and node.name == name]


def _alike(node: ast.Lambda, code: CodeType) -> bool:
    """Tell whether a lambda's source gives the code that it has."""
    made = compile(ast.fix_missing_locations(ast.Expression(node)), "<lambda>", "eval")
    found = next(const for const in made.co_consts if isinstance(const, CodeType))
    return _content(found) == _content(code)


def _content(code: CodeType) -> tuple[Any, ...]:
    # inner code knows its lines, so it is never the same
    plain = [repr(const) for const in code.co_consts if not isinstance(const, CodeType)]
    return code.co_code, code.co_names, code.co_varnames, plain


def _codes(item: Any) -> Iterator[CodeType]:
    """Iterate over the code of a function, or of what a class's body defines."""
    parts = [item] if not isinstance(item, type) else list(vars(item).values())
    for part in parts:
        for of in (part, *(getattr(part, name, None) for name in ("__func__", "fget", "func"))):
            code = getattr(inspect.unwrap(of), "__code__", None) if callable(of) else None
            if isinstance(code, CodeType):
                yield code


def _home(item: Any) -> str | None:
    """Return the shortest module of a package that provides a class or a function."""
    parts = str(getattr(item, "__module__", None) or "builtins").split(".")
    names = (".".join(parts[:count]) for count in range(1, len(parts) + 1))
    called = str(getattr(item, "__qualname__", ""))
    return next((name for name in names if _provides(name, called, item)), None)


def _home_of_name(name: str, value: Any) -> str | None:
    """Return a module of a package that has an object, which does not know its own, by a name."""
    if value is None or isinstance(value, bool | int | float | str | bytes | tuple):
        return None
    known = [str(getattr(value, "__module__", "")), *sorted(sys.modules, key=_order)]
    return next((module for module in known if _provides(module, name, value)), None)


def _order(module: str) -> tuple[bool, int, str]:
    return "._" in module or module.startswith("_"), module.count("."), module


def _provides(module: str, name: str, item: Any) -> bool:
    found: Any = sys.modules.get(module)
    if found is None or not _is_installed(module):
        return False
    for part in name.split("."):
        found = vars(found).get(part) if isinstance(found, ModuleType | type) else None
    return found is item


def _is_installed(module: str) -> bool:
    top = module.partition(".")[0]
    # __main__ counts as one of the standard library's, and an editable install as no package
    return top != "__main__" and (
        top == "harness" or top in sys.stdlib_module_names or top in _packages()
    )


@functools.cache
def _packages() -> Mapping[str, list[str]]:
    return importlib.metadata.packages_distributions()
