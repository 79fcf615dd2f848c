"""The body of one function of Python as JavaScript."""

from __future__ import annotations

import ast
import builtins
import dataclasses
import functools
import inspect
import json
import math
import textwrap
import types
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from harness.errors import HarnessError
from harness.plugin.shape import Shape, target_type
from harness.plugin.storage import Arrays, Storage

if TYPE_CHECKING:
    from harness.site.javascript import Translator

_OPERATORS = {ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
_CALLED = {ast.Add: "add", ast.FloorDiv: "floordiv", ast.Mod: "mod", ast.BitOr: "merge"}
_COMPARED = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "===",
    ast.NotEq: "!==",
}
_BUILT_IN = {"int", "float", "bool", "len", "min", "max", "sum", "abs", "dict", "tuple", "list"}
_BUILT_IN |= {"sorted", "range"}
_MATHS: dict[Any, str] = {math.sqrt: "Math.sqrt", math.ceil: "Math.ceil", math.floor: "Math.floor"}
_MATHS |= {math.isqrt: "isqrt", math.log: "Math.log", math.log2: "Math.log2"}
# NumPy chooses the type of labels
_MATHS |= {target_type: "target_type", np.dtype: "dtype", np.finfo: "finfo", divmod: "divmod"}
_OF_MAPPINGS = {"items": "items_of", "values": "values_of", "keys": "items", "get": "got"}
_RUNTIME: dict[Any, str] = {Arrays: "arrays", Storage: "storage", dataclasses.replace: "replaced"}
_KINDS: dict[Any, str] = {str: "string", int: "number", float: "number", bool: "boolean"}


class UntranslatedError(HarnessError):
    """A storage model uses what has no translation."""


