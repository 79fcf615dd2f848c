"""What was measured is kept as long as it holds, and never measured twice."""

import dataclasses

import pytest
from simulated import Estimator, run_of

from harness.planning.learned import kept
from harness.planning.learned.design import Design, Wanted
from harness.planning.learned.kept import kept_path, learn, read_runs
from harness.planning.learned.model import LearningError
from harness.planning.learned.question import Question
from harness.planning.learned.runs import GENERATED, Run
from harness.plugin.index import method_entry, read_index
from harness.plugin.method import Method
from harness.plugin.shape import Shape

PLUGIN = """
from sklearn.neighbors import KNeighborsClassifier
from harness import Method, hookimpl

@hookimpl
def harness_methods():
    yield Method("near", KNeighborsClassifier, uses_unlabeled=False)
"""


@pytest.fixture
def path_of(built_in, tmp_path, monkeypatch):
    """Return a function that says where the runs of a plugin's method are kept."""
    built_in()
    monkeypatch.chdir(tmp_path)

    def find(text, params=None, **harness):
        (tmp_path / "my_near.py").write_text(text)
        index = read_index([tmp_path / "my_near.py"])
        return kept_path(method_entry(index, "near"), index["harness"] | harness, params or {})

    return find


def test_a_comment_leaves_what_is_kept_and_code_does_not(path_of):
    first = path_of(PLUGIN)
    assert path_of(PLUGIN + "# a comment\n") == first
    assert path_of(PLUGIN.replace("from harness", "\nfrom harness")) == first
    assert path_of(PLUGIN.replace('"near",', '"near", params={"n_neighbors": 3}, estimator=')) != (
        first
    )


def test_parameters_and_versions_are_part_of_the_key(path_of):
    first = path_of(PLUGIN)
    assert path_of(PLUGIN, params={"n_neighbors": 3}) != first
    assert path_of(PLUGIN, versions={"numpy": "0"}) != first


def test_other_code_of_the_harness_measures_again(path_of):
    first = path_of(PLUGIN)
    assert path_of(PLUGIN, code="other") != first
    assert path_of(PLUGIN, learning="other") != first


SHAPE = Shape(100, 900, 10, 2)
METHOD = Method("a", Estimator, uses_unlabeled=False)
DESIGN = Design(METHOD, SHAPE, [(10**7, None)], {}, GENERATED)


def question():
    return Question(
        method="a",
        plugins=[],
        folders=[],
        params={},
        task="binary",
        shape=dataclasses.asdict(SHAPE),
        budgets=[(10**7, None)],
        data=GENERATED,
        prepared=None,
        withheld=[],
        enforcement="auto",
        threads=1,
        seconds=None,
        settings=[],
        tuned=False,
        runs=[],
    )


@pytest.fixture
def measuring(monkeypatch):
    """Count trials instead of running them."""
    asked = []

    def measured(question):
        runs = [Run.of(run) for run in question.runs]
        while (wanted := DESIGN.next(runs)) is not None:
            runs.append(run_of(DESIGN, wanted, lambda shape, size: 10**6))
            asked.append(wanted)
            yield runs[-1]

    monkeypatch.setattr(kept, "measured", measured)
    return asked


def test_a_second_time_nothing_is_measured(measuring, tmp_path):
    path = tmp_path / "storage" / "a.json"
    first = learn(DESIGN, question(), path)
    count = len(measuring)
    assert count
    again = learn(DESIGN, question(), path)
    assert len(measuring) == count
    assert again.storage.runs == first.storage.runs == read_runs(path)


def test_what_was_interrupted_goes_on(measuring, tmp_path):
    path = tmp_path / "a.json"
    learn(DESIGN, question(), path)
    count = len(measuring)
    kept.write_runs(read_runs(path)[:1], path)
    learn(DESIGN, question(), path)
    assert len(measuring) == 2 * count - 1


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"runs": [1]}', '{"runs": [{"data": 1}]}'])
def test_a_damaged_file_is_measured_anew(measuring, tmp_path, damage):
    path = tmp_path / "a.json"
    path.write_text(damage)
    assert learn(DESIGN, question(), path).storage.runs
    assert read_runs(path)


def test_where_nothing_can_be_written_it_is_measured_each_time(measuring, tmp_path):
    (tmp_path / "storage").write_text("in the way")
    path = tmp_path / "storage" / "a.json"
    assert learn(DESIGN, question(), path).storage.runs
    count = len(measuring)
    assert learn(DESIGN, question(), path).storage.runs
    assert len(measuring) == 2 * count


def test_a_plugin_that_is_gone_is_told(tmp_path):
    with pytest.raises(LearningError, match="unknown method 'a'"):
        learn(DESIGN, question(), tmp_path / "a.json")


def test_a_trial_that_was_wanted_is_known_again():
    run = run_of(DESIGN, Wanted(None, None), lambda shape, size: 10**6)
    assert DESIGN.next([run]) == Wanted(None, None, 1)
