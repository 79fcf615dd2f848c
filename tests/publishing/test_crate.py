"""The crate of a published folder: what RO-Crate 1.1 and Workflow Run Crate 0.5 require."""

import hashlib

import pytest

from harness.publishing.crate import WORKFLOW, Told, crate

TOLD = Told("A study", "What it is.", "CC-BY-4.0", "2026-11-26", "2026-11-26T10:00:00+00:00", "")


@pytest.fixture
def folder(tmp_path):
    for name in ("study.yaml", "trials.parquet", WORKFLOW, "README.md", "cards/x.json"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    return tmp_path


def references(content):
    """Every address that some entity refers to."""
    if isinstance(content, list):
        return [address for item in content for address in references(item)]
    if not isinstance(content, dict):
        return []
    if set(content) == {"@id"}:
        return [content["@id"]]
    return [address for value in content.values() for address in references(value)]


def made(folder, **more):
    told = TOLD.__class__(**(vars(TOLD) | {"inputs": ["study.yaml"]} | more))
    graph = crate(folder, told)["@graph"]
    assert len({entity["@id"] for entity in graph}) == len(graph)
    return {entity["@id"]: entity for entity in graph}


def test_it_conforms_to_its_profiles(folder):
    graph = made(folder, results=["trials.parquet"])
    root, run, workflow = graph["./"], graph["#run"], graph[WORKFLOW]
    profiles = {reference["@id"] for reference in root["conformsTo"]}
    assert "https://w3id.org/ro/wfrun/workflow/0.5" in profiles
    assert all(graph[profile]["@type"] == "CreativeWork" for profile in profiles)
    assert {"name", "description", "datePublished", "license", "hasPart"} <= root.keys()
    assert root["mainEntity"] == {"@id": WORKFLOW} == run["instrument"]
    assert set(workflow["@type"]) == {"File", "SoftwareSourceCode", "ComputationalWorkflow"}
    assert run["@type"] == "CreateAction"
    assert run["result"] == [{"@id": "trials.parquet"}]
    parameter = graph["study.yaml"]["exampleOfWork"]["@id"]
    assert {"@id": parameter} in workflow["input"]
    assert "endTime" not in run


def test_every_file_is_a_part_with_its_checksum_and_every_reference_is_there(folder):
    graph = made(folder, creators=["Doe, Jane", "Roe, Richard"])
    files = [p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()]
    assert {part["@id"] for part in graph["./"]["hasPart"]} == set(files)
    for name in files:
        digest = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        assert graph[name]["sha256"] == digest
    elsewhere = {a for a in references(list(graph.values())) if a not in graph}
    assert all(address.startswith("https://") for address in elsewhere)
    assert [graph[a["@id"]]["name"] for a in graph["./"]["author"]] == [
        "Doe, Jane",
        "Roe, Richard",
    ]
