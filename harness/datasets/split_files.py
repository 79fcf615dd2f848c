"""Splits in a file: those of a published benchmark, or those that a study drew.

A file of several splits has one for each seed. Index files name the rows of each part, as
benchmarks publish them. What a study writes is smaller: the part of every row, a byte each before
it is packed.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.datasets.sizes import Sizes
from harness.errors import HarnessError, shown

if TYPE_CHECKING:
    import numpy as np

    from harness.datasets.splits import Split

PARTS = ("labeled", "unlabeled", "test")
"""In the order of their codes, from 1; 0 is of rows that are in no part."""

_TRAIN = "train"
"""Rows of which a study draws some to be labeled; of those, the unlabeled part has the code."""

_CODES, _SEEDS = "part", "seeds"
_FORMS = "npz (NumPy), mat (MATLAB, whose rows are counted from 1) or csv (seed, row, part)"


@dataclass(frozen=True)
class SplitFile:
    """Splits of one data set.

    Attributes
    ----------
    path : Path
    seeds : tuple of int
        The number of each split.
    codes : ndarray (n_splits, n), uint8
        Of each row 1 if it is labeled, 2 if it is unlabeled, 3 if it is for the test, else 0.
        Where none is labeled, labeled ones are drawn among those of code 2.
    digest : str
        SHA-256 of the file, in hexadecimal digits.
    """

    path: Path
    seeds: tuple[int, ...]
    codes: np.ndarray
    digest: str

    @property
    def sizes(self) -> Sizes:
        """Points of each part: labeled ones as many in all splits, of the others at most."""
        return Sizes(*(int(self._counts(code).max()) for code in (1, 2, 3)))

    @property
    def train_sizes(self) -> tuple[int, int]:
        """Points that may be labeled in the smallest and in the largest split."""
        counts = self._counts(2)
        return int(counts.min()), int(counts.max())

    @property
    def says_labeled(self) -> bool:
        """Whether it names labeled rows, or leaves them to be drawn."""
        return bool(self.sizes.n_labeled)

    def _counts(self, code: int) -> np.ndarray:
        counts: np.ndarray = (self.codes == code).sum(axis=1)
        return counts

    def split(self, seed: int) -> Split:
        """Return the split of a seed.

        Raises
        ------
        ValueError
            If the file has none.
        """
        import numpy as np

        from harness.datasets.splits import Split

        codes = self.codes[self.seeds.index(seed)]
        return Split(*(np.flatnonzero(codes == code) for code in (1, 2, 3)))

    def refuse_unfit(self, seeds: Iterable[int], transductive: bool) -> None:
        """Refuse what a study asks for and the file does not have.

        Raises
        ------
        HarnessError
            If there is no split of a seed, or the points that are to be scored are not there.
        """
        absent = set(seeds) - set(self.seeds)
        if absent:
            told = f"{self.path}: has no split {min(absent)}; its splits are {self._told()}"
            raise HarnessError(f"{told}: give seeds among them")
        held = self._counts(3)
        if transductive and held.any():
            told = f"{self.path}: has test rows: leave 'transductive' out, and they are scored"
            raise HarnessError(told)
        if not transductive and not held.all():
            told = f"{self.path}: has no test rows: write transductive: true beside it, and the"
            raise HarnessError(f"{told} unlabeled ones are scored")

    def _told(self) -> str:
        first, last = self.seeds[0], self.seeds[-1]
        if self.seeds == tuple(range(first, last + 1)) and len(self.seeds) > 2:
            return f"{first} to {last}"
        return shown(", ".join(map(str, self.seeds)))


def read_splits(path: Path, n: int) -> SplitFile:
    """Read the splits of a data set.

    Parameters
    ----------
    path : Path
        `.npz` or `.mat` with arrays `labeled`, `unlabeled` and `test`: row numbers of one split,
        or a row for each split. `unlabeled` may be left out and is then all other rows, `test`
        too. With `train` and `test` instead, or `test` alone, labeled rows are drawn among the
        training rows. An array `seeds` numbers the splits, else they are counted from 0. Rows are
        counted from 0, in `.mat` from 1. Or `.npz` with `part` as `SplitFile.codes`. Or `.csv`
        with columns `seed`, `row` and `part`, the name of one.
    n : int
        Rows of the data set.

    Raises
    ------
    HarnessError
        If the file cannot be read, a row is not there or in two parts of one split, or splits
        differ in how many rows are labeled.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise HarnessError(f"{path}: {error.strerror}") from None
    return _read(path, n, status.st_mtime_ns, status.st_size)


