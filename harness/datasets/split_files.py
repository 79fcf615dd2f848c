"""Splits in a file: those of a published benchmark, or those that a study drew.

A file of several splits has one for each seed. Index files name the rows of each part, as
benchmarks publish them. What a study writes is smaller: the part of every row, a byte each before
it is packed.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.datasets.foreign_files import PICKLED
from harness.datasets.sizes import Sizes
from harness.datasets.split_axes import may_be_columns, refuse_unclear_axis, turned
from harness.datasets.split_sources import (
    CODES,
    NAMED,
    PARTS,
    SEEDS,
    TRAIN,
    Rows,
    SplitSource,
    read_rows_of,
)
from harness.errors import HarnessError, shown

if TYPE_CHECKING:
    import numpy as np

    from harness.datasets.splits import Split


@dataclass(frozen=True)
class SplitFile:
    """Splits of one data set.

    Attributes
    ----------
    told : str
        Its files, for messages.
    seeds : tuple of int
        The number of each split.
    codes : ndarray (n_splits, n), uint8
        Of each row 1 if it is labeled, 2 if it is unlabeled, 3 if it is for the test, else 0.
        Where none is labeled, labeled ones are drawn among those of code 2.
    digest : str
        SHA-256 of the file, or of what several say, in hexadecimal digits.
    """

    told: str
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
            told = f"{self.told}: has no split {min(absent)}; its splits are {self._told()}"
            raise HarnessError(f"{told}: give seeds among them")
        held = self._counts(3)
        if transductive and held.any():
            told = f"{self.told}: has test rows: leave 'transductive' out, and they are scored"
            raise HarnessError(told)
        if not transductive and not held.all():
            told = f"{self.told}: has no test rows: write transductive: true beside it, and the"
            raise HarnessError(f"{told} unlabeled ones are scored")

    def _told(self) -> str:
        first, last = self.seeds[0], self.seeds[-1]
        if self.seeds == tuple(range(first, last + 1)) and len(self.seeds) > 2:
            return f"{first} to {last}"
        return shown(", ".join(map(str, self.seeds)))


def read_splits(source: SplitSource | Path, n: int) -> SplitFile:
    """Read the splits of a data set.

    Parameters
    ----------
    source : SplitSource or Path
        A path is that of `.npz`, `.mat` or `.json` with arrays `labeled`, `unlabeled` and `test`:
        row numbers of one split, or a row for each split. `unlabeled` may be left out and is then
        all other rows, `test` too. With `train` and `test` instead, or `test` alone, labeled rows
        are drawn among the training rows. An array `seeds` numbers the splits, else they are
        counted from 0. Rows are counted from 0, in `.mat` from 1. Or `.npz` with `part` as
        `SplitFile.codes`. Or `.csv` with columns `seed`, `row` and `part`, the name of one.
    n : int
        Rows of the data set.

    Raises
    ------
    HarnessError
        If a file cannot be read, a row is not there or in two parts of one split, or splits
        differ in how many rows are labeled.
    """
    source = SplitSource.of(source)
    states = []
    for path in source.all_files():
        try:
            status = path.stat()
        except OSError as error:
            raise HarnessError(f"{path}: {error.strerror}") from None
        states.append((status.st_mtime_ns, status.st_size))
    return _read(source, n, tuple(states))


@functools.lru_cache(64)
def _read(source: SplitSource, n: int, _states: tuple[tuple[int, int], ...]) -> SplitFile:
    try:
        rows = read_rows_of(source)
        codes = _codes_by_axis(rows, n, source)
        seeds = _seeds_of(rows.arrays, len(codes))
    except OSError as error:
        raise HarnessError(f"{source.told}: {error.strerror or error}") from None
    except HarnessError:
        raise
    except Exception as error:  # of a library's reader, which a damaged file may lead anywhere
        reason = PICKLED if "allow_pickle" in str(error) else error
        told = f"{source.told}: cannot be read as splits of {n} rows: {reason}"
        raise HarnessError(told) from None
    if source.is_plain:  # as it was before there were others
        digest = hashlib.sha256(source.paths[0][1].read_bytes())
    else:
        digest = hashlib.sha256(repr((seeds, n)).encode() + codes.tobytes())
    found = SplitFile(source.told, seeds, codes, digest.hexdigest())
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


class _UnfitListsError(ValueError):
    """Lists do not make splits as they were read; along the other axis they might."""


def _codes_by_axis(rows: Rows, n: int, source: SplitSource) -> np.ndarray:
    """Return the codes of all rows, where a split is a row of what is read or a column of it."""
    named = [name for name in (*NAMED, CODES) if name in rows.arrays]
    if source.transpose is not None:
        if source.transpose:
            rows.arrays = turned(rows.arrays, named)
        return _codes_of(rows, n, source.n_train)
    listed = {CODES, *rows.listed}
    asked = {name: rows.called[name] for name in named if name not in listed}
    n_seeds = len(rows.arrays[SEEDS]) if SEEDS in rows.arrays else None
    try:
        codes = _codes_of(rows, n, source.n_train)
    except _UnfitListsError as error:
        if may_be_columns(rows.arrays, asked, n, n_seeds):
            told = f"{error}; if each column is a split, write `transpose: true` beside `splits`"
            raise ValueError(told) from None
        raise
    if n_seeds not in (None, len(codes)):
        return codes  # which is told with the numbers of the splits
    refuse_unclear_axis(rows.arrays, asked, n, n_seeds)
    return codes


def _codes_of(rows: Rows, n: int, n_train: int | None) -> np.ndarray:
    import numpy as np

    arrays = rows.arrays
    if CODES in arrays:
        codes = np.atleast_2d(arrays[CODES])
        if codes.ndim != 2 or codes.shape[1] != n or not np.isin(codes, range(4)).all():
            raise ValueError(f"'{CODES}' is no matrix of 0 to 3 with {n} columns")
        return codes.astype(np.uint8)
    if "labeled" in arrays and TRAIN in arrays:
        raise ValueError(f"both 'labeled' and '{TRAIN}' are in it; give one of them")
    if n_train is not None and "test" in arrays:
        raise ValueError("it has test rows: leave `test: official` out")
    if not {"labeled", TRAIN, "test"} & arrays.keys():
        raise ValueError(
            f"there is neither 'labeled' nor '{TRAIN}' nor '{CODES}' in it; `names` says what "
            "they are called, such as {labeled: idxLabs}"
        )
    parts = {name: arrays[name] for name in NAMED if name in arrays}
    count = max(len(part) for part in parts.values())
    codes = np.zeros((count, n), np.uint8)
    if n_train is not None:
        codes[:, n_train:] = 1 + PARTS.index("test")
    for name, part in parts.items():
        _place(codes, part, 2 if name == TRAIN else 1 + PARTS.index(name), name, rows)
    if not {"unlabeled", TRAIN} & parts.keys():
        codes[codes == 0] = 1 + PARTS.index("unlabeled")
    return codes


def _place(codes: np.ndarray, lists: Any, code: int, name: str, rows: Rows) -> None:
    """Note the rows of one part; one list of them is that of all splits."""
    import numpy as np

    count, n = codes.shape
    first, called = rows.first[name], rows.called[name]
    if len(lists) not in (1, count) or (isinstance(lists, np.ndarray) and lists.ndim != 2):
        raise _UnfitListsError(f"'{called}' is no list of row numbers, or one list for each split")
    for at, part in enumerate(list(lists) * (count // len(lists))):
        whole = _row_numbers(part, n, first)
        if whole is None:
            raise _UnfitListsError(
                f"'{called}' is no list of row numbers, or one list for each split"
            )
        if name == "labeled" and not len(whole):
            raise ValueError(f"'{called}' is empty in one split ({at})")
        outside = whole[(whole < 0) | (whole >= n)]
        if outside.size:
            allowed = f"{first} to {n - 1 + first}"
            by_itself = f"rows are counted from {first} here (`first_row`)"
            told = f"'{called}' has row {outside[0] + first}; allowed are {allowed}: {by_itself}"
            # a mask of MATLAB's, whose splits are columns, is 0 and 1 as well
            raise (_UnfitListsError if np.isin(part, (0, 1)).all() else ValueError)(told)
        numbers, counts = np.unique(whole, return_counts=True)
        if (counts > 1).any():
            twice = numbers[counts > 1][0] + first
            told = f"'{called}' has row {twice}, which is twice in one split ({at})"
            raise _UnfitListsError(told)
        taken = numbers[codes[at, numbers] != 0]
        if len(taken):
            other = PARTS[codes[at, taken[0]] - 1]
            told = f"'{called}' has row {taken[0] + first}, which is twice in one split ({at}): it"
            raise _UnfitListsError(f"{told} is in the {other} part as well")
        codes[at, whole] = code


def _row_numbers(part: np.ndarray, n: int, first: int) -> np.ndarray | None:
    """Return row numbers from 0: of a list of them, or of a mask of all rows; None of neither."""
    import numpy as np

    if part.ndim != 1 or part.dtype.kind not in "biuf" or not np.isfinite(part).all():
        return None
    # as row numbers, those of a mask would be there twice
    if part.dtype == bool or (n > 2 and np.isin(part, (0, 1)).all()):
        if len(part) == n:
            return np.flatnonzero(part)
        if part.dtype == bool:
            return None
    whole = part.astype(np.int64)
    return None if (whole != part).any() else whole - first


def _seeds_of(arrays: Mapping[str, Any], count: int) -> tuple[int, ...]:
    given: Sequence[Any] = arrays.get(SEEDS, range(count))
    seeds = tuple(int(seed) for seed in given)
    if len(set(seeds)) != count or any(
        seed != whole for seed, whole in zip(given, seeds, strict=True)
    ):
        raise ValueError(f"'{SEEDS}' are not {count} different whole numbers")
    return seeds


def _refuse_uneven(found: SplitFile) -> None:
    counts = (found.codes == 1).sum(axis=1)
    if counts.min() != counts.max():
        told = f"{counts.min()} to {counts.max()} labeled rows; allowed is one number for all"
        raise HarnessError(f"{found.told}: its splits have {told}")
    others = ((found.codes == 2) | (found.codes == 3)).sum(axis=1)
    if (
        not counts[0]
        and not ((found.codes == 2).any(axis=1) & (found.codes == 3).any(axis=1)).all()
    ):
        raise HarnessError(
            f"{found.told}: its splits need labeled rows, or training and test rows each"
        )
    if not others.all():
        raise HarnessError(f"{found.told}: its splits need labeled rows, and others to score")
