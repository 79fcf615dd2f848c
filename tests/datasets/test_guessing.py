"""What `harness add` takes a table to be: its task, its columns, how it is written."""

import numpy as np
import pandas as pd
import pytest
from small_tables import NUMBERED, rows

from harness import add
from harness.datasets import load_catalog
from harness.datasets.preparation import load
from harness.errors import HarnessError

pytestmark = pytest.mark.usefixtures("in_a_folder")


def test_targets_that_are_no_classes(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=600), "y": rng.normal(size=600)})
    frame["many"] = [f"label {row % 300}" for row in range(600)]
    frame["own"] = [f"label {row}" for row in range(600)]
    frame.to_csv("mine.csv", index=False)
    for task in ("binary", "multiclass"):
        with pytest.raises(
            HarnessError, match=r"600 different numbers.*that is --task regression"
        ):
            add("mine.csv", "y", task=task)
    with pytest.raises(HarnessError, match=r"has 300 labels: say which are class 1 with --posi"):
        add("mine.csv", "many", task="binary")
    with pytest.raises(HarnessError, match=r"a label of its own in every row"):
        add("mine.csv", "own")
    found = add("mine.csv", "many", positive=["label 7", "label 8"], drop=["own"])
    assert (found.body["task"], load(load_catalog()["mine"])[1].sum()) == ("binary", 4)


@pytest.mark.parametrize(
    ("labels", "task", "positive"),
    [
        (["no", "yes"], "binary", "yes"),
        (["+", "-"], "binary", "+"),
        (["1", "2"], "binary", "1"),
        (["-1", "1"], "binary", "1"),
        (["0.5", "1.5"], "binary", "1.5"),
        (["x", "y", "z"], "multiclass", None),
        (["10", "9", "2"], "multiclass", None),
        ([str(value) for value in range(19)], "multiclass", None),
        ([str(value) for value in range(40)], "regression", None),
        (["0.25", "0.5", "7"], "regression", None),
    ],
)
def test_what_a_task_is_guessed_to_be(added, labels, task, positive):
    lines = [f"{(row * 7) % 11},{labels[row % len(labels)]}" for row in range(80)]
    found, entry, _, y = added(rows(*lines))
    assert (entry.task, found.body.get("positive")) == (task, positive)
    if task != "regression":
        assert sorted(set(y)) == list(range(len(labels)))
        assert sum(entry.class_counts) == 80


def test_rows_without_a_target_are_left_out_and_told(added):
    found, entry, X, _ = added(rows("a,b,y", "1,n,0", "2,s,1", "3,only,", "4,n,1", "5,s,NA"), "y")
    assert (entry.n, X.shape) == (3, (3, 3))  # `only` is a value of no row that is left
    assert "2 rows have no target: left out" in found.told
    found, entry, _, _ = added(
        rows("a,y", *(f"{row},{row * 0.3}" for row in range(25)), "1,?"),
        "y",
        force=True,
        keep=["a"],
    )
    assert (entry.task, entry.n) == ("regression", 25)


def test_columns_that_tell_nothing_are_left_out_and_told(added):
    lines = ["id,name,nothing,same,when,value,y"]
    for row in range(60):
        lines.append(
            f"{row + 1},person {row},,7,2024-01-{row % 28 + 1:02},{row * 0.37:.2f},{row % 2}"
        )
    found, _, X, _ = added(rows(*lines), "y")
    assert found.body["read"]["ignore"] == ["id", "name", "nothing"]
    told = "\n".join(found.told)
    for sentence in (
        "'id' numbers the rows: left out (--keep keeps it)",
        "'name' holds 60 different texts in 60 rows: left out",
        "'nothing' is empty: left out",
        "the same value in every row: 'same', kept",
    ):
        assert sentence in told
    assert X.shape == (60, 1 + 28 + 1)
    found, _, X, _ = added(rows(*lines), "y", force=True, keep=["id"], drop=["when"])
    assert (found.body["read"]["ignore"], X.shape) == (["name", "nothing", "when"], (60, 3))


def test_of_many_columns_that_are_left_out_some_are_told_with_their_reason(added):
    names = [f"e{at}" for at in range(30)]
    lines = [f"{',' * 30}{row / 3},{row % 2}" for row in range(40)]
    found, entry, _, _ = added(rows(",".join([*names, "a", "y"]), *lines))
    assert (entry.d, len(found.body["read"]["ignore"])) == (1, 30)
    assert sum("is empty: left out" in sentence for sentence in found.told) == 8
    assert any(s.startswith("left out for such reasons, too: 'e8', 'e9'") for s in found.told)


def test_what_can_only_be_read_whole_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("harness.datasets.adding.tables.MOST_WHOLE", 10)
    np.savez("x.npz", X=np.zeros((5, 2)), y=[0, 1, 0, 1, 0])
    (tmp_path / "x.arff").write_text("@relation r\n@attribute a real\n@data\n1\n")
    for name in ("x.npz", "x.arff"):
        with pytest.raises(
            HarnessError, match=r"can only be read whole, and the file has .*: write"
        ):
            add(name)


