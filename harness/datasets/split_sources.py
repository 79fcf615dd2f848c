"""Files of row numbers as benchmarks publish them: one or several, of any of the usual kinds.

What they say is brought to arrays by the names of parts. `split_files` makes splits of them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.datasets.foreign_files import PICKLED
from harness.errors import HarnessError, shown

PARTS = ("labeled", "unlabeled", "test")
"""In the order of their codes, from 1; 0 is of rows that are in no part."""

TRAIN = "train"
"""Rows of which a study draws some to be labeled; of those, the unlabeled part has the code."""

NAMED = (*PARTS, TRAIN)
CODES, SEEDS = "part", "seeds"
SEED = "{seed}"
"""What stands in a path for the number of a split."""

_LISTED = (".json",)
"""Endings of files that have lists within a list: no program writes them by columns."""

_ALL = ""
"""The part of a file that has them all."""

_FORMS = (
    "npz or npy (NumPy), mat (MATLAB, whose rows are counted from 1), json, txt, or csv (seed, "
    "row, part)"
)


@dataclass(frozen=True)
class SplitSource:
    """Where the splits of a data set are, and how its files say them.

    Attributes
    ----------
    paths : tuple of (str, Path)
        The file of each part; of one that has all parts, the part is "". `{seed}` in the name of
        a file stands for the number of a split.
    names : tuple of (str, str)
        What the arrays of parts are called, where it is otherwise than the parts.
    first_row : int or None, default None
        The number of the first row; by default 1 in files of MATLAB and 0 in all others.
    n_train : int or None, default None
        Rows from this one on are the test part, which the files do not name then.
    transpose : bool or None, default None
        Whether a split is a column of a matrix, or a row; by default a row, and a matrix whose
        columns may be splits as well is refused.
    """

    paths: tuple[tuple[str, Path], ...]
    names: tuple[tuple[str, str], ...] = ()
    first_row: int | None = None
    n_train: int | None = None
    transpose: bool | None = None

    @classmethod
    def of(cls, source: SplitSource | Path) -> SplitSource:
        """Return a source as it is, and a path as one of all parts."""
        return cls(((_ALL, source),)) if isinstance(source, Path) else source

    @property
    def told(self) -> str:
        """Its files, for messages."""
        return ", ".join(str(path) for _, path in self.paths)

    @property
    def is_plain(self) -> bool:
        """Whether it is one file that says everything by itself."""
        [(part, path), *others] = self.paths
        said = (part, others, self.names, self.first_row, self.n_train, self.transpose)
        return said == (_ALL, [], (), None, None, None) and SEED not in path.name

    def files(self) -> dict[str, dict[int | None, Path]]:
        """Return the files of each part by the number of their split; None of all splits.

        Raises
        ------
        HarnessError
            If no file has such a name.
        """
        return {part: _numbered(path) for part, path in self.paths}

    def all_files(self) -> list[Path]:
        """List its files."""
        return [path for held in self.files().values() for path in held.values()]


def _numbered(path: Path) -> dict[int | None, Path]:
    if SEED not in path.name:
        return {None: path}
    before, after = path.name.split(SEED, 1)
    shape = re.compile(re.escape(before) + r"(\d+)" + re.escape(after))
    held = sorted(path.parent.iterdir()) if path.parent.is_dir() else []
    found = {int(match[1]): at for at in held if (match := shape.fullmatch(at.name))}
    if not found:
        raise HarnessError(f"{path}: there is no such file with a number for {SEED}")
    return dict(sorted(found.items()))


@dataclass
class Rows:
    """What files say: the arrays of parts, and by which number the first row goes in them.

    `listed` are the parts whose lists are one by one in the file, so that no axis is in doubt.
    """

    arrays: dict[str, Any] = field(default_factory=dict)
    first: dict[str, int] = field(default_factory=dict)
    called: dict[str, str] = field(default_factory=dict)
    listed: set[str] = field(default_factory=set)


def read_rows_of(source: SplitSource) -> Rows:
    """Read the files of a source.

    Raises
    ------
    HarnessError, OSError, ValueError
        If one cannot be read, or does not say what it should.
    """
    found = Rows()
    names = dict(source.names)
    held = source.files()
    numbers = {number for files in held.values() for number in files if number is not None}
    for part, files in held.items():
        lacking = sorted(number for number in numbers - files.keys() if None not in files)
        if lacking:
            path = dict(source.paths)[part]
            raise HarnessError(f"{path}: there is none for {SEED} {lacking[0]}")
        for number, path in files.items():
            for name, rows in _of_file(path, part, names, source.transpose).items():
                if number is None:
                    found.arrays[name] = rows
                    found.listed |= {name} if path.suffix.lower() in _LISTED else set()
                else:
                    found.listed.add(name)
                    found.arrays.setdefault(name, []).append(_of_one_split(rows, path, name))
                by_itself = 1 if path.suffix.lower() == ".mat" else 0
                found.first[name] = by_itself if source.first_row is None else source.first_row
                found.called[name] = names.get(name, name)
    if numbers:
        found.arrays[SEEDS] = sorted(numbers)
    return found


def _of_one_split(rows: Any, path: Path, name: str) -> Any:
    if not isinstance(rows, list) and rows.shape[1:] == (1,):
        rows = rows.T
    if len(rows) != 1:
        raise ValueError(f"{path.name} has {len(rows)} lists of {name!r}; a file a split has one")
    return rows[0]


def _of_file(
    path: Path, part: str, names: Mapping[str, str], transpose: bool | None
) -> dict[str, Any]:
    """Return arrays by the names of parts, a row for each split; of one part its own."""
    ending = path.suffix.lower()
    if ending in (".pkl", ".pickle", ".pt", ".pth"):
        raise HarnessError(f"{path}: {PICKLED}")
    if part != _ALL and ending in (".txt", ".csv"):
        return {part: _numbers(path)}
    if ending not in _READERS:
        raise HarnessError(f"{path}: is no file of splits; allowed are {_FORMS}")
    wanted = [part] if part != _ALL else [*NAMED, CODES, SEEDS]
    called = {name: names.get(name, name) for name in wanted}
    arrays = _READERS[ending](path, called.values())
    found = {name: arrays[call] for name, call in called.items() if call in arrays}
    absent = [call for name, call in called.items() if name in names and call not in arrays]
    if part != _ALL and not found and len(arrays) == 1 and not absent:
        found = {part: next(iter(arrays.values()))}
    if absent or (part != _ALL and not found):
        held = ", ".join(arrays) or "one list of rows"
        raise ValueError(f"{path.name}: there is no {(absent or [part])[0]!r}; it holds {held}")
    if not found and list(arrays) == [_ALL]:
        raise ValueError(
            f"{path.name} is one list of rows: say which part they are, such as splits: "
            "{labeled: FILE}"
        )
    if ending == ".mat" and transpose is None:  # there a list of numbers is often a column
        found = {name: a.T if a.shape[1:] == (1,) else a for name, a in found.items()}
    return {name: rows if name in (CODES, SEEDS) else _lists(rows) for name, rows in found.items()}


def _lists(rows: Any) -> Any:
    """Return a row for each split: an array, or a list of arrays where they differ in length."""
    import numpy as np

    return rows if isinstance(rows, list) else np.atleast_2d(rows)


def _read_npz(path: Path, wanted: Iterable[str]) -> Mapping[str, Any]:
    import numpy as np

    with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
        read = file.files if len(file.files) == 1 else set(wanted)
        return {name: file[name] if name in read else None for name in file.files}


def _read_npy(path: Path, _: Iterable[str]) -> Mapping[str, Any]:
    import numpy as np

    return {_ALL: np.load(path, allow_pickle=False)}


def _read_mat(path: Path, _: Iterable[str]) -> Mapping[str, Any]:
    import numpy as np

    from harness.datasets.mat_files import load_mat

    arrays = {name: np.atleast_2d(held) for name, held in load_mat(path).items()}
    return {name: a.ravel() if name == SEEDS else a for name, a in arrays.items()}


def _read_json(path: Path, _: Iterable[str]) -> Mapping[str, Any]:
    import numpy as np

    held = json.loads(path.read_text(encoding="utf-8"))
    lists = held if isinstance(held, dict) else {_ALL: held}
    return {
        name: [np.asarray(part) for part in (rows if _nested(rows) else [rows])]
        for name, rows in lists.items()
        if isinstance(rows, list)
    }


def _nested(rows: list[Any]) -> bool:
    return bool(rows) and all(isinstance(part, list) for part in rows)


def _read_csv(path: Path, _: Iterable[str]) -> Mapping[str, Any]:
    import pandas as pd

    table = pd.read_csv(path, usecols=["seed", "row", "part"])
    unknown = set(table["part"]) - set(NAMED)
    if unknown:
        allowed = ", ".join(NAMED)
        raise ValueError(f"part is {shown(sorted(map(str, unknown))[0])}; allowed are {allowed}")
    seeds = table["seed"].unique()
    arrays: dict[str, Any] = {SEEDS: seeds}
    for name in NAMED:
        rows = table[table["part"] == name]
        if len(rows):
            arrays[name] = [rows.loc[rows["seed"] == s, "row"].to_numpy() for s in seeds]
    return arrays


def _read_txt(path: Path, _: Iterable[str]) -> Mapping[str, Any]:
    return {_ALL: _numbers(path)}


def _numbers(path: Path) -> list[Any]:
    """Read row numbers with blanks or commas between: a line for each split, or one in each."""
    import numpy as np

    lists = []
    for at, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        try:
            numbers = [float(word) for word in line.replace(",", " ").split()]
        except ValueError:
            raise ValueError(f"{path.name}: line {at} is no list of row numbers") from None
        if numbers:
            lists.append(numbers)
    if all(len(numbers) == 1 for numbers in lists):
        lists = [[number for numbers in lists for number in numbers]]
    return [np.asarray(numbers) for numbers in lists]


_READERS: dict[str, Callable[[Path, Iterable[str]], Mapping[str, Any]]] = {
    ".npz": _read_npz,
    ".npy": _read_npy,
    ".mat": _read_mat,
    ".json": _read_json,
    ".txt": _read_txt,
    ".csv": _read_csv,
}
