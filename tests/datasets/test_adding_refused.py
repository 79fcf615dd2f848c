"""What cannot be added, and what is said of it."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from small_tables import NUMBERED, SENSORS, rows

from harness import add
from harness.datasets import load_catalog
from harness.datasets.preparation import load
from harness.errors import HarnessError

pytestmark = pytest.mark.usefixtures("in_a_folder")


@pytest.mark.parametrize(
    ("content", "wishes", "told"),
    [
        ("", {}, r"mine\.csv: the file is empty$"),
        ("\n\n \n", {}, r"mine\.csv: the file is empty$"),
        ("a,b,y\n", {}, r"the table has no rows; at least two are needed"),
        ("a,b,y\n1,2,x\n", {}, r"the table has one row; at least two are needed"),
        (SENSORS, {"target": "stat"}, r"target: unknown column 'stat'; did you mean 'state'\? kn"),
        (SENSORS, {"target": 4}, r"target: unknown column '4'; known: site, "),
        (
            rows(*NUMBERED),
            {"target": "y"},
            r"no column 'y'; the columns have no names and are numb",
        ),
        (
            SENSORS,
            {"target": "temperature", "task": "binary"},
            r"has 5 labels: say which are class",
        ),
        (SENSORS, {"target": "state", "drop": ["stat"]}, r"drop: unknown column 'stat'; did you"),
        (
            SENSORS,
            {"target": "state", "drop": ["state"]},
            r"--drop names 'state', which is the ta",
        ),
        (SENSORS, {"target": "state", "positive": "bad"}, r"--positive: unknown label 'bad'; kno"),
        (
            SENSORS,
            {"target": "state", "positive": ["ok", "broken"]},
            r"names all labels; some must",
        ),
        (
            SENSORS,
            {"target": "state", "task": "regression"},
            r"holds 'ok' in row 0 .* is no number",
        ),
        (
            SENSORS,
            {"target": "state", "positive": "ok", "task": "multiclass"},
            r"not for --task mu",
        ),
        (
            SENSORS,
            {"target": "vibration", "positive": "3", "task": "regression"},
            r"regression has n",
        ),
        (
            "a,a,y\n1,2,x\n3,4,z\n",
            {"target": "a"},
            r"target: two columns are called 'a'; rename one",
        ),
        ("a,y,y\n1,2,x\n3,4,z\n", {"target": "y"}, r"target: two columns are called 'y'"),
        ("a,y\n1,x\n2,x\n", {}, r"target 'y' has the same value in every row: there is nothing"),
        ("a,y\n1,\n2,?\n", {}, r"target 'y' has no value in any row"),
        ("a,y\n1,inf\n2,3\n", {"task": "regression"}, r"target 'y' is infinite in 1 rows"),
        ("y\n1\n2\n3\n", {}, r"no feature is left beside the target"),
        ("a,y\n,1\n,2\n", {}, r"no feature is left beside the target"),
        ("a,b,y\n,1,1\n,2,2\n", {"keep": ["a"]}, r"column 'a' is empty"),
        ("a,y\n1,2,3\n1,2\n", {}, r"cannot be read as csv: "),
        (
            "[1, 2]",
            {},
            r"looks like JSON, XML or HTML: write the table as CSV, Parquet or JSON lines",
        ),
        ("<html>", {}, r"looks like JSON, XML or HTML"),
        (b"\x89HDF\r\n", {}, r"this is an HDF5 file: write it as CSV, Parquet or npz"),
        (b"PK\x03\x04 [Content_Types].xml xl/", {}, r"this is a spreadsheet: save it as CSV"),
        (b"PK\x03\x04 something", {}, r"this is a zip archive, and not one of .*: unpack it"),
        (b"1,2\n\x00\x01", {}, r"this is no text, nor Parquet or NumPy's npz or npy"),
        (b"\x1f\x8bbroken", {}, r"mine\.csv: cannot be unpacked: "),
        (b"PAR1broken", {}, r"mine\.csv: cannot be read as parquet: "),
        (b"\x93NUMPYbroken", {}, r"mine\.csv: cannot be read as npy: "),
        ("@relation x\n@attribute a real\n1\n", {}, r"cannot be read as arff: there is no @data"),
        ("1 1:2 2:3\n0 1:2\n1 4:2 3:3\n", {}, r"line 3 is not a label and pairs of .*'1 4:2 3:3'"),
        ("1\n0\n1 qid:3\n", {}, r"."),
    ],
)
def test_what_cannot_be_added_is_one_sentence(tmp_path, content, wishes, told):
    raw = content.encode() if isinstance(content, str) else content
    (tmp_path / "mine.csv").write_bytes(raw)
    with pytest.raises(HarnessError, match=told) as caught:
        add("mine.csv", **wishes)
    assert "mine.csv" in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1
    assert not (tmp_path / "datasets.yaml").exists()


def test_names_that_are_taken(tmp_path):
    (tmp_path / "mine.csv").write_text(rows(*NUMBERED))
    add("mine.csv")
    with pytest.raises(
        HarnessError, match=r"'mine' is there already: --force replaces it, --name"
    ):
        add("mine.csv")
    assert add("mine.csv", force=True, nominal=[1]).body["d"] == 6
    assert load_catalog()["mine"].d == 6
    assert add("mine.csv", name="other").name == "other"
    for name in ("", "-x", "a b", "x" * 101, "ä"):
        with pytest.raises(HarnessError, match="cannot name a data set"):
            add("mine.csv", name=name)


def test_a_set_that_came_with_the_harness_is_not_hidden_by_accident(tmp_path):
    (tmp_path / "iris.csv").write_text(rows(*NUMBERED))
    found = add("iris.csv")
    assert found.name == "my-iris"
    assert "'iris' is a set that came with the harness: this one is 'my-iris'" in found.told
    assert load_catalog()["iris"].n == 150
    add("iris.csv", name="iris")
    assert load_catalog()["iris"].n == 40
    with pytest.raises(HarnessError, match="'wine' came with the harness; choose another name"):
        add("iris.csv", name="wine", catalog="other.yaml")


def test_a_broken_catalog_is_named_first(tmp_path):
    (tmp_path / "mine.csv").write_text(rows(*NUMBERED))
    (tmp_path / "datasets.yaml").write_text("mine: [")
    with pytest.raises(HarnessError, match=r"datasets\.yaml: the catalog is not YAML"):
        add("mine.csv")


def test_names_that_no_catalog_can_hold(tmp_path):
    (tmp_path / "mine.csv").write_text(
        rows("a\x01b,c,y", *(f"r{row % 3},{row / 4},{row % 2}" for row in range(9)))
    )
    with pytest.raises(HarnessError, match=r"mine\.csv: no catalog can hold its names"):
        add(
            "mine.csv",
            "y",
        )


CELLS = "1 2.5 -3 1e5 inf nan x y é \" ' # 1:2 true False 2024-01-01 ; 0x1F 1,5 % @data { 00"


TEXTS = st.sampled_from([*CELLS.split(), "", "?", "NA", "a b", "\t", '""'])


TABLES = st.lists(st.lists(TEXTS, max_size=5), max_size=12)


@settings(max_examples=60, derandomize=True)
@given(
    lines=TABLES,
    separator=st.sampled_from([",", ";", "\t", " ", "|"]),
    end=st.sampled_from(["\n", "\r\n", "\r", ""]),
    charset=st.sampled_from(["utf-8", "latin-1", "utf-16"]),
    target=st.sampled_from([None, "0", "-1", "x"]),
)
def test_odd_files_are_added_or_told_in_a_message(
    tmp_path_factory, lines, separator, end, charset, target
):
    folder = tmp_path_factory.mktemp("odd")
    text = (end or "\n").join(separator.join(line) for line in lines) + end
    (folder / "x.csv").write_bytes(text.encode(charset, "replace"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            found = add(folder / "x.csv", target, catalog=folder / "datasets.yaml")
        except HarnessError as error:
            told = str(error)
            assert 10 < len(told) < 2000
            assert "Traceback" not in told
            assert "read otherwise than it was guessed" not in told
            return
    X, _ = load(load_catalog([folder / "datasets.yaml"])[found.name])
    assert (len(X), X.shape[1]) == (found.body["n"], found.body["d"])
    assert np.isfinite(X).all()
