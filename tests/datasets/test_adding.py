"""A file or a data frame of one's own becomes an entry that prepares."""

import numpy as np
import pandas as pd
import pytest

from harness import add
from harness.datasets import load_catalog
from harness.datasets.preparation import load
from harness.errors import HarnessError

SENSORS = """\
site,temperature,vibration,state
north,20.5,0.31,ok
south,21.0,0.29,ok
north,35.2,0.94,broken
east,?,0.30,ok
south,33.8,0.88,broken
east,19.9,0.27,ok
"""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def added(tmp_path):
    """Write a file, add it, and return the entry with what it prepares to."""

    def added(content, target=None, file="mine.csv", **wishes):
        raw = content.encode() if isinstance(content, str) else content
        (tmp_path / file).write_bytes(raw)
        found = add(file, target, **wishes)
        entry = load_catalog()[found.name]
        return found, entry, *load(entry)

    return added


def test_a_table_is_added_and_prepares(added):
    found, entry, X, y = added(SENSORS, "state")
    assert (found.name, entry.task, X.shape, found.tried) == ("mine", "binary", (6, 5), True)
    assert (entry.class_counts, entry.positive) == ((2, 4), ("ok",))
    assert entry.files[0].sha256 is not None
    assert entry.missing_by_kind.numeric == "median"
    np.testing.assert_array_equal(y, [1, 1, 0, 1, 0, 1])
    assert str(found) in (found.catalog).read_text()


def test_a_data_frame_is_kept_beside_the_catalog(tmp_path):
    frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": list("xyxy"), 3: [0.5, 0.1, 0.2, 0.9]})
    found = add(frame, "b", name="framed")
    assert (tmp_path / "data" / "framed.parquet").is_file()
    X, y = load(load_catalog()["framed"])
    assert (X.shape, y.tolist(), found.body["read"]["target"]) == ((4, 2), [0, 1, 0, 1], "b")
    with pytest.raises(HarnessError, match="needs a name"):
        add(frame, "b")
    with pytest.raises(HarnessError, match="two columns of the data frame are called '3'"):
        add(frame.assign(**{"3": 1}), "b", name="other")
    with pytest.raises(HarnessError, match=r"a path or a data frame can be added, .*type list"):
        add([1, 2], "b", name="other")
    with pytest.raises(HarnessError, match="cannot be written as Parquet"):
        add(frame.assign(odd=[1, "a", b"c", {}]), "b", name="other")
    assert next(iter(load_catalog())) == "framed"
    assert not (tmp_path / "data" / "other.parquet").exists()
