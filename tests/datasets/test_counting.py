"""What an entry need not say, and what it says and its files have not."""

import re

import pytest

from harness.datasets import Entry, load_catalog
from harness.datasets.counting import FOLDER, contradiction, count
from harness.errors import HarnessError

CSV = "a,b,label\n1,2,no\n3,4,yes\n5,6,no\n7,9,yes\n2,2,no\n"
BODY = {"task": "binary", "read": {"format": "csv", "header": True, "target": "label"}}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_points_features_and_classes_are_counted_where_they_are_not_said(make_entry):
    entry = make_entry(BODY, {"x.csv": CSV})
    assert isinstance(entry, Entry)
    assert (entry.n, entry.d, entry.classes) == (5, 2, {"no": 3, "yes": 2})
    assert (entry.positive, entry.class_counts) == (("yes",), (3, 2))
    assert contradiction(entry) == ""


def test_an_entry_that_was_counted_has_the_digest_of_one_that_says_it(make_entry):
    said = {"n": 5, "d": 2, "classes": ["no", "yes"], "positive": "yes"}
    assert (
        make_entry(BODY, {"x.csv": CSV}).digest == make_entry(BODY | said, {"x.csv": CSV}).digest
    )


def test_labels_are_in_ascending_order_of_numbers(make_entry):
    text = "".join(f"{row},{label}\n" for row, label in enumerate([10, 9, 2, 10, 2, 9]))
    entry = make_entry({"task": "multiclass", "read": {"format": "csv"}}, {"x.csv": text})
    assert list(entry.classes.items()) == [("2", 2), ("9", 2), ("10", 2)]
    entry = make_entry({"task": "regression", "read": {"format": "csv"}}, {"x.csv": text})
    assert (entry.n, entry.d, entry.classes) == (6, 1, {})


def test_a_count_is_kept_until_the_file_changes(make_entry, tmp_path, monkeypatch):
    from harness.datasets import counting

    make_entry(BODY, {"x.csv": CSV})
    assert len(list(FOLDER.iterdir())) == 2  # of the entry as written, and as completed
    with monkeypatch.context() as patch:
        patch.setattr(counting, "_counted", None)
        assert make_entry(BODY, {"x.csv": CSV}).n == 5
    assert make_entry(BODY, {"x.csv": CSV + "1,1,no\n"}).n == 6
    for path in FOLDER.iterdir():
        path.write_text("{")
    assert make_entry(BODY, {"x.csv": CSV}).n == 5


def test_a_folder_that_cannot_be_written_keeps_nothing(make_entry, tmp_path):
    (tmp_path / ".harness").write_text("")
    assert make_entry(BODY, {"x.csv": CSV}).n == 5


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"n": 6}, "found 5 x 2 points and features, the catalog says 6 x 2"),
        ({"d": 3}, "found 5 x 2 points and features, the catalog says 5 x 3"),
        ({"classes": ["no", "maybe"], "positive": "no"}, r"labels \['yes'\] are not among its"),
        ({"classes": ["no", "yes", "maybe"], "positive": "no"}, "class counts are"),
        ({"classes": {"no": 2, "yes": 3}}, r"class counts are \{'no': 3, 'yes': 2\}, the catalog"),
    ],
)
def test_what_an_entry_says_is_compared_with_its_files(make_entry, said, told):
    whole = {"n": 5, "d": 2, "classes": {"no": 3, "yes": 2}, "positive": "yes"}
    entry = make_entry(BODY | whole | {"classes": ["no", "yes"]} | said, {"x.csv": CSV})
    assert re.search(told, contradiction(entry))


def test_what_a_mirror_has_is_left_to_preparation(make_entry, monkeypatch):
    from harness.datasets import counting

    monkeypatch.setattr(counting, "_counted", None)
    assert contradiction(load_catalog()["iris"]) == ""
    monkeypatch.setattr(counting, "MOST_BYTES", 10)
    said = {"n": 6, "d": 2, "classes": ["no", "yes"], "positive": "yes"}
    assert contradiction(make_entry(BODY | said, {"x.csv": CSV})) == ""


def test_a_binary_task_of_three_labels_needs_to_know_the_positive_ones(make_entry):
    text = CSV + "1,1,maybe\n"
    with pytest.raises(HarnessError, match=r"the task is binary, but there are 3 labels \('maybe"):
        make_entry(BODY, {"x.csv": text})
    assert make_entry(BODY | {"positive": "maybe"}, {"x.csv": text}).class_counts == (5, 1)


def test_one_label_is_no_classification(make_entry):
    with pytest.raises(HarnessError, match="needs at least two classes"):
        make_entry(BODY, {"x.csv": "a,label\n1,no\n2,no\n"})


def test_a_file_that_is_missing_is_named(make_entry):
    body = BODY | {"files": [{"path": "none.csv"}]}
    with pytest.raises(HarnessError, match=r"none\.csv cannot be read: there is no such file"):
        make_entry(body)


def test_points_without_a_target_are_left_out_on_request(make_entry):
    text = CSV + "8,8,?\n"
    assert make_entry(BODY | {"other_classes": "drop"}, {"x.csv": text}).n == 5
    regression = {"task": "regression", "read": {"format": "csv", "header": True}}
    text = "a,b,y\n1,2,3\n1,2,\n3,1,7\n"
    entry = make_entry(regression | {"other_classes": "drop"}, {"x.csv": text})
    assert (entry.n, count(entry).n) == (2, 2)
