"""Data sets that are given as objects: arrays, data frames, and files that no catalog names."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import HarnessError, shown, unknown_name
from harness.planning.workload import PREPARED
from harness.python.facts import FACTS, facts_of, named_fact

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

FOLDER = PREPARED / "in-memory"
"""Where arrays and frames are written, by a digest of their content."""

_ARRAYS = "features are X, targets are y"
"""What need not be said of arrays that are called so here."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_PLAIN = (
    "string",
    "integer",
    "floating",
    "boolean",
    "mixed-integer-float",
    "categorical",
    "empty",
)
_SHOWN = 5
_MOST_CLASSES = 21
"""More different whole numbers are guessed to be values, not classes."""


@dataclass(frozen=True, eq=False)
class Data:
    """A data set, for `harness.run`.

    What is not said is guessed as `harness add` does, and told.

    Parameters
    ----------
    X : array-like (n, d) or (n, height, width), sparse matrix (n, d), DataFrame, or path
        Features. Columns of texts and categories are nominal, each value a feature of its own.
        A path names CSV, Parquet, or what else `harness add` reads. A sparse matrix stays one,
        and is given to methods that take it.
    y : array-like (n,) or str, optional
        The target of every point, or the name of its column in X. The study hides labels itself.
        By default a column called "target", "class", "label" or "y", else the last.
    task : {"binary", "multiclass", "regression"}, optional
    positive : label or sequence of labels, default ()
        Class 1 of a binary task.
    nominal, drop, keep : sequence of str, default ()
        Columns that are names though they hold numbers, that are left out, and that are kept
        though they tell nothing.
    missing : str or mapping, optional
        What becomes of missing features, as in a catalog: "drop", "median",
        {"numeric": "median", "nominal": "own"}, ...
    scaling : str, optional
        "none", "minmax", "standard", "whiten", "unit" or "maxabs", as in a catalog. Of a sparse
        matrix "none", "unit" or "maxabs", which is the default. An array of uint8 stays one, and
        stands for its values divided by the largest, unless a scaling is asked for.
    groups, order : array-like (n,) or str, optional
        Which group each point is of, and when it was (numbers or dates), for evaluations such as
        {"test": 0.2, "groups": "test"}. Of a frame or a file the name of a column, which is no
        feature then. Of a file also what `harness add` takes.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"id": [1, 2], "rooms": [3, 4], "price": [210.0, 340.0]})
    >>> mine = Data(frame, "price", drop=["id"])

    and then `harness.run({"datasets": {"mine": mine}, "methods": ["krr"], "labeled": 1})`.
    """

    X: Any
    y: Any = None
    task: str | None = None
    positive: Any = ()
    nominal: Sequence[str] = ()
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
    missing: str | Mapping[str, str] | None = None
    scaling: str | None = None
    groups: Any = None
    order: Any = None


def given_datasets(datasets: Any) -> tuple[list[Any], dict[str, Data]]:
    """Tell data sets that are objects from those that a catalog names.

    Parameters
    ----------
    datasets : str, mapping of names to data, or list of these
        Data are a `Data`, a pair of X and y, or None for what a catalog has.

    Returns
    -------
    names : list
        In the order given.
    objects : dict
    """
    names: list[Any] = []
    objects: dict[str, Data] = {}
    for item in datasets if isinstance(datasets, list | tuple) else [datasets]:
        if not isinstance(item, Mapping):
            names.append(item)
            continue
        for name, data in item.items():
            names.append(name)
            if data is not None:
                objects[name] = _data(name, data)
    return names, objects


