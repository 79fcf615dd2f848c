"""Data sets of OpenML: from a mirror, or fetched and kept by scikit-learn."""

from __future__ import annotations

import hashlib
import json
import warnings
from pathlib import Path

import pandas as pd

from harness.datasets.arff import read_arff
from harness.datasets.fetching import RETRIES, in_mirror, open_unpacked
from harness.datasets.unreachable import why_unreachable
from harness.errors import HarnessError
from harness.files import below
from harness.project import cache_directory


def openml_frame(name: str, number: int) -> pd.DataFrame:
    """Return a data set of OpenML.

    Parameters
    ----------
    name : str
        What messages call it.
    number : int
        As OpenML numbers it. A mirror has it as `openml/data-NUMBER.json`, which is what
        `api/v1/json/data/NUMBER` says of it, and `openml/data-NUMBER.arff`.

    Returns
    -------
    DataFrame
        Without the columns that OpenML says are no features, such as numbers of rows.

    Raises
    ------
    HarnessError
        If it cannot be fetched, or the mirror's files are not understood.
    """
    where = f"data set {name!r}: OpenML {number}"
    places = [f"openml/data-{number}.{ending}" for ending in ("json", "arff")]
    found = [in_mirror(place) for place in places]
    if all(found):
        return _of_mirror(where, *(path for path in found if path is not None))
    if any(found):
        lacking = places[found.index(None)]
        raise HarnessError(f"{where}: the mirror lacks {lacking}: it needs {' and '.join(places)}")
    return _fetched(where, number, " and ".join(f"<mirror>/{place}" for place in places))


def _of_mirror(where: str, description: Path, data: Path) -> pd.DataFrame:
    try:
        with open_unpacked(description) as stream:
            told = json.load(stream)["data_set_description"]
        ignored = _names(told.get("row_id_attribute")) + _names(told.get("ignore_attribute"))
        md5 = told.get("md5_checksum")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise HarnessError(
            f"{where}: {description}: is not what OpenML says of a data set ({reason})"
        ) from None
    with open_unpacked(data) as stream:
        content = stream.read()
    known = hashlib.md5(content, usedforsecurity=False).hexdigest()
    if md5 and known != md5:
        raise HarnessError(f"{where}: {data}: expected md5 {md5}, found {known}; replace it")
    try:
        frame = read_arff(content.decode("utf-8", "replace"))
    except ValueError as error:
        raise HarnessError(f"{where}: {data}: cannot be read as arff: {error}") from None
    frame = frame.drop(columns=[name for name in frame.columns if name in ignored])
    for name in frame.select_dtypes("category"):
        # values that occur, sorted, as they come over the network: columns have one order
        frame[name] = frame[name].astype(object).astype("category")
    return frame


def _names(given: str | list[str] | None) -> list[str]:
    if isinstance(given, str):  # several are in one text
        return [name.strip() for name in given.split(",")]
    return [str(name) for name in given or []]


def _fetched(where: str, number: int, places: str) -> pd.DataFrame:
    from sklearn.datasets import fetch_openml

    try:
        with warnings.catch_warnings():
            # one for each attempt, with the error that is told below
            warnings.filterwarnings("ignore", "A network error occurred", UserWarning)
            bunch = fetch_openml(
                data_id=number,
                target_column=None,
                as_frame=True,
                parser="pandas",
                data_home=below(cache_directory(), "openml"),
                n_retries=RETRIES,
            )
    except OSError as error:
        raise HarnessError(
            f"{where} could not be fetched from www.openml.org: {why_unreachable(error)}; without "
            f"a network, put it at {places} and set HARNESS_MIRROR=<mirror>"
        ) from None
    return bunch.frame
