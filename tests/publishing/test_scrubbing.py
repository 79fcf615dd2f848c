"""Nothing of what is published names a machine, a user or a folder of theirs."""

import pyarrow
import pytest

from harness.publishing import scrubbing
from harness.publishing.scrubbing import Scrubber


@pytest.fixture
def scrubber(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(scrubbing.socket, "gethostname", lambda: "node17.cluster")
    monkeypatch.setattr(scrubbing.getpass, "getuser", lambda: "jdoe")
    return Scrubber.of_this_machine(["vm", "node17.cluster"])


def test_names_and_paths_become_words(scrubber, tmp_path):
    told = f"{tmp_path}/data.csv on node17.cluster by jdoe in /home/other/x: jdoebert"
    assert scrubber.text(told) == "./data.csv on host-2 by user in ~/x: jdoebert"


def test_a_short_host_is_replaced_where_it_is_a_value_alone(scrubber):
    told = scrubber.content({"hosts": [{"host": "vm", "svm": "a vm is a word", "n": 3}]})
    assert told == {"hosts": [{"host": "host-1", "svm": "a vm is a word", "n": 3}]}


def test_columns_of_texts_are_replaced_and_others_stay(scrubber, tmp_path):
    rows = pyarrow.table(
        {
            "host": ["vm", None, "node17.cluster"],
            "reason": ["", f"cannot read {tmp_path}/x", None],
            "auc": [0.5, None, 1.0],
        }
    )
    told = scrubber.table(rows)
    assert told.schema == rows.schema
    assert told["host"].to_pylist() == ["host-1", None, "host-2"]
    assert told["reason"].to_pylist() == ["", "cannot read ./x", None]
    assert told["auc"] == rows["auc"]


def test_what_is_left_is_found(scrubber, tmp_path):
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "fine.py").write_text("# svm, vm and /homework are words\n")
    assert scrubber.leaks(folder) == []
    (folder / "a.py").write_text("x = 1\npath = '/home/someone/data'\n")
    (folder / "b.txt").write_text("ran on node17.cluster\n")
    assert scrubber.leaks(folder) == [
        "a.py: line 2 names /home/someone",
        "b.txt: line 1 names node17.cluster",
    ]


def test_hosts_keep_their_names_on_request(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert Scrubber.of_this_machine(["vm"], named=True).content("vm") == "vm"
