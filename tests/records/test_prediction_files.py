"""A job's predictions on disk: cut short, damaged, altered, joined; none twice, none of others."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from harness.errors import DamagedFileError
from harness.records.prediction_files import (
    Kept,
    PredictionsFile,
    copy_kept,
    keep_trials,
    read_kept,
    remove_trials,
)
from harness.records.predictions import pack, unpack

TRIALS = [f"abc-{seed}" for seed in range(4)]


def predictions(trial, value=0.0):
    scores = value + np.linspace(-1, 1, 20) * (1 + TRIALS.index(trial))
    given = {"scores": scores, "labels": (scores > 0).astype(int)}
    points = np.arange(20)
    return pack(trial, given, points, split="s", part="test")


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "wine" / "job.scores"
    with PredictionsFile(path, ()) as file:
        for trial in TRIALS:
            file.append(*predictions(trial))
    return path


def trials(path, wanted=TRIALS):
    return [kept.trial for kept, _ in read_kept(path, wanted)]


def test_what_is_appended_is_read_and_only_what_is_asked_for(path):
    assert trials(path) == TRIALS
    ((kept, content),) = read_kept(path, {"abc-2"})
    assert unpack(kept, content)["scores"][-1] == pytest.approx(3)
    assert trials(path.with_name("none.scores")) == []


def test_what_has_no_row_is_dropped_when_a_job_goes_on(path):
    """Its trial was ended between the two, and runs again."""
    with PredictionsFile(path, TRIALS[:3]) as file:
        assert trials(path) == TRIALS[:3]
        file.append(*predictions(TRIALS[3]))
    assert trials(path) == TRIALS


def test_a_file_that_needs_nothing_is_not_written_again(path):
    before = path.stat()
    keep_trials(path, set(TRIALS))
    assert path.stat().st_ino == before.st_ino


@pytest.mark.parametrize("cut", [1, 30, 200])
def test_what_a_kill_cut_short_is_not_there_and_does_not_hide_what_follows(path, cut):
    path.write_bytes(path.read_bytes()[:-cut])
    assert trials(path) == TRIALS[:3]
    with PredictionsFile(path, TRIALS) as file:
        file.append(*predictions(TRIALS[3]))
    assert trials(path) == TRIALS


def test_of_a_trial_that_was_written_twice_the_last_one_stays(path):
    with path.open("ab") as file:
        kept, content = predictions(TRIALS[0], 5.0)
        file.write(json.dumps(asdict(kept)).encode() + b"\n" + content)
    keep_trials(path, set(TRIALS))
    assert sorted(trials(path)) == TRIALS
    ((kept, content),) = read_kept(path, TRIALS[:1])
    assert unpack(kept, content)["scores"].mean() == pytest.approx(5, abs=1e-3)


@pytest.mark.parametrize(
    "change",
    [
        b"nothing of ours\n",
        b"[1]\n",
        b"{}\n",
        b"{" * 5000 + b"\n",
        b'{"trial": 7}\n',
    ],
)
def test_damage_is_told_once_all_before_it_was_read(path, change):
    path.write_bytes(path.read_bytes() + change)
    found = read_kept(path, TRIALS)
    assert [next(found)[0].trial for _ in TRIALS] == TRIALS
    with pytest.raises(DamagedFileError, match=r"job.scores: byte \d+ begins no predictions"):
        next(found)
    keep_trials(path, set(TRIALS))
    assert trials(path) == TRIALS


@pytest.mark.parametrize(
    "wrong",
    [
        {"n": -1},
        {"n": 1 << 40},
        {"kind": "guesses"},
        {"labels": 21},
        {"scales": []},
        {"scales": [[1.0, 2.0]]},
        {"scales": [[1.0, 2.0, float("nan")]]},
        {"label_type": "O"},
        {"part": "labeled"},
        {"size": True},
        {"columns": 3},
    ],
)
def test_a_description_of_no_predictions_is_refused(wrong):
    told = asdict(predictions(TRIALS[0])[0])
    with pytest.raises(ValueError, match="does not describe"):
        Kept(**told | wrong)


def test_what_someone_else_wrote_is_noticed_and_goes(path):
    with PredictionsFile(path, TRIALS) as file:
        assert not file.altered()
        path.write_bytes(path.read_bytes()[:100])
        assert file.altered()
        file.drop()
        assert not file.altered()
        file.append(*predictions(TRIALS[1]))
        assert not file.altered()
    assert trials(path) == TRIALS[1:2]


def test_predictions_of_trials_that_run_again_go(path):
    before = path.stat()
    remove_trials(path, {"another-0"})
    assert path.stat().st_ino == before.st_ino
    remove_trials(path, {TRIALS[1], "another-0"})
    assert trials(path) == [TRIALS[0], *TRIALS[2:]]


def test_predictions_of_some_trials_are_copied_from_one_site_to_another(path, tmp_path):
    target = tmp_path / "other" / "job.scores"
    copy_kept(path, target, set(TRIALS[:2]))
    copy_kept(path, target, {TRIALS[3]})
    copy_kept(path.with_name("none.scores"), target, set(TRIALS))
    assert trials(target) == [*TRIALS[:2], TRIALS[3]]


@pytest.mark.parametrize(("distinct", "least", "most"), [(4000, 8000, 8200), (5, 0, 4000)])
def test_scores_that_gain_nothing_are_stored_in_two_bytes_each_and_others_are_packed(
    distinct, least, most
):
    rng = np.random.default_rng(0)
    scores = rng.lognormal(0, 2, distinct)[rng.permutation(4000) % distinct]
    given = {"scores": scores, "labels": (scores > 0).astype(int)}
    kept, packed = pack(TRIALS[0], given, np.arange(4000), split="s", part="test")
    assert least <= len(packed) <= most
    again = unpack(kept, packed)
    assert (again["labels"] == given["labels"]).all()
    assert (np.argsort(again["scores"], kind="stable") == np.argsort(scores, kind="stable")).all()
