"""One cell of a row: brought to its column's type when it is written, held against it when read.

What a trial says comes from a method and may be anything: text that is no Unicode, numbers that
no column holds. `written` takes it all, so that writing a row never fails; `read` says what is
wrong, so that a file that was damaged or altered is told from a row.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Mapping
from typing import Any

from harness.errors import shown

MOST_TEXT = 4000
"""Characters of a text that are kept."""

MOST_JSON = 16 << 20
"""Characters of a column of JSON, of which a part would be none."""

LARGEST = 2**63 - 1
"""Whole number that a column holds."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_JSON = {"object": dict, "list": list}
_KINDS: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "object": str,
    "list": str,
    "int64": int,
    "float64": (float, int),
    "bool": bool,
}


def clean_text(text: str, most: int = MOST_TEXT) -> str:
    r"""Write what is no text as an escape (`\udc80`, `\x00`), and cut what is too long."""
    if len(text) <= most and text.isascii() and text.isprintable():
        return text
    if len(text) > most:
        text = text[: most - 3] + "..."
    text = text.encode("utf-8", "backslashreplace").decode()
    return _CONTROL.sub(lambda letter: f"\\x{ord(letter[0]):02x}", text)


def written(value: Any, kind: str) -> Any:
    """Bring any value to the type of its column; None where it has no such value.

    Parameters
    ----------
    value : object
    kind : {"string", "object", "list", "int64", "float64", "bool"}
        "object" and "list" are text that is JSON of that kind.
    """
    try:
        if hasattr(value, "item"):  # of NumPy
            value = value.item()
        if kind == "string" and value is not None and not isinstance(value, str):
            value = str(value)
        if kind == "int64" and isinstance(value, float) and value.is_integer():
            value = int(value)
        return read(value, kind)
    except Exception:  # whatever an object of a plugin does when it is looked at
        return None


def read(value: Any, kind: str) -> Any:
    """Return a value as its column holds it: NaN is null, text is clean.

    Raises
    ------
    ValueError
        If the column does not hold such a value.
    """
    if value is None:
        return None
    if not _is_kind(value, kind):
        message = f"is {shown(value)}, not {_WORDS[kind]}"
        raise ValueError(message)
    if kind == "float64":
        if isinstance(value, int) and abs(value) > LARGEST:
            raise ValueError(f"is {shown(value)}, beyond what a column holds")
        return float(value) if math.isfinite(value) else None
    if kind == "int64" and abs(value) > LARGEST:
        raise ValueError(f"is {shown(value)}, beyond what a column holds")
    if kind in _JSON:
        return _read_json(value, kind)
    return clean_text(value) if kind == "string" else value


def _is_kind(value: Any, kind: str) -> bool:
    return isinstance(value, _KINDS[kind]) and (kind == "bool" or not isinstance(value, bool))


_WORDS = {
    "string": "text",
    "object": "text",
    "list": "text",
    "int64": "a whole number",
    "float64": "a number",
    "bool": "true or false",
}


def _read_json(text: str, kind: str) -> str:
    if len(text) > MOST_JSON:
        message = f"has {len(text)} characters, more than {MOST_JSON}"
        raise ValueError(message)
    if not _is_json(text, kind):
        message = f"is {shown(text)}, which is no {kind} in JSON"
        raise ValueError(message)
    return text


@functools.lru_cache(maxsize=256)
def _is_json(text: str, kind: str) -> bool:
    """Kept for the last texts: versions and parameters are those of many rows."""
    try:
        return isinstance(json.loads(text), _JSON[kind])
    except (ValueError, RecursionError):
        return False


def json_text(content: Any) -> str:
    """Write parameters as JSON, with the words for what JSON has none for ("inf", "nan")."""
    return json.dumps(_in_words(content), sort_keys=True, default=lambda v: written(v, "string"))


def _in_words(content: Any) -> Any:
    if isinstance(content, Mapping):
        return {clean_text(str(name)): _in_words(value) for name, value in content.items()}
    if isinstance(content, list | tuple):
        return [_in_words(value) for value in content]
    if isinstance(content, str):
        return clean_text(content)
    if isinstance(content, float) and not math.isfinite(content):
        return str(content)
    return content