def write_data(name: str, data: Data, folder: Path) -> tuple[dict[str, Any], list[str]]:
    """Write what is not in a file yet, and describe it.

    Parameters
    ----------
    name : str
    data : Data
    folder : Path
        Of the catalog that the entry is for.

    Returns
    -------
    entry : dict
        As a catalog has it.
    told : list of str
        What was guessed, a sentence each.

    Raises
    ------
    HarnessError
        If the data are no data set, or cannot be written.
    """
    from harness.datasets.adding import add

    positive = [data.positive] if isinstance(data.positive, str | int | bool) else data.positive
    path: str | Path = ""
    try:
        path, target = _as_file(name, data)
        groups, order = (named_fact(data, key) for key in FACTS)
        found = add(
            path,
            target,
            name=name,
            task=data.task,
            positive=tuple(map(str, positive)),
            nominal=data.nominal,
            drop=data.drop if isinstance(data.X, str | Path) else (),
            keep=data.keep,
            groups=groups,
            order=order,
            catalog=folder / "datasets.yaml",
            dry_run=True,
            force=True,
        )
    except HarnessError as error:
        told = str(error).removeprefix(f"data set {name!r}: ")
        if not isinstance(data.X, str | Path):  # the file's name is ours
            told = told.removeprefix(f"{FOLDER}/").removeprefix(f"{Path(path).name}: ")
        raise HarnessError(f"data set {name!r}: {_in_words_of_python(told)}") from None
    entry = found.body | {"source": f"given from Python ({Path(path).name})"}
    if "files" in entry:
        entry["files"] = [f | {"path": os.path.relpath(path, folder)} for f in entry["files"]]
    if str(getattr(data.X, "dtype", "")) == "float32":
        entry["dtype"] = "float32"
    elif _keeps_bytes(data):
        largest = max(1, int(data.X.max()))
        entry |= {"dtype": "uint8", "scaling": "none", "divide_by": largest}
        found.told.append(f"bytes stay bytes, and stand for numbers up to 1: divided by {largest}")
    said = {key: getattr(data, key) for key in ("missing", "scaling")}
    entry |= {key: value for key, value in said.items() if value is not None}
    if data.missing is not None:  # rows may go, so they are counted where the entry is read
        entry = {key: value for key, value in entry.items() if key not in ("n", "d")}
        entry |= {"classes": list(entry["classes"])} if "classes" in entry else {}
    needless = [f"`{key}` in the entry" for key, value in said.items() if value is not None]
    needless += ["`scaling` in the entry"] if entry.get("dtype") == "uint8" else []
    guesses = [g for g in found.told if not any(words in g for words in (_ARRAYS, *needless))]
    return entry, [f"{name}: {_in_words_of_python(guess)}" for guess in guesses]


def _keeps_bytes(data: Data) -> bool:
    """Whether X is an array of bytes, such as pictures, of which nothing else is asked."""
    asked = data.scaling is not None or data.missing is not None or data.nominal
    return str(getattr(data.X, "dtype", "")) == "uint8" and hasattr(data.X, "ndim") and not asked


def _in_words_of_python(told: str) -> str:
    """Name arguments of `Data` where a command has options, and its entry has keys."""
    return re.sub(r"--([a-z]+)|`([a-z]+)` in the entry", r"\1\2=", told)


def _data(name: Any, data: Any) -> Data:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise HarnessError(
            f"data set {shown(name)}: a name has letters, digits, '.', '_' and '-', at most 100"
        )
    if isinstance(data, Data):
        return data
    if isinstance(data, tuple) and len(data) == 2:
        return Data(*data)
    if isinstance(data, Mapping) and data.keys() == {"frame", "target"}:
        return Data(data["frame"], data["target"])
    raise HarnessError(
        f"data set {name!r}: {type(data).__name__} is no data set: give a pair (X, y), where y "
        "may name a column of a frame or file X, or harness.Data(X, y, ...)"
    )


def _as_file(name: str, data: Data) -> tuple[str | Path, Any]:
    """Return a file of the data, and the column of its target."""
    import numpy as np
    import pandas as pd

    X, y = data.X, data.y
    if isinstance(X, str | Path):
        if y is not None and not isinstance(y, str | int):
            raise HarnessError("X is a file, so y names a column of it")
        return X, y
    if hasattr(X, "tocsr"):
        return _sparse_file(name, data)
    X = X.to_pandas() if hasattr(X, "to_pandas") else X
    if isinstance(X, pd.DataFrame):
        return _frame_file(name, X, data)
    X = np.asarray(X)
    if X.ndim < 2:
        raise HarnessError(f"X has the shape {X.shape}: give rows and columns")
    if X.ndim > 2 and X.size:  # a picture is a row
        X = X.reshape(len(X), -1)
    if y is None or isinstance(y, str):
        raise HarnessError(
            f"X is an array, whose columns have no names: give y as the values of its {len(X)} "
            "rows, or X as a data frame"
        )
    if data.drop:
        raise HarnessError("drop: columns of an array have no names")
    if X.dtype.kind not in "fiub":
        return _frame_file(name, pd.DataFrame(X).infer_objects(), data)
    y = _target(len(X), y, data.task)
    if y.dtype == object and pd.isna(y).any():  # which an array of texts cannot say
        return _frame_file(name, pd.DataFrame(X), data)
    y = y.astype(str) if y.dtype == object else y
    held: dict[str, Any] = {"X": X, "y": y, **facts_of(len(X), data)}
    return _written(name, "npz", lambda path: np.savez(path, **held), [*held.values()]), "y"


