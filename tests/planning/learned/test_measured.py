"""One process answers all questions, each as if it had been started for it."""

import dataclasses

import pytest

from harness import Shape
from harness.planning.learned.measured import _Measuring, measured
from harness.planning.learned.model import LearningError
from harness.planning.learned.question import Question

PLUGIN = """\
import os

from harness import Method, hookimpl
from sklearn.naive_bayes import GaussianNB

if os.path.exists("stop"):
    os._exit(3)


@hookimpl
def harness_methods():
    yield Method("bayes", GaussianNB, tasks={"binary"})
"""


@pytest.fixture
def question(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bayes.py").write_text(PLUGIN)
    yield Question(
        method="bayes",
        plugins=[str(tmp_path / "bayes.py")],
        folders=[str(tmp_path / "bayes.py")],
        params={},
        task="binary",
        shape=dataclasses.asdict(Shape(100, 300, 5, 2)),
        budgets=[(3_000_000, None)],
        data="generated",
        prepared=None,
        withheld=[],
        enforcement="auto",
        threads=1,
        seconds=60,
        settings=[],
        tuned=False,
        runs=[],
    )
    _Measuring.current().end()


@pytest.mark.slow
def test_an_answer_is_that_of_a_process_of_its_own(question, tmp_path):
    first = list(measured(question))
    assert first
    assert all(run.ok for run in first)
    process = _Measuring.current().process
    # a part of an answer is not taken for the next one
    assert next(measured(question)).shape == first[0].shape
    again = list(measured(question))
    assert [run.shape for run in again] == [run.shape for run in first]
    (tmp_path / "stop").touch()
    with pytest.raises(LearningError, match="ended: exit status 3"):
        list(measured(question))
    (tmp_path / "stop").unlink()
    after = _Measuring.current().process
    assert after is not process  # which ended with the answer that nobody heard out
    assert [run.shape for run in measured(question)] == [run.shape for run in first]
    assert _Measuring.current().process is after
