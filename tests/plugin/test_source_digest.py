"""What a module computes, and what it uses, as its source says."""

import pytest

from harness.plugin.source_digest import Modules, digest

FILES = {
    "lib/__init__.py": "from lib.solver import solve\nfrom .other import help_out as aid\nL = 3\n",
    "lib/solver.py": "from lib.base import step\ndef solve():\n    return step()\n",
    "lib/base.py": "def step():\n    return 1\n",
    "lib/other.py": "import numpy as np\ndef help_out():\n    return 2\n",
    "lib/typed.py": "class T: ...\n",
}


@pytest.fixture
def closure(tmp_path):
    """Return a function that gives the modules that a plugin's text uses, and its digest."""

    def write(files):
        for name, text in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def closure(text, apart=(), **changed):
        write(FILES | {f"lib/{name}.py": content for name, content in changed.items()})
        write({"plugin.py": text})
        used = Modules({"lib": tmp_path / "lib"})
        modules = Modules({"plugin": tmp_path / "plugin.py"}, used=used)
        found = modules.closure(["plugin"], apart)
        return set(found) - {"plugin"}, digest(found), modules.outside(found)

    return closure


@pytest.mark.parametrize(
    ("text", "used"),
    [
        ("from lib import solve\nsolve()\n", {"lib.solver", "lib.base"}),
        ("from lib import aid\n", {"lib.other"}),
        ("import lib.base\nimport lib.other\n", {"lib.base", "lib.other"}),
        ("import lib\nlib.solve()\n", {"lib.solver", "lib.base"}),
        ("import lib as l\nl.aid()\nl.solve()\n", {"lib.other", "lib.solver", "lib.base"}),
        ("import lib.base\nlib.base.step()\n", {"lib.base"}),
        ("from lib import base\nbase.step()\n", {"lib.base"}),
        ("def f():\n    from lib.base import step\n", {"lib.base"}),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from lib.typed import T\n",
            set(),
        ),
    ],
)
def test_names_are_followed_to_the_modules_that_define_them(closure, text, used):
    assert closure(text)[0] == used


def test_a_package_that_is_handed_on_or_defines_the_name_is_used_whole(closure):
    assert closure("from lib import L\n")[0] == {"lib", "lib.solver", "lib.base", "lib.other"}
    assert closure("import lib\nprint(lib)\n")[0] >= {"lib.solver", "lib.base", "lib.other"}


def test_what_stands_apart_is_not_entered(closure):
    text = "from lib import solve\n"
    assert closure(text, apart={"lib.solver"})[0] == set()
    assert closure(text, apart={"lib"})[0] == set()


def test_a_digest_follows_what_is_computed_and_nothing_else(closure):
    text = "from lib import solve\n"
    plain = closure(text)[1]
    assert (
        closure(f"# why\n{text}\n\n", base="'''Doc.'''\ndef step():  # one\n    return (1)\n")[1]
        == plain
    )
    assert closure(text, other="def help_out():\n    return 3\n")[1] == plain
    assert closure(text, base="def step():\n    return 2\n")[1] != plain
    assert closure(text + "solve()\n")[1] != plain


def test_packages_from_elsewhere_are_named(closure):
    assert closure("from lib import aid\nimport json, sklearn.svm\n")[2] == {"numpy", "sklearn"}


def test_relative_imports_are_followed(tmp_path):
    (tmp_path / "family").mkdir()
    for name, text in {
        "__init__": "from .left import a\n",
        "left": "from . import right\nfrom .right import b\na = right.c\n",
        "right": "b = c = 1\n",
        "unused": "",
    }.items():
        (tmp_path / "family" / f"{name}.py").write_text(text)
    found = Modules({"family": tmp_path / "family"}).closure(["family"])
    assert set(found) == {"family", "family.left", "family.right"}
