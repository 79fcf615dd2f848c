"""Data of one's own as a data set: a file or a data frame is read, understood and named.

`describing` makes an entry of a file, from the `sniffing` of its format, the `profiles` of its
columns and the `guesses` made from them; `catalog_file` writes the entry where people write too.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import ValidationError

from harness.datasets.adding.catalog_file import entry_text, names_in, write_entry
from harness.datasets.counting import count, disagreement
from harness.datasets.counting import keep as keep_counts
from harness.datasets.entry import NAME, Declared, Entry
from harness.errors import HarnessError, shown
from harness.files import write_whole
from harness.project import CATALOG
from harness.strict_yaml import read_yaml
from harness.units import format_bytes

if TYPE_CHECKING:
    import pandas as pd

    from harness.datasets.adding.describing import Description
    from harness.datasets.adding.profiles import Name

LARGEST_TRIED = 200_000_000
"""Bytes of a file, and of the matrix made of it, up to which an entry is tried at once."""

_FRAMES = "data"
"""Folder, beside the catalog, of data frames that were added."""


@dataclass(frozen=True)
class Folds:
    """Published splits of a data set, which a study takes by `evaluation: {openml: TASK}`.

    Parameters
    ----------
    task : int
        The number of the task of OpenML.
    count : int
        How many splits it has; seeds number them from 0.
    smallest : int
        Points that may be labeled in the smallest split.
    """

    task: int
    count: int
    smallest: int


@dataclass(frozen=True)
class Added:
    """A data set that was added.

    Parameters
    ----------
    name : str
        What studies call it.
    body : dict
        Its entry, as a catalog has it: task, n, d, classes, ...
    catalog : Path
        The catalog that it is in.
    tried : bool
        Whether the entry was read once, as preparation reads it. Large files are not.
    told : list of str
        What was guessed, and how to say otherwise.
    folds : Folds, optional
        Of the task of OpenML that it was added for.
    """

    name: str
    body: dict[str, Any]
    catalog: Path
    tried: bool
    told: list[str] = field(default_factory=list)
    folds: Folds | None = None

    def __str__(self) -> str:
        return entry_text(self.name, self.body)


def add(
    data: str | Path | Sequence[str | Path] | pd.DataFrame,
    target: Name | None = None,
    *,
    name: str | None = None,
    task: str | None = None,
    positive: str | Sequence[str] = (),
    nominal: Sequence[Name] = (),
    drop: Sequence[Name] = (),
    keep: Sequence[Name] = (),
    text: Name | Sequence[Name] | None = None,
    header: bool | None = None,
    groups: Name | None = None,
    order: Name | None = None,
    catalog: str | Path = "datasets.yaml",
    dry_run: bool = False,
    force: bool = False,
) -> Added:
    """Add a file or a data frame to a catalog, so that studies can name it.

    Parameters
    ----------
    data : str, Path, sequence of them, or DataFrame
        CSV, TSV, JSON lines, Parquet, ARFF, SVMlight, npz, npy or MATLAB's: a file, or several
        whose rows belong together. Or folders of texts or of pictures, which are called as their
        class. Of MNIST's format images and labels in turn. Or "openml:61", or "openml-task:59" for
        the data of a task and its folds. A data frame is written as Parquet into the folder `data`
        beside the catalog.
    target : str or int, optional
        Name or number of the target's column; by default one called "target", "class", "label" or
        "y", else the last.
    name : str, optional
        What studies call the data set; by default as the file is called.
    task : {"binary", "multiclass", "regression"}, optional
        Guessed by default: names, and up to 20 different whole numbers, are classes.
    positive : str or sequence of str, default ()
        Labels of class 1 of a binary task; by default the last of two, or one such as "yes".
    nominal, drop, keep : sequence of str or int, default ()
        Columns that are names though they hold numbers, that are left out, and that are kept
        though they tell nothing (numbers of rows, for example).
    text : str, int or sequence of them, optional
        Columns of texts, whose words become features; by default those with many words that mostly
        differ.
    header : bool, optional
        Whether the first line of a CSV file names the columns; guessed by default.
    groups, order : str or int, optional
        Columns that say which group a point is of, and when it was. They are no features, and
        evaluations such as {test: 0.2, groups: test} go by them. Of npz and MATLAB the name of an
        array, of SVMlight "qid". Of any format "file:VALUES.txt" with a value for each point, or
        "path:PATTERN" for what a regular expression finds in the names of files.
    catalog : str or Path, default "datasets.yaml"
        Made if it does not exist; comments in it are kept.
    dry_run : bool, default False
        Whether nothing is written.
    force : bool, default False
        Whether an entry of this name in the catalog is replaced.

    Returns
    -------
    Added

    Raises
    ------
    HarnessError
        If the data cannot be read, nothing can be learned from them, or the name is taken.
    """
    from harness.datasets.adding.describing import describe
    from harness.datasets.adding.wishes import Wishes

    catalog = Path(catalog)
    positive = (positive,) if isinstance(positive, str) else tuple(positive)
    text = [text] if isinstance(text, str | int) else text
    wishes = Wishes(
        *(target, task, positive, tuple(nominal), tuple(drop), tuple(keep), header),
        text=None if text is None else tuple(text),
        groups=groups,
        order=order,
    )
    taken = names_in(catalog)
    sources = [data] if isinstance(data, str | Path) else data
    if isinstance(sources, list | tuple) and sources:
        found = _named(describe(sources, catalog.parent, wishes), name, taken, catalog, force)
        return _finished(found, catalog, dry_run)
    if name is None:
        raise HarnessError("a data frame needs a name: harness.add(frame, target, name='mine')")
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        path = Path(folder) / f"{_checked(name)}.parquet"
        write_frame(data, path)
        found = _named(describe([path], path.parent, wishes), name, taken, catalog, force)
        files = found.body["files"]
        if not dry_run:
            place = f"{_FRAMES}/{path.name}"
            write_whole(path.read_bytes(), catalog.parent / place)
            files = [files[0] | {"path": place}]
        body = found.body | {"files": files, "source": "a data frame"}
        return _finished(replace(found, body=body), catalog if not dry_run else path, dry_run)


def write_frame(frame: Any, path: Path) -> None:
    """Write a data frame as Parquet, without its index.

    Parameters
    ----------
    frame : DataFrame
        Of pandas, or anything that `to_pandas` makes one of.
    path : Path

    Raises
    ------
    HarnessError
        If it is no data frame, two columns have one name, or a column cannot be written.
    """
    import pandas as pd

    if hasattr(frame, "to_pandas"):
        frame = frame.to_pandas()
    if not isinstance(frame, pd.DataFrame):
        kind = type(frame).__name__
        raise HarnessError(f"paths or a data frame can be added, not a value of type {kind}")
    frame = frame.set_axis([str(column) for column in frame.columns], axis=1)
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise HarnessError(f"two columns of the data frame are called {twice[0]!r}; rename one")
    try:
        frame.to_parquet(path, index=False)
    except (ValueError, TypeError) as error:  # pyarrow's errors are of these kinds
        reason = " ".join(str(error).split())
        raise HarnessError(f"the data frame cannot be written as Parquet: {reason}") from None


def _named(
    found: Description, name: str | None, taken: Sequence[str], catalog: Path, force: bool
) -> Description:
    own = catalog.resolve() == Path("datasets.yaml").resolve()
    shipped = [] if catalog.resolve() == CATALOG else names_in(CATALOG)
    told = list(found.told)
    chosen = _checked(found.name if name is None else name)
    if name is None and chosen in shipped:
        chosen = f"my-{chosen}"
        told.append(f"{found.name!r} is a set that came with the harness: this one is {chosen!r}")
    if chosen in taken and not force:
        raise HarnessError(
            f"{catalog}: data set {chosen!r} is there already: --force replaces it, --name gives "
            "this one another name"
        )
    if chosen in shipped and not own:
        raise HarnessError(f"data set {chosen!r} came with the harness; choose another name")
    return replace(found, name=chosen, told=told)


def _checked(name: str) -> str:
    if not NAME.fullmatch(name):
        raise HarnessError(
            f"{shown(name)} cannot name a data set: use letters, digits, '.', '_' and '-', at "
            "most 100, the first a letter or a digit"
        )
    return name


def _finished(found: Description, catalog: Path, dry_run: bool) -> Added:
    text = entry_text(found.name, found.body)
    try:
        read_yaml(text)
    except (yaml.YAMLError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise HarnessError(
            f"{found.body['source']}: no catalog can hold its names: {reason}"
        ) from None
    context = {"folder": catalog.resolve().parent}
    try:
        found = _with_counts(found, context)
        entry = Entry.model_validate({"name": found.name} | found.body, context=context)
    except ValidationError as error:
        wrong = "; ".join(d["msg"].removeprefix("Value error, ") for d in error.errors())
        raise HarnessError(
            f"{found.body['source']}: {wrong}; the entry would be\n{text}"
        ) from None
    files = sum(file.path.stat().st_size for file in entry.files if file.path is not None)
    tried = max(files, entry.data_bytes) <= LARGEST_TRIED or entry.text is not None
    if tried:
        wrong = disagreement(entry, count(entry))
        if wrong:
            raise HarnessError(
                f"{found.body['source']}: {wrong}: it is read otherwise than it was guessed to "
                f"be; write the entry by hand, from\n{text}"
            )
    folds = None if found.task is None else _folds(found.task.number, entry)
    if not dry_run:
        if not tried:
            keep_counts(entry, found.counts)
        write_entry(catalog, found.name, found.body)
    told = list(found.told)
    if folds is not None:
        splits = f"{folds.count} split" + "s" * (folds.count > 1)
        told.append(f"task {folds.task} has {splits}: `evaluation: {{openml: {folds.task}}}`")
    if entry.data_bytes > LARGEST_TRIED:
        told.append(f"as numbers the features take {format_bytes(entry.data_bytes)}")
    return Added(found.name, found.body, catalog, tried, told, folds)


def _folds(number: int, entry: Entry) -> Folds:
    from harness.datasets.openml_tasks import keep_task
    from harness.datasets.split_files import read_splits

    splits = read_splits(keep_task(number, entry), entry.n)
    return Folds(number, len(splits.seeds), splits.train_sizes[0])


def _with_counts(found: Description, context: dict[str, Any]) -> Description:
    """Return a description with what only the whole of the data tells: they are read for it."""
    lacking = {"d", "nnz"} if "text" in found.body else set()
    if "groups" in found.body and "largest_group" not in found.body:
        lacking.add("largest_group")
    if not lacking:
        return found
    known = {key: value for key, value in found.body.items() if key not in lacking}
    declared = Declared.model_validate({"name": found.name} | known, context=context)
    counts = count(declared)
    body: dict[str, Any] = {}
    after = {"d": ("nnz",), "groups": ("largest_group",)}
    for key, value in found.body.items():
        body[key] = counts.d if key in lacking else value
        body |= {other: getattr(counts, other) for other in after.get(key, ()) if other in lacking}
    told = list(found.told)
    if "largest_group" in lacking:
        told.append(f"the largest group has {counts.largest_group} of {counts.n} points")
    return replace(found, body=body, counts=counts, told=told)
