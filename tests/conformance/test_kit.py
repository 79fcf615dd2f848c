"""The whole kit: what passes, what cannot be loaded, and what is asked for by name."""

import re
import time
from pathlib import Path

import pytest

from harness.conformance import Finding, check_file
from harness.errors import HarnessError
from harness.project import PLUGINS


def test_the_example_passes_everything(example_findings):
    findings = example_findings
    assert [f for f in findings if f.result == "fails"] == []
    assert {f.method for f in findings} == {"example"}
    checks = {f.check for f in findings if f.result == "passes"}
    assert {"loads", "storage honest, binary", "smallest budget, multiclass"} <= checks
    peaks = [f for f in findings if f.check.startswith("peak")]
    assert all(bool(f.advice) == (f.result != "passes") for f in findings if f not in peaks)
    assert len(peaks) == 2
    assert all(re.search(r" of .* planned, in .*, line \d+: ", f.advice) for f in peaks)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import no_such_module_anywhere", "No module named 'no_such_module_anywhere'"),
        ("x = 1\ny = 1 / 0", "ZeroDivisionError: division by zero (broken_plugin.py, line 2)"),
        ("import os\nos._exit(3)", "exit status 3"),
        ("while True: pass", "timeout"),
        ("x = 1", "harness_methods marked with @hookimpl"),
        ("def harness_methods(): return []", "harness_methods provides nothing; mark it"),
        (
            "from harness import hookimpl\n@hookimpl\ndef harness_metods(): return []",
            "'harness_metods'",
        ),
        (
            "from harness import hookimpl\n@hookimpl\ndef harness_methods(shape): return []",
            "shape",
        ),
        (
            "from harness import hookimpl, Kernel\n@hookimpl\n"
            "def harness_methods(): return [Kernel('k', None)]",
            "harness_methods gave",
        ),
        ("def broken(:", "SyntaxError"),
    ],
)
def test_a_file_that_cannot_be_used(tmp_path, text, words):
    path = tmp_path / "broken_plugin.py"
    path.write_text(text)
    (finding,) = check_file(path, seconds=0.5)
    assert (finding.method, finding.check, finding.result) == ("broken_plugin", "loads", "fails")
    assert words in finding.advice
    assert "\n" not in finding.advice


def test_a_folder_that_is_no_package(tmp_path):
    (finding,) = check_file(tmp_path)
    assert "folder without __init__.py" in finding.advice


def test_a_package_is_checked_like_a_file(tmp_path, written):
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text(written.read_text())
    findings = list(check_file(package, measure=False))
    assert findings[0] == Finding("package", "loads")
    assert not [f for f in findings if f.result == "fails"]


def test_of_a_method_that_never_ends_two_checks_are_enough(example):
    line = "        X, y = validate_data(self, X, y"
    path = example({line: f"        while True: pass\n{line}"})
    started = time.monotonic()
    found = [f for f in check_file(path, seconds=0.5) if f.method == "example"]
    assert time.monotonic() - started < 20
    hangs = [f for f in found if "did not end within 500 ms" in f.advice]
    assert [f.result for f in hangs] == ["fails", "fails"]
    assert found[-1] == Finding(
        "example",
        "all others",
        "wait until checks end: 2 did not within 500 ms",
        "does not apply",
    )


def test_a_method_that_is_not_there_is_an_error(written):
    with pytest.raises(HarnessError, match="did you mean 'example'"):
        list(check_file(written, ["exmple"]))


def test_only_the_named_methods_are_checked():
    findings = check_file(Path(PLUGINS / "controls.py"), ["prior"], measure=False)
    assert {f.method for f in findings} == {"controls", "prior"}


def test_a_file_that_is_no_module_is_told(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("notes")
    (finding,) = check_file(path)
    assert (finding.result, finding.advice) == ("fails", "is not a Python file")
