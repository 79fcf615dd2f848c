"""Pages of methods, data sets and papers, from the registry, the catalog and the evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from harness.advice.evidence import SETTING
from harness.datasets.catalog import Catalog
from harness.metrics.names import PRIMARY
from harness.project import TEMPLATES
from harness.report.kept import count_words, judge_kept
from harness.report.scores import SCORES
from harness.strict_yaml import read_yaml
from harness.units import format_bytes

_METHODS = "manual/docs/methods"
_RESULTS = "manual/docs/results/README.html"

_MOST_SETTINGS = 200
"""Settings that a page lists."""


@dataclass(frozen=True)
class Page:
    """One page.

    Attributes
    ----------
    address : str
        Below the folder of the site.
    title, template : str
    parts : dict
        What the template asks for.
    """

    address: str
    title: str
    parts: dict[str, Any] = field(default_factory=dict)
    template: str = "table.html.j2"


def table_page(
    address: str,
    title: str,
    told: list[str],
    tables: list[dict[str, Any]],
    facts: list[tuple[str, Any]] | None = None,
) -> Page:
    """Return a page of sentences, facts and tables."""
    named = [{"title": "", "told": ""} | table for table in tables]
    return Page(address, title, {"told": told, "tables": named, "facts": facts or []})


def link(text: str, address: str) -> dict[str, str]:
    """Return a cell that leads to a page."""
    return {"text": text, "to": address}


def judged(evidence: pd.DataFrame) -> pd.DataFrame:
    """Return the scores by each task's own metric, with `behind`: how far below the best.

    `first` says whether none is better. Settings with a score of one method alone are left out.
    """
    primary = evidence[evidence["metric"] == evidence["task"].map(PRIMARY)]
    scored = primary[primary["mean"].notna()]
    sign = scored["metric"].map({n: 1 if SCORES[n].greater_is_better else -1 for n in SCORES})
    oriented = sign * scored["mean"]
    groups = oriented.groupby([scored[name] for name in SETTING], dropna=False)
    scored = scored.assign(behind=groups.transform("max") - oriented, of=groups.transform("size"))
    return scored[scored["of"] > 1].assign(first=lambda rows: rows["behind"] == 0)


def method_pages(index: Mapping[str, Any], evidence: pd.DataFrame, manual: Path) -> Iterator[Page]:
    """Yield the list of methods, and a page for each.

    Parameters
    ----------
    index : mapping
        Of all plugins.
    evidence : pandas.DataFrame
        From `read_evidence`.
    manual : Path
        The folder of the manual that has a page a family, and `README.md` that tells which.
    """
    listing = (manual / "README.md").read_text(encoding="utf-8")
    families = dict(re.findall(r"\[`([\w-]+)`\]\(([\w-]+)\.md\)", listing))
    papers = read_yaml((TEMPLATES / "papers.yaml").read_text(encoding="utf-8"))
    rows = judged(evidence)
    entries = sorted(index["methods"], key=lambda entry: entry["name"])
    listed = []
    for entry in entries:
        name = entry["name"]
        mine = rows[rows["method"] == name].sort_values("behind", kind="stable")
        first = int(mine["first"].sum())
        listed.append(
            [
                link(name, f"methods/{name}.html"),
                ", ".join(entry["tasks"]),
                entry["size"] or "-",
                "all points" if entry["uses_unlabeled"] else "labels",
                "learned" if entry["learns_storage"] else "written",
                f"{first} of {len(mine)}" if len(mine) else "no kept study",
            ]
        )
        yield _method_page(entry, mine, first, papers, families.get(name))
    columns = ["method", "tasks", "size", "learns from", "storage model", "first in"]
    told = ["First in counts settings of kept studies in which no other method is better."]
    yield table_page("methods/index.html", "Methods", told, [{"columns": columns, "rows": listed}])


def _method_page(
    entry: Mapping[str, Any],
    mine: pd.DataFrame,
    first: int,
    papers: Mapping[str, str],
    family: str | None,
) -> Page:
    name, reference = entry["name"], entry["reference"]
    facts: list[tuple[str, Any]] = [
        ("Tasks", ", ".join(entry["tasks"])),
        ("Learns from", "all points" if entry["uses_unlabeled"] else "labeled points"),
        ("Size", entry["size"] or "nothing is turned"),
        ("Storage model", "learned by measuring" if entry["learns_storage"] else "written"),
        ("Estimator", entry["estimator"].rpartition(".")[2]),
        ("Source", papers.get(reference, reference) or "-"),
    ]
    if family:
        page = link("What it is, its storage model, its departures", f"{_METHODS}/{family}.html")
        facts.insert(0, ("Manual", page))
    space = [
        [name, over, entry["values"][name]["default"]] for name, over in entry["space"].items()
    ]
    tables = []
    if space:
        columns = ["parameter", "tuned over", "default"]
        tables.append({"title": "Parameters that are tuned", "columns": columns, "rows": space})
    told = [f"No other method is better in {first} of {len(mine)} settings of kept studies."]
    if mine.empty:
        told = ["No kept study has it."]
    else:
        listed = [
            [
                link(row.dataset, f"datasets/{row.dataset}.html"),
                f"{row.n_labeled:,}",
                row.budget,
                _score(row),
                "first" if row.first else f"{row.behind:.4f}",
                row.of,
                link(row.study, f"{_RESULTS}#{row.study}"),
            ]
            for row in mine.head(_MOST_SETTINGS).itertuples()
        ]
        columns = ["data set", "labels", "budget", "score", "behind the best", "methods", "study"]
        beyond = (
            f"The first {_MOST_SETTINGS} of {len(mine)}." if len(mine) > _MOST_SETTINGS else ""
        )
        shown = {"title": "Where it stands", "told": beyond, "columns": columns, "rows": listed}
        tables.append(shown)
    return table_page(f"methods/{name}.html", name, told, tables, facts)


def dataset_pages(catalog: Catalog, evidence: pd.DataFrame) -> Iterator[Page]:
    """Yield the list of data sets, and a page for each."""
    rows = judged(evidence)
    listed = []
    for declared in sorted(catalog.declared(), key=lambda declared: declared.name):
        name = declared.name
        mine = rows[rows["dataset"] == name]
        listed.append(
            [
                link(name, f"datasets/{name}.html"),
                declared.task,
                "?" if declared.n is None else f"{declared.n:,}",
                "?" if declared.d is None else f"{declared.d:,}",
                len(declared.classes) or "-",
                mine["study"].nunique() or "-",
            ]
        )
        yield _dataset_page(declared, mine)
    columns = ["data set", "task", "points", "columns", "classes", "kept studies"]
    tables = [{"columns": columns, "rows": listed}]
    yield table_page("datasets/index.html", "Data sets", [], tables)


def _dataset_page(declared: Any, mine: pd.DataFrame) -> Page:
    facts = [
        ("Task", declared.task),
        ("Points", "counted when it is read" if declared.n is None else f"{declared.n:,}"),
        ("Columns", "counted when it is read" if declared.d is None else f"{declared.d:,}"),
        ("Classes", ", ".join(map(str, declared.classes)) or "-"),
        ("Source", declared.source or "-"),
        ("Cite", declared.citation or "-"),
        ("Notes", declared.notes or "-"),
    ]
    listed = []
    for _, setting in mine.groupby(SETTING, dropna=False, sort=True):
        best = next(setting.sort_values("behind", kind="stable").itertuples())
        svm = setting[setting["method"] == "svm"]
        listed.append(
            [
                f"{best.n_labeled:,}",
                best.budget,
                link(best.method, f"methods/{best.method}.html"),
                _score(best),
                f"{svm['mean'].iloc[0]:.4f}" if len(svm) else "-",
                len(setting),
                link(best.study, f"{_RESULTS}#{best.study}"),
            ]
        )
    columns = ["labels", "budget", "highest mean", "score", "svm", "methods", "study"]
    told = "The highest of several means flatters: its report says which are level."
    tables = [{"title": "Kept studies", "told": told, "columns": columns, "rows": listed}]
    name = declared.name
    return table_page(f"datasets/{name}.html", name, [], tables if listed else [], facts)


def _score(row: Any) -> str:
    held = f", planned {format_bytes(row.planned_bytes)}" if row.planned_bytes > 0 else ""
    return f"{SCORES[row.metric].label} {row.mean:.4f}{held}"


def paper_pages(results: Path) -> Iterator[Page]:
    """Yield the printed tables beside ours, a page a study, with the verdicts of today."""
    papers = read_yaml((TEMPLATES / "papers.yaml").read_text(encoding="utf-8"))
    listed = []
    for path in sorted(results.glob("*/published.csv")):
        study, cells = path.parent.name, judge_kept(path.parent)
        counts = count_words(cells)
        listed.append(
            [
                link(study, f"papers/{study}.html"),
                ", ".join(cells["table"].unique()),
                len(cells),
                "; ".join(counts),
            ]
        )
        tables = [
            {
                "title": f"{table}, {SCORES[metric].label if metric in SCORES else metric}",
                "told": "".join(count_words(printed)).rpartition(": ")[2],
                "columns": _PRINTED,
                "rows": [_printed_row(row) for row in printed.itertuples()],
            }
            for (table, metric), printed in cells.groupby(["table", "metric"], sort=False)
        ]
        printed_in = dict.fromkeys(cells["table"].str.partition("/")[0])
        facts = [
            *(("Paper", papers[key]) for key in printed_in if key in papers),
            ("What was run", link("seeds, commit, findings", f"{_RESULTS}#{study}")),
        ]
        yield table_page(f"papers/{study}.html", study, [], tables, facts)
    columns = ["study", "printed tables", "cells", "verdicts"]
    tables = [{"columns": columns, "rows": listed}]
    yield table_page("papers/index.html", "Papers' tables beside ours", [], tables)


_PRINTED = (
    *("data set", "labels", "budget", "method", "printed", "ours", "from .. to", "seeds"),
    "verdict",
)


def _printed_row(row: Any) -> list[Any]:
    return [
        row.dataset,
        "-" if pd.isna(row.labeled) else f"{row.labeled:g}",
        row.budget,
        row.method,
        "not printed" if pd.isna(row.printed) else f"{row.printed:g}",
        "-" if pd.isna(row.mean) else f"{row.mean:.4g}",
        "-" if pd.isna(row.ci_low) else f"{row.ci_low:.4g} .. {row.ci_high:.4g}",
        "-" if pd.isna(row.n_scored) else f"{row.n_scored:g}",
        row.verdict or "-",
    ]
