"""Columns of groups and of times that a user names as a file is added."""

import io

import numpy as np
import pytest
import yaml
from click.testing import CliRunner
from scipy.io import savemat

from harness.cli import main
from harness.datasets import load_catalog
from harness.datasets.preparation import load_with_facts
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


def test_rows_without_a_group_are_left_out_and_told(added):
    rows = CSV.replace("p3,", "?,").replace("p5,2026-01-21", ",2026-01-21")
    found, entry, X, _ = added(rows, "ill", groups="patient", order="day")
    assert found.body["groups"] == {"column": "patient", "missing": "drop"}
    assert found.body["order"] == "day"  # each row has one
    assert (len(X), entry.largest_group, sum(found.body["classes"].values())) == (43, 4, 43)
    assert "5 rows have no value of groups: left out (`missing` below `groups`)" in found.told


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


WHO = np.arange(8) // 2
MATRIX = np.column_stack([np.arange(8.0) ** 2, WHO, np.arange(8) % 2])
LINES = "".join(f"{row % 2} qid:{row // 2} 1:{row} 2:1\n" for row in range(8))


def stored(write, *arguments, **arrays):
    held = io.BytesIO()
    write(held, *arguments, **arrays)
    return held.getvalue()


ARRAYS = stored(np.savez, X=MATRIX[:, :1], y=MATRIX[:, 2], who=WHO)


@pytest.mark.parametrize(
    ("file", "raw", "groups", "written"),
    [
        ("a.svm", LINES, "qid", "qid"),
        ("a.npz", ARRAYS, "who", "who"),
        ("a.npy", stored(np.save, MATRIX), "1", 1),
        ("a.mat", stored(savemat, {"X": MATRIX[:, :2], "y": MATRIX[:, 2]}), "1", 1),
        ("a.csv", "".join(f"{row},{row % 2}\n" for row in range(8)), "file:who.txt", None),
        ("a.svm", LINES, "file:who.txt", None),
    ],
)
def test_every_format_has_a_way_to_say_groups(added, tmp_path, file, raw, groups, written):
    (tmp_path / "who.txt").write_text("".join(f"{who}\n" for who in WHO))
    found, entry, _, _ = added(raw, file=file, groups=groups)
    assert entry.largest_group == found.body["largest_group"] == 2
    assert "the largest group has 2 of 8 points" in found.told
    said = found.body["groups"]
    assert said == written if written is not None else said["files"][0]["path"] == "who.txt"
    assert load_with_facts(entry)[2]["groups"].tolist() == WHO.tolist()


def test_groups_are_found_in_the_names_of_pictures(tmp_path):
    for at, who in enumerate(WHO):
        place = tmp_path / "seen" / "ab"[at % 2] / f"{who}_{at}.npy"
        place.parent.mkdir(parents=True, exist_ok=True)
        np.save(place, np.full((2, 2), at, dtype=np.uint8))
    done = CliRunner().invoke(main, ["add", "seen", "--groups", r"path:(\d)_", "--no-study"])
    assert done.exit_code == 0, done.output
    entry = load_catalog()["seen"]
    assert (entry.groups.path, entry.largest_group) == (r"(\d)_", 2)
    assert load_with_facts(entry)[2]["groups"].tolist() == [0, 1, 2, 3] * 2


def test_what_a_format_does_not_have_is_told_with_what_it_has(added):
    with pytest.raises(HarnessError, match="svmlight has no column 'who'; allowed are qid, file:"):
        added(LINES, groups="who", file="a.svm")
    with pytest.raises(HarnessError, match="there is no array 'user'; the file holds X, y, who"):
        added(ARRAYS, "y", groups="user", file="b.npz")
    with pytest.raises(HarnessError, match=r"--groups: who\.txt: there is no such"):
        added(LINES, groups="file:who.txt", file="a.svm")


def test_groups_of_lines_that_nobody_asked_for_are_told(added):
    found, _, X, _ = added(LINES, file="a.svm")
    assert "qid of the lines is left out (--groups qid keeps groups apart)" in found.told
    assert X.shape == (8, 2)
