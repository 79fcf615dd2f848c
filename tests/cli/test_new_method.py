"""What `harness new method` writes, and what it refuses to."""

import pytest

from harness import Shape
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


def test_around_a_class_it_takes_eight_lines(tmp_path):
    path = write_method("forest", tmp_path, "sklearn.ensemble.RandomForestClassifier")
    assert len(path.read_text().splitlines()) <= 12
    (method,) = load(path).provided["methods"]
    assert (method.name, method.size) == ("forest", "n_estimators")
    assert method.sizes(Shape(10, 20, 3, 2))[1] > 30  # trees are not bounded by points
    assert method.learns_storage
    path = write_method("spread", tmp_path, "sklearn.semi_supervised.LabelSpreading")
    (method,) = load(path).provided["methods"]
    assert (method.estimator.__name__, method.size) == ("LabelSpreading", None)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("sklearn.ensemble.Forest", "there is no such class"),
        ("SVC", "there is no such class"),
        ("no.such.module.SVC", "No module named 'no'"),
        ("sklearn.preprocessing.StandardScaler", "has no 'predict'"),
        ("sklearn.svm.l1_min_c", "is neither a class nor an estimator"),
    ],
)
def test_classes_that_cannot_be_methods(tmp_path, source, told):
    with pytest.raises(HarnessError, match=told):
        write_method("mine", tmp_path, source)
    assert list(tmp_path.iterdir()) == []
