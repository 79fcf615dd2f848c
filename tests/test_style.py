"""The linters, the formatters, the types and the README, so that one command checks everything."""

import ast
import re
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LONGEST_SENTENCE = 30
MEDIAN_SENTENCE = 15


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["snakefmt", "--check", "Snakefile", "rules"],
        ["snakemake", "--lint"],
        ["mypy"],
    ],
    ids=" ".join,
)
def test_clean(command):
    tool = Path(sys.executable).with_name(command[0])
    done = subprocess.run(
        [tool, *command[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_continuous_integration_runs_the_command_of_the_readme():
    command = (ROOT / ".ci" / "run").read_text().splitlines()[-1]
    assert command in (ROOT / "README.md").read_text()


def test_modules_can_be_held_in_the_head():
    folders = ("harness", "plugins", "tests", "benchmarks")
    files = [f for folder in folders for f in ROOT.glob(f"{folder}/**/*.py")] + [
        *ROOT.glob("rules/*")
    ]
    long = {str(f.relative_to(ROOT)): len(f.read_text().splitlines()) for f in files}
    assert {name: lines for name, lines in long.items() if lines > 400} == {}


def imported(path: Path) -> set[str]:
    """The modules that a file imports by name."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return names | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}


def test_what_tests_share_is_in_no_test():
    """A test that moves would break others; what is shared has a module or a fixture."""
    found = {str(f.relative_to(ROOT)): imported(f) for f in (ROOT / "tests").rglob("*.py")}
    borrowed = {
        name: sorted(m for m in modules if m.rpartition(".")[2].startswith(("test_", "conftest")))
        for name, modules in found.items()
    }
    assert {name: modules for name, modules in borrowed.items() if modules} == {}


def test_nothing_heavy_is_imported_to_read_a_study():
    code = (
        "import sys, harness.planning.workload, harness.plugin.index; "
        "print(*{'numpy', 'pandas', 'sklearn', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.split() == []


MANUAL = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(ROOT.glob("docs/**/*.md"))]


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"(?m)^#+ (.+)$", page.read_text())
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}


@pytest.mark.parametrize("page", MANUAL, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_of_the_manual_lead_somewhere(page):
    for target in re.findall(r"\]\(([^):]+)\)", page.read_text()):
        path, _, anchor = target.partition("#")
        other = page.parent / path if path else page
        assert other.exists(), f"{page.name}: {target}"
        if anchor and other.suffix == ".md":
            assert anchor in anchors(other), f"{page.name}: {target}"


def prose(text: str) -> str:
    """A page without its code, tables, comments and link targets."""
    text = re.sub(r"(?ms)^ *```.*?^ *```", "", text)
    text = re.sub(r"(?s)<!--.*?-->", "", text)
    text = re.sub(r"(?m)^\s*[|#].*$", "\n", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)
    return re.sub(r"`[^`]*`", "CODE", text)


def sentences(text: str) -> list[str]:
    """The sentences of a page. A list's item begins a new one, a colon or semicolon does not."""
    blocks = re.split(r"\n\s*\n|\n\s*(?:[-*]|\d+\.) ", prose(text))
    return [
        " ".join(sentence.split())
        for block in blocks
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z`\"*(\[])", block)
        if sentence.strip()
    ]


@pytest.mark.parametrize("page", MANUAL, ids=lambda page: str(page.relative_to(ROOT)))
def test_sentences_are_short(page):
    found = sentences(page.read_text())
    long = [sentence for sentence in found if len(sentence.split()) > LONGEST_SENTENCE]
    assert not long, "\n".join(long)
    median = statistics.median(len(sentence.split()) for sentence in found)
    assert median <= MEDIAN_SENTENCE


@pytest.mark.parametrize("page", MANUAL, ids=lambda page: str(page.relative_to(ROOT)))
def test_figures_begin_with_a_digit(page):
    bare = re.findall(r"(?<![\w.*/\])`])\.\d+.*", prose(page.read_text()))
    tables = re.findall(r"(?m)\| (?:[^|`]* )?\.\d+", page.read_text())
    assert not bare + tables


def test_the_checks_of_prose_can_fail():
    assert len(sentences("One is. Two `a. B` are:\n\n- Three\n- Four\n")) == 4
    assert len(sentences("One: Two; Three.\n")) == 1
    assert sentences("| a. B | c |\n") == []
    assert re.search(r"(?<![\w.*/\])`])\.\d+", prose("it is .026 off"))
