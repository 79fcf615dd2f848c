"""What is said of rows that cannot be run again."""

import json
from types import SimpleNamespace

import pytest

from harness.errors import HarnessError
from harness.jobs.reproduce import reproduce
from harness.records.columns import COLUMNS
from harness.records.table_writer import write_table

PARTS = {"data": "d", "harness": "h", "method": "m", "versions": {"numpy": "2.4.0"}}
ROW = {
    "dataset": "mine",
    "method": "svm",
    "plugin_method": "svm",
    "fingerprint": "made-0",
    "decided_by": json.dumps(PARTS),
}


@pytest.fixture
def refusal(tmp_path):
    """Try to reproduce a row in a study whose blocks are others now; return what is said."""

    def refusal(row=ROW, **changed):
        write_table([dict.fromkeys(COLUMNS) | row], tmp_path / "trials.parquet")
        block = SimpleNamespace(
            dataset="mine",
            method=SimpleNamespace(name="svm", label="svm"),
            fingerprint="now",
            decided_by=json.dumps(PARTS | changed),
        )
        workload = SimpleNamespace(results=tmp_path, blocks=(block,), datasets=lambda: ["mine"])
        with pytest.raises(HarnessError) as caught:
            reproduce(workload, "0")
        return str(caught.value).removeprefix(
            "row 0 was made by another version and cannot be run again: "
        )

    return refusal


def test_what_has_changed_is_named(refusal):
    assert refusal(method="edited") == "the code of the method has changed"
    assert refusal(versions={"numpy": "2.5.0"}) == "numpy is 2.5.0, was 2.4.0"
    assert refusal() == "the study's settings have changed"
    assert refusal(ROW | {"plugin_method": "gone"}) == "the study has no method gone"
    assert refusal(ROW | {"dataset": "gone"}) == "the study has no data set gone"


def test_a_pair_that_was_left_out_has_nothing_to_run(refusal):
    row = {"dataset": "mine", "method": "svm", "reason": "svm does binary"}
    assert refusal(row) == "row 0 was never run: svm does binary"
