"""Groups and the order of points, in every format that data come in."""

import bz2
import io
import zipfile

import numpy as np
import pytest
from scipy import sparse
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from harness.datasets.entry import generated_entry
from harness.datasets.preparation import load_with_facts
from harness.errors import HarnessError
from harness.plugin.hookspecs import GeneratedDataset

rng = np.random.default_rng(5)
SUBJECT = np.array([3, 3, 1, 1, 1, 2, 2, 3])
DAY = np.array([5, 1, 7, 3, 8, 2, 6, 4])
X = rng.integers(1, 9, size=(8, 3)).astype(float)
Y = np.array([0, 1, 0, 1, 1, 0, 1, 0])
BODY = {"task": "binary"}
TEXT = "".join(f"{subject}\n" for subject in SUBJECT)

pytestmark = pytest.mark.usefixtures("in_a_folder")


def stored(write, *arguments, **arrays):
    held = io.BytesIO()
    write(held, *arguments, **arrays)
    return held.getvalue()


def idx(values):
    kinds = {np.dtype("u1"): 0x08, np.dtype(">i4"): 0x0C}
    head = bytes([0, 0, kinds[values.dtype], values.ndim])
    return head + np.array(values.shape, ">u4").tobytes() + values.tobytes()


def pictures(named):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        for name, at in named:
            archive.writestr(name, stored(np.save, X[at].astype("u1").reshape(1, 3)))
    return held.getvalue()


ALL = np.column_stack([X, SUBJECT, DAY, Y])
MAT = {"format": "mat", "X": "X", "y": "y"}
IDX = {"i": idx(X.astype("u1").reshape(8, 1, 3)), "l": idx(Y.astype("u1"))}
FILE = {"files": [{"path": "who.txt"}]}
CSV = "".join(f"{','.join(map(str, row))},{y}\n" for row, y in zip(X, Y, strict=True))
FIRST, REST = "".join(CSV.splitlines(True)[:3]), "".join(CSV.splitlines(True)[3:])
PICTURES = sorted((f"{'ab'[Y[at]]}/s{SUBJECT[at]}-{at}.npy", at) for at in range(8))
IN_ORDER = [at for _, at in PICTURES]
PICTURED = pictures(PICTURES)
QUERIES = stored(lambda to: dump_svmlight_file(X, Y, to, query_id=SUBJECT))

WAYS = {
    "svmlight": ({"format": "svmlight", "zero_based": True}, {"a.svm": QUERIES}, "qid"),
    "svmlight file": ({"format": "svmlight", "zero_based": True}, {"a.svm": QUERIES}, FILE),
    "mat": (MAT, {"a.mat": stored(savemat, {"X": X, "y": Y, "who": SUBJECT})}, "who"),
    "mat sparse": (
        MAT,
        {"a.mat": stored(savemat, {"X": sparse.csc_matrix(X), "y": Y, "who": SUBJECT})},
        "who",
    ),
    "mat column": (
        {"format": "mat", "target": 5, "columns": 4},
        {"a.mat": stored(savemat, {"X": ALL})},
        3,
    ),
    "mat pairs": (
        {"format": "mat", "X": ["A", "B"], "y": ["a", "b"]},
        {
            "a.mat": stored(
                savemat,
                {
                    "A": X[:3],
                    "B": X[3:],
                    "a": Y[:3],
                    "b": Y[3:],
                    "u": SUBJECT[:3],
                    "v": SUBJECT[3:],
                },
            )
        },
        ["u", "v"],
    ),
    "npz column": ({"format": "npz"}, {"a.npz": stored(np.savez, X=ALL[:, :4], y=Y)}, 3),
    "npy": ({"format": "npy", "ignore": [4]}, {"a.npy": stored(np.save, ALL)}, 3),
    "npy file": ({"format": "npy", "ignore": [3, 4]}, {"a.npy": stored(np.save, ALL)}, FILE),
    "idx": ({"format": "idx"}, IDX, FILE),
    "csv file": ({"format": "csv"}, {"a.csv": CSV}, FILE),
    "csv names": (
        {"format": "csv"},
        {f"s{at}_{SUBJECT[at]}.csv": CSV.splitlines()[at] for at in range(8)},
        {"path": r"_(\d)"},
    ),
    "pictures": ({"format": "images"}, {"a.zip": PICTURED}, {"path": r"/s(\d)-"}),
}


