"""The pages of docs/methods say what the registry says: every method, and every parameter of it.

`python tests/plugins/test_method_pages.py` writes the parameter tables of the pages anew.
"""

import re
from collections import Counter
from pathlib import Path

import yaml

from harness.plugin.index import read_index
from harness.project import TEMPLATES

PAGES = Path(__file__).resolve().parents[2] / "docs" / "methods"
BLOCK = re.compile(
    r"(<!-- parameters: ([^\n]+) -->\n)(.*?)(<!-- end of parameters -->)", re.DOTALL
)


def parameter_table(names, methods):
    """The parameters of some methods as a Markdown table, rows of the same text joined."""
    owners = {}
    for name in names:
        for parameter, told in methods[name]["values"].items():
            row = (parameter, told["default"], told["allowed"], told["meaning"])
            owners.setdefault(row, []).append(name)
    lines = ["| name | of | default | allowed | meaning |", "| --- | --- | --- | --- | --- |"]
    order = list(dict.fromkeys(row[0] for row in owners))
    for row in sorted(owners, key=lambda row: order.index(row[0])):
        name, default, allowed, meaning = (" ".join(cell.split()) for cell in row)
        of = "all" if len(owners[row]) == len(names) else ", ".join(owners[row])
        cells = [f"`{name}`", of, f"`{default}`", allowed, meaning]
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def with_tables(text, methods):
    """A page with its parameter tables as the registry has them."""
    return BLOCK.sub(
        lambda found: found[1] + parameter_table(found[2].split(), methods) + found[4], text
    )


def registered():
    return {entry["name"]: entry for entry in read_index()["methods"]}


def test_parameter_tables_are_those_of_the_registry():
    methods = registered()
    for page in PAGES.glob("*.md"):
        assert page.read_text() == with_tables(page.read_text(), methods), (
            f"{page.name}: run python {Path(__file__).name}"
        )


def test_every_method_of_the_project_has_one_table_of_parameters():
    """Those of other libraries are in their own manuals, of the version that is installed."""
    text = "".join(page.read_text() for page in PAGES.glob("*.md"))
    named = Counter(name for found in BLOCK.finditer(text) for name in found[2].split())
    own = [name for name, entry in registered().items() if not entry["learns_storage"]]
    assert named == Counter(own)


def test_every_method_has_one_row_in_the_index():
    rows = re.findall(r"(?m)^\| \[`([^`]+)`\]", (PAGES / "README.md").read_text())
    assert Counter(rows) == Counter(registered().keys())


def test_every_paper_that_a_method_cites_is_written_in_full():
    papers = yaml.safe_load((TEMPLATES / "papers.yaml").read_text())
    cited = {entry["reference"] for entry in registered().values()} - {""}
    assert cited == papers.keys()


if __name__ == "__main__":
    for path in PAGES.glob("*.md"):
        path.write_text(with_tables(path.read_text(), registered()))
