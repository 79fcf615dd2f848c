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
