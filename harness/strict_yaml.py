"""YAML for people: no tags, no surprises, and bounds on what a small file may grow into.

A key that is written twice is an error, and 1e-3 is a number: PyYAML's own loader takes the last
of two such keys, and 1e-3, which has no point, as a text. Aliases count for what they stand for,
so nested ones are refused before anything is built from them.
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import yaml

from harness.errors import HarnessError, shown

MOST_BYTES = 4 << 20
"""Of a file."""

MOST_NODES = 400_000
"""Values that a file may hold, each alias counted as what it stands for."""

MOST_DEPTH = 40
LONGEST_FIGURE = 40
"""Characters of a number: more than a float or a column holds, few enough to compute with."""

_LONG = 100
"""Characters of a text that count as one more value."""


if TYPE_CHECKING:
    _SafeLoader = yaml.SafeLoader
else:
    _SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SafeLoader):
    # a date stays the text that it is: nothing in a study or a catalog is one
    yaml_implicit_resolvers = {  # noqa: RUF012 (PyYAML's own name for it)
        first: [(tag, pattern) for tag, pattern in known if not tag.endswith(":timestamp")]
        for first, known in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
                continue
            if key.value in seen:
                problem = f"the key {shown(key.value)} is written twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)

    def construct_figure(self, node: yaml.ScalarNode) -> int | float:
        whole = node.tag.endswith(":int")
        try:
            if len(node.value) > LONGEST_FIGURE:
                raise OverflowError
            value = self.construct_yaml_int(node) if whole else self.construct_yaml_float(node)
            if not whole and math.isinf(value) and "inf" not in node.value.lower():
                raise OverflowError
        except (ValueError, OverflowError):
            problem = f"{shown(node.value)} is beyond what a figure can be"
            raise yaml.constructor.ConstructorError(None, None, problem, node.start_mark) from None
        return value


class _Dumper(yaml.SafeDumper):
    """Writes what `_Loader` reads as it was."""


for _ours in (_Loader, _Dumper):
    _ours.add_implicit_resolver(
        "tag:yaml.org,2002:float",
        re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+$"),
        list("-+0123456789"),
    )
for _kind in ("int", "float"):
    _Loader.add_constructor(f"tag:yaml.org,2002:{_kind}", _Loader.construct_figure)


def read_yaml(text: str) -> Any:
    """Read one YAML document without tags.

    Raises
    ------
    yaml.YAMLError
        If it is not YAML, is too large or nested too deep, has tags, a figure that no column
        holds or a key twice.
    """
    _refuse_unbounded(text)
    return yaml.load(text, Loader=_Loader)


def written(value: Any) -> str:
    """Write a value in one line, so that `read_yaml` gives it back."""
    text = yaml.dump(
        value,
        Dumper=_Dumper,
        default_flow_style=True,
        sort_keys=False,
        allow_unicode=True,
        width=10**9,
    )
    return text.removesuffix("...\n").strip()


def read_document(path: Path, what: str = "") -> tuple[str, Any]:
    """Read a YAML file.

    Parameters
    ----------
    path : Path
    what : str, default ""
        What it is ("the catalog "), for messages.

    Returns
    -------
    text : str
    content : object

    Raises
    ------
    HarnessError
        If it cannot be read, or as `read_yaml` says.
    """
    try:
        if path.stat().st_size > MOST_BYTES:
            raise HarnessError(f"{path}: {what}has more than {MOST_BYTES} bytes")
        text = path.read_text(encoding="utf-8")
        return text, read_yaml(text)
    except OSError as error:
        raise HarnessError(f"{path}: {what}cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, ValueError) as error:
        told = " ".join(str(error).replace('in "<unicode string>", ', "at ").split())
        raise HarnessError(f"{path}: {what}is not YAML as it is read here: {told}") from None


def _refuse_unbounded(text: str) -> None:
    """Go through the events of a document, which are made one by one, before any node is."""
    held: list[tuple[str | None, int]] = []
    sizes: dict[str | None, int] = {}
    total = 0
    for event in yaml.parse(text, Loader=_Loader):
        tag = getattr(event, "tag", None)
        if tag is not None:
            _refuse(f"the tag {shown(tag)} is not for this file", event)
        if isinstance(event, yaml.AliasEvent):
            if event.anchor not in sizes:
                _refuse(
                    f"the alias {shown(event.anchor)} holds itself, or stands for nothing", event
                )
            total += sizes[event.anchor]
        elif isinstance(event, yaml.ScalarEvent):
            _refuse_controls(event)
            size = 1 + len(event.value) // _LONG
            total += size
            if event.anchor:
                sizes[event.anchor] = size
        elif isinstance(event, yaml.CollectionStartEvent):
            held.append((event.anchor, total))
            sizes.pop(event.anchor, None)
            total += 1
            if len(held) > MOST_DEPTH:
                _refuse(f"nested more than {MOST_DEPTH} deep", event)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, before = held.pop()
            if anchor:
                sizes[anchor] = total - before
        if total > MOST_NODES:
            _refuse(f"it holds more than {MOST_NODES} values, aliases written out", event)


def _refuse_controls(event: yaml.ScalarEvent) -> None:
    if event.value.isprintable():
        return
    for letter in event.value:
        if (ord(letter) < 32 and letter not in "\t\n\r") or 0xD800 <= ord(letter) < 0xE000:
            _refuse(f"{shown(event.value)} holds a character that is no text", event)


def _refuse(problem: str, event: yaml.Event) -> NoReturn:
    mark = event.start_mark
    # the stubs know no mark of libyaml here, which has the same attributes
    raise yaml.MarkedYAMLError(None, None, problem, mark)  # type: ignore[arg-type]
