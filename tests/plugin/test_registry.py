import hashlib
import importlib.metadata
import json
import os
import pickle
import sys

import pytest

from harness.errors import HarnessError
from harness.plugin import index, out_of_process, registry
from harness.plugin.environments import Home
from harness.plugin.registry import Registry, find_sources, load_plugin
from harness.project import CACHE, ROOT

WORKS = """
from harness import Kernel, Method, hookimpl
from sklearn.base import BaseEstimator

class Mine(BaseEstimator):
    def __init__(self, rank=1):
        self.rank = rank

@hookimpl
def harness_methods():
    yield Method("{name}", Mine, storage=lambda shape, rank: 1, size="rank")
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(registry, "PLUGINS", tmp_path / "none")
    (tmp_path / "none").mkdir()
    monkeypatch.chdir(tmp_path)
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    return plugins


def load(folder):
    return {source.name: load_plugin(source) for source in find_sources([folder])}


def test_plugins_of_the_current_folder_come_first(folder):
    (folder / "mine.py").write_text(WORKS.format(name="mine"))
    came_along = registry.PLUGINS
    (came_along / "mine.py").write_text(WORKS.format(name="theirs"))
    (came_along / "other.py").write_text(WORKS.format(name="other"))
    # named by a study too, it is the same folder
    found = Registry.load([folder])
    assert [plugin.source.path.parent for plugin in found.plugins] == [folder, came_along]
    assert [item.name for item, _ in found.items("methods")] == ["mine", "other"]


def test_a_pipe_is_no_plugin(folder):
    os.mkfifo(folder / "pipe.py")
    assert load(folder) == {}


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("import nothing_of_that_name", "ModuleNotFoundError: .* \\(\\w+\\.py, line 1\\)"),
        ("x = (", "SyntaxError"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        (
            "from harness import hookimpl\n@hookimpl\ndef harness_metods(): return []",
            "unknown hook 'harness_metods'",
        ),
        (
            "from harness import hookimpl\n@hookimpl\ndef harness_methods(): return [3]",
            "^TypeError: harness_methods in broken.py gave an object of type int, which has no n",
        ),
        (
            "from harness import hookimpl\n@hookimpl\ndef harness_methods(): yield ['x' * 999]",
            "^TypeError: harness_methods in broken.py gave an object of type list, .{,50}$",
        ),
        (
            "from harness import hookimpl\n@hookimpl\ndef harness_methods(): return 3",
            "^TypeError: harness_methods in broken.py returned an object of type int; "
            "yield it, or return it in a list$",
        ),
    ],
)
def test_a_broken_plugin_is_named_with_its_reason(folder, code, reason):
    (folder / "broken.py").write_text(code)
    (folder / "works.py").write_text(WORKS.format(name="mine"))
    plugins = load(folder)
    assert not plugins["works"].failure
    with pytest.raises(AssertionError, match=reason):
        raise AssertionError(plugins["broken"].failure)
    assert plugins["broken"].provided == {}


def test_classes_of_plugins_can_be_pickled(folder):
    (folder / "works.py").write_text(WORKS.format(name="mine"))
    (method,) = load(folder)["works"].provided["methods"]
    assert pickle.loads(pickle.dumps(method.estimator(rank=3))).rank == 3


@pytest.mark.usefixtures("answers_here")
def test_two_methods_of_one_name_are_an_error_naming_both(folder):
    (folder / "one.py").write_text(WORKS.format(name="mine"))
    (folder / "two.py").write_text(WORKS.format(name="mine"))
    found = Registry.load([folder])
    with pytest.raises(HarnessError, match=r"provided twice, by .*one\.py and .*two\.py"):
        found.get("methods", "mine")
    with pytest.raises(HarnessError, match="unknown method 'mime'; did you mean 'mine'"):
        found.get("methods", "mime")
    described = index.read_index([folder])
    with pytest.raises(HarnessError, match=r"one\.py and .*two\.py"):
        index.method_entry(described, "mine")


def test_packages_modules_and_entry_points_are_found_alike(folder, monkeypatch):
    (folder / "module.py").write_text(WORKS.format(name="from-module"))
    (folder / "_private.py").write_text("raise RuntimeError")
    (folder / "package").mkdir()
    (folder / "package" / "__init__.py").write_text("from .inner import harness_methods")
    (folder / "package" / "inner.py").write_text(WORKS.format(name="from-package"))
    installed = folder.parent / "site"
    installed.mkdir()
    (installed / "theirs.py").write_text(WORKS.format(name="from-installed"))
    monkeypatch.syspath_prepend(installed)
    entry = importlib.metadata.EntryPoint("theirs", "theirs", "harness")
    distribution = importlib.metadata.distribution("pluggy")
    entry = entry._for(distribution)
    monkeypatch.setattr(registry.importlib.metadata, "entry_points", lambda group: [entry])
    names = {method.name for method, _ in Registry.load([folder]).items("methods")}
    assert names == {"from-module", "from-package", "from-installed"}


def test_a_plugin_is_found_once_however_often_its_folder_is_named(folder):
    (folder / "mine.py").write_text(WORKS.format(name="mine"))
    (folder / "_helpers").mkdir()
    (folder / "_helpers" / "__init__.py").write_text("raise RuntimeError")
    again = folder.parent / "again"
    again.symlink_to(folder)
    assert [s.name for s in find_sources([folder, folder / "mine.py", again])] == ["mine"]
    assert not any(plugin.failure for plugin in Registry.load([folder, folder]).plugins)


def test_a_plugin_is_tried_again_after_something_was_installed(folder, monkeypatch, tmp_path):
    (folder / "mine.py").write_text("import only_installed_later\n" + WORKS.format(name="mine"))
    packages = tmp_path / "site-packages"
    packages.mkdir()
    monkeypatch.setenv("PYTHONPATH", str(packages))
    home = Home(sys.executable, sys.version, (str(packages),))
    monkeypatch.setattr(out_of_process, "home", lambda: home)

    def failure():
        plugins = index.read_index([folder])["plugins"]
        return next(plugin["failure"] for plugin in plugins if plugin["name"] == "mine")

    assert "only_installed_later" in failure()
    (packages / "only_installed_later.py").write_text("")
    assert not failure()


@pytest.mark.usefixtures("answers_here")
def test_the_index_follows_the_plugins_source(folder):
    (folder / "works.py").write_text(WORKS.format(name="mine"))
    before = index.read_index([folder])
    assert index.method_entry(before, "mine")["parameters"] == ["rank"]
    assert json.loads(json.dumps(before)) == before
    assert index.read_index([folder]) == before
    assert len(list(CACHE.glob("index-*.json"))) == 1
    (folder / "works.py").write_text(WORKS.format(name="renamed"))
    after = index.read_index([folder])
    renamed = index.method_entry(after, "renamed")
    assert renamed["plugin_sha256"] != index.method_entry(before, "mine")["plugin_sha256"]
    with pytest.raises(HarnessError, match="unknown method 'mine'"):
        index.method_entry(after, "mine")


def test_a_folder_that_is_not_there():
    with pytest.raises(HarnessError, match="there is no folder"):
        find_sources([ROOT / "nowhere"])


def test_a_package_whose_module_moves_between_folders_has_changed(folder):
    for name in ("mine", "mine/a", "mine/b"):
        (folder / name).mkdir()
    (folder / "mine" / "__init__.py").touch()
    (folder / "mine" / "a" / "inner.py").write_text("x = 1")
    (before,) = find_sources([folder])
    digest = before.sha256
    (folder / "mine" / "a" / "inner.py").rename(folder / "mine" / "b" / "inner.py")
    (after,) = find_sources([folder])
    assert after.sha256 != digest


def test_a_module_and_a_flat_package_have_the_digest_of_names_and_contents(folder):
    (folder / "flat").mkdir()
    (folder / "flat" / "__init__.py").write_text("x = 1")
    (folder / "module.py").write_text("x = 1")
    for source, name in zip(find_sources([folder]), ("__init__.py", "module.py"), strict=True):
        content = name.encode() + b"\0x = 1\0"  # rows of earlier versions are known by it
        assert source.sha256 == hashlib.sha256(content).hexdigest()
