"""The card of a data set for other programs: Croissant 1.0, which is JSON-LD.

It says what the catalog says: source, licence, citation, files with checksums, classes with counts
and the official split. Columns are not described: no field could be read from most formats.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from importlib.metadata import version
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

from harness.datasets.entry import Entry
from harness.datasets.entry_values import UNKNOWN
from harness.datasets.fetching import PACKINGS
from harness.datasets.file import File
from harness.datasets.reading import Bundled, OpenML
from harness.errors import HarnessError

CONFORMS_TO = "http://mlcommons.org/croissant/1.0"

_SPDX = re.compile(r"[A-Za-z0-9.+]+(-[A-Za-z0-9.+]+)+|MIT|ISC|Zlib")
_YEAR = re.compile(r"\((\d{4})\)")
_BUNDLED = {
    "breast_cancer": ["breast_cancer.csv"],
    "diabetes": ["diabetes_data_raw.csv.gz", "diabetes_target.csv.gz"],
    "digits": ["digits.csv.gz"],
    "iris": ["iris.csv"],
    "wine": ["wine_data.csv"],
}
"""Files of scikit-learn that its loaders read."""
_SOURCE = "https://raw.githubusercontent.com/scikit-learn/scikit-learn"
_MEDIA = {
    "csv": "text/csv",
    "svmlight": "text/plain",
    "arff": "text/plain",
    "jsonl": "application/jsonl",
    "texts": "text/plain",
    "parquet": "application/vnd.apache.parquet",
}
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
"""As Croissant 1.0 prints it."""


def croissant(entry: Entry, splits: Mapping[str, Path] | None = None) -> dict[str, Any]:
    """Return the card of a data set.

    Parameters
    ----------
    entry : Entry
    splits : mapping of str to Path, optional
        Files of splits that a study drew, by the address that the card gives them.

    Returns
    -------
    dict
        JSON-LD as Croissant 1.0 describes it. Files without a known checksum are only described.

    Raises
    ------
    HarnessError
        If a file of splits cannot be read.
    """
    found = [*_distribution(entry), *_split_files(splits or {})]
    urls = [file["contentUrl"] for file in found if "://" in file["contentUrl"]]
    card: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": entry.name,
        "description": _description(entry),
        "license": licence_url(entry.licence),
        "url": urls[0]
        if urls
        else f"urn:sha256:{hashlib.sha256(entry.name.encode()).hexdigest()}",
        "version": "1.0.0",
        "identifier": entry.digest,
    }
    if entry.source:
        card["publisher"] = {"@type": "sc:Organization", "name": entry.source}
    if entry.citation:
        card["citeAs"] = entry.citation
        year = _YEAR.search(entry.citation)
        card |= {"datePublished": f"{year[1]}-01-01"} if year else {}
    card["distribution"] = found
    card["recordSet"] = [*_official_split(entry), *_classes(entry)]
    return card


def licence_url(licence: str) -> str:
    """Return the address of a licence that has an SPDX identifier, else what is said of it."""
    known = _SPDX.fullmatch(licence) is not None
    return f"https://spdx.org/licenses/{licence}" if known else licence


def _description(entry: Entry) -> str:
    kind = "sparse, " if entry.sparse else ""
    told = [
        f"{entry.task}: {entry.n} points of {entry.d} features ({kind}{entry.dtype}) once "
        f"encoded, scaling {entry.scaling}."
    ]
    if entry.n_train is not None:
        told.append(f"The first {entry.n_train} points are the official training part.")
    if entry.licence == UNKNOWN:
        told.append("No licence is known.")
    lacking = [
        f"{file.name} ({file.urls[0]})" if file.urls else file.name
        for file in entry.every_file
        if not _has_checksum(file)
    ]
    if isinstance(entry.read, OpenML):
        lacking = [f"https://www.openml.org/d/{entry.read.id}"]
    if lacking:
        told.append(
            f"No checksum is known of {', '.join(lacking)}, which is not listed therefore."
        )
    if entry.stand_in_for:
        told.append(f"It only has the shape of {entry.stand_in_for}.")
    return " ".join([*told, entry.notes]).strip()


def _distribution(entry: Entry) -> list[dict[str, Any]]:
    if isinstance(entry.read, Bundled):
        return [_bundled(name) for name in _BUNDLED[entry.read.loader]]
    # Croissant asks for a checksum of every file; several members may be of one archive
    listed = {file.name: file for file in entry.files if _has_checksum(file)}
    beside = {file.name: file for file in entry.every_file[len(entry.files) :]}
    return [
        *(_of_catalog(file, entry.format) for file in listed.values()),
        *(_of_catalog(file, "") for file in beside.values() if _has_checksum(file)),
    ]


def _has_checksum(file: File) -> bool:
    of_file = file.sha256 if file.member is None else None
    return (of_file or file.packed_sha256) is not None


def _of_catalog(file: File, format: str) -> dict[str, Any]:
    """Describe a file; a checksum is of the bytes at the address, or of the unpacked file."""
    address: str
    checksum: str | None
    plain = [url for url in file.urls if not url.endswith(PACKINGS[1:])]
    if file.packed_sha256 and (file.urls or file.member):
        address, checksum = (file.urls or (file.name,))[0], file.packed_sha256
    elif file.sha256 and (plain or not file.urls):
        address, checksum = (plain[0] if plain else file.name), file.sha256
    else:
        address, checksum = file.name, file.sha256
    assert checksum is not None, "only files with one are listed"
    told = _file_object(file.name, address, checksum, _MEDIA.get(format))
    if file.bytes:
        told["contentSize"] = f"{file.bytes} B"
    if file.urls and address not in file.urls:
        told["description"] = f"The unpacked bytes of {file.urls[0]}"
    return told


def _bundled(name: str) -> dict[str, Any]:
    content = (package_files("sklearn.datasets") / "data" / name).read_bytes()
    address = f"{_SOURCE}/{version('scikit-learn')}/sklearn/datasets/data/{name}"
    return _file_object(name, address, hashlib.sha256(content).hexdigest()) | {
        "contentSize": f"{len(content)} B"
    }


def _split_files(splits: Mapping[str, Path]) -> Iterable[dict[str, Any]]:
    for address, path in splits.items():
        try:
            content = path.read_bytes()
        except OSError as error:
            raise HarnessError(f"{path}: cannot be read: {error.strerror}") from None
        told = _file_object(
            address, address, hashlib.sha256(content).hexdigest(), "application/x-npz"
        )
        yield told | {
            "contentSize": f"{len(content)} B",
            "description": "part: of each split, rows labeled (1), unlabeled (2), tested (3)",
        }


def _file_object(name: str, address: str, sha256: str, media: str | None = None) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": name,
        "name": name,
        "contentUrl": address,
        "encodingFormat": media or "application/octet-stream",
        "sha256": sha256,
    }


def _official_split(entry: Entry) -> list[dict[str, Any]]:
    if entry.n_train is None:
        return []
    rows = [
        {"split/name": "train", "split/url": "cr:TrainingSplit", "split/points": entry.n_train},
        {
            "split/name": "test",
            "split/url": "cr:TestSplit",
            "split/points": entry.n - entry.n_train,
        },
    ]
    fields = [("name", "sc:Text"), ("url", "sc:URL"), ("points", "sc:Integer")]
    return [_record_set("split", "cr:Split", "The official parts.", fields, rows)]


def _classes(entry: Entry) -> list[dict[str, Any]]:
    if not entry.classes:
        return []
    fields = [("name", "sc:Text"), ("number", "sc:Integer")]
    numbers = {
        label: entry.class_names.index(label) if entry.task == "multiclass" else int(positive)
        for label in entry.classes
        for positive in [label in entry.positive]
    }
    rows: list[dict[str, Any]] = [
        {"class/name": label, "class/number": number} for label, number in numbers.items()
    ]
    if all(count is not None for count in entry.classes.values()):
        fields.append(("points", "sc:Integer"))
        for row in rows:
            row["class/points"] = entry.classes[row["class/name"]]
    told = "Labels of the source, and the class number that each becomes."
    return [_record_set("class", "sc:Enumeration", told, fields, rows)]


def _record_set(
    name: str,
    kind: str,
    told: str,
    fields: list[tuple[str, str]],
    rows: list[dict[str, Any]],
) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": told,
        "dataType": kind,
        "key": {"@id": f"{name}/name"},
        "field": [
            {
                "@type": "cr:Field",
                "@id": f"{name}/{field}",
                "name": f"{name}/{field}",
                "description": f"The {field} of each {name}.",
                "dataType": type,
            }
            for field, type in fields
        ],
        "data": rows,
    }
