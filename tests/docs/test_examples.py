"""Examples in docstrings give what they say; those of the manual can be read by Python."""

import ast
import doctest
import importlib
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in sorted((ROOT / "harness").rglob("*.py"))
    if ">>> " in path.read_text()
]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
TRACKERS = ("mlflow", "wandb")
PYTHON = [
    pytest.param(block, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", page.read_text(), re.S))
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings(name):
    found = doctest.testmod(importlib.import_module(name), report=True)
    assert found.attempted
    assert not found.failed


@pytest.mark.parametrize("block", PYTHON)
def test_what_examples_of_the_manual_import_is_there(block):
    tree = ast.parse(block)
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    try:
        exec(compile(ast.Module(imports, []), "manual", "exec"), {})
    except ModuleNotFoundError as error:
        if error.name not in TRACKERS:
            raise
        pytest.skip(f"{error.name} is not installed: '.[test,trackers]' has it")
