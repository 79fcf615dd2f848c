import gzip
import lzma
import struct

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from harness.datasets.preparation import load
from harness.errors import HarnessError

rng = np.random.default_rng(0)
X = rng.integers(0, 9, size=(6, 3)).astype(float)
Y = np.array([0, 1, 1, 0, 2, 2])
BODY = {"task": "multiclass", "n": 6, "d": 3, "classes": [0, 1, 2]}


def idx(array):
    kinds = {"uint8": 0x08, "int32": 0x0C, "float64": 0x0E}
    header = bytes([0, 0, kinds[array.dtype.name], array.ndim])
    return (
        header
        + struct.pack(f">{array.ndim}I", *array.shape)
        + array.astype(array.dtype.newbyteorder(">")).tobytes()
    )


def svmlight(path, X, y, **options):
    dump_svmlight_file(X, y, str(path), zero_based=False, **options)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress])
def test_svmlight(make_entry, tmp_path, pack):
    svmlight(tmp_path / "x", X, Y)
    raw = pack((tmp_path / "x").read_bytes())
    got, y = load(make_entry(BODY | {"read": {"format": "svmlight"}}, {"x": raw}))
    assert (got == X).all()
    assert (y == Y).all()


def test_svmlight_keeps_empty_last_columns_and_refuses_further_ones(make_entry, tmp_path):
    svmlight(tmp_path / "x", X * [1, 1, 0], Y)
    raw = (tmp_path / "x").read_bytes()
    body = BODY | {"read": {"format": "svmlight"}}
    assert load(make_entry(body, {"x": raw}))[0].shape == (6, 3)
    svmlight(tmp_path / "x", np.ones((6, 4)), Y)
    raw = (tmp_path / "x").read_bytes()
    with pytest.raises(HarnessError, match=r"x: cannot be read as svmlight: .*features"):
        load(make_entry(body, {"x": raw}))


def test_two_files_are_joined_in_order(make_entry, tmp_path):
    files = {}
    for name, part in (("a", slice(0, 4)), ("b", slice(4, 6))):
        svmlight(tmp_path / name, X[part], Y[part])
        files[name] = (tmp_path / name).read_bytes()
    body = BODY | {"read": {"format": "svmlight"}, "n_train": 4}
    got, y = load(make_entry(body, files))
    assert (got == X).all()
    assert (y == Y).all()


def test_csv_with_header_names_ignored_columns_and_comments(make_entry):
    text = "|a note\nid,w,label,city\n1,0.5,x.,rome\n2,1.5, y.,oslo\n3,2.5,x.,rome\n"
    read = {
        "format": "csv",
        "header": True,
        "target": "label",
        "target_strip": ".",
        "ignore": ["id"],
        "nominal": ["city"],
        "skip_lines_starting": "|",
    }
    body = {"task": "binary", "n": 3, "d": 3, "classes": ["x", "y"], "positive": "y", "read": read}
    got, y = load(make_entry(body, {"x.csv": text}))
    assert got.tolist() == [[0.5, 0, 1], [1.5, 1, 0], [2.5, 0, 1]]
    assert y.tolist() == [0, 1, 0]
    read["ignore"] = ["none"]
    with pytest.raises(HarnessError, match=r"read.ignore: there is no column 'none'.*id, w"):
        load(make_entry(body, {"x.csv": text}))


@pytest.mark.parametrize("separator", [" ", "\t", ";"])
def test_csv_separators(make_entry, separator):
    rows = np.column_stack([X, Y])
    lines = [separator.join(f"{value:g}" for value in row) for row in rows]
    if separator == " ":
        lines = [line.replace(" ", "  ") for line in lines]
    read = {"format": "csv", "separator": separator}
    got, y = load(make_entry(BODY | {"read": read}, {"x.txt": "\n".join(lines) + "\n"}))
    assert (got == X).all()
    assert (y == Y).all()


def test_idx(make_entry):
    images = rng.integers(0, 256, size=(6, 2, 2)).astype(np.uint8)
    files = {"images": gzip.compress(idx(images)), "labels": idx(Y.astype(np.uint8))}
    body = BODY | {"d": 4, "read": {"format": "idx"}, "divide_by": 255, "dtype": "float32"}
    got, y = load(make_entry(body, files))
    assert got.dtype == np.float32
    assert np.allclose(got, images.reshape(6, 4) / 255, atol=1e-7)
    assert (y == Y).all()
    files["labels"] = files["labels"][:-1]
    with pytest.raises(HarnessError, match=r"labels holds 5 bytes, its header says \[6\]"):
        load(make_entry(body, files))
    with pytest.raises(HarnessError, match="x does not start as an IDX file"):
        load(make_entry(body, {"x": b"PK\3\5", "labels": files["labels"]}))
    with pytest.raises(HarnessError, match="must take turns"):
        load(make_entry(body, {"images": files["images"]}))


def test_mat(make_entry, tmp_path):
    savemat(tmp_path / "m.mat", {"both": np.column_stack([X, Y, 9 - Y]), "fea": X, "gnd": Y})
    raw = (tmp_path / "m.mat").read_bytes()
    for read in (
        {"X": "both", "target": 3, "columns": 3},
        {"X": "fea", "y": "gnd"},
    ):
        got, y = load(make_entry(BODY | {"read": {"format": "mat"} | read}, {"m.mat": raw}))
        assert (got == X).all()
        assert (y == Y).all()
    with pytest.raises(HarnessError, match=r"no matrix 'none'; the file holds both, fea, gnd"):
        load(make_entry(BODY | {"read": {"format": "mat", "X": "none", "y": "gnd"}}, {"m": raw}))
    with pytest.raises(HarnessError, match="name the target's matrix"):
        make_entry(BODY | {"read": {"format": "mat"}}, {"m": raw})


