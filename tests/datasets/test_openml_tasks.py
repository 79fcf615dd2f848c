"""Folds of tasks of OpenML, read from a mirror as OpenML writes them."""

import numpy as np
import pytest
from openml_answers import N, described, folds

from harness.datasets.openml_tasks import keep_task, task_file
from harness.datasets.split_files import read_splits
from harness.errors import HarnessError

CSV = "".join(f"{row},{'no' if row % 2 else 'yes'}\n" for row in range(N))
BODY = {"task": "binary", "read": {"format": "csv"}, "openml": 61}


@pytest.fixture
def task(make_entry, tmp_path, monkeypatch):
    """Put the files of task 59 into a mirror, and keep it for an entry."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_MIRROR", str(tmp_path / "mirror"))
    (tmp_path / "mirror/openml").mkdir(parents=True)

    def task(arff=None, told=None, **changes):
        for ending, text in (("json", told or described()), ("arff", arff or folds())):
            (tmp_path / f"mirror/openml/task-59.{ending}").write_text(text)
        body = {key: value for key, value in (BODY | changes).items() if value is not None}
        entry = make_entry(body, {"a.csv": CSV})
        return keep_task(59, entry), entry

    return task


def test_folds_are_splits_numbered_repeat_by_repeat(task):
    path, _ = task()
    assert path == task_file(59)
    found = read_splits(path, N)
    assert found.seeds == (0, 1, 2, 3)
    assert not found.says_labeled
    assert found.split(0).test.tolist() == [2, 3, 6, 7]
    assert found.split(0).unlabeled.tolist() == [0, 1, 4, 5, 8, 9]
    # the second fold of the first repeat is the first of the second
    assert found.split(1).test.tolist() == found.split(2).test.tolist() == [0, 1, 4, 5, 8, 9]
    assert found.train_sizes == (4, 6)


def test_what_is_kept_needs_neither_mirror_nor_network(task, monkeypatch, tmp_path):
    path, entry = task()
    content = path.read_bytes()
    # one file, that goes along to another machine
    assert [kept.name for kept in path.parent.iterdir()] == [path.name]
    monkeypatch.delenv("HARNESS_MIRROR")
    assert keep_task(59, entry).read_bytes() == content


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"openml": None}, "write `openml: NUMBER` in it, which https://www.openml.org/t/59"),
        ({"openml": 62}, "data set 'mine' is OpenML 62, but OpenML task 59 is of OpenML data s"),
        (
            {"read": {"format": "csv", "target": "kind", "header": True}},
            "its target is 'kind', but OpenML task 59 predicts 'class'",
        ),
    ],
)
def test_a_task_of_other_data_is_refused(task, changes, told):
    if "read" in changes:
        with pytest.raises(HarnessError, match="there is no column 'kind'"):
            task(**changes)
        changes = changes | {"n": N, "d": 1, "classes": ["no", "yes"], "positive": "yes"}
    with pytest.raises(HarnessError, match=told):
        task(**changes)


def test_a_task_of_other_rows_is_refused_also_once_it_is_kept(task):
    for _ in range(2):
        with pytest.raises(HarnessError, match="has 10 points, but OpenML task 59 is of 8 rows"):
            task(folds(n=8))


BAD_FOLDS = {
    "no arff": ("type,rowid\n", "there is no @data line"),
    "lacks a column": (folds().replace("ATTRIBUTE fold", "ATTRIBUTE part"), "no attribute 'fold'"),
    "no whole number": (folds().replace("TRAIN,0,0,0", "TRAIN,0.5,0,0"), "is no whole number"),
    "twice": (folds().replace("TRAIN,1,0,0", "TRAIN,0,0,0"), "a row is twice in one fold"),
    "negative": (folds().replace("TRAIN,1,0,0", "TRAIN,-1,0,0"), "repeat or fold is negative"),
    "no test rows": (folds(1).replace("TEST,", "TRAIN,"), "fold 0 lacks training or test rows"),
    "of other parts": (folds().replace("TRAIN,1,0,0", "SOME,1,0,0"), "'SOME' is not among its"),
}


@pytest.mark.parametrize("case", BAD_FOLDS)
def test_folds_that_are_none_are_told_with_their_file(task, case):
    arff, told = BAD_FOLDS[case]
    with pytest.raises(HarnessError, match=f"OpenML task 59: .*task-59.arff: .*{told}"):
        task(arff)
    assert not task_file(59).exists()


@pytest.mark.parametrize("told", ["no json", "{}", '{"task": {"input": []}}', '{"task": 3}'])
def test_what_openml_does_not_say_of_a_task_is_told(task, told):
    with pytest.raises(HarnessError, match=r"task-59.json: is not what OpenML says of a task \("):
        task(told=told)


def test_a_task_that_is_nowhere_says_where_it_was_sought(make_entry, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "pooch.HTTPDownloader.__call__",
        lambda *_: (_ for _ in ()).throw(ValueError("no network")),
    )
    entry = make_entry(BODY, {"a.csv": CSV})
    told = r"OpenML task 59: task-59.json could not be fetched:\s+https://www.openml.org/api/v1/"
    with pytest.raises(HarnessError, match=told):
        keep_task(59, entry)


def test_a_file_that_was_damaged_is_told(task):
    path, entry = task()
    path.write_bytes(b"damaged")
    with pytest.raises(HarnessError, match=r"task-59.npz: cannot be read: .*; remove it"):
        keep_task(59, entry)
    np.savez(path, part=np.ones((1, 4)))
    with pytest.raises(HarnessError, match=r"task-59.npz: cannot be read: .*; remove it"):
        keep_task(59, entry)
