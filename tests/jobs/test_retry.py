"""Rows of an outcome are removed from all files of a study, and no others."""

import pytest

from harness.errors import HarnessError
from harness.jobs.retry import retry
from harness.jobs.unfinished import Unfinished
from harness.planning.bundles import journal as written
from harness.planning.bundles import published
from harness.planning.job_files import study_bundles
from harness.planning.workload import load_workload
from harness.records.journal import Journal
from harness.records.table import read_rows

STUDY = """
{datasets: [iris], methods: [prior, random], labeled: 20, budgets: none, seeds: 3,
seeds_per_job: 3}
"""


@pytest.fixture
def workload(tmp_path, monkeypatch, built_in):
    """A study of two jobs, published, whose seeds ended ok, crashed and in an error."""
    built_in("controls")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study.yaml").write_text(STUDY)
    workload = load_workload("study.yaml")
    for bundle in study_bundles(workload):
        (block,) = bundle.blocks
        with Journal(written(workload, bundle)) as journal:
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
            journal.publish(published(workload, bundle))
    return workload


def outcomes(workload, bundle):
    return [row["outcome"] for row in read_rows(written(workload, bundle))]


def test_rows_of_an_outcome_go_and_their_jobs_are_run_again(workload):
    first, second = study_bundles(workload)
    (block,) = first.blocks
    unfinished = Unfinished(written(workload, first))
    unfinished.begin(f"{block.fingerprint}-1")
    removed = retry(workload, ["crashed"], [block.method.label])
    assert removed == [f"{block.fingerprint}-1"]
    assert outcomes(workload, first) == ["ok", "error"]
    assert not published(workload, first).exists()
    assert not written(workload, first).with_suffix(".running").exists()
    assert outcomes(workload, second) == ["ok", "crashed", "error"]
    assert published(workload, second).exists()
    assert len(retry(workload, ["crashed", "error"])) == 3
    assert retry(workload, ["crashed"]) == []


def test_a_method_that_is_not_there_and_a_job_that_runs_are_told(workload):
    with pytest.raises(HarnessError, match="no method 'svm'; it has prior, random"):
        retry(workload, ["crashed"], ["svm"])
    first, _ = study_bundles(workload)
    with Journal(written(workload, first)), pytest.raises(HarnessError, match="runs"):
        retry(workload, ["crashed"])


def test_a_journal_that_someone_else_altered_is_written_again(workload):
    first, _ = study_bundles(workload)
    with Journal(written(workload, first)) as journal:
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
