"""Files of public benchmarks as they are: what used to be read wrongly, or not at all."""

import pickle

import pytest

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
