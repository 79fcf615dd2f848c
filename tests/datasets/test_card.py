"""Cards of data sets: what Croissant 1.0 asks for is there, for every entry of the catalog.

mlcroissant validates them too, where it is installed (`pip install '.[cards]'`). It brings stubs
of pandas along, which mypy would then read, so the tests do not install it.
"""

import hashlib
import json

import jsonschema
import numpy as np
import pytest
import yaml
from click.testing import CliRunner

from harness.cli.main import main
from harness.datasets import load_catalog
from harness.datasets.card import CONFORMS_TO, croissant, licence_url
from harness.project import CATALOG

NAMED = {"type": "object", "required": ["@type", "@id", "name"]}
FILE = {
    "allOf": [NAMED],
    "required": ["contentUrl", "encodingFormat", "sha256"],
    "properties": {
        "@type": {"const": "cr:FileObject"},
        "sha256": {"pattern": "^[0-9a-f]{64}$"},
        "contentUrl": {"type": "string", "minLength": 1},
        "contentSize": {"pattern": "^[1-9][0-9]* B$"},
    },
}
FIELD = {
    "allOf": [NAMED],
    "required": ["dataType"],
    "properties": {"@type": {"const": "cr:Field"}},
}
RECORDS = {
    "allOf": [NAMED],
    "required": ["field", "key", "data", "dataType"],
    "properties": {
        "@type": {"const": "cr:RecordSet"},
        "field": {"type": "array", "items": FIELD, "minItems": 1},
    },
}
SCHEMA = {
    "type": "object",
    "required": [
        *("@context", "@type", "conformsTo", "name", "description", "license", "url"),
        *("version", "distribution", "recordSet"),
    ],
    "properties": {
        "@type": {"const": "sc:Dataset"},
        "conformsTo": {"const": CONFORMS_TO},
        "license": {"type": "string", "minLength": 1},
        "version": {"pattern": r"^\d+\.\d+\.\d+$"},
        "datePublished": {"pattern": r"^\d{4}-\d\d-\d\d$"},
        "distribution": {"type": "array", "items": FILE},
        "recordSet": {"type": "array", "items": RECORDS},
    },
}
"""What the specification requires of what is written here: a schema of our own."""


@pytest.fixture(scope="module")
def catalog():
    return load_catalog()


def test_every_entry_has_a_card_with_what_the_specification_requires(catalog):
    for name in catalog:
        card = json.loads(json.dumps(croissant(catalog[name])))
        jsonschema.validate(card, SCHEMA)
        known = [f["@id"] for f in card["distribution"]] + [r["@id"] for r in card["recordSet"]]
        assert len(known) == len(set(known)), name
        for records in card["recordSet"]:
            fields = {field["@id"] for field in records["field"]}
            assert records["key"]["@id"] in fields
            assert all(set(row) == fields for row in records["data"])


def test_every_entry_says_its_licence_or_that_it_is_unknown():
    written = yaml.safe_load(CATALOG.read_text())
    licences = {name: entry.get("licence") for name, entry in written.items()}
    assert [name for name, licence in licences.items() if not licence] == []
    assert licences["mnist"] == licences["mnist-4v9"] == "CC-BY-SA-3.0"


def test_a_card_has_splits_classes_and_checksums(catalog, tmp_path):
    entry = catalog["a9a-all"]
    np.savez(tmp_path / "drawn.npz", part=np.zeros((1, 4), np.uint8))
    card = croissant(entry, {"splits/drawn.npz": tmp_path / "drawn.npz"})
    sets = {records["name"]: records["data"] for records in card["recordSet"]}
    assert [row["split/points"] for row in sets["split"]] == [32561, 16281]
    assert {row["class/name"]: row["class/points"] for row in sets["class"]} == {
        "-1": 37155,
        "1": 11687,
    }
    files = {file["name"]: file for file in card["distribution"]}
    digest = hashlib.sha256((tmp_path / "drawn.npz").read_bytes()).hexdigest()
    assert files["splits/drawn.npz"]["sha256"] == digest
    assert files["a9a"]["sha256"] == entry.files[0].sha256
    assert card["license"] == "https://spdx.org/licenses/CC-BY-4.0"
    assert "recordSet" in croissant(catalog["abalone"])


def test_what_is_not_known_is_said(catalog):
    card = croissant(catalog["sarcos-1"])
    assert card["license"] == "unknown"
    assert card["distribution"] == []
    assert "No checksum is known of sarcos_inv.mat (http://www.gaussian" in card["description"]
    assert licence_url("For research only") == "For research only"


def test_the_command_prints_the_card():
    done = CliRunner().invoke(main, ["card", "iris"])
    card = json.loads(done.output)
    assert (card["name"], len(card["recordSet"][0]["data"])) == ("iris", 3)
    done = CliRunner().invoke(main, ["card", "irs"])
    assert done.exit_code == 1
    assert "did you mean 'iris'" in done.output


def test_mlcroissant_takes_every_card(catalog, tmp_path):
    mlcroissant = pytest.importorskip("mlcroissant", reason="pip install '.[cards]'")
    for name in catalog:
        path = tmp_path / "card.json"
        path.write_text(json.dumps(croissant(catalog[name])))
        assert mlcroissant.Dataset(path).metadata.name == name
