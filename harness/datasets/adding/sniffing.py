"""What a file is: its format, and of a text its charset, separator, decimal sign and header.

Only the first part of a file is looked at, but for the charset, which one late letter decides.
"""

from __future__ import annotations

import codecs
import csv
import json
import re
import zipfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from harness.datasets.fetching import open_unpacked
from harness.datasets.foreign_files import KINDS, is_office_file, is_tar
from harness.datasets.image_folders import names_in_zip
from harness.errors import HarnessError

_START = 1 << 18
_BLOCK = 1 << 22
_LINES = 200
"""Lines of a text that a guess is made from."""

_MOST_ABOVE, _ALIKE = 50, 0.9
"""Lines above a table at most, and the part of the others that must have as many fields."""

_SEPARATORS = ",;\t| "
_COMMENTS = "#|%"
_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+,\d+([eE][-+]?\d+)?\s*")
_SPARSE_LINE = re.compile(r"\s*[-+.\deE]+(\s+(qid|\d+):[-+.\deEnaif]+)+\s*(#.*)?")
_BARE_LABEL = re.compile(r"\s*[-+.\deE]+\s*(#.*)?")

_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_MAGIC = {
    b"PAR1": "parquet",
    b"\x93NUMPY": "npy",
    b"\0\0\x08": "idx",
    b"MATLAB 5": "mat",
}


@dataclass(frozen=True)
class Dialect:
    """How a table of text is written.

    Parameters
    ----------
    separator : str
        One character; a blank stands for any blanks.
    header : bool
    charset : str
    decimal : {".", ","}
    comment : str
        What lines start with that are no rows; empty if there are none.
    preamble : int
        Lines above the table.
    """

    separator: str
    header: bool
    charset: str
    decimal: str
    comment: str
    preamble: int


def guess_format(path: Path) -> str:
    """Return the format of a file, by what it holds rather than by its name.

    Raises
    ------
    HarnessError
        If it is empty, or of a kind that cannot be added.
    """
    start = _start(path)
    if is_tar(start):
        return "images"
    utf16 = start.startswith(_UTF16)
    if not start.strip() or (utf16 and not start.decode("utf-16", "ignore").strip()):
        raise HarnessError(f"{path}: the file is empty")
    if start.startswith(b"PK"):
        if is_office_file(start):
            raise HarnessError(f"{path}: this is a spreadsheet: save it as CSV")
        if zipfile.is_zipfile(path) and names_in_zip(path):
            return "images"
        if b".npy" not in start:
            raise HarnessError(
                f"{path}: this is a zip archive, and not one of folders of pictures: unpack it, "
                "or write an entry that names the file in it (`member`)"
            )
        return "npz"
    for magic, what in KINDS.items():
        if start.startswith(magic):
            raise HarnessError(f"{path}: this is {what}")
    for magic, found in _MAGIC.items():
        if start.startswith(magic):
            return found
    if b"\0" in start and not utf16:
        raise HarnessError(
            f"{path}: this is no text, nor Parquet or NumPy's npz or npy, which can be added; "
            "numbers without a header need an entry of your own (`format: bytes`)"
        )
    return _text_format(path, start.decode("utf-16" if utf16 else "utf-8-sig", "replace"))


def has_lines_of_one_length(path: Path) -> bool:
    """Tell whether the first lines of a text are all as long, as fixed widths make them."""
    lines = _start(path).splitlines()[:_LINES]
    return len(lines) > 1 and len({len(line) for line in lines}) == 1


