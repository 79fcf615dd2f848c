"""Citations as BibTeX, and what Zenodo is told."""

import json
from types import SimpleNamespace

from harness.datasets import load_catalog
from harness.publishing.citing import bibtex, zenodo


def test_methods_and_data_are_cited():
    blocks = [SimpleNamespace(method=SimpleNamespace(name=name)) for name in ("falkon", "own")]
    index = {
        "methods": [
            {"name": "falkon", "reference": "rudi2017"},
            {"name": "own", "reference": "Me & you: 50 % better, 2025"},
            {"name": "unused", "reference": "hou2017"},
        ]
    }
    catalog = load_catalog()
    entries = {"adult": catalog["adult"], "digits": catalog["digits"]}
    text = bibtex(SimpleNamespace(blocks=blocks, index=index), entries)
    assert "@misc{rudi2017,\n  author = {A. Rudi and L. Carratino and L. Rosasco}," in text
    assert "title = {{FALKON: An Optimal Large Scale Kernel Method}}," in text
    assert "note = {Me \\& you: 50 \\% better, 2025}," in text
    assert "@misc{data-adult," in text
    assert "hou2017" not in text
    assert text.count("{") - text.count("\\{") == text.count("}") - text.count("\\}")


def test_zenodo_is_told_what_it_asks_for():
    told = json.loads(zenodo("T", "About.", ["Doe, Jane"], "CC-BY-4.0"))
    assert told["creators"] == [{"name": "Doe, Jane"}]
    assert (told["upload_type"], told["license"]) == ("dataset", "cc-by-4.0")
    assert "creators" not in json.loads(zenodo("T", "About.", [], "CC0-1.0"))
