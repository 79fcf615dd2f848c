"""Pictures follow their trials into other blocks, and stay out of a study that has changed."""

import json
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from harness.jobs.timelines import has_timeline, join_timelines, make_timeline, write_json


@dataclass(frozen=True)
class Block:
    fingerprint: str
    seeds: tuple

    @property
    def id(self):
        return f"digits/svm/s{self.seeds[0]}-{self.seeds[-1]}-{self.fingerprint}"


@pytest.fixture
def workload(tmp_path):
    return SimpleNamespace(timeline=lambda block: tmp_path / f"{block.id}.json", blocks=[])


def keep(workload, block, seed):
    timeline = {"fingerprint": f"{block.fingerprint}-{seed}"}
    write_json(timeline, workload.timeline(block))
    return timeline


def test_a_block_takes_over_the_picture_of_its_own_trials_only(workload):
    kept = keep(workload, Block("aa", (0, 1, 2)), 1)
    assert not has_timeline(workload, Block("aa", (3, 4)))
    assert not has_timeline(workload, Block("bb", (0, 1, 2)))
    grown = Block("aa", (0, 1, 2, 3))
    assert has_timeline(workload, grown)
    assert json.loads(workload.timeline(grown).read_text()) == kept
    keep(workload, grown, 0)
    assert has_timeline(workload, grown)
    assert json.loads(workload.timeline(grown).read_text())["fingerprint"] == "aa-0"


def test_only_pictures_of_current_blocks_are_joined(workload):
    old, new, none = Block("aa", (0,)), Block("bb", (0,)), Block("cc", (0,))
    keep(workload, old, 0)
    kept = keep(workload, new, 0)
    workload.blocks = [none, new]
    assert join_timelines(workload) == [kept]


@pytest.mark.parametrize("content", ["", '{"fingerprint": "aa'])
def test_a_picture_that_was_cut_short_is_none(workload, content):
    block = Block("aa", (0,))
    keep(workload, block, 0)
    workload.timeline(block).write_text(content)
    workload.blocks = [block]
    assert join_timelines(workload) == []
    assert not has_timeline(workload, block)


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