class Body:
    """One function: its parameters and its statements.

    Parameters
    ----------
    translator : Translator
        Of the functions that it calls.
    function : function
    bound : object
        What its first parameter is, of a class method; else None.
    method : bool, default False
        Whether its first parameter is the value that it belongs to.

    Attributes
    ----------
    text : str
        Parameters in parentheses, and statements in braces.

    Raises
    ------
    UntranslatedError
        If it uses what has no translation.
    """

    def __init__(
        self,
        translator: Translator,
        function: types.FunctionType,
        bound: Any,
        method: bool = False,
    ) -> None:
        self._of, self._function, self._bound = translator, function, bound
        self._self = "self" if method else None
        node = self._parsed()
        arguments = list(inspect.signature(function).parameters.values())
        self._static: dict[str, Any] = {}
        if bound is not None:
            self._static[arguments.pop(0).name] = bound
        if method:
            arguments.pop(0)
        if any(a.kind in (a.VAR_KEYWORD, a.VAR_POSITIONAL) for a in arguments):
            self._refuse(node, "takes any number of arguments")
        self._locals = {a.name for a in arguments}
        body = node.body if isinstance(node, ast.FunctionDef) else [ast.Return(node.body)]
        assigned = {
            name.id
            for statement in body
            for name in ast.walk(statement)
            if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
        } - self._locals
        self._locals |= assigned
        named = ", ".join(
            f"{a.name}$" + ("" if a.default is a.empty else f" = {self._of.literal(a.default)}")
            for a in arguments
        )
        declared = f"let {', '.join(f'{name}$' for name in sorted(assigned))};" if assigned else ""
        lines = [self._statement(statement) for statement in body]
        self.text = f"({named}) {{ {declared}\n" + "\n".join(filter(None, lines)) + "\n}"

    def _parsed(self) -> Any:
        source = textwrap.dedent(inspect.getsource(self._function))
        if self._function.__name__ != "<lambda>":
            return ast.parse(source).body[0]
        try:
            found = ast.parse(source.strip())
        except SyntaxError:
            found = ast.parse(f"f({source.strip().rstrip(',')})")
        lambdas = [node for node in ast.walk(found) if isinstance(node, ast.Lambda)]
        if len(lambdas) != 1:
            raise UntranslatedError(f"{self._function!r} is not the one lambda of its line")
        return lambdas[0]

    def _refuse(self, node: ast.AST, why: str) -> Any:
        where = f"{self._function.__module__}.{self._function.__qualname__}"
        raise UntranslatedError(f"{where}: {ast.unparse(node)}: {why} has no translation")

    # statements

    def _statement(self, node: ast.stmt) -> str:
        if isinstance(node, ast.Return):
            return f"return {self._value(node.value)};" if node.value else "return null;"
        if isinstance(node, ast.Assign):
            value = self._value(node.value)
            return "".join(self._set(target, value) for target in node.targets)
        if isinstance(node, ast.AnnAssign) and node.value is not None:
            return f"{self._target(node.target)} = {self._value(node.value)};"
        if isinstance(node, ast.AugAssign):
            return self._set(
                node.target, self._value(ast.BinOp(_loaded(node), node.op, node.value))
            )
        if isinstance(node, ast.If):
            inner = "\n".join(map(self._statement, node.body))
            other = "\n".join(map(self._statement, node.orelse))
            text = f"if (truth({self._value(node.test)})) {{\n{inner}\n}}"
            return text + (f" else {{\n{other}\n}}" if other else "")
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            return ""
        if isinstance(node, ast.Assert | ast.Import | ast.ImportFrom | ast.Pass):
            return self._imported(node)
        return self._refuse(node, type(node).__name__)

    def _imported(self, node: ast.stmt) -> str:
        if isinstance(node, ast.Import):
            for alias in node.names:
                module = __import__(alias.name)
                self._static[alias.asname or alias.name] = module
        return ""

    def _set(self, node: ast.expr, value: str) -> str:
        if isinstance(node, ast.Subscript):
            return f"{self._value(node.value)}.set({self._value(node.slice)}, {value});"
        return f"{self._target(node)} = {value};"

    def _target(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return f"{node.id}$"
        if isinstance(node, ast.Tuple):
            return f"[{', '.join(map(self._target, node.elts))}]"
        return self._refuse(node, "this target")

    # expressions

    def _value(self, node: ast.expr) -> str:
        known, value = self._known(node)
        if known:
            return self._of.literal(value)
        handler = getattr(self, f"_{type(node).__name__.lower()}", None)
        return handler(node) if handler else self._refuse(node, type(node).__name__)

    def _known(self, node: ast.expr) -> tuple[bool, Any]:
        """Return what an expression is if that is known before any shape is."""
        if isinstance(node, ast.Constant):
            return True, node.value
        if isinstance(node, ast.Name):
            if node.id in self._static:
                return True, self._static[node.id]
            if node.id in self._locals or node.id == self._self:
                return False, None
            if node.id in self._function.__globals__:
                return True, self._function.__globals__[node.id]
            return (
                (True, getattr(builtins, node.id)) if hasattr(builtins, node.id) else (False, None)
            )
        if isinstance(node, ast.Attribute):
            known, value = self._known(node.value)
            return (True, getattr(value, node.attr)) if known else (False, None)
        if isinstance(node, ast.Call) and not node.keywords:
            parts = [self._known(part) for part in (node.func, *node.args)]
            if all(known for known, _ in parts):
                return True, parts[0][1](*(value for _, value in parts[1:]))
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            parts = [self._known(part) for part in node.elts]
            if all(known for known, _ in parts):
                return True, [value for _, value in parts]
        return False, None

    def _name(self, node: ast.Name) -> str:
        return "this" if node.id == self._self else f"{node.id}$"

    def _attribute(self, node: ast.Attribute) -> str:
        return f"{self._value(node.value)}.{node.attr}"

    def _binop(self, node: ast.BinOp) -> str:
        left, right = self._value(node.left), self._value(node.right)
        if isinstance(node.op, ast.LShift):
            return f"({left} * 2 ** {right})"
        if type(node.op) in _CALLED:
            return f"{_CALLED[type(node.op)]}({left}, {right})"
        if type(node.op) in _OPERATORS:
            # a sign before a power is none of JavaScript's
            return f"(({left}) {_OPERATORS[type(node.op)]} ({right}))"
        return self._refuse(node, "this operator")

    def _unaryop(self, node: ast.UnaryOp) -> str:
        value = self._value(node.operand)
        return f"!truth({value})" if isinstance(node.op, ast.Not) else f"(-({value}))"

    def _boolop(self, node: ast.BoolOp) -> str:
        joined = self._value(node.values[-1])
        for value in reversed(node.values[:-1]):
            either = f"v : {joined}" if isinstance(node.op, ast.Or) else f"{joined} : v"
            joined = f"((v) => truth(v) ? {either})({self._value(value)})"
        return joined

    def _ifexp(self, node: ast.IfExp) -> str:
        parts = (self._value(part) for part in (node.test, node.body, node.orelse))
        return "(truth({}) ? {} : {})".format(*parts)

    def _compare(self, node: ast.Compare) -> str:
        values = [self._value(value) for value in (node.left, *node.comparators)]
        found = []
        for operator, left, right in zip(node.ops, values, values[1:], strict=False):
            if isinstance(operator, ast.Is | ast.IsNot):
                found.append(f"{left} {'==' if isinstance(operator, ast.Is) else '!='} {right}")
            elif isinstance(operator, ast.In | ast.NotIn):
                found.append(f"{'!' * isinstance(operator, ast.NotIn)}contains({right}, {left})")
            else:
                found.append(f"{left} {_COMPARED[type(operator)]} {right}")
        return f"({' && '.join(found)})"

    def _call(self, node: ast.Call) -> str:
        known, called = self._known(node.func)
        base = node.func.value if isinstance(node.func, ast.Attribute) else None
        if not known or (base is not None and isinstance(self._known(base)[1], Mapping)):
            return self._method_call(node)
        if called is isinstance:
            return self._is_instance(node)
        if called is getattr:
            return f"attribute({', '.join(map(self._value, node.args))})"
        if called in _MATHS:
            return f"{_MATHS[called]}({self._plain(node)})"
        if called in _RUNTIME:
            return f"{_RUNTIME[called]}({self._with_keywords(node)})"
        name = getattr(called, "__name__", "")
        if getattr(builtins, name, None) is called and name in _BUILT_IN:
            options = f", {self._keywords(node.keywords)}" if node.keywords else ""
            inner = ", ".join(map(self._value, node.args))
            return f"py_{name}([{inner}]{options})"
        if isinstance(called, type):
            return self._refuse(node, f"making {called.__name__}")
        try:
            return f"{self._of.function(called)}({self._in_order(node, called)})"
        except UntranslatedError as error:
            # what defaults never reach, as a variant of a method, throws where it is reached
            return f"untranslated({json.dumps(str(error))})"

    def _method_call(self, node: ast.Call) -> str:
        """Call what belongs to a value: of a mapping, or of a shape."""
        if not isinstance(node.func, ast.Attribute):
            return f"{self._value(node.func)}({self._plain(node)})"
        value, name = self._value(node.func.value), node.func.attr
        if name in _OF_MAPPINGS:
            inner = "".join(f", {self._value(part)}" for part in node.args)
            return f"{_OF_MAPPINGS[name]}({value}{inner})"
        method = getattr(Shape, name, None)
        if method is None:
            return self._refuse(node, "this call")
        # the first is the shape itself
        return f"{value}.{name}({self._in_order(node, functools.partial(method, None))})"

    def _is_instance(self, node: ast.Call) -> str:
        _, kind = self._known(node.args[1])
        if kind not in _KINDS:
            return self._refuse(node, "this type")
        return f"(typeof {self._value(node.args[0])} === {json.dumps(_KINDS[kind])})"

    def _plain(self, node: ast.Call) -> str:
        if node.keywords:
            return self._refuse(node, "a keyword of what is called by value")
        return ", ".join(map(self._value, node.args))

    def _keywords(self, keywords: Iterable[ast.keyword]) -> str:
        parts = [
            f"{k.arg}: {self._value(k.value)}" if k.arg else f"...named({self._value(k.value)})"
            for k in keywords
        ]
        return f"{{{', '.join(parts)}}}"

    def _with_keywords(self, node: ast.Call) -> str:
        inner = ", ".join(map(self._value, node.args))
        return f"[{inner}], {self._keywords(node.keywords)}"

    def _in_order(self, node: ast.Call, called: Callable[..., Any]) -> str:
        """Put keywords where the function has them; what is not given is undefined."""
        names = list(inspect.signature(called).parameters)
        given = dict(zip(names, map(self._value, node.args), strict=False))
        for keyword in node.keywords:
            if keyword.arg is None:
                return self._refuse(node, "**")
            given[keyword.arg] = self._value(keyword.value)
        last = max((names.index(name) for name in given), default=-1)
        return ", ".join(given.get(name, "undefined") for name in names[: last + 1])

    def _tuple(self, node: ast.Tuple | ast.List) -> str:
        return f"[{', '.join(map(self._value, node.elts))}]"

    _list = _tuple

    def _starred(self, node: ast.Starred) -> str:
        return f"...items({self._value(node.value)})"

    def _dict(self, node: ast.Dict) -> str:
        pairs = [
            f"...items_of({self._value(value)})"
            if key is None
            else f"[{self._value(key)}, {self._value(value)}]"
            for key, value in zip(node.keys, node.values, strict=True)
        ]
        return f"new Map([{', '.join(pairs)}])"

    def _subscript(self, node: ast.Subscript) -> str:
        if isinstance(node.slice, ast.Slice):
            if node.slice.step is not None:
                return self._refuse(node, "a step")
            ends = [node.slice.lower or ast.Constant(0), *filter(None, [node.slice.upper])]
            return f"{self._value(node.value)}.slice({', '.join(map(self._value, ends))})"
        return f"item({self._value(node.value)}, {self._value(node.slice)})"

    def _joinedstr(self, node: ast.JoinedStr) -> str:
        parts = [
            part.value if isinstance(part, ast.Constant) else f"${{{self._value(part.value)}}}"
            for part in node.values
            if isinstance(part, ast.Constant | ast.FormattedValue)
        ]
        return "`" + "".join(map(str, parts)) + "`"

    def _comprehension(self, node: Any, element: str) -> str:
        if len(node.generators) != 1:
            return self._refuse(node, "two loops in one")
        loop = node.generators[0]
        target = self._target(loop.target)
        kept = "".join(f".filter(({target}) => truth({self._value(test)}))" for test in loop.ifs)
        return f"items({self._value(loop.iter)}){kept}.map(({target}) => {element})"

    def _listcomp(self, node: ast.ListComp | ast.GeneratorExp) -> str:
        return self._comprehension(node, self._value(node.elt))

    _generatorexp = _listcomp

    def _dictcomp(self, node: ast.DictComp) -> str:
        pair = f"[{self._value(node.key)}, {self._value(node.value)}]"
        return f"new Map({self._comprehension(node, pair)})"


def _loaded(node: ast.AugAssign) -> ast.expr:
    """Return the target as what is read of it."""
    found = ast.parse(ast.unparse(node.target), mode="eval")
    return found.body
