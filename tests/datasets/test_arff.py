import io

import numpy as np
import pytest
from scipy.io import arff as scipy_arff

from harness.datasets.arff import read_arff

PLAIN = """\
% a comment
@relation 'two words'

@attribute length real
@ATTRIBUTE 'whole weight' NUMERIC
@attribute sex {M, F, I}
@attribute rings integer
@data
0.5,1e-3,M,4
% a comment in between

0.25,2,I,5
?,3,F,6
"""


def test_agrees_with_scipy_where_scipy_reads_it():
    ours = read_arff(PLAIN)
    theirs, _ = scipy_arff.loadarff(io.StringIO(PLAIN))
    assert list(ours) == ["length", "whole weight", "sex", "rings"]
    for name in ("length", "whole weight", "rings"):
        assert np.array_equal(ours[name], theirs[name], equal_nan=True)
    assert [value.encode() for value in ours["sex"]] == theirs["sex"].tolist()
    assert list(ours["sex"].cat.categories) == ["M", "F", "I"]


def test_trailing_commas_and_carriage_returns():
    rows = PLAIN.replace("\n0.5,1e-3,M,4", "\n0.5,1e-3,M,4,").replace("5\n?", "5,\n?")
    rows = rows.replace("F,6", "F,6,").replace("\n", "\r\n")
    assert read_arff(rows).equals(read_arff(PLAIN))


@pytest.mark.parametrize("quote", ["'", '"'])
def test_quoted_names_and_values_with_commas_and_blanks(quote):
    text = f"@attribute {quote}a b{quote} {{{quote}<1, or so{quote}, other}}\n@data\n"
    frame = read_arff(text + f"{quote}<1, or so{quote}\nother\n")
    assert frame["a b"].tolist() == ["<1, or so", "other"]


def test_quotes_of_both_kinds_in_one_file():
    text = "@attribute a {'dark, \"blue\"', \"it's\", 'a\\'b', red}\n@attribute n real\n@data\n"
    frame = read_arff(text + "'dark, \"blue\"', 1\n\"it's\",?\n'a\\'b',2\nred , 3\n")
    assert frame["a"].tolist() == ['dark, "blue"', "it's", "a'b", "red"]
    assert frame["n"].fillna(0).tolist() == [1, 0, 2, 3]


def test_bounds_and_the_missing_sign_of_keel():
    text = (
        "@attribute a real[4.3,7.9]\n@attribute b integer [1, 9]\n@attribute c {x,y}\n@inputs a, b"
    )
    frame = read_arff(text + "\n@outputs c\n@data\n4.5, 1, x\n<null>, 9, <null>\n")
    assert [str(kind) for kind in frame.dtypes] == ["float64", "float64", "category"]
    assert frame["a"].isna().tolist() == frame["c"].isna().tolist() == [False, True]


def test_sparse_rows_with_quotes_and_what_is_none():
    head = "@attribute a real\n@attribute b {no,'a, b'}\n@data\n"
    frame = read_arff(head + "{ 1 'a, b' , 0 2}\n{0 ?}\n")
    assert frame["b"].tolist() == ["a, b", "no"]
    assert frame["a"].fillna(-1).tolist() == [2, -1]
    for row, said in (
        ("{2 1}", "2 attributes, numbered from 0; not one 2"),
        ("{yes}", "the sparse row '{yes}' is no list of positions and values"),
        ("{0 1", "a sparse row is in braces, and one is '{0 1'"),
    ):
        with pytest.raises(ValueError, match=said):
            read_arff(head + "{0 1}\n" + row)


def test_sparse_rows():
    text = "@attribute a real\n@attribute b {no,yes}\n@attribute c real\n@data\n"
    frame = read_arff(text + "{0 1.5, 1 yes}\n{}\n{2 -3}\n")
    assert frame["a"].tolist() == [1.5, 0, 0]
    assert frame["b"].tolist() == ["yes", "no", "no"]
    assert frame["c"].tolist() == [0, 0, -3]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("@data", "", "no @data line"),
        ("rings integer", "rings", "cannot read the header line '@attribute rings'"),
        ("0.25,2,I,5", "0.25,2,X,5", "attribute 'sex': 'X' is not among its values"),
        ("0.25,2,I,5", "0.25,two,I,5", "attribute 'whole weight': .*two"),
        ("length real", "length relational", "attribute 'length': 'relational' is no type"),
        ("length real", "rings real", "two attributes have the same name"),
        (
            "@attribute rings integer\n",
            "@attribute r real\n@attribute s real\n",
            "5 attributes, but",
        ),
    ],
)
def test_what_is_not_understood_is_named(old, new, said):
    with pytest.raises(ValueError, match=said):
        read_arff(PLAIN.replace(old, new))
