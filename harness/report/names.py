"""What a page calls a data set and a method: no more words than tell them apart."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

import pandas as pd

_NUMBER_OR_FLAG = re.compile(r"[-+.\d].*|True|False|None|inf|nan")


def problem_names(cells: pd.DataFrame, by: list[str]) -> pd.Series:
    """Name each row's data set, adding only such words as tell apart what would share a name.

    Parameters
    ----------
    cells : pandas.DataFrame
    by : list of str
        The columns that make a problem: `dataset` and numbers of points.
    """
    by = ["task", *by]
    kinds = cells[by].drop_duplicates()
    clusters = kinds["task"] == "clustering"
    several_tasks = kinds.groupby("dataset")["task"].transform("nunique") > 1
    name = kinds["dataset"].astype(str)
    name = name.where(~(clusters & several_tasks), name + ", clustering")
    for column, word in (
        ("n_labeled", "labeled"),
        ("n_unlabeled", "unlabeled"),
        ("n_test", "test"),
    ):
        if column in by:
            several = kinds.groupby(["dataset", clusters])[column].transform("nunique") > 1
            counts = kinds[column].map(lambda count, word=word: f", {count:,.0f} {word}")
            name = name.where(~several, name + counts)
    named = kinds.assign(problem=name)
    return cells[by].merge(named, on=by, how="left")["problem"].set_axis(cells.index)


def method_names(cells: pd.DataFrame) -> dict[str, str]:
    """Name each label of the study's methods, with only such parameters as tell them apart.

    A label that was given with `as`, the only one of its method and those with one parameter stay.

    Parameters
    ----------
    cells : pandas.DataFrame
        With `plugin_method` and `label`.
    """
    names = {label: label for label in cells["label"].unique()}
    for method, params in _params_by_method(cells):
        needed = _needed(params)
        if needed is not None:
            shorter = {label: _name(method, known, needed) for label, known in params.items()}
            if len(set((names | shorter).values())) == len(names):
                names |= shorter
    return names


def telling_params(cells: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Return the parameters of which a method's name is made, by label; of `as` there are none."""
    telling = {}
    for _, params in _params_by_method(cells):
        needed = _needed(params)
        for label, known in params.items():
            kept = known if needed is None else needed
            telling[label] = {name: known[name] for name in kept if name in known}
    return telling


def _params_by_method(cells: pd.DataFrame) -> Iterator[tuple[str, dict[str, dict[str, str]]]]:
    for method, mine in cells.groupby("plugin_method"):
        params = {label: _params(method, label) for label in mine["label"].unique()}
        yield method, {label: known for label, known in params.items() if known is not None}


def _params(method: str, label: str) -> dict[str, str] | None:
    """Read `method[name=value,...]`; None for a label of one's own."""
    if label == method:
        return {}
    if not (label.startswith(f"{method}[") and label.endswith("]")):
        return None
    parts = [part.partition("=") for part in label[len(method) + 1 : -1].split(",")]
    return {name: value for name, _, value in parts} if all(p[1] for p in parts) else None


def _needed(params: Mapping[str, Mapping[str, str]]) -> list[str] | None:
    """Return the parameters that tell the labels of a method apart; None where all are said."""
    if len(params) < 2 or max(map(len, params.values())) < 2:
        return None
    needed = list(dict.fromkeys(name for known in params.values() for name in known))
    for name in reversed(needed):
        fewer = [other for other in needed if other != name]
        left = [tuple(map(known.get, fewer)) for known in params.values()]
        # A name without any would be that of the defaults.
        bare = sum(not any(known) for known in left) > sum(not known for known in params.values())
        if len(set(left)) == len(left) and not bare:
            needed = fewer
    return needed


def _name(method: str, params: Mapping[str, str], needed: list[str]) -> str:
    said = [
        f"{name}={params[name]}" if _NUMBER_OR_FLAG.fullmatch(params[name]) else params[name]
        for name in needed
        if name in params
    ]
    return f"{method}[{', '.join(said)}]" if said else method
