"""Rows of an outcome are removed from all files of a study, and no others."""

import pytest

from harness.errors import HarnessError
from harness.jobs.retry import retry
from harness.jobs.unfinished import Unfinished
from harness.planning.workload import load_workload
from harness.records.journal import Journal
from harness.records.table import read_rows

STUDY = "{datasets: [iris], methods: [prior, random], labeled: 20, budgets: none, seeds: 3}"


@pytest.fixture
def workload(tmp_path, monkeypatch, built_in):
    """A study of two blocks, published, whose seeds ended ok, crashed and in an error."""
    built_in("controls")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(STUDY)
    workload = load_workload("study.yaml")
    for block in workload.blocks:
        with Journal(workload.journal(block)) as journal:
            for seed, outcome in enumerate(("ok", "crashed", "error")):
                journal.append(
                    {
                        "fingerprint": f"{block.fingerprint}-{seed}",
                        "dataset": block.dataset,
                        "task": "multiclass",
                        "method": block.method.label,
                        "budget": "none",
                        "seed": seed,
                        "outcome": outcome,
                    }
                )
            journal.publish(workload.output(block))
    return workload


def outcomes(workload, block):
    return [row["outcome"] for row in read_rows(workload.journal(block))]


def test_rows_of_an_outcome_go_and_their_blocks_are_made_again(workload):
    first, second = workload.blocks
    Unfinished(workload.journal(first)).begin(f"{first.fingerprint}-1")
    removed = retry(workload, ["crashed"], [first.method.label])
    assert removed == [f"{first.fingerprint}-1"]
    assert outcomes(workload, first) == ["ok", "error"]
    assert not workload.output(first).exists()
    assert Unfinished(workload.journal(first)).counts() == {}
    assert outcomes(workload, second) == ["ok", "crashed", "error"]
    assert workload.output(second).exists()
    assert len(retry(workload, ["crashed", "error"])) == 3
    assert retry(workload, ["crashed"]) == []


def test_a_method_that_is_not_there_and_a_block_that_runs_are_told(workload):
    with pytest.raises(HarnessError, match="no method 'svm'; it has prior, random"):
        retry(workload, ["crashed"], ["svm"])
    with Journal(workload.journal(workload.blocks[0])), pytest.raises(HarnessError, match="runs"):
        retry(workload, ["crashed"])


def test_a_journal_that_someone_else_altered_is_written_again(workload):
    with Journal(workload.journal(workload.blocks[0])) as journal:
        assert not journal.altered()
        content = journal.path.read_bytes()
        journal.path.touch()
        assert not journal.altered()
        for altered in (b"{}\n", content + b"{}\n", b"", content.replace(b"crashed", b"ok")):
            journal.path.write_bytes(altered)
            assert journal.altered()
            journal.drop()
            assert not journal.altered()
        journal.path.unlink()
        assert journal.altered()
        journal.drop()
        assert list(journal.rows.values()) == read_rows(journal.path)