@pytest.mark.parametrize("way", WAYS)
def test_groups_come_out_as_they_are_in_every_format(make_entry, tmp_path, way):
    read, files, groups = WAYS[way]
    (tmp_path / "who.txt").write_text(TEXT)
    entry = make_entry(BODY | {"read": read, "groups": groups}, files)
    assert (entry.n, entry.d, entry.largest_group) == (8, 3, 3)
    got, y, facts = load_with_facts(entry)
    order = IN_ORDER if way == "pictures" else list(range(8))
    np.testing.assert_array_equal(facts["groups"], SUBJECT[order] - 1)
    np.testing.assert_array_equal(got, X[order])
    np.testing.assert_array_equal(y, Y[order])


def test_texts_have_groups_and_an_order_by_their_names(make_entry, tmp_path):
    for at, (subject, day) in enumerate(zip(SUBJECT, DAY, strict=True)):
        place = tmp_path / "posts" / "ab"[Y[at]] / f"{subject}_2026-01-0{day}.txt"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"word{at} common")
    body = BODY | {"read": {"format": "texts"}, "text": {"column": "text"}}
    body |= {"groups": {"path": r"(\d)_"}, "order": {"path": r"\d{4}-\d\d-\d\d"}}
    entry = make_entry(body | {"files": [{"path": "posts"}]})
    _, _, facts = load_with_facts(entry)
    order = sorted(range(8), key=lambda at: (Y[at], SUBJECT[at], DAY[at]))
    np.testing.assert_array_equal(facts["groups"], SUBJECT[order] - 1)
    np.testing.assert_array_equal(facts["order"], DAY[order] - 1)


TABLE = "who,day\n" + "".join(f"p{s},{d}\n" for s, d in zip(SUBJECT, DAY, strict=True))
BESIDE = {
    "lines": (TEXT, None),
    "packed": (bz2.compress(TEXT.encode()), None),
    "array": (stored(np.save, SUBJECT[:, None]), None),
    "column of an array": (stored(np.save, np.column_stack([DAY, SUBJECT])), 1),
    "idx": (idx(np.column_stack([DAY, SUBJECT]).astype(">i4")), 1),
    "table": (TABLE, "who"),
    "blanks": ("".join(f"{d}  {s}\n" for s, d in zip(SUBJECT, DAY, strict=True)), 1),
}


@pytest.mark.parametrize("beside", BESIDE)
def test_a_file_beside_the_data_has_a_value_for_each_point(make_entry, tmp_path, beside):
    content, column = BESIDE[beside]
    raw = content if isinstance(content, bytes) else content.encode()
    (tmp_path / "who").write_bytes(raw)
    said = {"files": [{"path": "who"}]} | ({} if column is None else {"column": column})
    body = BODY | {"read": {"format": "csv"}, "groups": said, "files": [{"path": "a.csv"}]}
    (tmp_path / "a.csv").write_text(CSV)
    entry = make_entry(body)
    np.testing.assert_array_equal(load_with_facts(entry)[2]["groups"], SUBJECT - 1)
    assert entry.every_file[-1].path == tmp_path / "who"


def test_another_file_or_pattern_is_another_data_set(make_entry, tmp_path):
    def digest(groups):
        body = BODY | {"read": {"format": "csv"}, "groups": groups}
        return make_entry(body, {"a1.csv": FIRST, "b2.csv": REST}).digest

    digests = [digest({"path": "."}), digest({"path": r"\d"})]
    (tmp_path / "who.txt").write_text(TEXT)
    digests.append(digest(FILE))
    (tmp_path / "who.txt").write_text(TEXT.replace("3", "4"))
    digests.append(digest(FILE))
    assert len(set(digests)) == 4


