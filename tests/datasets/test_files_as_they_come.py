"""Files of public sets as they are: transposed, in pairs, with lines above, in folders."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.io import savemat
from small_tables import rows

from harness import add
from harness.datasets import load_catalog
from harness.datasets.preparation import load
from harness.errors import HarnessError

rng = np.random.default_rng(3)
X = rng.integers(0, 9, size=(12, 3)).astype(float)
Y = np.arange(12) % 3
BODY = {"task": "multiclass", "n": 12, "d": 3, "classes": [0, 1, 2]}

pytestmark = pytest.mark.usefixtures("in_a_folder")


def stored(write, *arguments, **arrays):
    """Return what a function that writes a file writes."""
    held = io.BytesIO()
    write(held, *arguments, **arrays)
    return held.getvalue()


def mat(**arrays):
    return stored(savemat, arrays)


def assert_prepared(name, features=X, targets=Y):
    got, y = load(load_catalog()[name])
    np.testing.assert_array_equal(got, features)
    np.testing.assert_array_equal(y, targets)


def unscaled(name):
    """Take the scaling out of an entry that was added."""
    text = Path("datasets.yaml").read_text()
    Path("datasets.yaml").write_text(text.replace("scaling: standard", "scaling: none"))
    return name


@pytest.mark.parametrize(
    ("format", "raw"),
    [
        ("mat", mat(X=X.T, y=Y)),
        ("mat", mat(X=sparse.csc_matrix(X.T), y=Y)),
        ("npz", stored(np.savez, X=X.T, y=Y)),
    ],
)
def test_samples_in_columns(make_entry, format, raw):
    read = {"format": format, "X": "X", "y": "y"}
    with pytest.raises(HarnessError, match=r"3\] rows of .*, \[12\] targets: .*`transpose: true`"):
        load(make_entry(BODY | {"read": read}, {"file": raw}))
    got, y = load(make_entry(BODY | {"read": read | {"transpose": True}}, {"file": raw}))
    np.testing.assert_array_equal(got, X)
    np.testing.assert_array_equal(y, Y)
    Path(f"file.{format}").write_bytes(raw)
    found = add(f"file.{format}", name="added")
    assert "samples are in columns (`transpose` in the entry)" in found.told
    assert_prepared(unscaled("added"))


def test_samples_on_the_last_axis_of_images_and_of_one_matrix(make_entry):
    images = rng.integers(0, 255, size=(2, 2, 3, 12)).astype(np.uint8)  # as SVHN has them
    read = {"format": "mat", "y": "y", "transpose": True}
    body = BODY | {"d": 12, "read": read}
    got, _ = load(make_entry(body, {"file": mat(X=images, y=Y[:, None])}))
    np.testing.assert_array_equal(got[5], images[..., 5].ravel())
    read = {"format": "npy", "transpose": True}
    raw = stored(np.save, np.column_stack([X, Y]).T)
    got, y = load(make_entry(BODY | {"read": read}, {"file": raw}))
    np.testing.assert_array_equal(got, X)
    np.testing.assert_array_equal(y, Y)


@pytest.mark.parametrize("format", ["mat", "npz"])
def test_pairs_of_matrices(make_entry, format):
    arrays = {"X_train": X[:7], "y_train": Y[:7], "X_test": X[7:], "y_test": Y[7:]}
    raw = mat(**arrays) if format == "mat" else stored(np.savez, **arrays)
    both = {"X": ["X_train", "X_test"], "y": ["y_train", "y_test"]}
    body = BODY | {"n_train": 7, "read": {"format": format} | both}
    got, y = load(make_entry(body, {"file": raw}))
    np.testing.assert_array_equal(got, X)
    np.testing.assert_array_equal(y, Y)
    with pytest.raises(HarnessError, match=r"X names 2 matrices and y 1: each has its targets"):
        make_entry(body | {"read": {"format": format} | both | {"y": "y_train"}}, {"file": raw})
    with pytest.raises(HarnessError, match=r"n_train is 6, but its files end after \[7, 12\]"):
        load(make_entry(body | {"n_train": 6}, {"file": raw}))
    Path(f"file.{format}").write_bytes(raw)
    assert add(f"file.{format}", name="added").body["read"] == {"format": format} | both
    assert_prepared(unscaled("added"))


def test_matrices_of_which_none_is_clearly_the_features(make_entry):
    Path("two.mat").write_bytes(mat(A=X, B=X, y=Y))
    with pytest.raises(HarnessError, match=r"one matrix of numbers is wanted; .* A \(12 x 3 of"):
        add("two.mat")
    Path("none.mat").write_bytes(mat(X=X, y=Y[:5]))
    with pytest.raises(HarnessError, match=r"which array is the target\? Say --target NAME"):
        add("none.mat")
    Path("new.mat").write_bytes(b"MATLAB 7.3 MAT-file, of HDF5")
    with pytest.raises(HarnessError, match=r"a MATLAB file of version 7\.3: save it with `-v7`"):
        add("new.mat")
    read = {"format": "mat", "X": "Z", "y": "y"}
    with pytest.raises(HarnessError, match=r"no matrix 'Z'; the file holds A, B, y; of several"):
        load(make_entry(BODY | {"read": read}, {"file": Path("two.mat").read_bytes()}))


def test_a_target_among_the_columns_of_the_one_matrix():
    Path("one.mat").write_bytes(mat(all=np.column_stack([Y, X])))
    found = add("one.mat", 0)
    assert found.body["read"] == {"format": "mat", "X": "all", "target": 0}
    assert_prepared(unscaled("one"))
    with pytest.raises(HarnessError, match=r"there is no target '9' with 12 values"):
        add("one.mat", 9, name="two")


def test_labels_in_cells_of_text(make_entry):
    cells = np.array([f"c{label}" for label in Y], dtype=object)
    body = BODY | {"classes": ["c0", "c1", "c2"], "read": {"format": "mat", "y": "y"}}
    assert load(make_entry(body, {"file": mat(X=X, y=cells[:, None])}))[1].tolist() == Y.tolist()


CODED = X.copy()
CODED[:, 1] = np.arange(12) % 4


@pytest.mark.parametrize(
    ("format", "raw"),
    [
        ("npz", stored(np.savez, X=CODED, y=Y)),
        ("mat", mat(X=CODED, y=Y)),
        ("npy", stored(np.save, np.column_stack([CODED, Y]))),
        (
            "svmlight",
            rows(
                *(
                    f"{y} " + " ".join(f"{at}:{value:g}" for at, value in enumerate(x, 1))
                    for x, y in zip(CODED, Y, strict=True)
                )
            ).encode(),
        ),
    ],
)
def test_integer_codes_stand_for_names_in_every_format(make_entry, format, raw):
    read = {"format": format, "nominal": [1]} | ({"y": "y"} if format in ("npz", "mat") else {})
    wanted = np.column_stack([CODED[:, 0], CODED[:, 1, None] == np.arange(4), CODED[:, 2]])
    got, _ = load(make_entry(BODY | {"d": 6, "raw_d": 3, "read": read}, {"file": raw}))
    np.testing.assert_array_equal(got, wanted)
    counted = {"task": "multiclass", "read": read}  # nothing is said of the columns
    assert make_entry(counted, {"file": raw}).d == 6
    sparse_body = BODY | {"d": 6, "raw_d": 3, "read": read, "sparse": True}
    sparse_body["nnz"] = int(np.count_nonzero(wanted))
    np.testing.assert_array_equal(
        load(make_entry(sparse_body, {"file": raw}))[0].toarray(), wanted
    )
    as_integers = BODY | {"read": read | {"encoding": "integer"}}
    np.testing.assert_array_equal(load(make_entry(as_integers, {"file": raw}))[0], CODED)
    with pytest.raises(HarnessError, match=r"nominal: there is no column 7; columns are 0 to 2"):
        load(make_entry(BODY | {"raw_d": 3, "read": read | {"nominal": [7]}}, {"file": raw}))


@pytest.mark.parametrize("format", ["npz", "npy"])
def test_codes_are_added_as_names_where_that_is_said(format):
    raw = stored(np.savez, X=CODED, y=Y) if format == "npz" else b""
    place = 1
    if format == "npy":  # the target and what is left out come before
        raw = stored(np.save, np.column_stack([Y, 3 * X[:, 0], CODED]))
        place = 3
    Path(f"coded.{format}").write_bytes(raw)
    wishes = {"drop": [1], "target": 0} if format == "npy" else {}
    found = add(f"coded.{format}", nominal=[place], **wishes)
    assert (found.body["d"], found.body["read"]["nominal"]) == (6, [1])


def table(names, part):
    head = ",".join(names)
    return rows(head, *(",".join(f"{v:g}" for v in row) for row in part))


BOTH = np.column_stack([X, Y])


def test_headers_that_differ(make_entry):
    files = {"a.csv": table("abcy", BOTH[:8]), "b.csv": table(["A", "B", "C", "Y"], BOTH[8:])}
    read = {"format": "csv", "header": True}
    with pytest.raises(HarnessError, match=r"b\.csv calls column 0 'A', a\.csv 'a': .*`join: pos"):
        load(make_entry(BODY | {"read": read}, files))
    got, y = load(make_entry(BODY | {"read": read | {"join": "position"}}, files))
    np.testing.assert_array_equal(got, X)
    np.testing.assert_array_equal(y, Y)
    found = add(["a.csv", "b.csv"], name="added")
    told = "columns of b.csv have other names: joined by position (`join` in the entry)"
    assert told in found.told
    assert_prepared(unscaled("added"))


def test_columns_of_the_same_names_are_joined_by_name_whatever_their_order(make_entry):
    turned = BOTH[8:][:, [3, 2, 1, 0]]
    files = {"a.csv": table("abcy", BOTH[:8]), "b.csv": table("ycba", turned)}
    read = {"format": "csv", "header": True, "target": "y"}
    np.testing.assert_array_equal(load(make_entry(BODY | {"read": read}, files))[0], X)
    add(["a.csv", "b.csv"], name="added")
    assert_prepared(unscaled("added"))
    files["b.csv"] = table("aby", BOTH[8:, [0, 1, 3]])
    with pytest.raises(HarnessError, match=r"b\.csv has 3 columns, a\.csv 4$"):
        load(make_entry(BODY | {"read": read}, files))


def test_lines_above_the_table(make_entry):
    text = "Readings of a plant\nfrom 2020, by us\n\n" + table("abcy", BOTH)
    read = {"format": "csv", "header": True}
    with pytest.raises(HarnessError, match=r"line 4 has 4 fields, .* 2 \(`skip_rows` leaves out"):
        load(make_entry(BODY | {"read": read}, {"a.csv": text}))
    got, _ = load(make_entry(BODY | {"read": read | {"skip_rows": 3}}, {"a.csv": text}))
    np.testing.assert_array_equal(got, X)
    found = add("a.csv", name="added")
    assert "the table begins after 3 lines (`skip_rows` in the entry)" in found.told
    assert_prepared(unscaled("added"))


@pytest.mark.parametrize("header", ["a,b,y", "b,y"])
def test_no_line_of_a_table_is_taken_for_one_above_it(header):
    Path("x.csv").write_text(rows(header, "1,2,p", "3,4,q", "5,6,p", "7,8,q"))
    if header == "a,b,y":
        assert "skip_rows" not in add("x.csv").body["read"]
    else:  # of a table whose rows have names
        with pytest.raises(HarnessError, match="some lines have more fields than the first"):
            add("x.csv")


def test_a_comment_is_a_line_and_nothing_within_one(make_entry):
    text = '# note\n1,2,a#1\n  # more\n3,4,b#2\n"5","6","a#1"\n7,8,"b\n#2"\n'
    read = {"format": "csv", "skip_lines_starting": "#"}
    body = {"task": "multiclass", "n": 4, "d": 2, "classes": ["a#1", "b#2", "b\n#2"], "read": read}
    got, y = load(make_entry(body, {"a.csv": text}))
    assert got.tolist() == [[1, 2], [3, 4], [5, 6], [7, 8]]
    assert y.tolist() == [0, 1, 0, 2]


def test_lines_are_left_out_of_any_charset_and_of_long_texts(make_entry):
    lines = rows("kopf", "%x", *(f"{at};{at % 7},5;{'äö'[at % 2]}" for at in range(30_000)))
    read = {"format": "csv", "separator": ";", "charset": "utf-16", "decimal": ","}
    read |= {"skip_rows": 1, "skip_lines_starting": "%"}
    body = {"task": "binary", "n": 30_000, "d": 2, "classes": ["ä", "ö"], "positive": "ä"}
    got, y = load(make_entry(body | {"read": read}, {"a.csv": lines.encode("utf-16")}))
    assert got[-1].tolist() == [29_999, 29_999 % 7 + 0.5]
    assert y.sum() == 15_000


def test_parquet_with_vectors(make_entry):
    frame = pd.DataFrame({"v": list(X[:, :2]), "w": X[:, 2], "y": Y})
    frame.to_parquet("v.parquet")
    read = {"format": "parquet"}
    got, _ = load(make_entry(BODY | {"read": read, "files": [{"path": "v.parquet"}]}))
    np.testing.assert_array_equal(got, X)
    assert "'v' holds lists: 2 columns" in add("v.parquet", name="added").told
    assert_prepared(unscaled("added"))
    frame.assign(v=[[1.0] * (1 + at % 2) for at in range(12)]).to_parquet("v.parquet")
    with pytest.raises(HarnessError, match=r"column v holds lists that differ in length: list it"):
        load(make_entry(BODY | {"read": read, "files": [{"path": "v.parquet"}]}))
    frame.assign(v=[X[at].reshape(3, 1).tolist() for at in range(12)]).to_parquet("v.parquet")
    body = BODY | {"d": 4, "read": read, "files": [{"path": "v.parquet"}]}
    np.testing.assert_array_equal(load(make_entry(body))[0], X[:, [0, 1, 2, 2]])


def pictures(folder, ending="png", size=(4, 5)):
    """Write 3 pictures of each of two classes, and return their values in order."""
    from PIL import Image

    values = rng.integers(0, 256, size=(6, *size)).astype(np.uint8)
    for at, value in enumerate(values):
        place = Path(folder) / "ab"[at // 3] / f"{at}.{ending}"
        place.parent.mkdir(parents=True, exist_ok=True)
        if ending == "npy":
            np.save(place, value)
        else:
            Image.fromarray(value).save(place)
    return values


@pytest.mark.parametrize("ending", ["png", "pgm", "npy"])
def test_pictures_in_folders(make_entry, ending):
    values = pictures("train", ending)
    Path("train/a/.hidden.png").write_text("none")
    Path("train/a/notes.txt").write_text("none")
    body = {"task": "binary", "positive": "b", "read": {"format": "images"}}
    entry = make_entry(body | {"files": [{"path": "train"}]})
    got, y = load(entry)
    np.testing.assert_array_equal(got, values.reshape(6, -1))
    assert y.tolist() == [0, 0, 0, 1, 1, 1]
    digest = entry.digest
    pictures("train", ending)
    assert make_entry(body | {"files": [{"path": "train"}]}).digest != digest
    found = add("train", name="added")
    assert found.body["read"] == {"format": "images"}
    added = load_catalog()["added"]
    assert (load(added)[0].dtype, added.divide_by) == (np.uint8, 255)
    pictures("train", ending)
    with pytest.raises(HarnessError, match=r"train: expected sha256 .*; correct the files or"):
        load(added)


def test_pictures_in_an_archive_and_of_several_sizes(make_entry, tmp_path):
    values = pictures("train")
    with zipfile.ZipFile("train.zip", "w") as archive:
        for path in sorted(Path("train").rglob("*.png"), reverse=True):
            archive.write(path)
    body = {"task": "binary", "positive": "b", "read": {"format": "images"}}
    got, _ = load(make_entry(body | {"files": [{"path": "train.zip"}]}))
    np.testing.assert_array_equal(got, values.reshape(6, -1))
    assert add("train.zip").body["classes"] == {"a": 3, "b": 3}
    pictures("other", size=(6, 6))
    Path("train/a/0.png").write_bytes(Path("other/a/0.png").read_bytes())
    with pytest.raises(HarnessError, match=r"a/1\.png is 4 x 5 and a/0\.png 6 x 6: write the si"):
        load(make_entry(body | {"files": [{"path": "train"}]}))
    found = add("train", name="sizes")
    assert found.body["read"] == {"format": "images", "size": [4, 5]}
    assert load(load_catalog()["sizes"])[0].shape == (6, 20)


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a/x.png", b"no picture", r"a/x\.png: cannot identify image file"),
        ("x.png", b"", r"holds no folder of pictures \(\.bmp, "),
        ("a/x.npy", stored(np.save, np.zeros((2, 2))), r"a/x\.npy is 2 x 2 of float64: wanted is"),
    ],
)
def test_pictures_that_are_none(make_entry, name, content, told):
    place = Path("bad") / name
    place.parent.mkdir(parents=True)
    place.write_bytes(content)
    body = {"task": "binary", "n": 1, "d": 4, "classes": ["a", "b"], "positive": "b"}
    body |= {"read": {"format": "images"}, "files": [{"path": "bad"}]}
    with pytest.raises(HarnessError, match=told):
        load(make_entry(body))
    with pytest.raises(HarnessError, match="bad: "):
        add("bad")


def test_pictures_without_pillow(make_entry, monkeypatch):
    pictures("train")
    monkeypatch.setitem(__import__("sys").modules, "PIL", None)
    with pytest.raises(HarnessError, match=r"pictures need Pillow: pip install 'memory-budget-h"):
        add("train")
