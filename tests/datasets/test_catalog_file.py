"""An entry is put into a catalog that people write too, or the catalog is left as it was."""

import pytest
import yaml

from harness.datasets.adding.catalog_file import entry_text, names_in, write_entry
from harness.errors import HarnessError
from harness.strict_yaml import read_yaml

BODY = {
    "task": "binary",
    "n": 6,
    "classes": {"<=50K": 2, "yes": 4, "2020": 0, "1e5": 0, "2020-01-01": 0, "~": 0, "0x1F": 0},
    "positive": "yes",
    "read": {"format": "csv", "target": "a: b", "separator": "\t"},
    "files": [{"path": "x y.csv", "sha256": "0" * 64}],
    "source": "it's #1, größte",
}

MINE = """\
# what this is about

first:  # a comment beside it
  task: binary   # and here
  files:
    - {path: a.csv}

# about the second
second: &second
  task: regression

third:
  <<: *second
# the end
"""


def test_an_entry_reads_back_as_it_was():
    assert read_yaml(entry_text("1e3", BODY)) == {"1e3": BODY}
    assert "  - path: x y.csv\n      sha256: " in entry_text("x", BODY)


def test_a_catalog_is_made_and_extended(tmp_path):
    path = tmp_path / "datasets.yaml"
    assert names_in(path) == []
    write_entry(path, "mine", BODY)
    write_entry(path, "other", {"task": "binary"})
    assert path.read_text().startswith("# Data sets of this folder")
    assert yaml.safe_load(path.read_text()) == {"mine": BODY, "other": {"task": "binary"}}
    assert names_in(path) == ["mine", "other"]


def test_comments_order_and_anchors_stay(tmp_path):
    path = tmp_path / "datasets.yaml"
    path.write_text(MINE)
    write_entry(path, "mine", {"task": "binary"})
    assert path.read_text() == MINE + "\nmine:\n  task: binary\n"
    write_entry(path, "first", {"task": "multiclass"})
    text = path.read_text()
    assert text.startswith(
        "# what this is about\n\nfirst:\n  task: multiclass\n\n# about the second\nsecond: &second"
    )
    write_entry(path, "third", {"task": "binary"})
    assert path.read_text().endswith(
        "third:\n  task: binary\n# the end\n\nmine:\n  task: binary\n"
    )


@pytest.mark.parametrize(
    ("text", "name", "told"),
    [
        ("{first: {task: binary}}\n", "mine", "is written in a way that cannot be extended here"),
        ("first: 1\n...\n", "mine", "is written in a way that cannot be extended here"),
        (MINE, "second", "is written in a way that cannot be extended here"),  # third needs it
        ("first: [1\n", "mine", "is not YAML as it is read here"),
        ("- first\n", "mine", "a catalog is a mapping of data set names to entries"),
        ("first: !!python/none 1\n", "mine", "is not YAML as it is read here"),
    ],
)
def test_what_cannot_be_extended_stays_as_it_is(tmp_path, text, name, told):
    path = tmp_path / "datasets.yaml"
    path.write_text(text)
    with pytest.raises(HarnessError, match=told) as caught:
        write_entry(path, name, {"task": "binary"})
    assert str(path) in str(caught.value)
    assert path.read_text() == text


def test_a_catalog_of_comments_alone_or_of_other_line_ends(tmp_path):
    path = tmp_path / "datasets.yaml"
    path.write_text("# nothing yet\n")
    write_entry(path, "mine", {"n": 1})
    assert path.read_text() == "# nothing yet\n\nmine:\n  n: 1\n"
    path.write_bytes(b"first:\r\n  n: 1\r\n")
    write_entry(path, "mine", {"n": 1})
    assert path.read_bytes() == b"first:\r\n  n: 1\r\n\r\nmine:\r\n  n: 1\r\n"
    path.write_text("first:\n  n: 1")
    write_entry(path, "mine", {"n": 1})
    assert path.read_text() == "first:\n  n: 1\n\nmine:\n  n: 1\n"


def test_a_read_only_catalog_is_no_accident(tmp_path):
    path = tmp_path / "datasets.yaml"
    path.write_text("first: {n: 1}\n")
    path.chmod(0o444)
    with pytest.raises(
        HarnessError, match=r"datasets\.yaml: is read-only; make it writable: chmod"
    ):
        write_entry(path, "mine", {"n": 1})
    assert path.read_text() == "first: {n: 1}\n"


def test_a_link_is_followed_and_a_folder_is_no_catalog(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "x.yaml").write_text("first: {n: 1}\n")
    (tmp_path / "datasets.yaml").symlink_to("real/x.yaml")
    write_entry(tmp_path / "datasets.yaml", "mine", {"n": 1})
    assert (tmp_path / "datasets.yaml").is_symlink()
    assert names_in(tmp_path / "real" / "x.yaml") == ["first", "mine"]
    with pytest.raises(HarnessError, match="this is no file"):
        write_entry(tmp_path / "real", "mine", {"n": 1})
