"""What `harness run` tells of a study."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.cli import progress
from harness.cli.progress import run_with_progress
from harness.planning.workload import Workload


@pytest.mark.parametrize(
    ("there", "options", "told"),
    [
        (True, [], "report.html"),
        (True, ["-n"], "logs/snakemake.log"),
        (False, ["--until", "block"], "logs/snakemake.log"),
    ],
)
def test_the_report_is_named_only_where_one_was_made(
    tmp_path, monkeypatch, capsys, there, options, told
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(progress.signal, "signal", lambda number, handler: None)
    monkeypatch.setattr(progress, "run_workflow", lambda *given: None)
    results = Path("results/s")
    results.mkdir(parents=True)
    if there:
        (results / "report.html").touch()
    workload = Workload(SimpleNamespace(name="s", path="s.yaml"), {}, {}, (), ())
    run_with_progress(workload, 1, options)
    assert capsys.readouterr().err.endswith(f"results/s/{told}\n")