def _sparse_file(name: str, data: Data) -> tuple[Path, str]:
    import numpy as np

    from harness.datasets.sparse_rows import compressed

    X, y = compressed(data.X.copy()), data.y
    if y is None or isinstance(y, str):
        raise HarnessError(
            f"X is a sparse matrix, whose columns have no names: give y as the values of its "
            f"{X.shape[0]} rows"
        )
    for argument in ("nominal", "drop", "keep"):
        if getattr(data, argument):
            raise HarnessError(f"{argument}: columns of a sparse matrix have no names")
    y = _target(X.shape[0], y, data.task)
    y = y.astype(str) if y.dtype == object else y
    held = {"data": X.data, "indices": X.indices, "indptr": X.indptr, "shape": np.array(X.shape)}
    facts = facts_of(X.shape[0], data)
    held |= {"format": np.array(b"csr"), "y": y, **facts}
    content = [X.data, X.indices, X.indptr, held["shape"], y, *facts.values()]
    return _written(name, "npz", lambda path: np.savez(path, **held), content), "y"


def _frame_file(name: str, frame: pd.DataFrame, data: Data) -> tuple[Path, str]:
    import pandas as pd

    from harness.datasets.adding import write_frame

    y, columns = data.y, [str(column) for column in frame.columns]
    frame = frame.set_axis(columns, axis=1).reset_index(drop=True)
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise HarnessError(f"two columns are called {twice[0]!r}: rename one of them")
    if y is None or isinstance(y, str):
        target = _target_column(columns, y)
        y = frame.pop(target)
    else:
        wanted = str(getattr(y, "name", None) or "target")
        target = wanted
        while target in columns:
            target += "_"
    frame = frame.assign(**facts_of(len(frame), data))
    for named in (getattr(data, key) for key in FACTS):
        if isinstance(named, str) and named in frame and frame[named].dtype.kind == "M":
            frame[named] = frame[named].astype(str)
    frame[target] = _target(len(frame), y, data.task)
    for column in data.drop:
        if column not in columns:
            raise unknown_name("column", str(column), columns, "drop")
    frame = frame.drop(columns=list(data.drop))
    for column in frame:
        kind = pd.api.types.infer_dtype(frame[column], skipna=True)
        if kind not in _PLAIN:
            kinds = sorted({type(value).__name__ for value in frame[column].dropna()})
            raise HarnessError(
                f"column {column!r} holds values of type "
                f"{', '.join(kinds[:_SHOWN])}: make it one of numbers or of texts, or drop it"
            )
    content = [
        pd.util.hash_pandas_object(frame, index=False).to_numpy(),
        repr([(str(column), str(kind)) for column, kind in frame.dtypes.items()]).encode(),
    ]
    return _written(name, "parquet", lambda at: write_frame(frame, at), content), target


def _target_column(columns: list[str], given: str | None) -> str:
    usual = [column for column in columns if column.lower() in ("target", "class", "label", "y")]
    if given is None:
        return usual[0] if len(usual) == 1 else columns[-1]
    if given not in columns:
        raise unknown_name("column", given, columns, "y")
    return given


def _target(rows: int, y: Any, task: str | None) -> np.ndarray:
    """Return the target as an array that a file can hold."""
    import numpy as np
    import pandas as pd

    values = y.to_numpy() if isinstance(y, pd.Series) else np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (rows,):
        told = f"{len(values)} values" if values.ndim == 1 else f"the shape {values.shape}"
        raise HarnessError(f"X has {rows} rows, but y has {told}")
    if values.dtype == object:
        values = pd.Series(values).infer_objects().to_numpy()
    if values.dtype == bool:
        values = values.astype(str)
    if values.dtype == object:
        texts = [None if gap else str(v) for v, gap in zip(values, pd.isna(values), strict=True)]
        values = np.array(texts, dtype=object)
    if task != "regression" and values.dtype.kind == "i" and _has_unlabeled(np.unique(values)):
        raise HarnessError(
            "y is -1 beside other classes: a study hides labels itself, so give points whose "
            "class is known; if -1 is one, call it otherwise"
        )
    return values


def _has_unlabeled(different: np.ndarray) -> bool:
    """Tell whether -1 stands among class numbers, as scikit-learn marks points without a label."""
    return 2 < len(different) <= _MOST_CLASSES and different[0] == -1 and different[1] >= 0


def _written(name: str, ending: str, write: Any, content: list[Any]) -> Path:
    """Write a file whose name tells its content, unless it is there."""
    import numpy as np

    digest = hashlib.sha256()
    for part in content:
        if not isinstance(part, bytes):
            digest.update(f"{part.dtype} {part.shape}".encode())
            part = np.ascontiguousarray(part).reshape(-1).view(np.uint8)  # no second copy
        digest.update(part)
    path = FOLDER / f"{name}-{digest.hexdigest()[:16]}.{ending}"
    temporary = path.with_name(f".{secrets.token_hex(8)}.{ending}")
    if path.is_file():
        return path
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(temporary)
        temporary.replace(path)
    except OSError as error:
        raise HarnessError(f"{path.absolute()}: cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return path
