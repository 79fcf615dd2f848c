"""Groups and the order of points, and points without a label: from a file to prepared data."""

import numpy as np
import pandas as pd
import pytest

from harness.datasets import load_catalog
from harness.datasets.meta import Meta
from harness.datasets.point_facts import read_facts
from harness.datasets.preparation import prepare
from harness.datasets.sizes import rules_of
from harness.errors import HarnessError

CSV = """site,day,size,state
b,2026-01-03,1,ok
a,2026-01-01,2,bad
b,2026-01-02,3,ok
c,2026-01-01,4,bad
b,2026-01-05,?,ok
"""
BODY = {
    "task": "binary",
    "positive": "bad",
    "read": {"format": "csv", "header": True, "target": "state"},
    "groups": "site",
    "order": "day",
    "missing": "drop",
}


def facts_of(entry, folder):
    meta = prepare(entry, folder)
    asked = [{"groups": "test"}, {"temporal": "test"}]
    groups, order = (read_facts(folder, meta, rules_of(rules)) for rules in asked)
    return groups.groups, order.order


@pytest.fixture
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


pytestmark = pytest.mark.usefixtures("_in_a_folder")


def test_columns_of_groups_and_order_are_kept_beside_the_features(make_entry, tmp_path):
    entry = make_entry(BODY, {"a.csv": CSV})
    assert (entry.n, entry.d, entry.largest_group) == (4, 1, 2)  # a row without a size is dropped
    groups, order = facts_of(entry, tmp_path / "out")
    assert groups.tolist() == [1, 0, 1, 2]
    assert order.tolist() == [2, 0, 1, 0]
    assert np.load(tmp_path / "out/X.npy").ravel().tolist() == [1, 2, 3, 4]
    meta = Meta.read(tmp_path / "out")
    assert (meta.facts, meta.largest_group) == (("groups", "order"), 2)
    meta.verify(tmp_path / "out")
    assert entry.directory.endswith(".facts")


def test_a_column_may_be_a_feature_too_and_be_named_by_its_number(make_entry):
    groups = {"column": 0, "feature": True}
    read = BODY["read"] | {"nominal": ["site"]}
    entry = make_entry(BODY | {"groups": groups, "read": read}, {"a.csv": CSV})
    assert entry.d == 4
    assert load_catalog()["iris"].fact_sources == {}


def test_what_is_altered_beside_the_features_is_noticed(make_entry, tmp_path):
    entry = make_entry(BODY, {"a.csv": CSV})
    meta = prepare(entry, tmp_path / "out")
    facts = np.load(tmp_path / "out/facts.npy")
    np.save(tmp_path / "out/facts.npy", facts[:, ::-1].copy())
    with pytest.raises(HarnessError, match=r"have sha256 .*, meta.json says"):
        meta.verify(tmp_path / "out")
    np.save(tmp_path / "out/facts.npy", facts[:, :3].copy())
    with pytest.raises(HarnessError, match=r"facts.npy: holds \(2, 3\)"):
        Meta.read(tmp_path / "out")


@pytest.mark.parametrize(
    "times",
    [[20, 3, 100], ["2026-01-02", "2025-12-31", "2026-01-02T10:00"], ["20", "3", "1e2"]],
)
def test_an_order_is_of_numbers_or_dates(make_entry, tmp_path, times):
    frame = pd.DataFrame({"t": times, "x": [1, 2, 3], "y": [0, 1, 0]})
    frame.to_parquet(tmp_path / "a.parquet")
    body = {"task": "binary", "read": {"format": "parquet"}, "order": "t"}
    entry = make_entry(body | {"files": [{"path": "a.parquet"}]})
    meta = prepare(entry, tmp_path / "out")
    assert np.load(tmp_path / "out/facts.npy").tolist() == [[1, 0, 2]]
    assert meta.largest_group is None


def test_arrays_of_npz_may_be_groups(make_entry, tmp_path):
    arrays = {"X": np.eye(4), "y": [0, 1, 0, 1], "patient": [7, 7, 9, 7]}
    np.savez(tmp_path / "a.npz", **arrays)
    body = {"task": "binary", "read": {"format": "npz"}, "files": [{"path": "a.npz"}]}
    entry = make_entry(body | {"groups": "patient"})
    prepare(entry, tmp_path / "out")
    assert np.load(tmp_path / "out/facts.npy").tolist() == [[0, 0, 1, 0]]
    np.savez(tmp_path / "a.npz", **arrays | {"patient": [7, 7]})
    with pytest.raises(HarnessError, match="groups: 2 values, but 4 targets"):
        make_entry(body | {"groups": "patient"})
    with pytest.raises(HarnessError, match="there is no array 'user'; the file holds X, y, pat"):
        make_entry(body | {"groups": "user"})


BAD = {
    "no column": ({"groups": "sites"}, "groups: there is no column 'sites'; the columns are site"),
    "no time": (
        {"order": "site", "read": BODY["read"] | {"ignore": ["day"]}},
        "order: 'b' is neither a number nor a date such as 2026-11-26",
    ),
    "a gap": (
        {"groups": "size", "missing": "error", "read": BODY["read"] | {"nominal": ["site"]}},
        r"groups: row 4 \(numbered from 0; 1 in all\) has no value: `missing: drop` below",
    ),
    "largest": ({"largest_group": 3, "n": 4, "d": 1, "classes": ["ok", "bad"]}, "points, the cat"),
}


