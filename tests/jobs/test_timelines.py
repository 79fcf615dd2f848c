"""Pictures are one a cell, whichever job took them, and stay out of a study that has changed."""

import json
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from harness.jobs.timelines import Pictures, join_timelines, make_timeline


@dataclass(frozen=True)
class Block:
    fingerprint: str


def picture(cell, seed=0):
    return {"fingerprint": f"{cell}-{seed}"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "timelines" / "digits" / "job.jsonl"


def workload(tmp_path, *cells):
    return SimpleNamespace(results=tmp_path, blocks=[Block(cell) for cell in cells])


def test_a_cell_has_one_picture_whichever_job_took_it(path):
    Pictures(path.with_name("other.jsonl")).keep(picture("aa", 1))
    kept = Pictures(path)
    assert not kept.wants(Block("aa"))
    assert kept.wants(Block("bb"))
    kept.keep(picture("bb"))
    assert not kept.wants(Block("bb"))
    assert not Pictures(path).wants(Block("bb"))


def test_only_pictures_of_current_cells_are_joined_in_the_order_of_the_study(path, tmp_path):
    kept = Pictures(path)
    for cell in ("old", "second", "first"):
        kept.keep(picture(cell))
    found = join_timelines(workload(tmp_path, "none", "first", "second", "first"))
    assert found == [picture("first"), picture("second")]


@pytest.mark.parametrize("content", ["", '{"fingerprint": "aa', "[1]", "7", "{}"])
def test_a_picture_that_was_cut_short_is_none(path, tmp_path, content):
    Pictures(path).keep(picture("bb"))
    with path.open("a") as file:
        file.write(content)
    assert join_timelines(workload(tmp_path, "aa", "bb")) == [picture("bb")]
    assert Pictures(path).wants(Block("aa"))


def test_a_picture_is_small_and_says_what_it_is_of():
    names = ("fingerprint", "dataset", "method", "n_labeled", "budget", "budget_bytes", "seed")
    row = dict.fromkeys((*names, "planned_bytes", "peak_bytes", "outcome"), 7) | {"auc": 1.0}
    result = SimpleNamespace(
        stages={"fit": SimpleNamespace(span=(0.123456, 1.0))},
        timeline=[(i / 3, 123_456_789) for i in range(200)],
    )
    made = make_timeline(row, result)
    assert set(made) == {*row, "stages", "samples"} - {"auc"}
    assert made["stages"] == {"fit": [0.1235, 1.0]}
    assert len(json.dumps(made)) < 5_000
