"""Trials that began and did not end: counted across runs, forgiven when a study ends in order."""

from harness.jobs.unfinished import Unfinished


def test_beginnings_without_an_end_are_counted_across_runs(tmp_path):
    journal = tmp_path / "block.jsonl"
    for expected in (1, 2):
        Unfinished(journal).begin("a-1")
        assert Unfinished(journal).count("a-1") == expected
    assert Unfinished(journal).count("a-2") == 0
    Unfinished(journal).begin("a-2")
    Unfinished(journal).end("a-1")
    assert Unfinished(journal).counts() == {"a-2": 1}
    Unfinished(journal).forgive()
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_note_is_no_note(tmp_path):
    (tmp_path / "block.running").write_text('{"a": "x"')
    assert Unfinished(tmp_path / "block.jsonl").counts() == {}
