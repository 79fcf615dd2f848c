"""What a page calls a data set and a method: no more words than tell them apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping

import pandas as pd

_NUMBER_OR_FLAG = re.compile(r"[-+.\d].*|True|False|None|inf|nan")
_WIDTH = ("sigma", "sigma_unit")
"""Parameters that say nothing without the kernel whose width they are."""


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
    """Name each label of the study's methods, without what all versions of a method share.

    A label that was given with `as` stays, and so do those of a method that has no version of two
    parameters.

    Parameters
    ----------
    cells : pandas.DataFrame
        With `plugin_method` and `label`.
    """
    names = {label: label for label in cells["label"].unique()}
    for method, params in _params_by_method(cells):
        if max(map(len, params.values()), default=0) < 2:
            continue
        differ, plain = _differing(params), _plain_values(params)
        shorter = {label: _name(method, known, differ, plain) for label, known in params.items()}
        if len(set((names | shorter).values())) == len(names):
            names |= shorter
    return names


def telling_params(cells: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Return the parameters of which a method's name is made, by label; of `as` there are none."""
    telling = {}
    for _, params in _params_by_method(cells):
        differ = _differing(params)
        for label, known in params.items():
            telling[label] = {name: known[name] for name in differ if name in known}
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


def _differing(params: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return the parameters that are not the same in all versions of a method.

    All that differ are said, though fewer would make the names unique: what a name leaves out, a
    reader takes to be alike. Where one version says a parameter and another does not, they differ,
    since the other's may have been tuned. A kernel's width goes with the kernel.
    """
    said = list(dict.fromkeys(name for known in params.values() for name in known))
    if len(params) < 2:
        return said
    shared = [n for n in said if len({known.get(n) for known in params.values()}) == 1]
    differ = [name for name in said if name not in shared]
    if any(known and not set(known) & set(differ) for known in params.values()):
        # A name without any would be that of the defaults.
        differ = [name for name in said if name in (shared[0], *differ)]
    if "kernel" in differ and _width_follows_kernel(params):
        differ = [name for name in differ if name not in _WIDTH]
    return differ


def _width_follows_kernel(params: Mapping[str, Mapping[str, str]]) -> bool:
    """Tell whether each kernel has one width throughout, and no width is without its kernel."""
    widths: dict[str | None, set[tuple[str | None, ...]]] = {}
    for known in params.values():
        widths.setdefault(known.get("kernel"), set()).add(tuple(map(known.get, _WIDTH)))
    unnamed = widths.pop(None, set())
    return all(len(of) == 1 for of in widths.values()) and not any(any(of) for of in unnamed)


def _plain_values(params: Mapping[str, Mapping[str, str]]) -> set[str]:
    """Return the values that say by themselves which parameter they are of."""
    pairs = {pair for known in params.values() for pair in known.items()}
    owners = Counter(value for _, value in pairs)
    return {v for v, n in owners.items() if n == 1 and not _NUMBER_OR_FLAG.fullmatch(v)}


def _name(
    method: str, params: Mapping[str, str], differ: Iterable[str], plain: Container[str]
) -> str:
    said = [
        params[name] if params[name] in plain else f"{name}={params[name]}"
        for name in differ
        if name in params
    ]
    return f"{method}[{', '.join(said)}]" if said else method