def test_npz_and_no_pickles(make_entry, tmp_path):
    np.savez_compressed(tmp_path / "a.npz", X=X, y=Y)
    body = BODY | {"read": {"format": "npz"}}
    raw = (tmp_path / "a.npz").read_bytes()
    got, y = load(make_entry(body, {"a.npz": raw}))
    assert (got == X).all()
    assert (y == Y).all()
    np.savez(tmp_path / "a.npz", X=np.array([{}], dtype=object), y=Y)
    raw = (tmp_path / "a.npz").read_bytes()
    with pytest.raises(HarnessError, match=r"as pickles, .* with numpy\.savez"):
        load(make_entry(body, {"a.npz": raw}))
    np.savez(tmp_path / "a.npz", X=X)
    raw = (tmp_path / "a.npz").read_bytes()
    with pytest.raises(HarnessError, match=r"no array 'y'; the file holds X"):
        load(make_entry(body, {"a.npz": raw}))


def test_openml_is_asked_for_the_number(make_entry, monkeypatch, tmp_path):
    asked = {}

    class Bunch:
        frame = pd.DataFrame(
            {"a": [1.0, 2.0, 3.0], "b": ["u", "v", "u"], "class": ["0", "1", "0"]}
        )
        frame["b"] = frame["b"].astype("category")

    def fetch_openml(**options):
        asked.update(options)
        return Bunch

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    body = {"task": "binary", "n": 3, "d": 3, "classes": [0, 1], "positive": 1}
    entry = make_entry(body | {"read": {"format": "openml", "id": 44, "target": "class"}})
    got, y = load(entry)
    assert (asked["data_id"], asked["data_home"]) == (44, tmp_path / "cache" / "openml")
    assert got.tolist() == [[1, 1, 0], [2, 0, 1], [3, 1, 0]]
    assert y.tolist() == [0, 1, 0]

    def offline(**options):
        raise OSError("no route to host")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", offline)
    with pytest.raises(
        HarnessError, match=r"'mine': OpenML 44 could not be fetched from .*: no route"
    ):
        load(entry)


def test_a_file_in_another_format_is_one_message(make_entry):
    for name in ("svmlight", "arff", "idx", "npz"):
        body = BODY | {"read": {"format": name}}
        files = {"x": b"\x89PNG\r\n\x1a\n" * 9, "y": b"z"}
        with pytest.raises(HarnessError, match=rf"'mine': .*x.*: cannot be read as {name}: "):
            load(make_entry(body, files))


def test_parquet_without_the_index_of_pandas(make_entry, tmp_path):
    frame = pd.DataFrame(
        {"colour": pd.Categorical(["red", None, "blue"]), "size": [1.5, 2.0, None]},
        index=pd.Index(["a", "b", "c"], name="key"),
    )
    frame.assign(flag=[True, False, True], y=["no", "yes", "no"]).to_parquet(
        tmp_path / "x.parquet"
    )
    body = {"task": "binary", "missing": {"numeric": "mean", "nominal": "own"}}
    body |= {"read": {"format": "parquet", "target": "y"}, "files": [{"path": "x.parquet"}]}
    X, y = load(make_entry(body))
    # blue, red, missing; size; flag
    np.testing.assert_array_equal(X[:, 3:], [[1.5, 1], [2.0, 0], [1.75, 1]])
    np.testing.assert_array_equal(X[:, :3], [[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    np.testing.assert_array_equal(y, [0, 1, 0])


def test_parquet_of_texts_names_the_column_that_is_none_of_numbers(make_entry, tmp_path):
    frame = pd.DataFrame({"site": ["n", "s"], "y": [0, 1]})
    frame.to_parquet(tmp_path / "x.parquet")
    body = {"task": "binary", "files": [{"path": "x.parquet"}]}
    with pytest.raises(HarnessError, match=r"column site holds 'n' in row 0: list it under"):
        make_entry(body | {"read": {"format": "parquet"}})
    X, _ = load(make_entry(body | {"read": {"format": "parquet", "nominal": ["site"]}}))
    np.testing.assert_array_equal(X, [[1, 0], [0, 1]])


def test_csv_of_another_charset_and_with_decimal_commas(make_entry):
    text = "größe;stadt;y\n1,5;Köln;no\n2,5;Bonn;yes\n".encode("latin-1")
    read = {
        "format": "csv",
        "separator": ";",
        "header": True,
        "decimal": ",",
        "nominal": ["stadt"],
    }
    with pytest.raises(HarnessError, match=r"cannot be read as csv: 'utf-8' codec"):
        make_entry({"task": "binary", "read": read}, {"x.csv": text})
    X, _ = load(
        make_entry({"task": "binary", "read": read | {"charset": "latin-1"}}, {"x.csv": text})
    )
    np.testing.assert_array_equal(X, [[1.5, 0, 1], [2.5, 1, 0]])
    with pytest.raises(
        HarnessError, match=r"read.charset: no charset that Python knows.*'klingon'"
    ):
        make_entry({"task": "binary", "read": read | {"charset": "klingon"}}, {"x.csv": text})
