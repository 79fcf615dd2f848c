"""Rows as an HTML table, as notebooks show them."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

_MOST_SHOWN = 200
"""Characters of a reason in a table."""


def html_table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Return rows below each other; the keys of the first name the columns."""
    head = "".join(f'<th style="text-align: left">{name}</th>' for name in rows[0])
    body = "".join(
        "<tr>"
        + "".join(f'<td style="text-align: left">{_cell(value)}</td>' for value in row.values())
        + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    text = str(value)
    return html.escape(text if len(text) <= _MOST_SHOWN else f"{text[: _MOST_SHOWN - 3]}...")
