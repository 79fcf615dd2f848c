"""Files of public benchmarks as they are: what used to be read wrongly, or not at all."""

import io
import pickle
import tarfile
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from harness.datasets.preparation import load
from harness.errors import HarnessError

pytestmark = pytest.mark.usefixtures("in_a_folder")

MESSAGES = """\
ham\t"Rain again, he said
spam\tWIN a prize "now
ham\tand again he said "go" today
spam\tcall now
"""


def test_quotes_that_belong_to_a_text(make_entry, added):
    """As of the SMS Spam Collection: two of its messages used to vanish in a third."""
    read = {"format": "csv", "separator": "\t", "target": 0}
    body = {"task": "binary", "positive": "spam", "read": read, "text": {"column": 1}}
    for text, line in (
        (MESSAGES, "line 1"),
        (MESSAGES.replace('"', "") + 'ham\t"so\n' + "ham\tyes\n", "row 4"),
    ):
        with pytest.raises(HarnessError, match=rf"{line} .* quote that .* write `quotes: false`"):
            make_entry(body, {"sms.txt": text})
        plain = body | {"read": read | {"quotes": False}}
        assert make_entry(plain, {"sms.txt": text}).n == text.count("\n")
    found, entry, _, _ = added(MESSAGES, file="SMSSpamCollection", target="0")
    assert "quotes are part of the texts (`quotes` in the entry)" in found.told
    assert (entry.n, entry.read.quotes) == (4, False)


def test_values_in_quotes_that_go_on_over_lines(make_entry):
    text = 'a,b\n"x\ny ""z""",no\n"x",yes\n"y\n",no\n'
    read = {"format": "csv", "header": True, "nominal": ["a"]}
    assert make_entry({"task": "binary", "read": read}, {"mine.csv": text}).d == 3


@pytest.mark.parametrize(
    ("raw", "what"),
    [
        (b"", "an empty file"),
        (pickle.dumps({"data": [1]}), "a pickle, which may run .* numpy.savez"),
        (b"\x89HDF\r\n\x1a\n", "an HDF5 file: write it as"),
        (b"MATLAB 7.3 MAT-file", "a MATLAB file of version 7.3: save it with `-v7`"),
        (b"\x1f\x9d\x90", "packed in a way that is not read: unpack it"),
        (b"PK\x03\x04 [Content_Types].xml xl/", "a spreadsheet: save it as CSV"),
        (b"PK\x03\x04 iris.data", "an archive: name the file in it under `member`"),
        (b"<!DOCTYPE html><html>", "a web page, and not the data"),
    ],
)
def test_files_that_no_format_reads_are_called_what_they_are(make_entry, raw, what):
    for read in ({"format": "csv"}, {"format": "mat", "y": "y"}):
        with pytest.raises(HarnessError, match=f"mine': .*file: this is {what}"):
            make_entry({"task": "binary", "read": read}, {"file": raw})


@pytest.mark.parametrize(
    ("format", "instead"),
    [
        ("pickle", "a pickle"),
        ("h5", "an HDF5 file: write it as"),
        ("libsvm", "is called svmlight"),
    ],
)
def test_formats_that_are_none_lead_to_one(make_entry, format, instead):
    with pytest.raises(HarnessError, match=rf"format: '{format}' is none; .*svmlight.*{instead}"):
        make_entry({"task": "binary", "read": {"format": format}}, {"file": b"x"})


def test_a_separator_that_is_none_is_asked_about(make_entry):
    with pytest.raises(HarnessError, match=r"no column besides the target .*; is ',' their sep"):
        make_entry({"task": "binary", "read": {"format": "csv"}}, {"a.csv": "1 no\n2 yes\n"})


rng = np.random.default_rng(5)
X = rng.integers(0, 256, size=(6, 4)).astype(np.uint8)
Y = np.arange(6, dtype=np.uint8) % 2


def text(rows, separator=" "):
    """Write rows with blanks at the start and the end of lines, as UCI does."""
    return "".join(f" {separator.join(map(str, np.atleast_1d(row)))} \n" for row in rows)


def stored(array):
    held = io.BytesIO()
    np.save(held, array)
    return held.getvalue()


def assert_read(entry, features=X, targets=Y):
    got, y = load(entry)
    np.testing.assert_array_equal(got, features)
    np.testing.assert_array_equal(y, targets)


