"""What a study file may not say, and what its author is told."""

import os
import time

import pytest

from harness.errors import HarnessError
from harness.study.study import load_study


@pytest.mark.parametrize("name", ["..yaml", "...yaml", "a\nb.yaml", "\udc80.yaml"])
def test_a_study_whose_results_would_be_elsewhere_is_refused(write, name):
    path = write()
    path = path.rename(path.with_name(name))
    with pytest.raises(HarnessError, match="its results would have no folder"):
        load_study(path)


def test_what_is_no_folder_or_file_is_refused_without_being_opened(write):
    os.mkfifo(write().parent / "pipe")
    for key in ("plugins", "catalogs"):
        for named in ("pipe", "x" * 300):
            with pytest.raises(HarnessError, match=f"{key}: there is no"):
                load_study(write(**{key: named}))
    with pytest.raises(HarnessError, match="neither a file nor in studies"):
        load_study("x" * 300)


@pytest.mark.parametrize("name", ["a{b}.yaml", "{x}/study.yaml"])
def test_a_path_with_braces_is_refused(write, tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    write().rename(path)
    with pytest.raises(HarnessError, match=r"a study's path has no braces, .*rename it"):
        load_study(path)


@pytest.mark.parametrize(
    ("first", "second", "what"),
    [
        ({"svm": None}, {"1nn": None}, "svm and 1nn"),
        ({"svm": {"C": 1}}, {"svm": {"C": 2}}, "svm with other parameters on a9a"),
    ],
)
def test_a_label_of_two_methods_in_two_cases_is_refused(write, first, second, what):
    cases = [{"methods": [method | {"as": "mine"}]} for method in (first, second)]
    with pytest.raises(HarnessError, match=f"two different methods are called 'mine': {what}"):
        load_study(write(cases=cases))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"predictions": "some"}, "predictions: 'some' is neither true nor false nor 'auto'"),
        ({"dataset": "a9a"}, "unknown key 'dataset'; did you mean 'datasets'"),
        ({"budgets": ["200 MBB"]}, "budgets.0: '200 MBB' is not bytes: unit 'MBB'"),
        ({"budgets": ["0 landmarks"]}, "'landmarks' stands a whole number above zero, not 0"),
        ({"budgets": ["2.5 landmarks"]}, "'landmarks' stands a whole number above zero, not 2.5"),
        ({"budgets": "10 Landmark"}, "none; did you mean '10 landmarks'"),
        ({"budgets": ["-10 landmarks"]}, "'landmarks' stands a whole number above zero, not -10"),
        ({"budgets": [1, "280 landmarks"]}, "budgets.0: '1' is not a budget: bytes have a unit"),
        ({"budgets": "1,280 landmarks"}, "did you mean '1280 landmarks'"),
        ({"seeds": "ten"}, "seeds: 'ten' is neither a count"),
        ({"seeds": 0}, "seeds: 0 is neither a count"),
        (
            {"seeds": 10**6 + 1},
            "seeds: 1000001 is neither a count of seeds above zero, at most 10",
        ),
        ({"seeds": [2**63]}, "nor a list of seeds, each from 0 to 9223372036854775807"),
        ({"seed": 2**63}, "seed: Input should be less than or equal to 9223372036854775807"),
        ({"labeled": [0]}, "labeled.0: 0 is neither a count"),
        ({"labeled": None}, "labeled: give counts or shares"),
        ({"methods": [{"nysck": 3}]}, "methods.0: {'nysck': 3} is not a method"),
        ({"methods": ["clusk", {"nysck": {}, "as": "clusk"}]}, "two different methods"),
        ({"limits": {"time": "2 weeks"}}, "limits.time: '2 weeks' is not a duration"),
        ({"limits": {"treads": 2}}, "unknown key 'limits.treads'; did you mean 'threads'"),
        ({"evaluation": {"tst": 0.2}}, "unknown key 'evaluation.tst'; did you mean 'test'"),
        (
            {"evaluation": "inductive"},
            "neither 'transductive', 'official', 'prequential' nor a mapping",
        ),
        ({"evaluation": {"splits": ""}}, "evaluation.splits"),
        ({"evaluation": {"splits": "s.npz", "test": 0.1}}, "evaluation.test"),
        ({"evaluation": {"test": "offical"}}, "nor a share between 0 and 1 nor 'official'"),
        (
            {"evaluation": {"test": "20%"}},
            "evaluation.test: '20%' is neither a count of test points",
        ),
        (
            {"evaluation": {"test": 1.5}},
            "evaluation.test: 1.5 is neither a count of test points nor",
        ),
        ({"evaluation": {"test": 0}}, "evaluation.test: 0 is neither a count of test points nor"),
        ({"labeled": 1.5}, "labeled.0: 1.5 is neither a count of labeled points nor a share"),
        ({"tuning": "grid"}, "tuning: 'grid' is neither 'none' nor a mapping such as {search"),
        ({"limits": "2h"}, "limits: '2h' is not a mapping such as {time: 2h"),
        ({"methods": [{"nysck": None, "C": 1}]}, "parameters are indented under the name"),
        ({"plugins": "../nope"}, "plugins: there is no folder '../nope' beside the study"),
        ({"catalogs": ["no.yaml"]}, "catalogs: there is no file 'no.yaml' beside the study"),
        ({"tuning": {"search": 3}}, "tuning.search"),
        ({"tuning": {"labeled": 1000}}, "tuning.labeled: shows labels of unlabeled points"),
        ({"tuning": {"validation": 50}}, "tuning.validation: shows labels of unlabeled points"),
        (
            {"tuning": {"labeled": 9, "validation": 9}, "evaluation": {"test": 0.5}},
            "give either labeled or validation",
        ),
        ({"datasets": []}, "names no data set with a method"),
        ({"checkpoints": [2, 2]}, "checkpoints: [2, 2] is neither 'none' nor a list of steps"),
        ({"checkpoints": [5, 1]}, "each larger than the one before"),
        ({"checkpoints": [0, 1]}, "whole numbers above zero"),
        ({"checkpoints": [1.5]}, "whole numbers above zero"),
        ({"checkpoints": [True]}, "whole numbers above zero"),
        ({"checkpoints": "all"}, "checkpoints: 'all' is neither 'none' nor"),
        ({"cases": [{"checkpoints": [3, 2]}]}, "cases.0: checkpoints: [3, 2] is neither"),
        ({"cases": [{"seeds": "x"}]}, "cases.0: seeds: 'x'"),
        (
            {"evaluation": {"transductive": True, "test": 0.2}},
            "unknown key 'evaluation.test'; known: groups, stratified, temporal, transductive",
        ),
        (
            {"evaluation": {"transductive": True, "stratifed": False}},
            "unknown key 'evaluation.stratifed'; did you mean 'stratified'",
        ),
        ({"evaluation": {"transductive": False}}, "evaluation.transductive: Input should be True"),
        ({"methods": [{"svm": None, "space": 3}]}, "space of svm: 3 is not a mapping"),
        (
            {"methods": [{"svm": None, "space": {"C": {"log": [1, 9]}}}]},
            "methods.0: space of svm: C: {'log': [1, 9]} is neither a list of values nor a range",
        ),
        (
            {"methods": [{"svm": {"C": 2}, "space": {"C": [1]}}]},
            "space of svm: C: is fixed at 2 and searched too",
        ),
    ],
)
def test_mistakes_name_file_key_and_what_is_allowed(write, changes, message):
    path = write(**changes)
    with pytest.raises(HarnessError) as caught:
        load_study(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_all_mistakes_are_told_at_once(write):
    with pytest.raises(HarnessError) as caught:
        load_study(write(seeds="ten", budgets=["5XB"], colour="red"))
    assert len(str(caught.value).splitlines()) == 3


def test_a_key_that_is_written_twice_is_refused(write):
    path = write()
    path.write_text(path.read_text() + "seeds: 3\n" * 2)
    with pytest.raises(HarnessError, match="the key 'seeds' is written twice"):
        load_study(path)


def test_what_is_not_a_study(tmp_path):
    with pytest.raises(HarnessError, match="neither a file nor in studies/"):
        load_study(tmp_path / "absent.yaml")
    broken = tmp_path / "broken.yaml"
    broken.write_text("a: [1")
    with pytest.raises(HarnessError, match="is not YAML"):
        load_study(broken)
    broken.write_text("- a\n")
    with pytest.raises(HarnessError, match="this is list"):
        load_study(broken)


HUGE = [
    (
        {"seeds": 10**6, "budgets": [f"{mb}MB" for mb in range(1, 99)]},
        "trials, more than 10000000",
    ),
    ({"seeds": 50, "seeds_per_job": 1, "labeled": list(range(1, 999))}, "raise seeds_per_job"),
    ({"cases": [{"seeds": 10**6}] * 11}, "cases: list more than 10000000 seeds together"),
    ({"budgets": "9" * 39}, "is beyond what a figure can be|is not (a budget|bytes)"),
    ({"budgets": "9" * 400 + "MB"}, r"'999.*\.\.\. is not a budget"),
    ({"budgets": "9" * 30 + "MB"}, r"allowed are 1 to 1e\+15 B"),
    ({"budgets": "9" * 20 + " landmarks"}, "is not a budget"),
    ({"limits": {"time": "9" * 400 + "h"}}, "limits.time: .* is not a duration"),
    ({"labeled": 10**400}, "is beyond what a figure can be"),
    ({"tuning": {"trials": 10**18}}, "tuning.trials: Input should be less than or equal"),
    ({"datasets": [1] * 10**4}, "and [0-9]+ more mistakes"),
    ({"methods": [{"svm": {"C": "x" * 2000}}]}, "its label has 1 to 1000 characters"),
    ({"methods": [{"svm": None, "as": " "}]}, "its label has 1 to 1000 characters"),
]


@pytest.mark.parametrize(("changes", "message"), HUGE)
def test_what_nobody_could_wait_for_is_refused_at_once(write, changes, message):
    path = write(**changes)
    began = time.process_time()
    with pytest.raises(HarnessError, match=message) as caught:
        load_study(path)
    assert len(str(caught.value)) < 10_000
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"data": "streamed", "tuning": {"labeled": 50}, "evaluation": {"test": 0.5}},
            "tuning.labeled: data: streamed searches on its first part",
        ),
        ({"data": "streamed", "task": "clustering"}, "task: clusters are found in all points"),
        ({"evaluation": "prequential", "data": "mapped"}, "data: evaluation prequential reads a"),
        ({"evaluation": "prequential", "checkpoints": [2]}, "checkpoints: evaluation prequential"),
        (
            {"evaluation": {"prequential": True, "chunks": 5}},
            "unknown key 'evaluation.chunks'; did you mean 'chunk'",
        ),
        ({"evaluation": {"prequential": True, "chunk": 0}}, "evaluation.chunk: .* greater than"),
        ({"evaluation": {"prequential": False}}, "evaluation.prequential: Input should be True"),
        ({"data": "stream"}, "data: Input should be 'counted', 'mapped' or 'streamed'"),
    ],
)
def test_what_does_not_go_with_a_stream_is_told(write, changes, message):
    with pytest.raises(HarnessError, match=message):
        load_study(write(**changes))
