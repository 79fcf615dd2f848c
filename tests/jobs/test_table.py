"""The rows of a study's jobs, joined."""

import json
import os
from types import SimpleNamespace

import pytest

from harness.errors import HarnessError
from harness.jobs.table import _published_rows, collect
from harness.planning.bundles import Bundle
from harness.records.columns import NEVER_NULL
from harness.study.study import Block


def row(fingerprint, seed):
    said = dict.fromkeys(NEVER_NULL, "x") | {"outcome": "ok", "seed": seed}
    return json.dumps(said | {"fingerprint": f"{fingerprint}-{seed}"}) + "\n"


SHORT = {
    "cut": [0, '{"fingerprint":'],
    "doubled": [0, 0, 0],
    "of others": [0, "7", "8"],
    "of a wrong type": [0, '{"fingerprint": "short-1", "size": []}\n'],
    "empty": [],
    "gone": None,
}


def workload_of(results, *cells, seeds):
    """Some jobs of one block each, and where their rows are."""
    blocks = [Block("iris", None, 20, None, seeds, None, cell) for cell in cells]
    paths = [results / "rows" / f"{Bundle((block,)).id}.jsonl" for block in blocks]
    paths[0].parent.mkdir(parents=True)
    study = SimpleNamespace(seeds_per_job=len(seeds))
    return SimpleNamespace(results=results, blocks=blocks, study=study, left_out=[]), *paths


@pytest.mark.parametrize("what", SHORT)
def test_a_job_that_lost_rows_is_put_aside_by_name(tmp_path, what):
    workload, whole, short = workload_of(tmp_path, "whole", "short", seeds=(0, 1, 2))
    whole.write_text("".join(row("whole", seed) for seed in (2, 1, 0)))
    lines = SHORT[what]
    if lines is not None:
        short.write_text(
            "".join(line if isinstance(line, str) else row("short", line) for line in lines)
        )
    with pytest.raises(HarnessError) as caught:
        collect(workload)
    (said,) = str(caught.value).splitlines()
    assert said.startswith(f"{short}: holds {1 if lines else 0} of the 3 rows of its trials")
    assert "run the study again" in said
    left = {path.name for path in short.parent.iterdir()}
    assert left == {whole.name, *([f"{short.name}.damaged"] if lines is not None else [])}


def test_a_row_that_stands_twice_is_in_the_table_once(tmp_path):
    workload, path = workload_of(tmp_path, "twice", seeds=(0, 1))
    path.write_text("".join(row("twice", seed) for seed in (0, 1, 0, 1)))
    (found,) = _published_rows(workload)
    assert found["seed"].to_pylist() == [0, 1]


def test_whoever_reads_the_study_or_its_provenance_sees_all_of_it(tmp_path):
    settings = SimpleNamespace(title="")
    workload = SimpleNamespace(
        study=SimpleNamespace(name="s", text="new", path="s.yaml", settings=settings),
        index={"methods": [], "metrics": []},
        results=tmp_path,
        blocks=[],
        left_out=[],
        datasets=list,
    )
    for name in ("study.yaml", "provenance.json"):
        (tmp_path / name).write_text("old")
        os.link(tmp_path / name, tmp_path / f"open {name}")
    collect(workload)
    for name in ("study.yaml", "provenance.json"):
        assert (tmp_path / name).read_text() != "old"
        assert (tmp_path / f"open {name}").read_text() == "old"
