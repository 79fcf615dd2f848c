"""What is said of rows that cannot be run again."""

from types import SimpleNamespace

import pytest

from harness.datasets import Meta
from harness.errors import HarnessError
from harness.records import COLUMNS, write_table
from harness.reproduce import reproduce

ROW = {
    "dataset": "mine",
    "method": "svm",
    "plugin_method": "svm",
    "fingerprint": "made-0",
    "plugin_sha256": "as then",
    "dataset_sha256": "a" * 64,
}
NUMERICS = (
    "the shared numerics or the plugin of a kernel, a landmark selector or a search has changed"
)


def prepared(folder, sha256):
    """Write the description of a prepared data set; return its folder."""
    folder.mkdir(parents=True)
    meta = Meta(
        **{"name": "mine", "task": "regression", "n": 9, "d": 2, "n_train": None, "n_classes": 0},
        **{"class_names": (), "class_counts": (), "dtype": "float64", "itemsize": 8},
        **{"scaling": "none", "sha256": sha256, "digest": "d", "citation": ""},
    )
    meta.write(folder)
    return folder


@pytest.fixture
def refusal(tmp_path):
    """Try to reproduce a row in a study whose blocks are others now; return what is said."""
    (tmp_path / "study.yaml").write_text("as run")

    def refusal(row=ROW, plugin="as then", text="as run", data="mine-now"):
        write_table([dict.fromkeys(COLUMNS) | row], tmp_path / "trials.parquet")
        method = {"name": "svm", "plugin_path": "plugins/svm.py", "plugin_sha256": plugin}
        workload = SimpleNamespace(
            results=tmp_path,
            study=SimpleNamespace(text=text),
            blocks=(),
            index={"methods": [method]},
            catalog={"mine": None},
            prepared=lambda name: tmp_path / "prepared" / data,
        )
        with pytest.raises(HarnessError) as caught:
            reproduce(workload, "0")
        return str(caught.value).removeprefix(
            "row 0 was made by another version and cannot be run again: "
        )

    return refusal


def test_what_has_surely_changed_is_named(refusal, tmp_path):
    prepared(tmp_path / "prepared" / "mine-now", "a" * 64)
    prepared(tmp_path / "prepared" / "mine-other", "b" * 64)
    plugin, data = "the plugin plugins/svm.py has changed", "the data set mine has changed"
    assert refusal(plugin="edited") == plugin
    assert refusal(data="mine-other", text="edited") == data
    assert refusal(data="mine-unprepared") == data
    assert refusal(plugin="edited", data="mine-other") == f"{plugin} and {data}"
    assert refusal(ROW | {"plugin_method": "gone"}) == "the method gone is no longer there"
    assert refusal(ROW | {"dataset": "gone"}) == "the data set gone is no longer there"


def test_what_may_have_changed_is_named_where_nothing_surely_has(refusal, tmp_path):
    assert refusal() == f"the data set mine, {NUMERICS}"
    prepared(tmp_path / "prepared" / "mine-now", "a" * 64)
    assert refusal() == NUMERICS
    assert refusal(text="edited") == f"the study, {NUMERICS}"


def test_a_pair_that_was_left_out_has_nothing_to_run(refusal):
    row = {"dataset": "mine", "method": "svm", "reason": "svm does binary"}
    assert refusal(row) == "row 0 was never run: svm does binary"
