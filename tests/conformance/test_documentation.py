"""`docs/plugins.md` names every hook with its arguments, and every check."""

import dataclasses
import inspect
import re

import pytest

from harness import hookspecs
from harness.conformance.behaviour import CHECKS
from harness.conformance.hard_inputs import INPUTS
from harness.method import Method
from harness.registry import ROOT

TEXT = (ROOT / "docs" / "plugins.md").read_text()
SPECS = [f for f in vars(hookspecs).values() if hasattr(f, f"{hookspecs.PROJECT}_spec")]
PROVIDED = [Method, *(c for c in vars(hookspecs).values() if dataclasses.is_dataclass(c))]


def test_every_hook_is_documented_with_its_arguments():
    assert len(SPECS) == 9
    block = re.search(r"```text\n(.*?)```", TEXT, re.DOTALL)[1]
    expected = [f"{f.__name__}({', '.join(inspect.signature(f).parameters)})" for f in SPECS]
    assert block.splitlines() == expected


@pytest.mark.parametrize("provided", PROVIDED, ids=lambda c: c.__name__)
def test_what_hooks_return_is_documented_with_its_arguments(provided):
    fields = (field.name for field in dataclasses.fields(provided) if field.init)
    arguments = ", ".join(fields)
    assert f"{provided.__name__}({arguments})" in TEXT


def test_every_check_is_documented(example_findings):
    table = TEXT[TEXT.index("## What `harness check` checks") :]
    names = (finding.check for finding in example_findings)
    found = {re.sub(r"( \(\d+ checks\))?(, \w+)?$", "", name) for name in names}
    assert found >= {*CHECKS, *INPUTS}
    assert [name for name in sorted(found) if f"`{name}`" not in table] == []
