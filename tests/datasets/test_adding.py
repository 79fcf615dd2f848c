"""A file or a data frame of one's own becomes an entry that prepares."""

import gzip

import numpy as np
import pandas as pd
import pytest
from small_tables import FRAME, NUMBERED, SENSORS, rows

from harness import add
from harness.datasets import load_catalog
from harness.datasets.preparation import load
from harness.errors import HarnessError

pytestmark = pytest.mark.usefixtures("in_a_folder")


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
    with pytest.raises(HarnessError, match=r"paths or a data frame can be added, .*type dict"):
        add({"b": [1, 2]}, "b", name="other")
    with pytest.raises(HarnessError, match="cannot be written as Parquet"):
        add(frame.assign(odd=[1, "a", b"c", {}]), "b", name="other")
    assert next(iter(load_catalog())) == "framed"
    assert not (tmp_path / "data" / "other.parquet").exists()


def test_parquet_with_and_without_an_index_of_pandas(tmp_path):
    FRAME.to_parquet("plain.parquet", index=False)
    FRAME.set_index(pd.Index(list("abcdefghijklmnopqrst"), name="key")).to_parquet(
        "indexed.parquet"
    )
    FRAME.assign(key=range(20)).set_index("key").reset_index().to_parquet("column.parquet")
    for name in ("plain", "indexed", "column"):
        found = add(f"{name}.parquet", "y")
        X, y = load(load_catalog()[name])
        assert (X.shape, y.sum()) == ((20, 1 + 3 + 1), 10)
        assert found.body["missing"] == {"numeric": "median", "nominal": "own"}
    assert "the index of pandas (key) is no column" in add("indexed.parquet", "y", force=True).told
    with pytest.raises(HarnessError, match=r"target: unknown column 'key'"):
        add("indexed.parquet", "key", name="other")
    FRAME.assign(when=pd.Timestamp("2024-01-01")).to_parquet("dated.parquet")
    told = add("dated.parquet", "y").told
    assert any(sentence.startswith("'when' holds datetime64") for sentence in told)
    FRAME.assign(odd=[[1], [2, 3]] * 10).to_parquet("odd.parquet")
    with pytest.raises(HarnessError, match=r"column 'odd' holds values of type ndarray, neither"):
        add("odd.parquet", "y", keep=["odd"])
    assert add("odd.parquet", "y").body["read"]["ignore"] == ["odd"]


def test_matrices(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), np.arange(30) % 2
    np.savez("both.npz", X=X, y=y)
    np.savez("named.npz", data=X, labels=y.astype(str), other=y[:5])
    np.save("one.npy", np.column_stack([X, y]))
    for path, target, d in (("both.npz", None, 3), ("named.npz", None, 3), ("one.npy", "3", 3)):
        found = add(path, target)
        assert load(load_catalog()[found.name])[0].shape == (30, d)
    found = add("one.npy", 3, drop=[0], name="dropped")
    np.testing.assert_array_equal(load(load_catalog()["dropped"])[1], y)
    assert load_catalog()["dropped"].d == 2
    packed = gzip.compress((tmp_path / "both.npz").read_bytes())
    (tmp_path / "both.npz.gz").write_bytes(packed)
    with pytest.raises(
        HarnessError, match=r"both\.npz\.gz: unpack it: npz files are read as they a"
    ):
        add("both.npz.gz", name="packed")
    np.savez("two.npz", A=X, B=X, y=y)
    with pytest.raises(
        HarnessError, match=r"one matrix of numbers is wanted; the file holds A \(30"
    ):
        add("two.npz")
    np.savez("targets.npz", X=X, y=y, z=y)
    with pytest.raises(HarnessError, match=r"which array is the target\? Say --target NAME; "):
        add("targets.npz")
    assert add("targets.npz", "z").body["read"] == {"format": "npz", "y": "z"}
    with pytest.raises(HarnessError, match=r"there is no target 'q' with 30 values"):
        add("targets.npz", "q", name="other")
    np.save("cube.npy", np.zeros((2, 2, 2)))
    with pytest.raises(HarnessError, match=r"holds 2 x 2 x 2 of float64: a matrix of numbers"):
        add("cube.npy")
    np.save("objects.npy", np.array([{}]), allow_pickle=True)
    with pytest.raises(HarnessError, match=r"cannot be read as npy: "):
        add("objects.npy")


@pytest.mark.parametrize("first", [0, 1])
def test_sparse_text(added, first):
    lines = [f"{row % 2} {first}:{row}.5 {first + 4}:1 # row" for row in range(20)]
    found, _, X, y = added(rows(*lines), file="x.libsvm")
    assert (X.shape, y.sum(), found.body["read"]["format"]) == ((20, 5), 10, "svmlight")
    assert found.body["read"].get("zero_based", False) is (first == 0)
    with pytest.raises(HarnessError, match=r"no columns to name, so --drop says nothing here"):
        added(rows(*lines), drop=["1"], force=True)