def test_texts_among_numbers(added):
    marks = ["1.5", "n.a.", "NA", "?", ""]
    lines = [f"{marks[row] if row < 5 else row / 7},{'xy'[row % 2]}" for row in range(100)]
    found, entry, X, _ = added(rows("a,y", *lines))
    assert found.body["read"]["missing_values"] == ["", "?", "NA", "n.a."]
    assert "'n.a.' among numbers is read as no value (--nominal takes it as one)" in found.told
    assert (entry.d, np.isfinite(X).all()) == (1, True)
    mixed = [f"{row % 30}{'k' if row % 3 else ''},{'uv'[row % 2]}" for row in range(100)]
    with pytest.raises(
        HarnessError, match=r"column 'a' holds numbers and texts, such as '1k' in r"
    ):
        added(rows("a,y", *mixed), name="mixed")
    found, entry, _, _ = added(rows("a,y", *mixed), nominal=["a"], name="mixed")
    assert entry.d == 30
    few = [f"{['1', '2', 'none'][row % 3]},{'xy'[row % 2]}" for row in range(30)]
    found, entry, _, _ = added(rows("a,y", *few), name="few")
    assert (found.body["read"]["nominal"], entry.d) == (["a"], 3)


@pytest.mark.parametrize("separator", [",", ";", "\t", "|", " "])
@pytest.mark.parametrize("header", [True, False])
def test_separators_and_headers(added, separator, header):
    lines = [separator.join(line.split(",")) for line in (["a,b,y"] if header else []) + NUMBERED]
    found, _, X, _ = added(rows(*lines))
    assert (found.body["read"].get("separator", ","), X.shape) == (separator, (40, 2))
    assert found.body["read"].get("header", False) is header


@pytest.mark.parametrize(
    ("first", "header"),
    [
        ("5.1,red,0", False),  # data, as the other lines are
        ("size,colour,label", True),
        ("2019,colour,label", False),  # a number names no column
    ],
)
def test_a_header_that_is_data_is_none(tmp_path, first, header):
    lines = [
        first,
        *(f"{row / 3:.3f},{['red', 'blue'][row % 2]},{row % 3 % 2}" for row in range(50)),
    ]
    (tmp_path / "mine.csv").write_text(rows(*lines))
    found = add("mine.csv", dry_run=True, keep=[0], task=None if header else "multiclass")
    assert found.body["read"].get("header", False) is header
    assert found.body["n"] == (50 if header else 51)
    assert add("mine.csv", header=True, dry_run=True, keep=[0]).body["n"] == 50


def test_a_table_of_names_alone(added):
    names = [
        f"{'tf'[row % 2]},{'nwl'[row % 3]},{['won', 'lost'][row % 5 % 2]}" for row in range(60)
    ]
    assert added(rows(*names))[1].n == 60
    assert added(rows("left,right,end", *names), force=True)[1].n == 60


def test_other_charsets(added):
    text = rows("größe,straße", *(f"{row},{['Köln', 'Bonn'][row % 2]}" for row in range(9)))
    for charset, said in (("latin-1", "cp1252"), ("utf-8-sig", "utf-8"), ("utf-16", "utf-16")):
        found, entry, _, _ = added(text.encode(charset), "straße", force=True)
        assert found.body["read"].get("charset", "utf-8") == said
        assert list(entry.classes) == ["Bonn", "Köln"]
    found, _, _, _ = added(
        text.encode("latin-1") + b"1,\x81\x8d\n1,\x81\x8d\n", "straße", force=True
    )
    assert found.body["read"]["charset"] == "latin-1"


def test_a_decimal_comma(added):
    lines = [f"{row},{row % 7};{row % 2},5;{'ab'[row % 2]}" for row in range(30)]
    found, _, X, _ = added(rows("a;b;y", *lines), "y", keep=["a"])
    assert (found.body["read"]["decimal"], X.shape) == (",", (30, 2))
    assert "numbers have a decimal comma" in found.told


def test_lines_that_are_no_rows(added):
    found, entry, _, _ = added(rows("# made by hand", "a,b,y", *NUMBERED))
    assert (found.body["read"]["skip_lines_starting"], entry.n) == ("#", 40)
    found, entry, _, _ = added(rows("#a,b,y", *NUMBERED), "y", force=True)
    assert ("skip_lines_starting" in found.body["read"], entry.n) == (False, 40)


def test_a_number_or_a_name_of_columns(added):
    found, _, X, _ = added(rows("2019,2020,2021", *NUMBERED), "2021", nominal=["1"])
    assert (found.body["read"]["nominal"], X.shape) == (["2020"], (40, 1 + 5))
    found, _, X, _ = added(rows(*NUMBERED), "-1", nominal=[1], force=True)
    assert (found.body["read"]["nominal"], X.shape) == ([1], (40, 6))
    found, _, X, _ = added("y,a\nx,1\nz,2\nx,3\n", force=True)
    assert found.body["read"]["target"] == "y"


def test_columns_of_one_name_are_numbered_and_told(added):
    found, _, X, _ = added(rows("a,a,y", *NUMBERED), "y")
    assert X.shape == (40, 2)
    assert "several columns are called a: numbered .1, .2" in found.told
