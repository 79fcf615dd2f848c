"""Whom to cite: methods, data and the harness, as BibTeX; and what Zenodo is told."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any

import yaml

from harness.datasets.entry import Entry
from harness.planning.workload import Workload
from harness.project import TEMPLATES

_PAPER = re.compile(r"(?P<author>.+?): (?P<title>.+)\. (?P<venue>[^.]+?),? (?P<year>\d{4})")
_YEAR = re.compile(r"\b(1[89]\d\d|20\d\d)\b")
_ESCAPED = re.compile(r"([&%$#_{}])")


def bibtex(workload: Workload, entries: Mapping[str, Entry]) -> str:
    """Return BibTeX of the papers of the methods, of the data sets and of the harness.

    A citation whose parts cannot be told apart stands in `note` as it was written.
    """
    papers = yaml.safe_load((TEMPLATES / "papers.yaml").read_text(encoding="utf-8"))
    used = {block.method.name for block in workload.blocks}
    given = {
        method["reference"]
        for method in workload.index["methods"]
        if method["name"] in used and method["reference"]
    }
    told = [_entry("software", "memory-budget-harness", _harness())]
    for reference in sorted(given):
        text = papers.get(reference, reference)
        key = re.sub(r"[^A-Za-z0-9]+", "-", reference)[:40].strip("-")
        told.append(_entry("misc", key, _parts(text)))
    for name, entry in entries.items():
        if entry.citation:
            told.append(_entry("misc", f"data-{name}", _parts(entry.citation, entry.source)))
    return "\n".join(told)


def zenodo(title: str, told: str, creators: Sequence[str], licence: str) -> str:
    """Return `.zenodo.json`, which Zenodo fills a new record from.

    Parameters
    ----------
    title, told : str
        What the record is called, and a paragraph about it.
    creators : sequence of str
        "Family, Given" each; Zenodo asks for one before it publishes.
    licence : str
        Of the results, as an SPDX identifier.
    """
    record: dict[str, Any] = {
        "title": title,
        "upload_type": "dataset",
        "description": told,
        "license": licence.lower(),
        "keywords": ["benchmark", "memory budget", "machine learning"],
        "notes": "The data sets are not part of it; their entries name files and checksums.",
    }
    if creators:
        record["creators"] = [{"name": name} for name in creators]
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


def _harness() -> dict[str, str]:
    return {
        "title": "A benchmark harness for learning under a memory budget",
        "author": "{the harness maintainers}",
        "version": version("memory-budget-harness"),
    }


def _parts(text: str, source: str = "") -> dict[str, str]:
    more = {"howpublished": source} if source else {}
    if match := _PAPER.fullmatch(text):
        authors = match["author"].replace(" et al.", ", others").split(", ")
        return {
            "author": " and ".join(authors),
            "title": f"{{{match['title']}}}",
            "howpublished": match["venue"],
            "year": match["year"],
        } | more
    year = _YEAR.search(text)
    return {"note": text} | ({"year": year[0]} if year else {}) | more


def _entry(kind: str, key: str, parts: Mapping[str, str]) -> str:
    lines = [f"  {name} = {{{_escaped(name, text)}}}," for name, text in parts.items()]
    return "\n".join([f"@{kind}{{{key},", *lines, "}", ""])


def _escaped(name: str, text: str) -> str:
    outer = text.startswith("{") and text.endswith("}")
    inner = text[1:-1] if outer else text
    escaped = _ESCAPED.sub(r"\\\1", inner)
    return f"{{{escaped}}}" if outer else escaped