def test_arff_says_itself_what_is_nominal(added):
    text = "@relation r\n@attribute s {a, b, never}\n@attribute v real\n@attribute class {x, y}\n"
    text += "@data\n" + "".join(
        f"{'ab'[row % 2]},{row % 5},{'xxy'[row % 3]}\n" for row in range(30)
    )
    _, entry, X, _ = added(text, file="x.arff")
    assert (X.shape, entry.classes) == ((30, 3), {"x": 20, "y": 10})


def test_openml_by_number(tmp_path, monkeypatch):
    from types import SimpleNamespace

    import sklearn.datasets

    frame = FRAME.assign(
        colour=FRAME["colour"].astype("category"), y=FRAME["y"].astype("category")
    )
    asked = []

    def fetch(**options):
        asked.append(options["data_id"])
        return SimpleNamespace(frame=frame)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch)
    found = add("openml:61", "y")
    assert (found.name, set(asked)) == ("openml-61", {61})
    assert found.body["read"] == {"format": "openml", "id": 61, "target": "y"}
    assert load(load_catalog()["openml-61"])[0].shape == (20, 5)
    with pytest.raises(HarnessError, match=r"openml:x: write the number of the data set"):
        add("openml:x")

    def refuse(**_):
        raise OSError("no network")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", refuse)
    with pytest.raises(
        HarnessError, match=r"OpenML 62 could not be fetched from .*: no network; without"
    ):
        add("openml:62")


def test_packed_files_and_names_after_them(tmp_path):
    for name, called in (
        ("my data (1).csv.gz", "my-data-1"),
        ("v1.2", "v1.2"),
        ("ünï.tsv.gz", "n"),
        ("...csv.gz", "data"),
    ):
        (tmp_path / name).write_bytes(gzip.compress(rows(*NUMBERED).encode()))
        found = add(name)
        assert found.name == called
        assert load(load_catalog()[called])[0].shape == (40, 2)


