"""The description of a published study for programs: a Workflow Run RO-Crate, which is JSON-LD."""

from __future__ import annotations

import hashlib
import mimetypes
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from harness.datasets.card import licence_url
from harness.jobs.published_rows import SUMS

NAME = "ro-crate-metadata.json"
WORKFLOW = "workflow/Snakefile"

_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}
_CONTEXT = [
    "https://w3id.org/ro/crate/1.1/context",
    "https://w3id.org/ro/terms/workflow-run/context",
]
_WORKFLOW_PROFILE = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
_SNAKEMAKE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
_KINDS = {
    ".parquet": "application/vnd.apache.parquet",
    ".npz": "application/x-npz",
    ".scores": "application/octet-stream",
    ".yaml": "application/yaml",
    ".bib": "application/x-bibtex",
    ".md": "text/markdown",
}


@dataclass(frozen=True)
class Told:
    """What is said of a published study.

    Attributes
    ----------
    title, about, licence : str
    published, started, finished : str
        ISO dates and times; of the run the first trial and the last table.
    creators : sequence of str
    inputs, results : sequence of str
        Files that the run read, and that it made.
    """

    title: str
    about: str
    licence: str
    published: str
    started: str
    finished: str
    creators: Sequence[str] = ()
    inputs: Sequence[str] = ()
    results: Sequence[str] = ()


def crate(folder: Path, told: Told) -> dict[str, Any]:
    """Describe a folder and every file in it.

    Parameters
    ----------
    folder : Path
        Whole but for this description and the list of checksums.
    told : Told

    Returns
    -------
    dict
        `@context` and `@graph`, which conform to the profile Workflow Run Crate 0.5.
    """
    files = [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name not in (NAME, SUMS)
    ]
    parameters = {name: f"#input-{number}" for number, name in enumerate(told.inputs)}
    graph = [
        {
            "@id": NAME,
            "@type": "CreativeWork",
            "conformsTo": [
                {"@id": "https://w3id.org/ro/crate/1.1"},
                {"@id": "https://w3id.org/workflowhub/workflow-ro-crate/1.0"},
            ],
            "about": {"@id": "./"},
        },
        _root(told, files),
        *(
            {"@id": address, "@type": "CreativeWork", "name": name, "version": address[-3:]}
            for address, name in _PROFILES.items()
        ),
        *(_file(folder, name, parameters) for name in files if name != WORKFLOW),
        _workflow(folder, parameters),
        *(
            {
                "@id": address,
                "@type": "FormalParameter",
                "name": name,
                "additionalType": "File",
                "conformsTo": {
                    "@id": "https://bioschemas.org/profiles/FormalParameter/1.0-RELEASE"
                },
            }
            for name, address in parameters.items()
        ),
        *(
            {"@id": f"#author-{number}", "@type": "Person", "name": name}
            for number, name in enumerate(told.creators)
        ),
        _language(),
        _run(told, parameters),
        _licence(told.licence),
    ]
    return {"@context": _CONTEXT, "@graph": graph}


def _root(told: Told, files: Sequence[str]) -> dict[str, Any]:
    return {
        "@id": "./",
        "@type": "Dataset",
        "name": told.title,
        "description": told.about,
        "datePublished": told.published,
        "license": {"@id": licence_url(told.licence)},
        "conformsTo": [{"@id": address} for address in _PROFILES],
        "hasPart": [{"@id": name} for name in files],
        "mainEntity": {"@id": WORKFLOW},
        "mentions": {"@id": "#run"},
    } | ({"author": _authors(told)} if told.creators else {})


def _authors(told: Told) -> Any:
    """Return references to the people named; one is no list, as RO-Crate asks."""
    people = [{"@id": f"#author-{number}"} for number in range(len(told.creators))]
    return people if len(people) > 1 else people[0]


def _file(folder: Path, name: str, parameters: Mapping[str, str]) -> dict[str, Any]:
    content = (folder / name).read_bytes()
    kind = _KINDS.get(Path(name).suffix) or mimetypes.guess_type(name)[0] or "text/plain"
    told: dict[str, Any] = {
        "@id": name,
        "@type": "File",
        "name": name,
        "encodingFormat": kind,
        "contentSize": str(len(content)),
        "sha256": hashlib.sha256(content).hexdigest(),
    }
    told |= {"exampleOfWork": {"@id": parameters[name]}} if name in parameters else {}
    return told | ({"about": {"@id": "./"}} if name == "README.md" else {})


def _workflow(folder: Path, parameters: Mapping[str, str]) -> dict[str, Any]:
    content = (folder / WORKFLOW).read_bytes()
    return {
        "@id": WORKFLOW,
        "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
        "name": "The workflow of the harness",
        "conformsTo": {"@id": _WORKFLOW_PROFILE},
        "encodingFormat": "text/plain",
        "url": "https://snakemake.readthedocs.io",
        "programmingLanguage": {"@id": _SNAKEMAKE},
        "contentSize": str(len(content)),
        "sha256": hashlib.sha256(content).hexdigest(),
        "input": [{"@id": address} for address in parameters.values()],
        "version": version("memory-budget-harness"),
    }


def _language() -> dict[str, Any]:
    return {
        "@id": _SNAKEMAKE,
        "@type": "ComputerLanguage",
        "name": "Snakemake",
        "identifier": {"@id": "https://doi.org/10.1093/bioinformatics/bts480"},
        "url": {"@id": "https://snakemake.readthedocs.io"},
    }


def _run(told: Told, parameters: Mapping[str, str]) -> dict[str, Any]:
    run = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": f"The run of {told.title}",
        "instrument": {"@id": WORKFLOW},
        "object": [{"@id": name} for name in parameters],
        "result": [{"@id": name} for name in told.results],
        "description": "Every trial of study.yaml, each under its memory budget.",
        "agent": _authors(told) if told.creators else None,
        "actionStatus": "http://schema.org/CompletedActionStatus",
        "startTime": told.started,
        "endTime": told.finished,
    }
    return {key: value for key, value in run.items() if value}


def _licence(licence: str) -> dict[str, Any]:
    return {
        "@id": licence_url(licence),
        "@type": "CreativeWork",
        "name": licence,
        "description": f"{licence}, as the SPDX list of licences has it",
    }
