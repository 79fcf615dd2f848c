"""The linters, the formatters and the README, so that one command checks everything."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize(
    "command",
    [
        ["ruff", "check", "."],
        ["ruff", "format", "--check", "."],
        ["snakefmt", "--check", "Snakefile", "rules"],
        ["snakemake", "--lint"],
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
    files = [*ROOT.glob("harness/**/*.py"), *ROOT.glob("plugins/**/*.py"), *ROOT.glob("rules/*")]
    long = {str(f.relative_to(ROOT)): len(f.read_text().splitlines()) for f in files}
    assert {name: lines for name, lines in long.items() if lines > 400} == {}


def test_nothing_heavy_is_imported_to_read_a_study():
    code = (
        "import sys, harness.planning.workload, harness.plugin.index; "
        "print(*{'numpy', 'pandas', 'sklearn', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.split() == []


def test_links_of_the_manual_lead_somewhere():
    for page in [ROOT / "README.md", *ROOT.glob("docs/*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"
