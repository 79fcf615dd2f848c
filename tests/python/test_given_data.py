"""Arrays, frames and files become data sets, or a sentence says why not."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from scipy.sparse import coo_array, csc_array, csr_matrix

from harness import Data
from harness.datasets import load_catalog
from harness.datasets.preparation import load, load_with_facts
from harness.errors import HarnessError
from harness.files import write_whole
from harness.python.data import given_datasets, write_data
from harness.strict_yaml import read_yaml

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
CODES = (X[:, 0] > 0).astype(int)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(
    colour=rng.choice(["red", "green", "blue"], 60), price=2 * X[:, 0]
)
FOLDER = Path("studies") / "mine"


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FOLDER.mkdir(parents=True)


def written(data, name="mine"):
    _, objects = given_datasets({name: data})
    return write_data(name, objects[name], FOLDER)


def prepared(data):
    """What a study reads: the entry, and the features and targets that come out."""
    entry, _ = written(data)
    text = yaml.safe_dump({"mine": entry})
    assert read_yaml(text) == {"mine": entry}
    write_whole(text, FOLDER / "datasets.yaml")
    read = load_catalog([FOLDER / "datasets.yaml"])["mine"]
    return read, *load(read)


def test_arrays_come_out_as_they_went_in():
    entry, features, target = prepared(Data(X, CODES, scaling="none"))
    assert (entry.task, entry.positive) == ("binary", ("1",))
    assert np.array_equal(features, X)
    assert np.array_equal(target, CODES)
    assert features.dtype == np.float64
    entry, features, _ = prepared(Data(X.astype(np.float32), CODES, scaling="none"))
    assert np.array_equal(features, X.astype(np.float32))
    assert features.dtype == np.float32


@pytest.mark.parametrize(
    ("y", "task", "classes"),
    [
        (np.array(["no", "yes"], dtype=object)[CODES], "binary", ("no", "yes")),
        (CODES.astype(bool), "binary", ("False", "True")),
        (list(range(3)) * 20, "multiclass", ("0", "1", "2")),
        (pd.Series(CODES, index=range(100, 160)), "binary", ("0", "1")),
        (CODES[:, None], "binary", ("0", "1")),
        (np.where(CODES, 1, -1), "binary", ("-1", "1")),
        (X[:, 1], "regression", ()),
        (np.arange(60) - 1, "regression", ()),
        (X[:, 1].astype(object), "regression", ()),
    ],
    ids=[
        *("texts", "truth values", "list", "series", "one column", "-1 and 1"),
        *("numbers", "whole numbers", "numbers as objects"),
    ],
)
def test_targets_of_any_kind(y, task, classes):
    for features in (X, FRAME):
        entry, _, target = prepared((features, y))
        assert entry.task == task
        assert tuple(entry.classes) == classes
        values = np.ravel(y).astype(float) if task == "regression" else np.ravel(y)
        expected = values if task == "regression" else pd.factorize(values, sort=True)[0]
        assert np.array_equal(target, expected)


def test_columns_of_texts_are_nominal_and_the_target_may_be_one():
    before = FRAME.copy()
    entry, features, target = prepared(Data(FRAME, "price", scaling="none"))
    assert entry.task == "regression"
    colours = pd.get_dummies(FRAME["colour"]).to_numpy()
    assert np.array_equal(features, np.hstack([X, colours]))
    assert np.array_equal(target, FRAME["price"])
    pd.testing.assert_frame_equal(FRAME, before)
    assert prepared((FRAME.astype({"colour": "category"}), "price"))[1].shape == (60, 7)
    assert prepared({"frame": FRAME, "target": "colour"})[0].task == "multiclass"
    Path("data.csv").write_text(FRAME.to_csv(index=False))
    assert prepared(("data.csv", "price"))[1].shape == (60, 7)


def test_what_is_said_is_not_guessed():
    gaps = FRAME.assign(row=range(60), a=FRAME["a"].where(FRAME["a"] > -1), when=pd.Timestamp(0))
    given = Data(gaps, CODES, positive=0, drop=["when"], keep=["row"], missing="drop")
    _, features, target = prepared(given)
    kept = (FRAME["a"] > -1).to_numpy()
    assert features.shape == (kept.sum(), 9)
    assert np.array_equal(target, 1 - CODES[kept])
    told = written(given)[1]
    assert not any("missing" in sentence for sentence in told)
    guessed = written(Data(gaps, CODES, drop=["when"]))[1]
    assert "mine: values are missing: numbers by the median (missing= says otherwise)" in guessed
    assert "mine: 'row' numbers the rows: left out (keep= keeps it)" in guessed


def test_of_whole_numbers_the_task_may_be_said():
    ranks = np.arange(60) % 5 - 1
    entry, _, target = prepared(Data(X, ranks, task="regression"))
    assert entry.task == "regression"
    assert np.array_equal(target, ranks)
    with pytest.raises(HarnessError, match="y is -1 beside other classes"):
        written((X, ranks))


def test_the_same_content_is_one_file_and_other_content_another():
    def file_of(data):
        (file,) = written(data)[0]["files"]
        return FOLDER / file["path"], file["sha256"]

    path, digest = file_of((X, CODES))
    stamp = path.stat().st_mtime_ns
    assert file_of((X.copy(), CODES.tolist())) == (path, digest)
    assert path.stat().st_mtime_ns == stamp
    other = X.copy()
    other[3, 2] += 1e-12
    assert file_of((other, CODES))[1] != digest
    assert file_of((X, 1 - CODES))[1] != digest
    frame, of_frame = file_of((FRAME, "price"))
    assert file_of((FRAME.set_axis(range(7, 67)), "price")) == (frame, of_frame)
    for changed in (FRAME.replace("red", "rose"), FRAME.rename(columns={"a": "A"})):
        assert file_of((changed, "price"))[1] != of_frame
    assert len(list(Path("prepared/in-memory").iterdir())) == 6


@pytest.mark.parametrize("kind", [csr_matrix, coo_array, csc_array])
def test_a_sparse_matrix_stays_one(kind):
    sparse = np.where(np.abs(X) < 1, 0.0, X)
    entry, features, target = prepared((kind(sparse), CODES))
    assert entry.sparse
    assert entry.scaling == "maxabs"
    np.testing.assert_allclose(features.toarray(), sparse / np.abs(sparse).max(axis=0))
    assert np.array_equal(target, CODES)
    entry, told = written(Data(kind(sparse), CODES, scaling="none"))
    assert any("is not zero: kept as a sparse matrix" in guess for guess in told)
    with pytest.raises(HarnessError, match="scaling is standard, which fills the zeros"):
        prepared(Data(kind(sparse), CODES, scaling="standard"))


REFUSED = {
    "lengths": ((X, CODES[:-1]), "X has 60 rows, but y has 59 values"),
    "one class": ((X, np.zeros(60)), "has the same value in every row: there is nothing to learn"),
    "no column": ((FRAME, "prise"), "y: unknown column 'prise'; did you mean 'price'?"),
    "not dropped": (Data(FRAME, "price", drop=["e"]), "drop: unknown column 'e'"),
    "no task": (Data(FRAME, "colour", task="regression"), "holds 'blue' in row 0"),
    "objects": ((FRAME.assign(o=[{}] * 60), "price"), "column 'o' holds values of type dict"),
    "mixed": ((FRAME.assign(o=[1, "a"] * 30), "price"), "'o' holds values of type int, str"),
    "dates": ((FRAME.assign(o=pd.Timestamp(0)), "price"), "column 'o' holds values of type T"),
    "complex": ((X.astype(complex), CODES), "column '0' holds values of type complex"),
    "twice": ((pd.concat([FRAME, FRAME], axis=1), CODES), "two columns are called 'a'"),
    "sparse, no target": (
        (csr_matrix(X), "y"),
        "X is a sparse matrix, whose columns have no names",
    ),
    "sparse, columns": (
        Data(csr_matrix(X), CODES, nominal=["a"]),
        "columns of a sparse matrix have",
    ),
    "sparse, lengths": ((csr_matrix(X), CODES[:-1]), "X has 60 rows, but y has 59 values"),
    "sparse, gaps": ((csr_matrix(X * np.inf), CODES), "240 nonzeros are NaN or infinite"),
    "one column": ((X[:, 0], CODES), "X has the shape (60,): give rows and columns"),
    "no names": ((X, "y"), "give y as the values of its 60 rows, or X as a data frame"),
    "no rows": ((X[:0], CODES[:0]), "the table has no rows; at least two are needed"),
    "no features": ((FRAME[[]], CODES), "no feature is left beside the target"),
    "no file": (("none.csv", "y"), "none.csv: there is no such file"),
    "file and values": (("none.csv", CODES), "X is a file, so y names a column of it"),
    "unlabeled": (
        (X, np.where(np.arange(60) < 40, -1, CODES)),
        "y is -1 beside other classes: a study hides labels itself",
    ),
    "categories of sparse": (
        (FRAME.assign(o=pd.arrays.SparseArray([0.0] * 60)), CODES),
        "the data frame cannot be written as Parquet",
    ),
    "no pair": (X, "ndarray is no data set: give a pair (X, y)"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_data_set_is_refused_in_a_sentence(case):
    data, told = REFUSED[case]
    with pytest.raises(HarnessError) as caught:
        written(data)
    assert str(caught.value).startswith("data set 'mine': ")
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["", "my data", "../mine", 3])
def test_names_are_those_of_a_catalog(name):
    with pytest.raises(HarnessError, match="a name has letters, digits"):
        given_datasets({name: (X, CODES)})


def test_a_name_that_the_harness_has_is_taken():
    with pytest.raises(HarnessError, match="'digits' came with the harness; choose another name"):
        written((X, CODES), "digits")


def test_named_ones_stand_beside_given_ones():
    names, objects = given_datasets(["digits", {"mine": (X, CODES), "wine": None}])
    assert names == ["digits", "mine", "wine"]
    assert list(objects) == ["mine"]
    assert given_datasets("digits") == (["digits"], {})


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    Path("prepared").write_text("")
    with pytest.raises(HarnessError, match=f"{tmp_path}/prepared/in-memory/mine-.*cannot be w"):
        written((X, CODES))


@pytest.mark.parametrize(
    ("features", "groups"),
    [
        (X, np.arange(60) // 5),
        (X, [f"p{row // 5:02}" for row in range(60)]),
        (csr_matrix(X), np.arange(60) // 5),
        (FRAME, pd.Series(np.arange(60) // 5, name="who")),
        (FRAME.assign(who=np.arange(60) // 5), "who"),
    ],
)
def test_groups_and_an_order_are_given_beside_the_points(features, groups):
    days = pd.Series(pd.date_range("2026-01-01", periods=60)[::-1])
    entry, found, _ = prepared(Data(features, CODES, groups=groups, order=days))
    without, alone, _ = prepared(
        Data(features, CODES, drop=["who"] if isinstance(groups, str) else [])
    )
    assert (entry.largest_group, entry.d) == (5, without.d)
    assert np.allclose(*(m.toarray() if entry.sparse else m for m in (found, alone)))
    facts = load_with_facts(entry)[2]
    assert facts["groups"].tolist() == (np.arange(60) // 5).tolist()
    assert facts["order"].tolist() == list(range(59, -1, -1))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"groups": [1, 2]}, r"X has 60 rows, but groups has the shape \(2,\)"),
        ({"order": [None] + [1] * 59}, "order: row 0 has no value"),
        ({"groups": "who"}, "groups: X has no columns with names: give a value for each row"),
    ],
)
def test_groups_that_are_none_are_told(given, told):
    with pytest.raises(HarnessError, match=told):
        written(Data(X, CODES, **given))


def test_bytes_stay_bytes_and_a_picture_is_a_row():
    pictures = rng.integers(0, 201, size=(60, 4, 5), dtype=np.uint8)
    pictures[0, 0, 0] = 200
    entry, found, _ = prepared(Data(pictures, CODES))
    assert (entry.dtype, entry.divide_by, entry.scaling) == ("uint8", 200, "none")
    assert np.array_equal(found, pictures.reshape(60, 20))
    told = written(Data(pictures, CODES))[1]
    assert "mine: bytes stay bytes, and stand for numbers up to 1: divided by 200" in told
    assert not any("scaling=" in guess for guess in told)
    flags = (pictures.reshape(60, 20) > 100).astype(np.uint8)
    assert prepared(Data(flags, CODES))[0].divide_by == 1
    entry, found, _ = prepared(Data(pictures, CODES, scaling="standard"))
    assert (entry.dtype, found.dtype) == ("float64", np.float64)
