"""What `harness new method` writes, and what it refuses to."""

import pytest

from harness.cli.new_method import write_method
from harness.errors import HarnessError
from harness.plugin.registry import FileSource, load_plugin


@pytest.fixture(autouse=True)
def controls_alone(built_in):
    """The names that are taken: of the plugins of the project those of one."""
    built_in("controls")


def load(path):
    return load_plugin(FileSource(path.stem, str(path.parent), path.resolve()))


@pytest.mark.parametrize(
    ("name", "file", "class_name"),
    [
        ("kernel-means", "kernel_means.py", "KernelMeans"),
        ("2nn", "2nn.py", "Method2nn"),
        ("method", "method.py", "MethodMethod"),
        ("class", "class.py", "Class"),
        ("none", "none.py", "MethodNone"),
    ],
)
def test_file_and_class_are_named_after_the_method(tmp_path, name, file, class_name):
    path = write_method(name, tmp_path / "new" / "folder")
    assert path == tmp_path / "new" / "folder" / file
    assert len(path.read_text().splitlines()) <= 45
    plugin = load(path)
    assert plugin.failure == ""
    (method,) = plugin.provided["methods"]
    assert (method.name, method.estimator.__name__) == (name, class_name)
    assert method.size == "landmarks"
    assert "sigma" in method.space


@pytest.mark.parametrize(
    "name", ["Upper", "under_score", "-a", "a-", "a--b", "", "a b", "../a", "ä"]
)
def test_names_that_are_not_allowed(tmp_path, name):
    with pytest.raises(HarnessError, match="lower-case"):
        write_method(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_name_of_the_project_is_taken(tmp_path):
    with pytest.raises(HarnessError, match=r"'prior' is taken: .*controls\.py provides it"):
        write_method("prior", tmp_path)


def test_a_name_of_the_folder_is_taken(tmp_path):
    write_method("mine", tmp_path).rename(tmp_path / "other.py")
    with pytest.raises(HarnessError, match=r"'mine' is taken: .*other\.py"):
        write_method("mine", tmp_path)


def test_an_existing_file_is_kept(tmp_path):
    (tmp_path / "mine.py").write_text("x = 1")
    with pytest.raises(HarnessError, match="is there already"):
        write_method("mine", tmp_path)
    assert (tmp_path / "mine.py").read_text() == "x = 1"


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HarnessError, match="cannot be written"):
        write_method("mine", tmp_path / "file" / "folder")
