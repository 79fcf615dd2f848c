"""`docs/plugins.md` names every hook with its arguments, and every check."""

import dataclasses
import inspect
import re
import textwrap

import numpy as np
import pytest

from harness import kernels
from harness.conformance import check_file
from harness.conformance.behaviour import CHECKS
from harness.conformance.hard_inputs import INPUTS
from harness.plugin import hookspecs
from harness.plugin.method import Method
from harness.project import ROOT

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


def test_the_plugin_on_the_page_of_hooks_passes_everything(tmp_path):
    text = re.search(r"A complete plugin::\n(.*?)\n`storage`", hookspecs.__doc__, re.DOTALL)[1]
    plugin = tmp_path / "class_mean.py"
    plugin.write_text(textwrap.dedent(text))
    findings = list(check_file(plugin))
    assert any(finding.check.startswith("storage honest") for finding in findings)
    assert [finding for finding in findings if finding.result == "fails"] == []


@pytest.mark.slow
def test_the_method_of_the_manual_passes_everything(tmp_path):
    code = re.search(r"```python\n([^`]*?class RandomFeatureSVM.*?)```", TEXT, re.DOTALL)[1]
    plugin = tmp_path / "rff_svm.py"
    plugin.write_text(code)
    findings = list(check_file(plugin))
    assert any(finding.check.startswith("storage honest") for finding in findings)
    assert [finding for finding in findings if finding.result == "fails"] == []


def test_the_kernel_and_selector_of_the_manual_take_points_that_repeat():
    code = re.search(r"```python\n([^`]*?)\n# in an estimator's fit", TEXT)[1]
    given = {}
    exec(code, given)
    (kernel,) = given["harness_kernels"]()
    (selector,) = given["harness_landmark_selectors"]()
    X = np.repeat(np.random.default_rng(0).normal(size=(5, 3)), 2, axis=0)
    bound = kernels.bind_kernel(kernel, X)
    rows = kernels.select_landmarks(selector.function, X, 10, np.random.RandomState(0), bound)
    assert list(rows) == list(range(10))
