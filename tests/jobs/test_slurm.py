"""What Slurm is asked, and what its words mean: against commands that answer as Slurm does."""

import re

import pytest

from harness.errors import HarnessError
from harness.jobs.slurm import (
    Need,
    cancel_left_over,
    longest_minutes,
    refuse_arrays,
    refuse_too_large,
    require_slurm,
    why_ended,
)

SINFO = """#!/bin/sh
cat <<END
main*|8|16000|1-00:00:00
main*|8|64000|1-00:00:00
short|8|16000|30:00
long|8|16000|infinite
END
"""


@pytest.fixture
def commands(tmp_path, monkeypatch):
    """Return a function that puts a command of Slurm on the path."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    def put(name, script):
        (tmp_path / name).write_text(script)
        (tmp_path / name).chmod(0o755)

    return put


@pytest.mark.parametrize(
    "need",
    [
        Need("block", 64000, 8, 1440),
        Need("block", 900, 1, 30, "short"),
        Need("block", 900, 1, 50000, "long"),
        Need("block", 900, 1, 50000, "short,long"),
    ],
)
def test_a_job_that_some_node_can_run_is_submitted(commands, need):
    commands("sinfo", SINFO)
    refuse_too_large([need])


@pytest.mark.parametrize(
    ("need", "told"),
    [
        (Need("block", 64001, 1, 9), "block: .* 64001 MB, 1 cores and 9 minutes; partition main"),
        (Need("table", 900, 9, 9), "table: .* at most 64000 MB, 8 cores and 1440 minutes"),
        (Need("block", 900, 1, 31, "short"), "partition short has .* 30 minutes"),
        (Need("block", 16001, 1, 9, "long"), "16000 MB, 8 cores and any time"),
        (Need("block", 9, 1, 9, "gpu"), "no partition 'gpu'; it has long, main, short"),
    ],
)
def test_a_job_that_no_node_can_run_is_refused_before_any_is_submitted(commands, need, told):
    commands("sinfo", SINFO)
    with pytest.raises(HarnessError, match=told):
        refuse_too_large([Need("report", 900, 1, 15), need])


@pytest.mark.parametrize(
    ("needs", "minutes"),
    [
        ([Need("bundle", 900, 1, 10)], 1440),
        ([Need("bundle", 900, 1, 10**6), Need("bundle", 900, 1, 10, "short")], 30),
        ([Need("bundle", 900, 1, 10, "short,long")], float("inf")),
        ([Need("bundle", 10**6, 1, 10)], float("inf")),
        ([], float("inf")),
    ],
)
def test_what_a_partition_allows_bounds_what_a_job_may_ask_for(commands, needs, minutes):
    commands("sinfo", SINFO)
    assert longest_minutes(needs) == minutes


def test_a_partition_must_be_named_where_there_is_no_default(commands):
    commands("sinfo", SINFO.replace("main*", "main"))
    with pytest.raises(HarnessError, match="block: Slurm has no default partition: name one of"):
        refuse_too_large([Need("block", 900, 1, 9)])


def test_arrays_are_refused_where_the_plugin_would_do_them_wrongly():
    """All tasks get the memory of the first, and jobs that come later are waited for for ever."""
    block, table = Need("block", 803, 1, 10), Need("table", 700, 1, 15)
    refuse_arrays("block", [block, block, table], 2)
    refuse_arrays("all", [block, block, table], None)
    refuse_arrays("table", [block, Need("block", 840, 1, 10), table], 1)
    with pytest.raises(HarnessError, match="block: its jobs differ in memory"):
        refuse_arrays("table, block", [block, Need("block", 840, 1, 10), table], 9)
    with pytest.raises(HarnessError, match="all of its 2 jobs at once, and --jobs is 1"):
        refuse_arrays("all", [block, block, table], 1)


def test_a_machine_without_slurm_is_told_so(commands, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HarnessError, match="sbatch is not on this machine: run the study where"):
        require_slurm()
    commands("sbatch", "#!/bin/sh")
    commands("sinfo", "#!/bin/sh\necho 'Unable to contact slurm controller' >&2; exit 1")
    with pytest.raises(HarnessError, match="does not answer: Unable to contact slurm controller"):
        require_slurm()


def test_only_jobs_of_this_study_are_cancelled(commands, tmp_path):
    """Slurm is asked for all of the user's jobs; where their logs are says whose they are."""
    own, other = tmp_path / "results" / "a" / "logs" / "slurm", "/x/results/a/logs/slurm"
    near = f"{own}-2"
    lines = [(7, f"{own}/rule_block/a b/%j.log"), (8, f"{other}/%j.log"), (9, f"{near}/%j.log")]
    told = "\n".join(f"{job:>20}{path:>4096}" for job, path in lines)
    (tmp_path / "jobs").write_text(told)
    commands("squeue", f"#!/bin/sh\ncat {tmp_path}/jobs")
    commands("scancel", f'#!/bin/sh\necho "$@" >{tmp_path}/cancelled')
    assert cancel_left_over(own) == 1
    assert (tmp_path / "cancelled").read_text() == "7\n"
    (tmp_path / "jobs").write_text("")
    assert cancel_left_over(own) == 0


GIVEN = "    resources: tmpdir=<TBD>, mem_mb=803, mem=803 MB, runtime=65\n"
FAILED = "SLURM-job '5' failed, SLURM status is: '{}'. Detailed failure reason unavailable"


@pytest.mark.parametrize(
    ("message", "said", "told"),
    [
        (
            FAILED.format("FAILED"),
            f"{GIVEN}slurmstepd: error: Detected 1 oom-kill event(s) in StepId=17.0.",
            "needed more memory than the 803 MB .* --set-resources block:mem_mb=",
        ),
        (FAILED.format("OUT_OF_MEMORY"), "", "needed more memory than the memory that"),
        (
            FAILED.format("FAILED"),
            f"{GIVEN}slurmstepd: error: *** JOB 5 ON n1 CANCELLED AT 9:00 DUE TO TIME LIMIT ***",
            "took longer than the 65 minutes that Slurm gave it",
        ),
        (FAILED.format("NODE_FAIL"), "", "the node that ran the job failed"),
        (
            FAILED.format("CANCELLED"),
            "slurmstepd: error: *** STEP 5.0 ON n1 CANCELLED AT 2026-01-01 ***",
            "the job was cancelled",
        ),
        (
            "SLURM sbatch failed. The error message was 'sbatch: error: Memory specification can "
            "not be satisfied\nsbatch: error: Batch job submission failed: x'.\n    sbatch call:",
            "",
            "Slurm refused the job: Memory specification can not be satisfied",
        ),
        ("None", "Traceback", "^$"),
    ],
)
def test_the_end_of_a_job_is_told_in_a_sentence(message, said, told):
    assert re.search(told, why_ended("block", message, said))
