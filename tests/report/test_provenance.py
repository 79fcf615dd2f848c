import dataclasses

import pytest
from synthetic_trials import make_trials, write_results

from harness.report.provenance import describe_provenance
from harness.report.results import read_results


@pytest.fixture
def described(tmp_path):
    results = read_results(write_results(tmp_path / "s", make_trials(seeds=[0])))

    def describe(provenance, **columns):
        cells = results.cells.assign(**columns)
        return describe_provenance(
            dataclasses.replace(results, provenance=provenance, cells=cells)
        )

    return describe


@pytest.mark.parametrize(
    "spelling",
    [
        {"digits": "cd"},
        {"digits": {"sha256": "cd"}},
        [{"name": "digits", "sha256": "cd"}],
    ],
)
def test_collections_may_be_spelt_three_ways(described, spelling):
    assert described({"datasets": spelling})["datasets"] == [{"name": "digits", "sha256": "cd"}]


def test_methods_of_one_plugin_file_share_a_row(described):
    plugins = [
        {
            "method": "harmonic",
            "path": "plugins/harmonic.py",
            "sha256": "ab",
            "reference": "zhu2003",
        },
        {"method": "cmn", "path": "plugins/harmonic.py", "sha256": "ab", "reference": "zhu2003"},
        {"method": "svm", "path": "plugins/supervised.py", "sha256": "cd", "reference": ""},
    ]
    assert described({"plugins": plugins})["plugins"] == [
        {
            "name": "plugins/harmonic.py",
            "method": "harmonic, cmn",
            "sha256": "ab",
            "reference": "zhu2003",
        },
        {"name": "plugins/supervised.py", "method": "svm", "sha256": "cd"},
    ]


def test_what_is_not_known_is_shown_as_it_stands(described):
    found = described({"weather": {"rain": True}, "note": "text", "plugins": 3})
    assert found["others"] == {"weather": '{\n "rain": true\n}', "note": "text"}
    assert found["plugins"] == []


def test_records_fill_in_what_provenance_lacks(described):
    found = described({}, host="here", git_sha="abc", git_dirty=True)
    assert found["facts"] == {"commit": "abc", "host": "here"}
    assert found["dirty"] is True
    assert described({"git_dirty": False, "host": "there"}, host="here")["dirty"] is False


def test_nothing_known_of_the_commit_is_neither_clean_nor_dirty(described):
    assert described({}, git_dirty=None)["dirty"] is None
