"""The rows of a study's blocks, joined."""

import json
import os
from types import SimpleNamespace

import pytest

from harness.collect import collect
from harness.errors import HarnessError


def test_a_block_that_lost_rows_is_refused_by_name(tmp_path):
    blocks = [SimpleNamespace(fingerprint=name, seeds=(0, 1, 2)) for name in ("whole", "short")]

    def output(block):
        return tmp_path / f"{block.fingerprint}.jsonl"

    for block in blocks:
        rows = [{"fingerprint": f"{block.fingerprint}-{seed}"} for seed in block.seeds]
        output(block).write_text("".join(json.dumps(row) + "\n" for row in rows))
    lines = output(blocks[1]).read_text().splitlines(keepends=True)
    output(blocks[1]).write_text(lines[0] + lines[1][:9])
    with pytest.raises(HarnessError) as caught:
        collect(SimpleNamespace(blocks=blocks, output=output))
    assert str(caught.value) == (
        f"{tmp_path}/short.jsonl: holds 1 of the 3 rows of its trials; "
        "remove the file and run the study again, which runs what is missing"
    )


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
