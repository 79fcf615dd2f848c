import io

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import OneHotEncoder

from harness.datasets import entry, load_catalog
from harness.datasets.encoding import class_counts, label_texts
from harness.datasets.preparation import load
from harness.errors import HarnessError

ARFF = """\
@attribute size {big, small, tiny}
@attribute weight real
@attribute left {t, f}
@attribute class {a, b, c}
@data
small,1,t,a
big,2,f,b
small,?,t,c
?,4,f,a
"""
BODY = {"task": "multiclass", "classes": ["a", "b", "c"], "read": {"format": "arff"}}


def encoded(make_entry, encoding, missing, n, d):
    read = {"format": "arff", "encoding": encoding}
    body = BODY | {"read": read, "missing": missing, "n": n, "d": d, "raw_n": 4, "raw_d": 3}
    return load(make_entry(body, {"x.arff": ARFF}))


def test_onehot_over_the_values_that_occur_in_the_header_s_order(make_entry):
    text = ARFF.replace("?,4,f,a", "big,4,f,a").replace("small,?", "small,3")
    body = BODY | {"n": 4, "d": 5}
    X, y = load(make_entry(body, {"x.arff": text}))
    frame = pd.DataFrame({"size": ["small", "big", "small", "big"], "left": list("tftf")})
    order = OneHotEncoder(categories=[["big", "small"], ["t", "f"]], sparse_output=False)
    dummies = order.fit_transform(frame)
    assert (X[:, [0, 1, 3, 4]] == dummies).all()
    assert X[:, 2].tolist() == [1, 2, 3, 4]
    assert y.tolist() == [0, 1, 2, 0]


def test_binary_attributes_take_one_column_on_request(make_entry):
    text = ARFF.replace("?,4,f,a", "tiny,4,f,a").replace("small,?", "small,3")
    read = {"format": "arff", "encoding": "onehot-drop-binary"}
    X, _ = load(make_entry(BODY | {"n": 4, "d": 5, "read": read}, {"x.arff": text}))
    assert X[:, 4].tolist() == [0, 1, 0, 1]
    assert X[:, :3].sum(axis=1).tolist() == [1, 1, 1, 1]


def test_integers_are_positions_in_the_header(make_entry):
    text = ARFF.replace("?,4,f,a", "tiny,4,f,a").replace("small,?", "small,3")
    read = {"format": "arff", "encoding": "integer"}
    X, _ = load(make_entry(BODY | {"n": 4, "d": 3, "read": read}, {"x.arff": text}))
    assert X[:, 0].tolist() == [1, 0, 1, 2]


def test_what_becomes_of_missing_features(make_entry):
    with pytest.raises(HarnessError, match=r"row 2, 3 .*columns size, weight.*`missing: error` n"):
        encoded(make_entry, "onehot", "error", 4, 5)
    with pytest.raises(HarnessError, match=r"row 3 .*columns size\)"):
        encoded(make_entry, "onehot", "mean", 4, 5)
    with pytest.raises(HarnessError, match=r"row 2 .*columns weight\)"):
        encoded(make_entry, "onehot", "value", 4, 5)


def test_rows_are_dropped_before_values_are_counted(make_entry):
    body = BODY | {"task": "binary", "positive": "b", "classes": ["a", "b"], "n": 2, "d": 5}
    X, y = load(make_entry(body | {"missing": "drop", "raw_n": 4, "raw_d": 3}, {"x.arff": ARFF}))
    assert X.tolist() == [[0, 1, 1, 1, 0], [1, 0, 2, 0, 1]]
    assert y.tolist() == [0, 1]


@pytest.mark.parametrize(("missing", "expected"), [("mean", 7 / 3), ("median", 2)])
def test_numbers_are_filled_in(make_entry, missing, expected):
    text = ARFF.replace("?,4,f,a", "big,4,f,a")
    X, _ = load(make_entry(BODY | {"n": 4, "d": 5, "missing": missing}, {"x.arff": text}))
    assert X[:, 2].tolist() == pytest.approx([1, 2, expected, 4])
    array = {"task": "regression", "n": 4, "d": 1, "missing": missing}
    got, y = load(make_entry(array | {"read": {"format": "csv"}}, {"x": "1,5\n2,6\n,7\n4,8\n"}))
    assert got[:, 0].tolist() == pytest.approx([1, 2, expected, 4])
    assert y.tolist() == [5, 6, 7, 8]


