"""Tables whose columns have a fixed width, with nothing between them."""

import gzip

import numpy as np
import pytest
from pydantic import ValidationError

from harness import add
from harness.datasets import reading
from harness.datasets.preparation import load
from harness.errors import HarnessError

pytestmark = pytest.mark.usefixtures("in_a_folder")

READ = {"format": "csv", "widths": [11, 3, 4, 2], "nominal": [0]}
BODY = {"task": "binary", "n": 4, "d": 5, "classes": [0, 1], "positive": 1}
X = [[0, 0, 1, 51, 3.5], [0, 1, 0, 49, 3.0], [1, 0, 0, 50, 3.0], [0, 0, 1, 200, -1.2]]


def lines(boise="050 3.0 1"):
    return [
        "New York   051 3.5 0",
        "Los Angeles049 3.0 1",
        f'Boise  "a,b{boise}',
        "New York   200-1.2 0",
    ]


def entry_of(make_entry, text, read=READ, **body):
    content = text if isinstance(text, bytes) else text.encode()
    return make_entry(BODY | {"read": read} | body, {"mine.txt": content})


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_columns_are_cut_where_nothing_stands_between_them(make_entry, end):
    got, y = load(entry_of(make_entry, end.join(lines()) + end))
    np.testing.assert_array_equal(got, X)
    assert y.tolist() == [0, 1, 1, 0]


def test_lines_above_comments_empty_lines_and_names_of_columns(make_entry):
    head = ["A table", "city       age gap c", "# a remark", ""]
    read = READ | {"skip_rows": 1, "skip_lines_starting": "#", "header": True}
    read |= {"target": "c", "nominal": ["city"]}
    got, _ = load(entry_of(make_entry, "\n".join(head + lines()), read))
    np.testing.assert_array_equal(got, X)


def test_a_packed_file_is_cut_too(make_entry):
    body = BODY | {"read": READ, "files": [{"path": "mine.txt"}]}
    packed = gzip.compress("\n".join(lines()).encode())
    got, _ = load(make_entry(body, {"mine.txt.gz": packed, "mine.txt": packed}))
    np.testing.assert_array_equal(got, X)


def test_blanks_and_the_end_of_a_line_are_missing_values(make_entry):
    text = "\n".join(lines(boise="        1"))
    with pytest.raises(HarnessError, match="missing"):
        load(entry_of(make_entry, text))
    got, _ = load(entry_of(make_entry, text, missing={"numeric": "mean"}))
    np.testing.assert_allclose(got[2], [1, 0, 0, 100, (3.5 + 3.0 - 1.2) / 3])


def test_a_line_that_goes_on_is_an_error_with_its_number(make_entry):
    read = READ | {"skip_rows": 1}
    text = "\n".join(["A table", *lines()[:3], lines()[3] + "7"])
    with pytest.raises(HarnessError, match="line 5 goes on beyond the 20 characters"):
        load(entry_of(make_entry, text, read))


@pytest.mark.parametrize("widths", [[0, 3], [-1], ["a"]])
def test_widths_are_whole_and_positive(widths):
    with pytest.raises(ValidationError):
        reading.Csv.model_validate({"format": "csv", "widths": widths})


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(lines()),
        "051035setosa    \n049030virginica \n047032setosa    \n",
    ],
)
def test_what_cannot_be_added_says_that_columns_may_have_a_fixed_width(tmp_path, text):
    (tmp_path / "mine.txt").write_text(text)
    with pytest.raises(HarnessError, match=r"all as long: .*`widths`"):
        add("mine.txt")
    (tmp_path / "ragged.txt").write_text(text + "\n1")
    with pytest.raises(HarnessError) as told:
        add("ragged.txt")
    assert "`widths`" not in str(told.value)
