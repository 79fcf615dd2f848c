"""What a study may say of its evaluation, and what it is told of mistakes."""

import pytest

from harness.datasets.openml_tasks import task_file
from harness.datasets.split_sources import SplitSource
from harness.errors import HarnessError
from harness.study.study import load_study


def grid(write, **evaluation):
    return load_study(write(evaluation=evaluation)).grids[0]


def fingerprints(write, **evaluation):
    return {block.fingerprint for block in load_study(write(evaluation=evaluation)).blocks()}


@pytest.mark.parametrize(
    "said",
    [
        {"groups": "test"},
        {"groups": "all"},
        {"temporal": "test"},
        {"temporal": "all"},
        {"unlabeled": {"other_classes": 0.0}},
        {"unlabeled": {"other_classes": 0.5}},
        {"unlabeled": {"beyond": 0.5, "column": 2}},
        {"unlabeled": {"beyond": 0.5, "column": 3}},
    ],
)
def test_what_is_said_decides_a_trial_and_what_is_not_changes_nothing(write, said):
    plain = fingerprints(write, test=0.2)
    assert fingerprints(write, test=0.2, **said).isdisjoint(plain)
    assert not grid(write, test=0.2, **said).transductive
    assert grid(write, test=0.2).split_rules == {
        "test": 0.2,
        "unlabeled_per_labeled": None,
        "stratified": True,
    }


def test_a_file_of_splits_may_have_labeled_points_drawn_in_it(write):
    said = grid(write, splits="s.npz")
    assert said.labeled == [100, 0.1]
    assert said.split_rules == {"splits": {"": "s.npz"}, "transductive": False}
    assert load_study(write(evaluation={"splits": "s.npz"}, labeled=None)).grids[0].labeled == [0]
    few = fingerprints(write, splits="s.npz", unlabeled_per_labeled=3)
    assert few.isdisjoint(fingerprints(write, splits="s.npz"))
    assert few == fingerprints(write, splits="elsewhere.npz", unlabeled_per_labeled=3)


def test_a_task_of_openml_is_one_for_all_or_one_for_each_data_set(write):
    study = load_study(write(evaluation={"openml": {"a9a": 59, "w8a": 7}}))
    case = study.grids[0]
    assert not case.transductive
    assert [case.task_number(name) for name in ("a9a", "w8a")] == [59, 7]
    assert study.split_source(case, "w8a", None) == SplitSource.of(task_file(7))
    assert grid(write, openml=3).task_number("a9a") == 3
    # which it is, is told by the digest of its folds
    assert fingerprints(write, openml=3) == fingerprints(write, openml=4)
    lacking = load_study(write(evaluation={"openml": {"a9a": 59}}))
    with pytest.raises(HarnessError, match=r"evaluation\.openml: names no task of 'w8a'"):
        lacking.split_source(lacking.grids[0], "w8a", None)


@pytest.mark.parametrize(
    ("evaluation", "told"),
    [
        ({"groups": "labeled"}, "evaluation.groups: Input should be 'test' or 'all'"),
        ({"groups": "test", "temporal": "test"}, "evaluation: groups and temporal do not go"),
        ({"test": "official", "temporal": "test"}, "both say what is held out"),
        ({"groups": "test", "unlabeled": {"other_classes": 0.1}}, "unlabeled and groups do not"),
        ({"unlabeled": {}}, "evaluation.unlabeled: give a share as either other_classes or"),
        ({"unlabeled": {"beyond": 0.5}}, "evaluation.unlabeled: beyond and column stand"),
        ({"unlabeled": {"other_classes": 2}}, "less than or equal to 1"),
        ({"unlabeled": {"other_classes": 0, "quantile": 0.2}}, "quantile is that of a feature"),
        (
            {"unlabeled": {"other_class": 0.5}},
            "unknown key 'evaluation.unlabeled.other_class'; did you mean 'other_classes'",
        ),
        (
            {"test": "official", "unlabeled": {"beyond": 0.5, "column": 0}},
            "evaluation: unlabeled.beyond needs test points that are drawn",
        ),
        ({"transductive": True, "groups": "test"}, "evaluation.groups: Input should be 'all'"),
        ({"transductive": True, "groups": "all", "temporal": "all"}, "do not go together"),
        ({"openml": 0}, "0 is neither the number of a task of OpenML nor a mapping"),
        ({"openml": {"a9a": "59"}}, "evaluation.openml: {'a9a': '59'} is neither the number"),
        ({"openml": 59, "test": 0.2}, "unknown key 'evaluation.test'; known: openml"),
        (
            {"splits": "s.npz", "groups": "test"},
            "unknown key 'evaluation.groups'; known: first_row, names",
        ),
    ],
)
def test_mistakes_are_told_with_what_is_allowed(write, evaluation, told):
    with pytest.raises(HarnessError) as caught:
        load_study(write(evaluation=evaluation))
    assert told in str(caught.value)


@pytest.mark.parametrize(
    ("said", "kind"),
    [({"groups": "test"}, "groups"), ({"unlabeled": {"other_classes": 0.5}}, "unlabeled")],
)
@pytest.mark.parametrize("key", ["labeled", "validation"])
def test_a_search_is_shown_no_labels_that_would_undo_an_evaluation(write, said, kind, key):
    evaluation = {"test": 0.2, **said}
    with pytest.raises(HarnessError, match=f"tuning.{key}: shows labels .*evaluation.{kind}"):
        load_study(write(evaluation=evaluation, tuning={key: 50}))
