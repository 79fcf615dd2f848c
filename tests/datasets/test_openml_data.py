"""Data sets of OpenML from a mirror, with the answers that OpenML gives, and without a network."""

import hashlib
import json
import socket
from urllib.error import URLError

import pytest

from harness.datasets.openml_data import openml_frame
from harness.errors import HarnessError

DATA = b"""% of a mirror
@RELATION plants

@ATTRIBUTE row INTEGER
@ATTRIBUTE petal REAL
@ATTRIBUTE site {south,north,west}
@ATTRIBUTE note STRING
@ATTRIBUTE class {setosa,virginica}

@DATA
1,1.5,south,'a b',setosa
2,?,north,c,virginica
3,4,south,d,virginica
"""


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """Put what OpenML says of data set 61, and its file, into a mirror."""
    monkeypatch.setenv("HARNESS_MIRROR", str(tmp_path))
    folder = tmp_path / "openml"
    folder.mkdir()

    def put(**said):
        told = {
            "id": "61",
            "name": "plants",
            "format": "ARFF",
            "row_id_attribute": "row",
            "ignore_attribute": ["note"],
            "md5_checksum": hashlib.md5(DATA, usedforsecurity=False).hexdigest(),
        } | said
        (folder / "data-61.json").write_text(json.dumps({"data_set_description": told}))
        (folder / "data-61.arff").write_bytes(DATA)
        return folder

    return put


def test_a_mirror_gives_the_columns_that_are_features(mirror):
    mirror()
    frame = openml_frame("mine", 61)
    assert list(frame.columns) == ["petal", "site", "class"]
    assert frame["petal"].fillna(0).tolist() == [1.5, 0, 4]
    # as over the network: those that occur, sorted
    assert list(frame["site"].cat.categories) == ["north", "south"]
    mirror(row_id_attribute=None, ignore_attribute="note, site")
    assert list(openml_frame("mine", 61).columns) == ["row", "petal", "class"]


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            {"md5_checksum": "0" * 32},
            r"data-61\.arff: expected md5 0{32}, found [0-9a-f]{32}; rep",
        ),
        ({"ignore_attribute": 5}, r"data-61\.json: is not what OpenML says of a data set"),
    ],
)
def test_files_of_a_mirror_that_are_others_are_told(mirror, said, told):
    mirror(**said)
    with pytest.raises(HarnessError, match=f"data set 'mine': OpenML 61: .*{told}"):
        openml_frame("mine", 61)


def test_half_of_a_mirrors_files_are_told_with_the_other_half(mirror):
    folder = mirror()
    (folder / "data-61.json").unlink()
    with pytest.raises(HarnessError, match=r"the mirror lacks openml/data-61\.json: it needs"):
        openml_frame("mine", 61)
    mirror()
    (folder / "data-61.json").write_text("<html>")
    with pytest.raises(HarnessError, match=r"data-61\.json: is not what OpenML says of a data s"):
        openml_frame("mine", 61)


def test_no_network_is_one_sentence_that_says_where_files_go(monkeypatch, recwarn):
    def looked_up(*_, **__):
        raise URLError(socket.gaierror(-2, "Name or service not known"))

    monkeypatch.setattr("sklearn.datasets._openml.urlopen", looked_up)
    monkeypatch.setattr("sklearn.datasets._openml.time.sleep", lambda _: None)
    monkeypatch.delenv("HARNESS_MIRROR", raising=False)
    with pytest.raises(HarnessError) as caught:
        openml_frame("mine", 61)
    assert str(caught.value) == (
        "data set 'mine': OpenML 61 could not be fetched from www.openml.org: this name cannot be "
        "looked up (is there a network?); without a network, put it at "
        "<mirror>/openml/data-61.json and <mirror>/openml/data-61.arff and set "
        "HARNESS_MIRROR=<mirror>"
    )
    assert not recwarn.list
