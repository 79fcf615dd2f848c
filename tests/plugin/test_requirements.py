"""What a plugin's block of requirements says, and whether this Python meets it."""

import numpy as np
import pytest

from harness.errors import HarnessError
from harness.plugin.registry import FileSource, load_plugin
from harness.plugin.requirements import declared_requirements, unmet


def written(tmp_path, *lines):
    plugin = tmp_path / "plugin.py"
    plugin.write_text("\n".join(["# /// script", *lines, "# ///", "import nothing_there"]) + "\n")
    return plugin


def test_a_plugin_without_a_block_needs_nothing(tmp_path):
    (tmp_path / "plugin.py").write_text("x = 1\n")
    assert declared_requirements(tmp_path / "plugin.py") == ()


def test_requirements_are_read_in_order(tmp_path):
    lines = (
        '# requires-python = ">=3.11"',
        "# dependencies = [",
        '#   "zoo",',
        '#   "ant>=1",',
        "# ]",
    )
    assert declared_requirements(written(tmp_path, *lines)) == ("ant>=1", "zoo")


def test_a_folder_has_its_block_in_init(tmp_path):
    folder = tmp_path / "plugin"
    folder.mkdir()
    (folder / "__init__.py").write_text('# /// script\n# dependencies = ["ant"]\n# ///\n')
    assert declared_requirements(folder) == ("ant",)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("# dependencies = [", "is no TOML"),
        ('# dependencies = "ant"', "give a list like"),
        ('# dependencies = ["ant=>1"]', "write each like"),
    ],
)
def test_a_mistake_names_the_file_and_what_is_allowed(tmp_path, line, said):
    plugin = written(tmp_path, line)
    with pytest.raises(HarnessError, match=said) as raised:
        declared_requirements(plugin)
    assert str(plugin) in str(raised.value)


def test_what_is_installed_is_met():
    asked = f"numpy=={np.__version__}", "numpy<1", "no-such-package", 'other; python_version < "3"'
    assert unmet(asked) == ["numpy<1", "no-such-package"]


def test_a_plugin_is_not_imported_before_its_requirements_are_met(tmp_path):
    plugin = written(tmp_path, '# dependencies = ["no-such-package>=2"]')
    loaded = load_plugin(FileSource("plugin", str(tmp_path), plugin))
    assert loaded.failure.startswith("needs no-such-package>=2, which is not installed: run")