@functools.lru_cache(64)
def _read(path: Path, n: int, changed: int, size: int) -> SplitFile:
    readers: dict[str, Callable[[Path], Mapping[str, Any]]] = {
        ".npz": _read_npz,
        ".mat": _read_mat,
        ".csv": _read_csv,
    }
    if path.suffix.lower() not in readers:
        raise HarnessError(f"{path}: is no file of splits; allowed are {_FORMS}")
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        arrays = readers[path.suffix.lower()](path)
        codes = _codes_of(arrays, n)
        seeds = _seeds_of(arrays, len(codes))
    except OSError as error:
        raise HarnessError(f"{path}: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, EOFError, NotImplementedError) as error:
        raise HarnessError(f"{path}: cannot be read as splits of {n} rows: {error}") from None
    found = SplitFile(path, seeds, codes, digest)
    _refuse_uneven(found)
    return found


def write_splits(path: Path, n: int, splits: Mapping[int, Split]) -> None:
    """Write splits by their seeds, as `read_splits` reads them.

    Parameters
    ----------
    path : Path
        Ends in `.npz`.
    n : int
        Rows of the data set.
    splits : mapping of int to Split
    """
    import io

    import numpy as np

    from harness.files import write_whole

    codes = np.zeros((len(splits), n), np.uint8)
    for row, split in zip(codes, splits.values(), strict=True):
        for code, part in enumerate(split, 1):
            row[part] = code
    packed = io.BytesIO()
    np.savez_compressed(packed, seeds=np.array(list(splits), np.int64), part=codes)
    write_whole(packed.getvalue(), path)


def _read_npz(path: Path) -> Mapping[str, Any]:
    import zipfile

    import numpy as np

    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            names = (*PARTS, _TRAIN, _CODES, _SEEDS)
            return {name: file[name] for name in file.files if name in names}
    except zipfile.BadZipFile as error:
        raise ValueError(error) from None


def _read_mat(path: Path) -> Mapping[str, Any]:
    import numpy as np
    from scipy.io import loadmat

    names = (*PARTS, _TRAIN, _SEEDS)
    found = loadmat(path, variable_names=names)
    arrays = {name: np.atleast_2d(found[name]) for name in names if name in found}
    # a column of row numbers is one split
    turned = {name: a.T if a.shape[1] == 1 else a for name, a in arrays.items()}
    return {name: a.ravel() if name == _SEEDS else a - 1 for name, a in turned.items()}


def _read_csv(path: Path) -> Mapping[str, Any]:
    import pandas as pd

    table = pd.read_csv(path, usecols=["seed", "row", "part"])
    unknown = set(table["part"]) - {*PARTS, _TRAIN}
    if unknown:
        allowed = ", ".join((*PARTS, _TRAIN))
        raise ValueError(f"part is {shown(sorted(map(str, unknown))[0])}; allowed are {allowed}")
    seeds = table["seed"].unique()
    arrays: dict[str, Any] = {_SEEDS: seeds}
    for name in (*PARTS, _TRAIN):
        rows = table[table["part"] == name]
        if len(rows):
            arrays[name] = [rows.loc[rows["seed"] == s, "row"].to_numpy() for s in seeds]
    return arrays


def _codes_of(arrays: Mapping[str, Any], n: int) -> np.ndarray:
    import numpy as np

    if _CODES in arrays:
        codes = np.atleast_2d(arrays[_CODES])
        if codes.ndim != 2 or codes.shape[1] != n or not np.isin(codes, range(4)).all():
            raise ValueError(f"'{_CODES}' is no matrix of 0 to 3 with {n} columns")
        return codes.astype(np.uint8)
    if "labeled" in arrays and _TRAIN in arrays:
        raise ValueError(f"both 'labeled' and '{_TRAIN}' are in it; give one of them")
    if not {"labeled", _TRAIN, "test"} & arrays.keys():
        raise ValueError(f"there is neither 'labeled' nor '{_TRAIN}' nor '{_CODES}' in it")
    names = (*PARTS, _TRAIN)
    # splits of other lengths are lists of arrays
    rows = {n: a if isinstance(a, list) else np.atleast_2d(a) for n, a in arrays.items()}
    rows = {name: rows[name] for name in names if name in rows}
    count = max(len(part) for part in rows.values())
    codes = np.zeros((count, n), np.uint8)
    for name, part in rows.items():
        _place(codes, part, 2 if name == _TRAIN else 1 + PARTS.index(name), name)
    if not {"unlabeled", _TRAIN} & rows.keys():
        codes[codes == 0] = 1 + PARTS.index("unlabeled")
    return codes


def _place(codes: np.ndarray, rows: Any, code: int, name: str) -> None:
    """Note the rows of one part; one list of them is that of all splits."""
    import numpy as np

    count, n = codes.shape
    if len(rows) not in (1, count) or (isinstance(rows, np.ndarray) and rows.ndim != 2):
        raise ValueError(f"'{name}' is no list of row numbers, or one list for each split")
    for taken, part in zip(codes, list(rows) * (count // len(rows)), strict=True):
        whole = part.astype(np.int64)
        if (whole != part).any():
            raise ValueError(f"'{name}' is no list of row numbers, or one list for each split")
        outside = whole[(whole < 0) | (whole >= n)]
        if outside.size:
            raise ValueError(f"'{name}' has row {outside[0]}; allowed are 0 to {n - 1}")
        if len(np.unique(whole)) < len(whole) or taken[whole].any():
            raise ValueError(f"'{name}' has a row that is twice in one split")
        taken[whole] = code


def _seeds_of(arrays: Mapping[str, Any], count: int) -> tuple[int, ...]:
    given: Sequence[Any] = arrays.get(_SEEDS, range(count))
    seeds = tuple(int(seed) for seed in given)
    if len(set(seeds)) != count or any(
        seed != whole for seed, whole in zip(given, seeds, strict=True)
    ):
        raise ValueError(f"'{_SEEDS}' are not {count} different whole numbers")
    return seeds


def _refuse_uneven(found: SplitFile) -> None:
    counts = (found.codes == 1).sum(axis=1)
    if counts.min() != counts.max():
        told = f"{counts.min()} to {counts.max()} labeled rows; allowed is one number for all"
        raise HarnessError(f"{found.path}: its splits have {told}")
    others = ((found.codes == 2) | (found.codes == 3)).sum(axis=1)
    if (
        not counts[0]
        and not ((found.codes == 2).any(axis=1) & (found.codes == 3).any(axis=1)).all()
    ):
        raise HarnessError(
            f"{found.path}: its splits need labeled rows, or training and test rows each"
        )
    if not others.all():
        raise HarnessError(f"{found.path}: its splits need labeled rows, and others to score")
