"""Files that are damaged, swapped or other than declared: one sentence each, that says where."""

import gzip
import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.io import savemat

from harness.datasets.preparation import load
from harness.errors import HarnessError

pytestmark = pytest.mark.usefixtures("in_a_folder")

X = np.arange(12.0).reshape(6, 2)
Y = np.array([1, 2, 1, 2, 1, 2])
SVM = "1 1:0.5 3:2\n-1 2:1\n"
IMAGES = b"\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02abcd"
LABELS = b"\0\0\x08\x01\0\0\0\x02\0\x01"
ARFF = "@attribute a real\n@attribute c {x,y}\n@data\n1,'x'\n2,'y'\n"


def npz(**arrays):
    held = io.BytesIO()
    np.savez(held, **arrays)
    return held.getvalue()


def mat(**arrays):
    held = io.BytesIO()
    savemat(held, arrays)
    return held.getvalue()


def parquet(**columns):
    held = io.BytesIO()
    pq.write_table(pa.table(columns), held)
    return held.getvalue()


MISSING = (
    r"the target of row {} \(numbered from 0; 1 in all\) is missing: write `other_classes: dr"
)


@pytest.mark.parametrize(
    ("format", "files", "told"),
    [
        ("svmlight", {"a": SVM.replace("-1", "nan")}, MISSING.format(1)),
        ("csv", {"a": "1,a\n3,b\n5,\n"}, MISSING.format(2)),
        ("mat", {"a": mat(X=X, y=np.where(np.arange(6) == 4, np.nan, Y))}, MISSING.format(4)),
        ("parquet", {"a": parquet(a=[1, 2, 3], y=["x", None, "y"])}, MISSING.format(1)),
        ("csv", {"a": "1,a\n3,b\n5,c\n"}, r"there are 3 labels \('a', 'b', 'c'\): name those of"),
        ("csv", {"a": "\xe9,a\n1,b\n".encode("latin-1")}, "name its charset under read.charset"),
        ("csv", {"a": gzip.compress(b"1,a\n2,b\n" * 999)[:-9]}, "a: this is a damaged archive"),
        ("svmlight", {"a": SVM + "1 0:1\n"}, "a: line 3: it has the index 0: write `zero_based"),
        ("svmlight", {"a": SVM + "1 2:\n"}, "a: line 3: '2:' is no INDEX:VALUE"),
        ("svmlight", {"a": SVM + "yes 2:1\n"}, "a: line 3: the label 'yes' is no number"),
        ("svmlight", {"a": "2,5 1:1\n" + SVM}, r"a: line 1: it has several labels \('2,5'\)"),
        ("svmlight", {"a": "1:1\n2:1\n"}, "a: line 1: it begins with '1:1', and each line begins"),
        ("svmlight", {"a": SVM + "1 qid:2 3:1 3:2\n"}, "line 3: the index 3 comes after 3"),
        ("npz", {"a": npz(X=X, y=np.eye(2)[Y - 1])}, "targets are a matrix of 6 x 2, and one col"),
        ("npz", {"a": npz(X=X.astype(str), y=Y)}, "a matrix of numbers is wanted, got one of <U"),
        ("mat", {"a": mat(X=X * 1j, y=Y)}, "a matrix of numbers is wanted, got one of complex128"),
        ("idx", {"l": LABELS, "i": IMAGES}, "i should hold labels, and has 3 axes: .* come first"),
        ("idx", {"i": IMAGES[:9], "l": LABELS}, "i is cut short within its header"),
        ("parquet", {"a": parquet(d=np.array(["2026"], "M8[s]"), y=["x"])}, "d holds dates: list"),
        ("arff", {"a": ARFF + "3"}, "attribute 'c': a row ends before it"),
        ("arff", {"a": ARFF + "3,'x"}, "row 2 .numbered from 0.:? .*quote .*not closed"),
    ],
)
def test_what_is_damaged_is_told_in_a_sentence(make_entry, format, files, told):
    y = {"y": "y"} if format == "mat" else {}
    body = {"task": "binary", "read": {"format": format} | y}
    with pytest.raises(HarnessError, match=told):
        load(make_entry(body, files))


def test_a_missing_label_is_no_class_where_signs_are_stripped(make_entry):
    read = {"format": "csv", "target_strip": "."}
    files = {"adult.test": "1,a.\n2,\n3,b\n"}
    body = {"task": "binary", "positive": "b", "read": read}
    with pytest.raises(HarnessError, match=r"the target of row 1 .* is missing"):
        make_entry(body, files)
    _, y = load(make_entry(body | {"other_classes": "unlabeled"}, files))
    assert y.tolist() == [0, -1, 1]


def test_labels_of_bytes_are_texts(make_entry):
    raw = npz(X=X, y=np.array([b"a", b"b"] * 3))
    entry = make_entry({"task": "binary", "read": {"format": "npz"}}, {"a": raw})
    assert entry.class_names == ("a", "b")


@pytest.mark.parametrize("names", ["0,1,2", "1,2,3", "a,1.5,2"])
def test_a_row_is_not_lost_as_a_header(make_entry, names):
    body = {"task": "binary", "read": {"format": "csv", "header": True}}
    rows = "0.5,1.5,0\n2.5,3.5,1\n" * 3
    features, _ = load(make_entry(body, {"x.csv": f"{names}\n{rows}"}))
    assert features.shape == (6, 2)
    with pytest.raises(HarnessError, match=r"columns 0\.5, 0 and so on, .* `header: false`"):
        load(make_entry(body, {"x.csv": rows}))