def test_paths_below_the_catalog_are_relative(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.csv").write_text(rows(*NUMBERED))
    assert add("in/x.csv").body["files"][0]["path"] == "in/x.csv"
    found = add("in/x.csv", catalog="in/other.yaml", name="y")
    assert found.body["files"][0]["path"] == "x.csv"
    (tmp_path / "deep").mkdir()
    found = add("in/x.csv", catalog="deep/other.yaml", name="z")
    assert found.body["files"][0]["path"] == str(tmp_path / "in" / "x.csv")
    for path, told in (
        ("none.csv", "there is no such file"),
        ("in", "no folder of pictures in it"),
    ):
        with pytest.raises(HarnessError, match=told):
            add(path)


@pytest.mark.slow
def test_what_is_held_does_not_grow_with_the_file(tmp_path, monkeypatch):
    """Of a text of 60 MB some megabytes are held, and an entry of its size is not tried."""
    import tracemalloc

    from harness.datasets import adding

    line = ",".join(f"{value}.25" for value in range(10))
    block = "".join(f"{line},{'ab'[row % 2]}\n" for row in range(10_000))
    monkeypatch.setattr(adding, "LARGEST_TRIED", 1_000_000)
    monkeypatch.setattr("harness.datasets.adding.tables.CELLS", 100_000)

    def peak(blocks):
        with (tmp_path / "big.csv").open("w") as file:
            file.writelines([block] * blocks)
        tracemalloc.start()
        found = add("big.csv", force=True)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert (found.body["n"], found.body["d"], found.tried) == (10_000 * blocks, 10, False)
        return most

    small, large = peak(4), peak(40)
    assert large < 1.5 * small + 2_000_000


def test_a_dry_run_writes_nothing(tmp_path):
    (tmp_path / "mine.csv").write_text(rows(*NUMBERED))
    assert add("mine.csv", dry_run=True).body["n"] == 40
    assert add(FRAME, "y", name="framed", dry_run=True).body["n"] == 20
    assert [path.name for path in tmp_path.iterdir() if path.name[0] != "."] == ["mine.csv"]


def test_blanks_around_names_are_part_of_them_and_around_labels_are_not(added):
    lines = [
        f"{['red', 'red ', 'blue'][row % 3]},{row / 4:.2f} ,{['a ', 'b'][row % 2]}"
        for row in range(60)
    ]
    _, entry, X, _ = added(rows("colour,size,y", *lines), "y")
    assert (X.shape, list(entry.classes)) == ((60, 4), ["a", "b"])


def test_numbers_that_are_written_in_two_ways_are_one_label(added):
    lines = [f"{row / 4},{['1', '+1', '0.5', '1.0'][row % 4]}" for row in range(40)]
    assert added(rows("a,y", *lines), "y")[1].classes == {"0.5": 10, "1.0": 30}


def test_rows_of_several_files_are_joined(tmp_path):
    for name, lines in (("train.csv", NUMBERED[:30]), ("test.csv", [*NUMBERED[30:], "9,7,c"])):
        (tmp_path / name).write_text(rows("a,b,y", *lines))
    found = add(["train.csv", "test.csv"], "y", nominal=["b"])
    entry = load_catalog()["train"]
    assert (entry.n, entry.d, list(entry.classes)) == (41, 1 + 6, ["a", "b", "c"])
    assert (found.body["source"], len(load(entry)[0])) == ("train.csv, test.csv", 41)
    for name, first in (("a.svm", 0), ("b.svm", 2)):
        lines = [f"{row % 2} {1 + first}:{row} {3 + first}:1" for row in range(10)]
        (tmp_path / name).write_text(rows(*lines))
    assert add(["a.svm", "b.svm"]).body["d"] == 5
    assert load(load_catalog()["a"])[0].shape == (20, 5)
    (tmp_path / "blanks").write_text(rows(*(line.replace(",", " ") for line in NUMBERED)))
    tabs = ["| made by hand", *(line.replace(",", "\t") for line in NUMBERED)]
    (tmp_path / "tabs").write_text(rows(*tabs))
    read = add(["blanks", "tabs"]).body["read"]
    assert (read["separator"], read["skip_lines_starting"]) == (" ", "|")
    assert load(load_catalog()["blanks"])[0].shape == (80, 2)
    (tmp_path / "other.csv").write_text(
        rows("a;b;y", *(line.replace(",", ";") for line in NUMBERED))
    )
    (tmp_path / "wide.csv").write_text(rows("a,b,c,y", *(f"1,{line}" for line in NUMBERED)))
    for name, told in (
        ("other.csv", r"other\.csv: separator is another than in train\.csv: write them alike"),
        ("wide.csv", r"wide\.csv: has other columns than train\.csv \(3 columns and 4\)"),
        ("a.svm", r"a\.svm: this is svmlight, and train\.csv is csv: files of one data set are"),
    ):
        with pytest.raises(HarnessError, match=told):
            add(["train.csv", name], "y", name="joined")


def test_images_and_labels_of_mnist_s_format(tmp_path):
    images = np.arange(6 * 4, dtype=np.uint8).reshape(6, 2, 2)
    labels = np.array([0, 1, 2, 0, 1, 2], dtype=np.uint8)
    for name, array in (("x.gz", images), ("y", labels), ("z", labels[:5])):
        raw = (
            bytes([0, 0, 8, array.ndim]) + np.array(array.shape, ">u4").tobytes() + array.tobytes()
        )
        (tmp_path / name).write_bytes(gzip.compress(raw) if name == "x.gz" else raw)
    (tmp_path / "cut").write_bytes((tmp_path / "y").read_bytes()[:12])
    assert add(["x.gz", "y", "x.gz", "y"]).body["n"] == 12
    X, y = load(load_catalog()["x"])
    assert (X.shape, y.tolist()) == ((12, 4), labels.tolist() * 2)
    for files, told in (
        (["x.gz"], r"x\.gz: images and labels are given in turn: add IMAGES LABELS"),
        (["y", "x.gz"], r"y: holds \(6,\), and x\.gz \(6, 2, 2\): images and labels are given in"),
        (["cut", "y"], r"cut: cannot be read as idx: cut holds 4 bytes, its header says"),
        (["x.gz", "z"], r"x\.gz: holds \(6, 2, 2\), and z \(5,\): images and labels are given in"),
    ):
        with pytest.raises(HarnessError, match=told):
            add(files, name="other")


@pytest.mark.parametrize("ending", ["parquet", "jsonl", "npz"])
def test_a_boolean_target_is_guessed_as_it_is_read(ending):
    a, label = np.arange(12.0), np.arange(12) % 3 == 0
    frame = pd.DataFrame({"a": a, "label": label})
    if ending == "parquet":
        frame.to_parquet("mine.parquet")
    elif ending == "jsonl":
        frame.to_json("mine.jsonl", orient="records", lines=True)
    else:
        np.savez("mine.npz", X=a[:, None], y=label)
    found = add(f"mine.{ending}", None if ending == "npz" else "label", name="flags")
    assert found.body["positive"] == "True"
    X, y = load(load_catalog()["flags"])
    assert (X.shape, y.tolist()) == ((12, 1), label.astype(int).tolist())


def test_a_boolean_target_may_be_missing():
    label = pd.array([True, False, None] * 4, dtype="boolean")
    pd.DataFrame({"a": np.arange(12.0), "label": label}).to_parquet("gaps.parquet")
    assert add("gaps.parquet", "label").body["other_classes"] == "drop"
    X, y = load(load_catalog()["gaps"])
    assert (X[:, 0].size, y.tolist()) == (8, [1, 0] * 4)