def test_numbers_of_an_array_are_filled_in(make_entry):
    packed = io.BytesIO()
    np.savez(packed, X=[[1.0], [2.0], [np.nan], [4.0]], y=[5, 6, 7, 8])
    body = {"task": "regression", "n": 4, "d": 1, "missing": "mean", "read": {"format": "npz"}}
    X, _ = load(make_entry(body, {"x": packed.getvalue()}))
    assert X[:, 0].tolist() == pytest.approx([1, 2, 7 / 3, 4])


def test_unknown_is_a_value_of_its_own(make_entry):
    text = ARFF.replace("small,?", "small,3")
    X, _ = load(make_entry(BODY | {"n": 4, "d": 6, "missing": "value"}, {"x.arff": text}))
    assert X[:, 2].tolist() == [0, 0, 0, 1]


def test_positive_labels_are_joined(make_entry):
    body = {"task": "binary", "n": 4, "d": 1, "classes": ["1", "2", "3"], "positive": [1, 3]}
    entry = make_entry(body | {"read": {"format": "csv"}}, {"x": "0,1\n0,2\n0,3\n0,2\n"})
    assert load(entry)[1].tolist() == [1, 0, 1, 0]
    assert entry.class_names == ("2", "1|3")
    digits, odd = load_catalog()["digits"], load_catalog()["digits-odd"]
    assert (load(digits)[1] % 2 == load(odd)[1]).all()


def test_a_target_that_is_no_number_is_told(make_entry):
    body = {"task": "regression", "n": 2, "d": 1, "read": {"format": "csv"}}
    with pytest.raises(HarnessError, match=r"'mine': a target is not a number: .*'b'"):
        load(make_entry(body, {"x": "1,a\n2,b\n".replace("a", "3")}))
    with pytest.raises(HarnessError, match=r"'mine': the target of row 1 .* is missing"):
        load(make_entry(body, {"x": "1,3\n2,?\n"}))


def test_labels_are_written_as_in_a_catalog():
    assert label_texts(np.array([-1.0, 1.0])).tolist() == ["-1", "1"]
    assert label_texts(np.array([0.5, 1.0])).tolist() == ["0.5", "1.0"]
    assert label_texts(np.array([" >50K", "<=50K "], dtype=object)).tolist() == [">50K", "<=50K"]
    assert label_texts(np.array([True, False])).tolist() == ["True", "False"]


def test_points_of_other_classes_are_dropped_on_request_and_refused_otherwise(make_entry):
    csv = "1,2,a\n3,4,b\n5,6,c\n7,8,a\n"
    body = {"task": "binary", "classes": {"a": 2, "c": 1}, "positive": "c", "n": 3, "d": 2}
    body |= {"raw_n": 4, "read": {"format": "csv"}}
    X, y = load(make_entry(body | {"other_classes": "drop"}, {"x.csv": csv}))
    assert X.tolist() == [[1, 2], [5, 6], [7, 8]]
    assert y.tolist() == [0, 1, 0]
    with pytest.raises(HarnessError, match=r"labels \['b'\] are not among"):
        load(make_entry(body, {"x.csv": csv}))


def test_logarithms_of_amounts(make_entry):
    csv = "0,x,9,a\n99,y,7,b\n"
    body = {"task": "binary", "classes": ["a", "b"], "positive": "b", "n": 2, "d": 4, "raw_d": 3}
    body |= {"read": {"format": "csv", "nominal": [1]}}
    X, _ = load(make_entry(body | {"logarithm": [0]}, {"x.csv": csv}))
    assert X.tolist() == [[0, 1, 0, 9], [pytest.approx(np.log(100)), 0, 1, 7]]
    for column, text in ((1, csv), (3, csv), (0, csv.replace("99", "-1"))):
        with pytest.raises(HarnessError, match=f"logarithm: column {column} is not one of numb"):
            load(make_entry(body | {"logarithm": [column]}, {"x.csv": text}))


def test_keys_that_came_later_leave_alone_the_digests_of_entries_without_them(
    make_entry, monkeypatch
):
    body = {"task": "binary", "classes": ["a", "b"], "positive": "b", "n": 2, "d": 1}
    body |= {"read": {"format": "csv"}}
    files = {"x.csv": "0,a\n1,b\n"}
    before = make_entry(body, files).digest
    assert make_entry(body | {"logarithm": [0]}, files).digest != before
    monkeypatch.setattr(entry, "_LATER", set())
    assert make_entry(body, files).digest != before


MIXED = """\
1,?,red,no
2,5,?,no
?,6,?,yes
9,7,blue,yes
"""