def _text_format(path: Path, text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    if _is_object(lines[0]) or (len(text) >= _START and lines[0].startswith('{"')):
        return "jsonl"
    if lines[0].lstrip()[:1] in "{[<":
        raise HarnessError(
            f"{path}: this looks like JSON, XML or HTML: write the table as CSV, Parquet or JSON "
            "lines (an object a line)"
        )
    told = next((line for line in lines if not line.lstrip().startswith("%")), "")
    if re.match(r"\s*@(relation|attribute)\b", told, re.IGNORECASE):
        return "arff"
    lines = lines[:-1] if len(text) >= _START else lines
    rows = [line for line in lines[:_LINES] if not line.lstrip().startswith("#")]
    sparse = sum(1 for line in rows if _SPARSE_LINE.fullmatch(line))
    if sparse and all(_SPARSE_LINE.fullmatch(r) or _BARE_LABEL.fullmatch(r) for r in rows):
        return "svmlight"
    return "csv"


def _is_object(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def guess_dialect(path: Path, header: bool | None = None, target: str | None = None) -> Dialect:
    """Guess how a table of text is written.

    Parameters
    ----------
    path : Path
    header : bool, optional
        Whether the first line names the columns, where that is known.
    target : str, optional
        The target: a first line that has it names the columns.
    """
    charset = guess_charset(path)
    text = _start(path).decode(charset, "replace").removeprefix("\ufeff")
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) > 1 and len(text) >= _START // 4 and not text.endswith(("\n", "\r")):
        lines = lines[:-1]
    lines = lines[:_LINES]
    separator = _separator(lines)
    comment = _comment(lines, separator)
    lines = [line for line in lines if not comment or line[0] != comment]
    above = _lines_above(lines, separator)
    # an empty line above the table counts as well
    preamble = text.splitlines().index(lines[above]) if above else 0
    rows = _split(lines[above:], separator)
    fields = [field for row in rows[1:] or rows for field in row]
    commas = sum(1 for field in fields if _DECIMAL_COMMA.fullmatch(field))
    points = sum(1 for field in fields if "." in field and _NUMBER.fullmatch(field))
    decimal = "," if separator != "," and commas > points else "."
    if header is None:
        header = _has_header(rows, decimal, target)
    return Dialect(separator, header, charset, decimal, comment, preamble)


def guess_charset(path: Path) -> str:
    """Return "utf-8" if all of a text is, else "utf-16" if it says so, else "cp1252" or "latin-1".

    Every file can be read as Latin 1, so what is read so may still be wrong. Spreadsheets in
    Western Europe write it, or what Windows has made of it (cp1252).
    """
    found = ["utf-8", "cp1252", "latin-1"]
    decoders = {name: codecs.getincrementaldecoder(name)() for name in found}
    with open_unpacked(path) as stream:
        block = stream.read(_BLOCK)
        if block.startswith(_UTF16):
            return "utf-16"
        while block:
            for name in list(decoders):
                try:
                    decoders[name].decode(block)
                except UnicodeDecodeError:
                    del decoders[name]
            if "utf-8" not in decoders and "cp1252" not in decoders:
                break
            block = stream.read(_BLOCK)
    return next(name for name in found if name in decoders)


def _start(path: Path) -> bytes:
    try:
        with open_unpacked(path) as stream:
            return stream.read(_START)
    except OSError as error:
        raise HarnessError(f"{path}: cannot be read: {error.strerror or error}") from None
    except Exception as error:  # of a damaged archive: each module has errors of its own
        raise HarnessError(f"{path}: cannot be unpacked: {error}") from None


def _separator(lines: list[str]) -> str:
    """Return the separator that splits most lines alike, into as many fields as can be."""
    scores = {}
    for separator in _SEPARATORS:
        counts = Counter(len(row) for row in _split(lines, separator))
        width, alike = counts.most_common(1)[0]
        if width > 1:
            scores[separator] = (alike / counts.total(), separator != " ", width)
    if not scores:
        return ","
    return max(scores, key=scores.__getitem__)


def _comment(lines: list[str], separator: str) -> str:
    """Return the sign that lines at the start have which are no rows, by their width."""
    sign = lines[0][0]
    usual = [line for line in lines if line[0] != sign]
    if sign not in _COMMENTS or not usual:
        return ""
    width = len(_split(usual, separator)[-1])
    return sign if len(_split(lines[:1], separator)[0]) != width else ""


def _lines_above(lines: list[str], separator: str) -> int:
    """Return how many lines stand above a table, such as a title: they have fewer fields."""
    widths = [len(row) for row in _split(lines, separator)]
    usual = Counter(widths).most_common(1)[0][0]
    above = widths.index(usual)
    alike = widths[above:].count(usual) / len(widths[above:])
    # a header of one field less is one of a table whose rows have names
    short = all(width == 1 or width < usual - 1 for width in widths[:above])
    return above if usual > 1 and above <= _MOST_ABOVE and short and alike > _ALIKE else 0


def _split(lines: list[str], separator: str) -> list[list[str]]:
    if separator == " ":
        return [line.split() for line in lines]
    try:
        return list(csv.reader(lines, delimiter=separator, skipinitialspace=True))
    except csv.Error:
        return [line.split(separator) for line in lines]


def _has_header(rows: list[list[str]], decimal: str, target: str | None) -> bool:
    first, rest = [field.strip() for field in rows[0]], rows[1:]
    if target is not None and target in first:
        return True
    if any(_is_number(field, decimal) for field in first):
        return False
    if not rest:
        return True
    columns = [[row[at].strip() for row in rest if at < len(row)] for at in range(len(first))]
    if any(_mostly_numbers(values, decimal) for values in columns):
        return True
    # of names alone: a header's are not among the values below it
    again = sum(1 for name, values in zip(first, columns, strict=True) if name in values)
    return len(set(first)) == len(first) and not again and all(first)


def _mostly_numbers(values: list[str], decimal: str) -> bool:
    held = [value for value in values if value]
    numbers = sum(1 for value in held if _is_number(value, decimal))
    return bool(held) and numbers >= 0.5 * len(held)


def _is_number(field: str, decimal: str) -> bool:
    return bool(_NUMBER.fullmatch(field.replace(decimal, ".")))