def test_features_subjects_and_labels_in_files_of_their_own(make_entry):
    """As of UCI's human activities, and of the NIPS 2003 challenge."""
    read = {"format": "csv", "separator": " ", "side_by_side": 3, "ignore": []}
    body = {"task": "binary", "read": read, "groups": 4}
    files = {}
    for part, rows in (("train", slice(0, 4)), ("test", slice(4, 6))):
        files |= {f"X_{part}.txt": text(X[rows]), f"s_{part}.txt": text(np.arange(6)[rows] // 2)}
        files |= {f"y_{part}.txt": text(Y[rows])}
    entry = make_entry(body | {"n_train": 4}, files)
    assert_read(entry)
    assert entry.largest_group == 2
    with pytest.raises(HarnessError, match=r"3 files in turn stand side by side, .* 5 of them"):
        make_entry(body, dict(list(files.items())[:5]))
    short = {"X.txt": text(X), "y.txt": text(Y[:5])}
    two = {"task": "binary", "read": read | {"side_by_side": 2}}
    with pytest.raises(
        HarnessError, match=r"y.txt has 5 rows, and X.txt, which stands beside it, 6"
    ):
        make_entry(two, short)
    one = {"task": "binary", "read": read | {"side_by_side": 1}}
    with pytest.raises(HarnessError, match=r"y.txt has 1 columns, X.txt 4; .*`side_by_side: 2`"):
        make_entry(one, short | {"y.txt": text(Y)})
    named = {"task": "binary", "read": read | {"side_by_side": 2, "header": True}}
    with pytest.raises(HarnessError, match="column 'a' is in two of the files"):
        make_entry(named, {"X.csv": "a\n1\n2\n", "y.csv": "a\nyes\nno\n"})


def test_features_and_targets_in_two_arrays(make_entry):
    read = {"format": "npy", "side_by_side": 2}
    files = {"X.npy": stored(X.reshape(6, 2, 2)), "y.npy": stored(Y.astype(np.int64))}
    entry = make_entry({"task": "binary", "dtype": "uint8", "read": read}, files)
    assert_read(entry)
    with pytest.raises(HarnessError, match=r"got \(6, 2, 2\); .* `side_by_side: 2`"):
        make_entry({"task": "binary", "read": {"format": "npy"}}, files)


def test_numbers_without_a_header(make_entry):
    """As of CIFAR-10 (a label before each picture), CIFAR-100 (two) and STL-10 (in a file)."""
    cases = (
        ({"row": 5, "target": 0}, {"a.bin": np.c_[Y, X]}),
        ({"row": 6, "target": 1, "ignore": [0]}, {"a.bin": np.c_[Y * 9, Y, X]}),
        ({"row": [4, 1]}, {"X.bin": X, "y.bin": Y}),
        ({"row": 5, "type": "int32", "skip_bytes": 3}, {"a.bin": np.c_[X, Y].astype("<i4")}),
    )
    for told, arrays in cases:
        above = b"abc" * ("skip_bytes" in told)
        files = {name: above + array.tobytes() for name, array in arrays.items()}
        entry = make_entry({"task": "binary", "read": {"format": "bytes"} | told}, files)
        assert_read(entry)
    with pytest.raises(
        HarnessError, match=r"a.bin has 30 bytes, which are no whole rows of 7 uint8"
    ):
        make_entry({"task": "binary", "read": {"format": "bytes", "row": 7}}, {"a.bin": b"0" * 30})


@pytest.mark.parametrize("kind", ["zip", "tar.gz"])
def test_members_of_an_archive(make_entry, kind):
    parts = {
        "bin/train.csv": text(np.c_[X, Y][:4], ","),
        "bin/test.csv": text(np.c_[X, Y][4:], ","),
    }
    held = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(held, "w") as archive:
            for name, content in parts.items():
                archive.writestr(name, content)
    else:
        with tarfile.open(fileobj=held, mode="w:gz") as archive:
            for name, content in parts.items():
                info = tarfile.TarInfo(name)
                info.size = len(content)
                archive.addfile(info, io.BytesIO(content.encode()))
    files = {f"set.{kind}": held.getvalue()}
    listed = [{"path": f"set.{kind}", "member": name} for name in parts]
    body = {"task": "binary", "n_train": 4, "read": {"format": "csv"}, "files": listed}
    entry = make_entry(body, files)
    assert_read(entry)
    other = make_entry(body | {"files": listed[::-1], "n_train": 2}, files)
    assert entry.digest != other.digest
    with pytest.raises(HarnessError, match=r"has no member 'train\.csv'; it has bin/tra"):
        make_entry(body | {"files": [{"path": f"set.{kind}", "member": "train.csv"}]}, files)
    wrong = [listed[0] | {"sha256": "0" * 64}, listed[1]]
    with pytest.raises(HarnessError, match=f"expected sha256 0000.*; correct .*set.{kind}"):
        load(make_entry(body | {"files": wrong, "n": 6, "d": 4, "classes": [0, 1], "positive": 1}))
    with pytest.raises(HarnessError, match="is no zip or tar archive: leave `member` out"):
        make_entry(body | {"files": [{"path": "a", "member": "b"}]}, {"a": b"1,2"})


def test_a_column_of_pictures(make_entry):
    """As data sets of Hugging Face have them."""
    image = pytest.importorskip("PIL.Image")

    def png(pixels):
        held = io.BytesIO()
        image.fromarray(pixels).save(held, "PNG")
        return {"bytes": held.getvalue(), "path": None}

    files = {}
    for at, rows in enumerate((slice(0, 4), slice(4, 6))):
        held = io.BytesIO()
        pictures = [png(pixels) for pixels in X[rows].reshape(-1, 2, 2)]
        pq.write_table(pa.table({"image": pictures, "label": Y[rows]}), held)
        files[f"train-0000{at}.parquet"] = held.getvalue()
    read = {"format": "parquet", "target": "label"}
    body = {"task": "binary", "dtype": "uint8", "read": read | {"pictures": {"column": "image"}}}
    assert_read(make_entry(body, files))
    with pytest.raises(HarnessError, match=r"of pictures write `pictures: \{column: image\}`"):
        make_entry(body | {"read": read}, files)
    with pytest.raises(HarnessError, match="there is no 'img'; the columns are image, label"):
        make_entry(body | {"read": read | {"pictures": {"column": "img"}}}, files)


def test_a_file_without_the_target_has_points_without_a_label(make_entry):
    """As the test files of Kaggle."""
    files = {"train.csv": "id,y,a\n1,1,0.5\n2,0,0.25\n", "test.csv": "id,a\n3,0.75\n"}
    read = {"format": "csv", "header": True, "target": "y", "ignore": ["id"]}
    body = {"task": "binary", "read": read}
    entry = make_entry(body | {"other_classes": "unlabeled"}, files)
    assert_read(entry, [[0.5], [0.25], [0.75]], [1, 0, -1])
    with pytest.raises(HarnessError, match=r"test.csv has no column 'y', the target: write"):
        make_entry(body, files)


@pytest.mark.parametrize("names", [None, ["no", "yes"]])
def test_matrices_without_targets_have_points_without_a_label(make_entry, names):
    """As the unlabeled pictures of STL-10, and the extra ones of SVHN without theirs."""
    from scipy.io import savemat

    labels = Y[:4] if names is None else np.array(names)[Y[:4]]
    held = {"npz": io.BytesIO(), "mat": io.BytesIO()}
    arrays = {"x": X[:4], "more": X[4:], "y": labels}
    np.savez(held["npz"], **arrays)
    savemat(held["mat"], arrays | {"y": labels if names is None else labels.astype(object)})
    targets = [*Y[:4], -1, -1]
    for format, raw in held.items():
        read = {"format": format, "X": ["x", "more"], "y": ["y"]}
        body = {"task": "binary", "read": read}
        entry = make_entry(body | {"other_classes": "unlabeled"}, {"a": raw.getvalue()})
        assert_read(entry, X, targets)
        with pytest.raises(
            HarnessError, match=r"X names 2 matrices and y 1: each has .*unlabeled`"
        ):
            make_entry(body, {"a": raw.getvalue()})
    if names is None:
        files = {"X.bin": X[:4].tobytes(), "y.bin": labels.tobytes(), "more.bin": X[4:].tobytes()}
        body = {"task": "binary", "dtype": "uint8", "other_classes": "unlabeled"}
        read = {"format": "bytes", "row": [4, 1]}
        assert_read(make_entry(body | {"read": read}, files), X, targets)


def test_one_of_several_labels(make_entry):
    """As of the topics of RCV1."""
    files = {"a": "34,59,123 1:1\n 2:1\n134 1:1\n12,34 2:1\n"}
    body = {
        "task": "binary",
        "positive": 34,
        "read": {"format": "svmlight", "several_labels": True},
    }
    entry = make_entry(body, files)
    assert_read(entry, [[1, 0], [0, 1], [1, 0], [0, 1]], [1, 0, 0, 1])
    assert entry.class_names == ("other", "34")
    with pytest.raises(HarnessError, match="needs task: binary and one label under `positive`"):
        make_entry({"task": "multiclass", "read": body["read"]}, files)
    with pytest.raises(HarnessError, match=r"line 1: it has several labels .*`several_lab"):
        make_entry(body | {"read": {"format": "svmlight"}}, files)


def test_a_structure_of_matlab(make_entry):
    from scipy.io import savemat

    held = io.BytesIO()
    savemat(held, {"banana": {"x": X * 1.0, "t": Y[:, None]}})
    read = {"format": "mat", "X": "banana.x", "y": "banana.t"}
    assert_read(make_entry({"task": "binary", "read": read}, {"benchmarks.mat": held.getvalue()}))


def test_true_is_no_label_until_it_is_quoted(make_entry):
    body = {"task": "binary", "positive": True, "read": {"format": "csv"}}
    with pytest.raises(HarnessError, match="positive: True is no label: write text or a number"):
        make_entry(body, {"jm1.csv": "1,true\n2,false\n"})


def test_labels_in_columns_as_of_qmnist(make_entry):
    """Files of labels have eight whole numbers a point, the class first."""
    images = np.arange(6 * 4, dtype=np.uint8).reshape(6, 2, 2)
    wide = np.stack([np.arange(6) % 3, *np.arange(42).reshape(7, 6)], axis=1).astype(">i4")
    files = {
        "images-idx3-ubyte": b"\0\0\x08\x03"
        + np.array([6, 2, 2], ">u4").tobytes()
        + bytes(images),
        "labels-idx2-int": b"\0\0\x0c\x02" + np.array([6, 8], ">u4").tobytes() + wide.tobytes(),
    }
    body = {"task": "multiclass", "read": {"format": "idx", "target": 0}}
    X, y = load(make_entry(body, files))
    np.testing.assert_array_equal(X, images.reshape(6, 4))
    assert y.tolist() == [0, 1, 2, 0, 1, 2]
    for target, told in (
        (None, "and 8 columns: write `target: 0`"),
        (8, "has no column 8, but 8"),
    ):
        with pytest.raises(HarnessError, match=told):
            make_entry({"task": "multiclass", "read": {"format": "idx", "target": target}}, files)


def test_structures_in_a_structure_as_of_emnist(make_entry):
    from scipy.io import savemat

    rng = np.random.default_rng(0)
    parts = {
        name: {
            "images": rng.integers(0, 256, (n, 784), dtype=np.uint8),
            "labels": (np.arange(n, dtype=np.uint8) % 3 + 1)[:, None],
            "writers": np.ones((n, 1)),
        }
        for name, n in (("train", 9), ("test", 6))
    }
    held = io.BytesIO()
    mapping = np.array([[1, 65, 97], [2, 66, 98], [3, 67, 99]], np.uint8)
    savemat(held, {"dataset": parts | {"mapping": mapping}})
    names = {
        key: [f"dataset.train.{told}", f"dataset.test.{told}"]
        for key, told in (("X", "images"), ("y", "labels"))
    }
    body = {"task": "multiclass", "n_train": 9, "read": {"format": "mat"} | names}
    X, y = load(make_entry(body, {"emnist-letters.mat": held.getvalue()}))
    np.testing.assert_array_equal(X, np.vstack([part["images"] for part in parts.values()]))
    assert y.tolist() == [0, 1, 2] * 5


def test_labels_with_the_highest_byte_first(make_entry):
    held = io.BytesIO()
    np.savez(held, X=X.astype(">f4"), y=Y.astype(">i4"))
    body = {"task": "binary", "read": {"format": "npz"}}
    assert_read(make_entry(body, {"mine.npz": held.getvalue()}))


def test_features_and_labels_apart_are_told_how_to_be_joined(make_entry):
    """As of GraphLearning's archives, and of dexter."""
    files = {}
    for name, array in (("data", X), ("labels", Y)):
        held = io.BytesIO()
        np.savez(held, **{name: array})
        files[f"{name}.npz"] = held.getvalue()
    read = {"format": "npz", "X": "data", "y": "labels"}
    with pytest.raises(HarnessError, match=r"no array 'labels'.*join those of two with numpy.sa"):
        make_entry({"task": "binary", "read": read}, files)
    body = {"task": "binary", "read": {"format": "svmlight"}}
    with pytest.raises(HarnessError, match=r"begins with '3:1', .* `paste -d ' ' LABELS DATA`"):
        make_entry(body, {"dexter.data": "3:1 7:2 \n4:1 \n"})