@pytest.mark.parametrize(
    ("missing", "expected"),
    [
        ({"numeric": "median", "nominal": "own"}, [[1, 6, 0, 1, 0], [2, 5, 0, 0, 1]]),
        ({"numeric": "mean", "nominal": "most_frequent"}, [[1, 6, 0, 1], [2, 5, 1, 0]]),
        ({"numeric": "median", "nominal": "drop"}, [[1, 7, 0, 1], [9, 7, 1, 0]]),
        ({"numeric": "drop", "nominal": "own"}, [[2, 5, 0, 1], [9, 7, 1, 0]]),
    ],
)
def test_missing_numbers_and_missing_names_are_seen_to_each_in_its_way(
    make_entry, missing, expected
):
    body = {"task": "binary", "read": {"format": "csv", "nominal": [2]}, "missing": missing}
    X, _ = load(make_entry(body, {"x.csv": MIXED}))
    np.testing.assert_allclose(X[:2], expected)


def test_a_kind_that_is_not_seen_to_is_an_error_that_says_how(make_entry):
    body = {"task": "binary", "read": {"format": "csv", "nominal": [2]}}
    with pytest.raises(
        HarnessError, match=r"it is `missing: \{numeric: median, nominal: error\}`"
    ):
        load(make_entry(body | {"missing": {"numeric": "median"}}, {"x.csv": MIXED}))


def test_a_value_of_its_own_is_none_of_those_there(make_entry):
    body = {"task": "binary", "read": {"format": "csv", "nominal": [0]}, "missing": "value"}
    X, _ = load(make_entry(body, {"x.csv": "missing,no\n?,yes\nred,no\nred,yes\n"}))
    np.testing.assert_array_equal(X, [[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 0]])
    X, _ = load(make_entry(body, {"x.csv": "1990,no\n?,yes\n2000,no\n2000,yes\n"}))
    np.testing.assert_array_equal(X, [[1, 0, 0], [0, 0, 1], [0, 1, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ({"numbers": "mean"}, r"unknown key 'missing.numbers'; .*known: numeric, nominal"),
        ({"numeric": "own"}, r"missing.numeric: .*'mean' or 'median'.*'own'"),
        ("most", r"missing: .*'median' or 'value'.*'most'"),
    ],
)
def test_mistakes_in_missing_are_told_as_others(make_entry, missing, said):
    with pytest.raises(HarnessError, match=said):
        make_entry(
            {"task": "binary", "read": {"format": "csv"}, "missing": missing}, {"x.csv": MIXED}
        )


def test_points_of_each_label_are_counted_in_the_order_of_the_labels():
    assert class_counts(np.array([10, 9, 10, 2])) == {"2": 1, "9": 1, "10": 2}
    assert list(class_counts(np.array([10, 9, 2]))) == ["2", "9", "10"]
    assert list(class_counts(np.array(["b", "a", "b"], dtype=object)).items()) == [
        ("a", 1),
        ("b", 2),
    ]
    # one label in two ways of writing it
    assert class_counts(np.array(["1 ", "1", "2"], dtype=object)) == {"1": 2, "2": 1}


@pytest.mark.parametrize(("gaps", "told"), [(3, "row 0, 1, 2"), (40, " and ")])
def test_of_many_rows_with_gaps_some_are_named(make_entry, gaps, told):
    lines = [f"{'' if row < gaps else row},{row}" for row in range(50)]
    body = {"task": "regression", "n": 50, "d": 1, "read": {"format": "csv"}}
    with pytest.raises(HarnessError) as caught:
        load(make_entry(body, {"x": "\n".join(lines) + "\n"}))
    assert told in str(caught.value)
    assert (" more" in str(caught.value)) is (gaps == 40)


@pytest.mark.parametrize("raw", [{"raw_n": 5}, {"raw_d": 2}])
def test_a_source_of_another_size_is_refused_with_both(make_entry, raw):
    body = {"task": "regression", "n": 4, "d": 1, "read": {"format": "csv"}} | raw
    with pytest.raises(HarnessError, match=r"source has 4 x 1 .* the catalog says \d x \d"):
        load(make_entry(body, {"x": "1,5\n2,6\n3,7\n4,8\n"}))
    fits = {"task": "regression", "n": 4, "d": 1, "raw_n": 4, "read": {"format": "csv"}}
    assert load(make_entry(fits, {"x": "1,5\n2,6\n3,7\n4,8\n"}))[0].shape == (4, 1)