def test_a_number_names_a_feature_too_if_it_is_said(make_entry):
    files = {"a.npz": stored(np.savez, X=ALL[:, :4], y=Y)}
    body = BODY | {"read": {"format": "npz"}, "groups": {"column": 3, "feature": True}}
    entry = make_entry(body, files)
    assert entry.d == 4
    np.testing.assert_array_equal(load_with_facts(entry)[2]["groups"], SUBJECT - 1)


def test_generated_points_have_groups_and_an_order():
    def generate(_):
        return X, Y, {"groups": SUBJECT, "order": DAY}

    told = {"task": "binary", "n": 8, "d": 3, "n_classes": 2}
    made = GeneratedDataset("made", generate, **told, largest_group=3, has_order=True)
    _, _, facts = load_with_facts(generated_entry(made))
    np.testing.assert_array_equal(facts["groups"], SUBJECT - 1)
    np.testing.assert_array_equal(facts["order"], DAY - 1)
    undeclared = GeneratedDataset("made", generate, **told, has_order=True)
    with pytest.raises(HarnessError, match=r"returns groups, order.*declares order \(largest_gro"):
        load_with_facts(generated_entry(undeclared))


NPY = {"format": "npy"}
REFUSED = {
    "idx": ({"format": "idx"}, "who", "format idx has no column 'who'; allowed are {path: PAT"),
    "npy": (NPY, "who", "format npy has no column 'who'; allowed are the number of a column, "),
    "csv": ({"format": "csv"}, ["a", "b"], r"no column \['a', 'b'\]; allowed are the name or num"),
    "svmlight": ({"format": "svmlight"}, 3, "has no column 3; allowed are qid, {path"),
    "feature": (NPY, FILE | {"feature": True}, "feature: true is of a column that is among"),
    "several": (NPY, {"column": 3, "path": "a"}, "name one of column, path and files"),
    "none": (NPY, {}, "name one of column, path and files"),
    "no pattern": (NPY, {"path": "("}, "groups.path: no regular expression: missing"),
    "two groups": (NPY, {"path": "(a)(b)"}, r"it has 2 groups in parentheses: write \(\?:"),
    "no match": (
        NPY,
        {"path": "z(.)"},
        r"groups: path 'z\(\.\)' finds nothing in the name 'a.npy'",
    ),
    "far column": (NPY, 6, "groups: there is no column 6; columns are 0 to 5"),
    "too few": (NPY, {"files": [{"path": "few.txt"}]}, "groups: 2 values, but 8 targets"),
    "no number": (
        NPY,
        FILE | {"column": 1},
        r"who.txt: row 0 \(numbered from 0\) has no column 1",
    ),
    "no name": (NPY, FILE | {"column": "a"}, "its first line names no column 'a': '3'"),
    "matrix": (NPY, {"files": [{"path": "a.npy"}]}, "one value for each point is wanted"),
    "unknown key": (NPY, {"colum": 3}, "unknown key 'groups.colum'; did you mean 'column'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_sense_is_told_in_a_sentence(make_entry, tmp_path, case):
    read, groups, told = REFUSED[case]
    (tmp_path / "who.txt").write_text(TEXT)
    (tmp_path / "few.txt").write_text("1\n2\n")
    files = {"a.npy": stored(np.save, ALL)}
    with pytest.raises(HarnessError, match=told):
        load_with_facts(make_entry(BODY | {"read": read, "groups": groups}, files))


def test_lines_without_a_query_are_told(make_entry):
    raw = b"1 qid:1 1:2\n0 1:3\n"
    with pytest.raises(HarnessError, match=r"groups: 1 of 2 lines of a\.svm have a qid"):
        make_entry(BODY | {"read": {"format": "svmlight"}, "groups": "qid"}, {"a.svm": raw})


def test_digests_of_columns_of_tables_are_what_they_were(make_entry, monkeypatch):
    """What a release prepared in another way is told by its number alone."""
    monkeypatch.setattr("harness.datasets.entry.PREPARATION", 1)
    text = "site,day,size,state\nb,2,1,ok\na,1,2,bad\n"
    read = {"format": "csv", "header": True, "target": "state"}
    body = BODY | {"positive": "bad", "read": read, "groups": "site", "order": "day"}
    assert make_entry(body, {"a.csv": text}).digest == "ac3b876531df"
