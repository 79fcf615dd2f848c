"""The reference of a catalog: what an entry and each format of files may say, from the models."""

from __future__ import annotations

import inspect
from typing import Any

from pydantic import BaseModel

from harness.datasets.entry import Declared
from harness.datasets.file import File
from harness.datasets.reading import FORMATS
from harness.datasets.text_columns import Text
from harness.site.numpydoc import Described, described
from harness.site.pages import Page, table_page


def entry_page() -> Page:
    """Return the page of all keys that a data set may have in a catalog.

    Formats are those that are read: a further one has its table here without being listed.
    """
    told = [
        "A catalog is a YAML file of data sets by their names. Keys without a default are needed.",
    ]
    tables = [
        _table("A data set", Declared, without=("name",)),
        _table("One of its files", File),
        _table("text: columns of texts", Text),
        *(
            _table(f"read: {{format: {name}}}", model, without=("format", "dataset"))
            for name, model in FORMATS.items()
            if name != "generated"
        ),
    ]
    return table_page("reference/entries.html", "Keys of a data set", told, tables)


def keys(model: type[BaseModel], without: tuple[str, ...] = ()) -> dict[str, Described | None]:
    """Return what the docstrings of a model and of those it extends say of each key.

    Parameters
    ----------
    model : type
    without : sequence of str
        Keys that are left out.

    Returns
    -------
    dict
        None where nothing is said.
    """
    told: dict[str, Described] = {}
    for one in reversed(model.__mro__):
        if one is not BaseModel and issubclass(one, BaseModel):
            told |= described(one)
    return {name: told.get(name) for name in model.model_fields if name not in without}


def _table(title: str, model: type[BaseModel], without: tuple[str, ...] = ()) -> dict[str, Any]:
    rows = [
        [name, _plain(found.kind), _plain(found.meaning)] if found else [name, "", ""]
        for name, found in keys(model, without).items()
    ]
    first = inspect.cleandoc(model.__doc__ or "").split("\n\n")[0]
    told = " ".join(first.split())
    return {"title": title, "told": told, "columns": ["key", "takes", "meaning"], "rows": rows}


def _plain(text: str) -> str:
    return text.replace("`", "")
