"""Columns of groups and of times that a user names as a file is added."""

import numpy as np
import pytest
import yaml
from click.testing import CliRunner

from harness.cli import main
from harness.errors import HarnessError

pytestmark = pytest.mark.usefixtures("in_a_folder")

ROWS = [f"p{row // 4},2026-01-{1 + row % 28:02},{row / 7:.2f},{row % 3 // 2}" for row in range(48)]
CSV = "\n".join(["patient,day,size,ill", *ROWS, "p0,2026-02-01,3,"])


def test_columns_of_groups_and_times_are_no_features(added):
    found, entry, X, _ = added(CSV, "ill", groups="patient", order="day")
    assert found.body["groups"] == "patient"
    assert (entry.groups.column, entry.order.column) == ("patient", "day")
    assert entry.largest_group == 4  # the row without a target is left out
    assert X.shape == (48, 1)
    assert "the largest group has 4 of 48 points" in found.told
    assert added(CSV, "ill", name="by-number", groups="0")[1].groups.column == "patient"


def test_the_study_that_is_written_holds_out_what_was_named(tmp_path):
    (tmp_path / "visits.csv").write_text(CSV)
    for option, said in (("groups", "test"), ("order", None)):
        column = {"groups": "patient", "order": "day"}[option]
        named = ["visits.csv", "--target", "ill", "--name", option, f"--{option}", column]
        done = CliRunner().invoke(main, ["add", *named])
        assert done.exit_code == 0, done.output
        study = yaml.safe_load((tmp_path / f"studies/{option}.yaml").read_text())
        kept = {"groups": "test"} if said else {"temporal": "test"}
        assert study["evaluation"] == {"test": 0.2} | kept
        planned = CliRunner().invoke(main, ["plan", option])
        assert planned.exit_code == 0, planned.output


@pytest.mark.parametrize(
    ("wishes", "told"),
    [
        ({"groups": "patients"}, "--groups: unknown column 'patients'; did you mean 'patient'"),
        ({"groups": "ill"}, "--groups names 'ill', which is the target"),
        ({"order": "ill"}, "--order names 'ill', which is the target"),
        ({"order": "patient"}, "order: 'p0' is neither a number nor a date"),
    ],
)
def test_columns_that_cannot_be_it_are_told(added, wishes, told):
    with pytest.raises(HarnessError, match=told):
        added(CSV, "ill", **wishes)


def test_files_without_columns_have_no_groups(added, tmp_path):
    with pytest.raises(HarnessError, match="have no columns to name, so --groups says nothing"):
        added("1 1:2\n0 2:3\n", groups="patient", file="a.svm")
    np.savez(tmp_path / "kept.npz", X=np.eye(4), y=[0, 1, 0, 1])
    raw = (tmp_path / "kept.npz").read_bytes()
    with pytest.raises(HarnessError, match="names a column of a table, and this is npz"):
        added(raw, groups="patient", file="b.npz")
