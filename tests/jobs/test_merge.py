"""Results of two sites in one folder: every trial once, nothing of another version."""

import json

import pytest
from click.testing import CliRunner

from harness.cli import main
from harness.errors import HarnessError
from harness.jobs.merge import merge
from harness.records.columns import COLUMNS
from harness.records.journal import Journal
from harness.records.table import finished_rows

PARTS = {"data": "d1", "method": "m1", "harness": "h1", "versions": {"numpy": "2.4.6"}}


def row(seed, version="aa", dataset="wine", parts=PARTS, **said):
    known = dict.fromkeys(COLUMNS) | {"study": "first", "dataset": dataset, "task": "binary"}
    known |= {"method": "svm", "budget": "3MB", "seed": seed, "outcome": "ok", "auc": seed / 7}
    known |= {"fingerprint": f"{version}-{seed}", "dataset_sha256": "ab", "cpu": "one"}
    known |= {"decided_by": json.dumps(parts), "started_at": "2026-01-02T03:04:05+00:00"}
    return known | said


def site(folder, *rows, name="one", published=True):
    """Write rows as a run leaves them."""
    for dataset in {one["dataset"] for one in rows}:
        path = f"{dataset}/{name}.jsonl"
        with Journal(folder / "journal" / path) as journal:
            journal.extend(one for one in rows if one["dataset"] == dataset)
            if published:
                journal.publish(folder / "rows" / path)
    return folder


def rows_in(folder):
    """Every row of every file, as a run would find them, and how many lines there are."""
    journals = [*(folder / "journal").rglob("*.jsonl")]
    cells = {path.parent.relative_to(folder / "journal") for path in journals}
    found = {}
    for cell in cells:
        found |= finished_rows(folder / "journal" / cell, folder / "rows" / cell)
    lines = sum(len(path.read_text().splitlines()) for path in journals)
    return found, lines


def snapshot(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def test_every_trial_is_there_once_and_of_the_first(tmp_path):
    a = site(tmp_path / "a", row(0), row(1), row(0, "bb", "iris"))
    b = site(tmp_path / "b", row(1, auc=0.5), row(2), name="two", published=False)
    made = merge([a, b], tmp_path / "both")
    found, lines = rows_in(tmp_path / "both")
    assert (sorted(found), lines) == (["aa-0", "aa-1", "aa-2", "bb-0"], 4)
    assert found["aa-1"]["auc"] == 1 / 7
    assert found["aa-2"] == row(2)
    assert (list(made.taken.values()), made.twice, made.other_scores) == ([3, 1], 1, 1)
    published = sorted(path.name for path in (tmp_path / "both/rows").rglob("*.jsonl"))
    assert published == ["one.jsonl"] * 2


def test_a_folder_is_added_to_and_again_without_a_change(tmp_path):
    a = site(tmp_path / "a", row(0), row(1))
    b = site(tmp_path / "b", row(1, auc=0.5), row(2))
    merge([b, a], a)
    found, lines = rows_in(a)
    assert (sorted(found), lines) == (["aa-0", "aa-1", "aa-2"], 3)
    assert found["aa-1"]["auc"] == 1 / 7
    merge([a, b], a)
    assert rows_in(a) == (found, lines)
    assert rows_in(b)[1] == 2


def test_rows_that_an_edit_made_stale_are_left_out(tmp_path):
    a = site(
        tmp_path / "a", row(0, "old", started_at="2025-01-01", parts=PARTS | {"method": "m0"})
    )
    site(a, row(0), name="two")
    b = site(tmp_path / "b", row(1))
    made = merge([a, b], tmp_path / "both")
    assert sorted(rows_in(tmp_path / "both")[0]) == ["aa-0", "aa-1"]
    assert made.old == 1


OTHERS = {
    "another study": ({"study": "second"}, "holds rows of study second"),
    "other data": ({"dataset_sha256": "cd"}, "wine: other data in "),
    "another catalog": (
        {"parts": PARTS | {"data": "d2"}, "version": "bb"},
        "wine with svm: .* the data set has changed",
    ),
    "another plugin": (
        {"parts": PARTS | {"method": "m2"}, "version": "bb"},
        "the code of the method has changed",
    ),
    "another numpy": (
        {"parts": PARTS | {"versions": {"numpy": "2.5"}}, "version": "bb"},
        "numpy is 2.5, was 2.4.6",
    ),
    "other settings": ({"version": "bb"}, "were run with other settings of the study"),
}


@pytest.mark.parametrize("what", OTHERS)
def test_what_does_not_go_together_is_refused_and_nothing_is_written(tmp_path, what):
    said, message = OTHERS[what]
    a, b = site(tmp_path / "a", row(0)), site(tmp_path / "b", row(1, **said))
    before = snapshot(tmp_path)
    for output in (tmp_path / "both", a):
        with pytest.raises(HarnessError, match=message) as caught:
            merge([a, b], output)
        assert "nothing was written" in str(caught.value)
    assert snapshot(tmp_path) == before


def test_another_version_in_a_cell_that_one_site_alone_has_is_refused(tmp_path):
    a = site(tmp_path / "a", row(0))
    b = site(tmp_path / "b", row(1, "bb", parts=PARTS | {"harness": "h2"}, budget="5MB"))
    with pytest.raises(HarnessError, match="the code that runs and scores trials has changed"):
        merge([a, b], tmp_path / "both")


MISTAKES = {
    "no folder": (["a", "nowhere"], "both", "nowhere: there is no such folder"),
    "no results": (["a", "."], "both", "holds neither journal/ nor rows/"),
    "a full folder": (["a"], "b", "b: is there already: name it among the folders"),
    "no rows": (["empty"], "both", "no folder holds a row"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_are_told_in_a_sentence(tmp_path, monkeypatch, what):
    monkeypatch.chdir(tmp_path)
    site(tmp_path / "a", row(0))
    site(tmp_path / "b", row(1))
    (tmp_path / "empty/journal").mkdir(parents=True)
    folders, output, message = MISTAKES[what]
    done = CliRunner().invoke(main, ["merge", *folders, "-o", output])
    assert done.exit_code == 1
    assert message in done.stderr


def test_the_command_tells_what_was_joined_and_what_differs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    a = site(tmp_path / "a", row(0), row(1))
    b = site(tmp_path / "b", row(1, cpu="two", auc=0.3), row(2, cpu="two"))
    (b / "hosts").mkdir()
    (b / "hosts/node.json").write_text('{"host": "node"}')
    (a / "timelines").mkdir()
    (a / "timelines/x.json").write_text("{}")
    done = CliRunner().invoke(main, ["merge", "a", "b", "-o", "both"])
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        "a: 2 rows",
        "b: 1 row",
        "in several folders, where the row of the first was kept: 1",
        "of these with another outcome or score elsewhere: 1",
        "the folders differ in: CPUs; every row says its own",
        "both: 3 rows of first; now run it: harness run first",
        "a run looks for them in results/first: move the folder there first",
    ]
    beside = {path.name for path in (tmp_path / "both").rglob("*.json")}
    assert beside == {"node.json", "x.json"}
