"""Plugins that are broken in one place each: the example that `harness new` writes, edited."""

import pytest

from harness.cli.new_method import write_method
from harness.conformance import check_file, kit


@pytest.fixture(scope="session")
def written(tmp_path_factory):
    """The example as it is written, for both tasks."""
    return write_method("example", tmp_path_factory.mktemp("plugins"))


@pytest.fixture(scope="session")
def example_findings(written):
    """All that the kit finds in the example."""
    return list(check_file(written))


@pytest.fixture
def example(tmp_path, written):
    """Return a function that writes the example for the binary task, with edits."""

    def write(edits):
        text = written.read_text().replace('{"binary", "multiclass"}', '{"binary"}')
        for old, new in edits.items():
            assert text.count(old) == 1, f"{old!r} is there {text.count(old)} times"
            text = text.replace(old, new)
        path = tmp_path / "example.py"
        path.write_text(text)
        return path

    return write


@pytest.fixture
def checked(example, monkeypatch):
    """Return a function that edits the example and returns the findings that fail, by check.

    Without scikit-learn's checks, which take half of the time, unless they are asked for.
    """

    def run(edits=None, measure=False, seconds=10.0, scikit_learn=False):
        if not scikit_learn:
            monkeypatch.setattr(kit, "sklearn_checks", lambda method: [])
        findings = check_file(example(edits or {}), seconds=seconds, measure=measure)
        return {f.check: f.advice for f in findings if f.result == "fails"}

    return run
