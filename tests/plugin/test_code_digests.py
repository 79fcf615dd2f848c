"""Which rows an edit of the harness makes stale."""

import functools

import pytest

from harness.plugin import code_digests
from harness.plugin.registry import Plugin, find_sources
from harness.plugin.source_digest import Modules, Source
from harness.project import PLUGINS, ROOT


@functools.cache
def parsed():
    """Parse the harness once for all tests."""
    return code_digests._harness()


def digests(names=("budget_machines", "harmonic", "nysck")):
    """Return the digests of built-in plugins, and that of the harness."""
    sources = [s for s in find_sources() if s.origin == str(PLUGINS) and s.name in names]
    found = {s.name: code_digests.plugin_code(Plugin(s))["code"] for s in sources}
    return found | {"harness": code_digests.harness_code()["code"]}


@functools.cache
def as_they_are():
    return digests()


@pytest.fixture
def stale(tmp_path, monkeypatch):
    """Return a function that says whose rows an edit of a module makes stale."""

    def stale(module, edit):
        before = as_they_are()
        edited = tmp_path / "edited.py"
        edited.write_text(edit((ROOT / "harness" / f"{module}.py").read_text()))
        name = f"harness.{module.replace('/', '.')}"
        modules = Modules(parsed().roots)
        modules._sources = parsed()._sources | {name: Source(edited, name)}
        monkeypatch.setattr(code_digests, "_harness", lambda: modules)
        return {name for name, code in digests().items() if code != before[name]}

    return stale


def append(text):
    return f"{text}\nEDITED = True\n"


@pytest.mark.parametrize("module", ["kernels/gaussian", "trial/run", "sandbox/child"])
def test_a_comment_or_docstring_makes_nothing_stale(stale, module):
    assert stale(module, lambda text: f'"""Said otherwise."""\n{text}# Why.\n') == set()


@pytest.mark.parametrize(
    ("module", "users"),
    [
        ("landmark_features", {"budget_machines", "nysck"}),
        ("neighbors", {"harmonic"}),
        ("landmarks/hashing", {"budget_machines", "nysck"}),
        ("gaussian", {"budget_machines", "harmonic", "nysck"}),
    ],
)
def test_a_solver_makes_its_users_stale_and_no_others(stale, module, users):
    assert stale(f"kernels/{module}", append) == users


RUN_AND_SCORE = """
trial/run trial/tuning trial/prediction trial/search trial/checkpoints metrics/functions
jobs/referee planning/size datasets/splits datasets/rows sandbox/outcome sandbox/rlimit
"""


@pytest.mark.parametrize("module", RUN_AND_SCORE.split())
def test_what_runs_and_scores_trials_makes_all_stale(stale, module):
    assert "harness" in stale(module, append)


@pytest.mark.parametrize(
    "module", ["cli/main", "report/page", "jobs/table", "cli/progress", "records/table"]
)
def test_what_only_tells_makes_nothing_stale(stale, module):
    assert stale(module, append) == set()


def test_versions_are_those_of_the_libraries_that_compute(tmp_path):
    plugin = tmp_path / "mine.py"
    plugin.write_text("import pandas, numpy, json\nfrom harness import Method\n")
    (source,) = [s for s in find_sources([plugin]) if s.name == "mine"]
    assert set(code_digests.plugin_code(Plugin(source))["versions"]) == {"numpy", "pandas"}
    assert set(code_digests.harness_code()["versions"]) == {"numpy", "scipy", "scikit-learn"}


@pytest.mark.parametrize("name", code_digests.APART)
def test_what_stands_apart_exists(name):
    path = ROOT.joinpath(*name.split("."))
    assert path.is_dir() or path.with_suffix(".py").is_file()