@pytest.mark.parametrize("case", BAD)
def test_columns_that_are_none_are_told(make_entry, tmp_path, case):
    changes, told = BAD[case]
    with pytest.raises(HarnessError, match=told):
        prepare(make_entry(BODY | changes, {"a.csv": CSV}), tmp_path / "out")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"read": {"format": "svmlight"}, "order": None}, "no column 'site'; allowed are qid"),
        ({"groups": None, "largest_group": 2}, "largest_group is told of groups"),
        ({"n_unlabeled": 2}, "n_unlabeled is told where `other_classes: unlabeled`"),
        ({"groups": {"colum": "site"}}, "unknown key 'groups.colum'"),
    ],
)
def test_keys_that_do_not_go_together_are_told(make_entry, changes, told):
    body = {key: value for key, value in (BODY | changes).items() if value is not None}
    with pytest.raises(HarnessError, match=told):
        make_entry(body, {"a.csv": CSV})


def test_points_of_other_classes_are_kept_without_a_label(make_entry, tmp_path):
    read = {"format": "csv"}
    body = {"task": "binary", "classes": ["no", "yes"], "positive": "yes", "read": read}
    text = "1,no\n2,maybe\n3,yes\n4,\n5,no\n"
    entry = make_entry(body | {"other_classes": "unlabeled"}, {"a.csv": text})
    assert (entry.n, entry.n_unlabeled, entry.class_counts) == (5, 2, None)
    meta = prepare(entry, tmp_path / "out")
    assert np.load(tmp_path / "out/y.npy").tolist() == [0, -1, 1, -1, 0]
    assert np.load(tmp_path / "out/X.npy").ravel().tolist() == [1, 2, 3, 4, 5]
    assert (meta.n_unlabeled, meta.class_counts) == (2, (2, 1))
    assert Meta.read(tmp_path / "out") == meta
    said = body | {"other_classes": "unlabeled", "n": 5, "d": 1, "n_unlabeled": 2}
    counted = make_entry(said | {"classes": {"no": 2, "yes": 1}}, {"a.csv": text})
    assert counted.class_counts == (2, 1)
    with pytest.raises(HarnessError, match="sum to 3, but n is 5 less 1 without a label"):
        make_entry(said | {"classes": {"no": 2, "yes": 1}, "n_unlabeled": 1}, {"a.csv": text})
    wrong = make_entry(said | {"n_unlabeled": 3}, {"a.csv": text})
    with pytest.raises(HarnessError, match=r"2 points have no label.* says 3 \(n_unlabeled\)"):
        prepare(wrong, tmp_path / "wrong")


def test_missing_targets_of_a_regression_are_points_without_a_label(make_entry, tmp_path):
    body = {"task": "regression", "read": {"format": "csv"}, "other_classes": "unlabeled"}
    entry = make_entry(body, {"a.csv": "1,0.5\n2,\n3,1.5\n"})
    assert entry.n_unlabeled == 1
    prepare(entry, tmp_path / "out")
    np.testing.assert_array_equal(np.load(tmp_path / "out/y.npy"), [0.5, np.nan, 1.5])


def test_an_official_training_part_is_counted_after_rows_are_dropped(make_entry, tmp_path):
    body = {"task": "binary", "classes": ["4", "9"], "positive": "9", "read": {"format": "csv"}}
    files = {"a.csv": "1,4\n2,7\n3,9\n", "b.csv": "4,9\n5,1\n"}
    dropping = body | {"other_classes": "drop", "n": 3, "d": 1}
    assert prepare(make_entry(dropping | {"n_train": 2}, files), tmp_path / "out").n_train == 2
    with pytest.raises(HarnessError, match=r"n_train is 1, but its files end after \[2, 3\]"):
        prepare(make_entry(dropping | {"n_train": 1}, files), tmp_path / "out")


def test_a_feature_that_is_the_same_for_all_points_is_told(make_entry, tmp_path):
    entry = make_entry(BODY, {"a.csv": CSV.replace(",?,", ",5,")})
    meta = prepare(entry, tmp_path / "out")
    shift = {"beyond": 0.5, "column": 0, "quantile": 0.5}
    feature = read_facts(tmp_path / "out", meta, rules_of({"unlabeled": shift})).feature
    assert feature.tolist() == [1, 2, 3, 4, 5]
    constant = make_entry(
        BODY | {"missing": "error"},
        {
            "a.csv": "site,day,size,state\n"
            + "".join(f"a,{day},7,{'ok' if day % 2 else 'bad'}\n" for day in range(6))
        },
    )
    meta = prepare(constant, tmp_path / "same")
    with pytest.raises(HarnessError, match="column 0 is 7 for all points, so none is beyond"):
        read_facts(tmp_path / "same", meta, rules_of({"unlabeled": shift}))


GAPS = """site,day,size,state
?,2026-01-03,1,ok
a,2026-01-01,2,bad
b,,3,ok
c,2026-01-01,4,bad
b,2026-01-05,5,ok
"""


def test_points_without_a_group_or_a_time_are_left_out_where_the_entry_says_so(
    make_entry, tmp_path
):
    said = {key: {"column": BODY[key], "missing": "drop"} for key in ("groups", "order")}
    entry = make_entry(BODY | said, {"a.csv": GAPS})
    assert (entry.n, entry.largest_group, entry.classes) == (3, 1, {"bad": 2, "ok": 1})
    groups, order = facts_of(entry, tmp_path / "out")
    assert (groups.tolist(), order.tolist()) == ([0, 2, 1], [0, 0, 1])
    assert np.load(tmp_path / "out/X.npy").ravel().tolist() == [2, 4, 5]
    # an entry without the key keeps the digest that it had before there was one
    assert entry.groups.said == {"column": "site", "feature": False, "missing": "drop"}
