"""Files that no format reads, told by how they begin: what they are, and what to do instead.

A library's reader says of them whatever it stumbles upon, such as a byte that is no UTF-8.
"""

from __future__ import annotations

from collections.abc import Mapping

_PICKLE = (
    "a pickle, which may run programs when it is read: load it where you trust it, and write its "
    "arrays with numpy.savez"
)
PICKLED = (
    "it holds objects of Python as pickles, which may run programs when they are read: load it "
    "where you trust it, and write plain arrays with numpy.savez"
)
"""What is told of an array of objects, such as rows of unlike length."""
_HDF5 = "an HDF5 file: write it as CSV, Parquet or npz"
_UNPACK = "packed in a way that is not read: unpack it, or pack it with gzip, bzip2 or xz"

KINDS: Mapping[bytes, str] = {
    b"MATLAB 7": "a MATLAB file of version 7.3: save it with `-v7`",
    b"\x89HDF": _HDF5,
    b"\xd0\xcf\x11\xe0": "a spreadsheet: save it as CSV",
    b"SQLite": "a database: write the table as CSV or Parquet",
    b"%PDF": "a PDF",
    **dict.fromkeys((b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"), _PICKLE),
    **dict.fromkeys((b"\x1f\x9d", b"7z\xbc\xaf", b"Rar!", b"\x28\xb5\x2f\xfd"), _UNPACK),
}
"""By their first bytes."""

INSTEAD: Mapping[str, str] = {
    **dict.fromkeys(("pickle", "pkl", "pt", "pth"), f"it would be {_PICKLE}"),
    **dict.fromkeys(("hdf5", "h5", "mat73"), f"it would be {_HDF5}"),
    **dict.fromkeys(("xls", "xlsx", "excel"), "it would be a spreadsheet: save it as CSV"),
    "tsv": "write `format: csv` with a tab as the separator",
    "json": "write an object a line, which is `format: jsonl`",
    "libsvm": "it is called svmlight",
    **dict.fromkeys(("binary", "bin", "raw"), "numbers without a header are `format: bytes`"),
}
"""What somebody writes as a format that is none."""

_WEB_PAGE = (b"<!DOCTYPE", b"<!doctype", b"<html", b"<HTML")
_OFFICE = (b"[Content_Types]", b"xl/")
_ARCHIVES = ("npz", "images")
_TAR_AT = 257
"""Where a tar archive says that it is one."""


def foreign_kind(start: bytes, format: str) -> str:
    """Say what a file is that is not of its format; empty if it may be of it.

    Parameters
    ----------
    start : bytes
        The first 4096 of the file, unpacked.
    format : str
        As a catalog calls it.
    """
    if not start:
        return "an empty file"
    if format == "bytes":  # of which any start is as good as another
        return ""
    if is_office_file(start):
        return KINDS[b"\xd0\xcf\x11\xe0"]
    if format not in _ARCHIVES and (start.startswith(b"PK\x03\x04") or is_tar(start)):
        return "an archive: name the file in it under `member`, beside its path"
    if start.startswith(_WEB_PAGE):
        return "a web page, and not the data that it should lead to"
    return next((what for magic, what in KINDS.items() if start.startswith(magic)), "")


def is_office_file(start: bytes) -> bool:
    """Tell by the start of a file whether it is a zip archive of an office program."""
    return start.startswith(b"PK") and any(sign in start for sign in _OFFICE)


def is_tar(start: bytes) -> bool:
    """Tell by the start of a file whether it is a tar archive."""
    return start[_TAR_AT:].startswith(b"ustar")
