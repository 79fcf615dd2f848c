import os
import time
from pathlib import Path

import pytest
import yaml

from harness.errors import HarnessError
from harness.plugin.registry import Registry
from harness.plugin.search_space import contains
from harness.project import STUDIES
from harness.study.study import load_study
from harness.trial.run import searched_space

BASE = {
    "datasets": ["a9a", "w8a"],
    "methods": ["clusk", {"nysck": {"variant": "literal"}, "as": "literal"}],
    "labeled": [100, 0.1],
    "budgets": ["20MB", "none", "640 landmarks"],
    "seeds": 7,
}


@pytest.fixture
def write(tmp_path):
    def write(**changes):
        content = {key: value for key, value in (BASE | changes).items() if value is not None}
        path = tmp_path / "study.yaml"
        path.write_text(yaml.safe_dump(content))
        return path

    return write


def test_blocks_cover_the_product_once(write):
    blocks = load_study(write()).blocks()
    trials = {(b.cell, seed) for b in blocks for seed in b.seeds}
    assert len(trials) == 2 * 2 * 2 * 3 * 7
    assert sum(len(b.seeds) for b in blocks) == len(trials)
    assert len({b.fingerprint for b in blocks}) == len(blocks)


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


def test_studies_of_the_current_folder_come_before_those_that_came_along(write, monkeypatch):
    monkeypatch.chdir(write().parent)
    for named in ("quickstart", "quickstart.yaml", "studies/quickstart.yaml"):
        assert load_study(named).path == STUDIES / "quickstart.yaml"
    Path("studies").mkdir()
    write().rename("studies/quickstart.yaml")
    for named in ("quickstart", "quickstart.yaml", "studies/quickstart.yaml"):
        assert load_study(named).path == Path("studies/quickstart.yaml")
    with pytest.raises(HarnessError, match="did you mean 'quickstart'"):
        load_study("quickstar")


def test_a_new_seed_keeps_every_other_trial(write):
    before = {(b.cell, b.fingerprint, s) for b in load_study(write()).blocks() for s in b.seeds}
    larger = load_study(write(seeds=9)).blocks()
    after = {(b.cell, b.fingerprint, s) for b in larger for s in b.seeds}
    assert before < after


def test_a_case_that_asks_for_more_seeds_of_the_same_runs_none_twice(write):
    cases = [{"labeled": [100], "seeds": [2, 0, 1]}, {}]
    blocks = load_study(write(seeds=[0, 3], cases=cases)).blocks()
    trials = [(block.fingerprint, seed) for block in blocks for seed in block.seeds]
    assert len(trials) == len(set(trials))
    assert {(block.labeled, block.seeds) for block in blocks} == {
        (100, (0, 1, 2, 3)),
        (0.1, (0, 3)),
    }


def test_clusters_are_found_in_all_points_without_labels(write):
    changes = {"evaluation": {"test": 0.3}, "tuning": {"search": "grid", "labeled": 20}}
    (grid,) = load_study(write(task="clustering", **changes)).grids
    assert (grid.evaluation, grid.tuning, grid.labeled) == (None, None, [0])


def test_equal_budgets_are_one_as_the_first_is_written(write):
    given = ["3MB", "3 MB", "0.003GB", "none", None, "64 landmarks", "64 features", "4MB"]
    study = load_study(write(budgets=given, cases=[{"budgets": ["3000kB", "5MB"]}]))
    found = [[budget.text for budget in grid.budgets] for grid in study.grids]
    assert found == [["3MB", "none", "64 landmarks", "4MB"], ["3MB", "5MB"]]


def test_one_metric_needs_no_list(write):
    assert load_study(write(metrics="accuracy")).settings.metrics == ["accuracy"]


@pytest.mark.parametrize("name", ["a{b}.yaml", "{x}/study.yaml"])
def test_a_path_with_braces_is_refused(write, tmp_path, name):
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    write().rename(path)
    with pytest.raises(HarnessError, match=r"a study's path has no braces, .*rename it"):
        load_study(path)


def test_fingerprints_follow_what_decides_a_trial(write):
    plain = load_study(write()).blocks()[0].fingerprint
    assert load_study(write(title="new")).blocks()[0].fingerprint == plain
    assert load_study(write(limits={"memory": "9GB"})).blocks()[0].fingerprint == plain
    for change in (
        {"evaluation": {"test": 0.3}},
        {"tuning": {"search": "random"}},
        {"limits": {"time": "1h"}},
        {"seed": 1},
        {"data": "mapped"},
        {"checkpoints": [1, 2]},
    ):
        assert load_study(write(**change)).blocks()[0].fingerprint != plain
    edited = {"clusk": {"method": "edited"}}
    first, *_, last = load_study(write()).blocks(lambda grid, data, m: edited.get(m.name, {}))
    assert first.fingerprint != plain
    assert first.decided_by == '{"method":"edited"}'
    assert last.fingerprint == load_study(write()).blocks()[-1].fingerprint


def test_a_study_without_checkpoints_keeps_its_rows(write):
    plain = [block.fingerprint for block in load_study(write()).blocks()]
    for none in ([], "none"):
        assert [b.fingerprint for b in load_study(write(checkpoints=none)).blocks()] == plain


def test_a_case_has_checkpoints_of_its_own(write):
    cases = [{"labeled": [7], "checkpoints": "none"}, {"labeled": [8]}]
    study = load_study(write(checkpoints=[1, 5], cases=cases))
    found = {block.labeled: block.grid.checkpoints for block in study.blocks()}
    assert found == {100: [1, 5], 0.1: [1, 5], 7: [], 8: [1, 5]}


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


def test_a_label_may_have_other_parameters_on_another_data_set(write):
    choices = [("a9a", 1, 100), ("a9a", 1, 200), ("w8a", 2, 100)]
    cases = [
        {"datasets": [name], "labeled": n, "methods": [{"svm": {"C": c}, "as": "mine"}]}
        for name, c, n in choices
    ]
    assert len(load_study(write(datasets=[], cases=cases)).grids) == len(choices)


def test_cases_inherit_and_add(write):
    study = load_study(write(cases=[{"datasets": ["a9a"], "labeled": [325]}]))
    added = [block for block in study.blocks() if block.labeled == 325]
    assert {block.dataset for block in added} == {"a9a"}
    assert {block.method.label for block in added} == {"clusk", "literal"}


def test_seeds_per_job(write):
    assert {len(b.seeds) for b in load_study(write(seeds_per_job=1)).blocks()} == {1}
    assert {len(b.seeds) for b in load_study(write(seeds=5000)).blocks()} == {5000}


def test_labels_of_methods(write):
    study = load_study(write(methods=[{"nysck": {"C": 1, "variant": "x"}}, "clusk"]))
    assert [m.label for m in study.grids[0].methods] == ["nysck[C=1,variant=x]", "clusk"]
    assert study.blocks()[0].cell == "a9a/nysck[C=1,variant=x]/l100-b20MB"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
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
        ({"evaluation": "inductive"}, "neither 'transductive' nor a mapping such as {test: 0.2}"),
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
            "unknown key 'evaluation.test'; known: stratified, transductive",
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


def test_held_out_points_are_a_count_or_a_share(write):
    for given in (1, 200, 0.3):
        grid = load_study(write(evaluation={"test": given})).grids[0]
        assert grid.split_rules["test"] == given


def test_one_method_needs_no_list(write):
    for methods in ("clusk", {"nysck": {"C": 1}}):
        assert len(load_study(write(methods=methods)).grids[0].methods) == 1


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


WIDE = {"svm": None, "space": {"C": {"log_uniform": [0.01, 1e4]}, "sigma": [0.1, 1]}, "as": "wide"}


def test_a_space_stands_beside_a_method(write):
    study = load_study(write(methods=[WIDE, {"nysck": {"rank": 5}, "space": {"C": [1, 2]}}]))
    wide, nysck = study.grids[0].methods
    assert wide.label == "wide"
    assert nysck.label == "nysck[rank=5]"
    assert wide.ranges["C"].grid(2) == pytest.approx([0.01, 1e4])
    assert wide.ranges["sigma"].grid(9) == [0.1, 1]


def test_a_space_is_part_of_the_fingerprint_and_none_is_not(write):
    def fingerprints(method):
        return {b.fingerprint for b in load_study(write(methods=[method])).blocks()}

    plain = fingerprints({"svm": None, "as": "wide"})
    other = WIDE | {"space": {**WIDE["space"], "sigma": [0.1, 2]}}
    assert plain.isdisjoint(fingerprints(WIDE))
    assert fingerprints(other).isdisjoint(fingerprints(WIDE))
    assert fingerprints({"svm": None, "as": "wide", "space": {}}) == plain
    (choice,) = load_study(write(methods=["svm"])).grids[0].methods
    assert choice.model_dump(mode="json") == {"name": "svm", "params": {}, "label": "svm"}


def test_exponents_need_no_point(tmp_path):
    path = tmp_path / "study.yaml"
    path.write_text(
        "{datasets: a, labeled: 9, methods: [{svm: , space: {C: {log_uniform: [1e-2, 1E4]}}}]}"
    )
    assert load_study(path).grids[0].methods[0].ranges["C"].grid(2) == pytest.approx([1e-2, 1e4])


def test_a_transductive_study_asks_for_uniform_draws(write):
    uniform = {"transductive": True, "stratified": False}
    plain, study = load_study(write()), load_study(write(evaluation=uniform))
    assert study.grids[0].split_rules == uniform
    assert study.grids[0].transductive
    assert {b.fingerprint for b in plain.blocks()}.isdisjoint(
        b.fingerprint for b in study.blocks()
    )
    for said in ({"transductive": True}, {"transductive": True, "stratified": True}):
        same = load_study(write(evaluation=said)).blocks()
        assert [b.fingerprint for b in same] == [b.fingerprint for b in plain.blocks()]
    assert not load_study(write(evaluation={"test": 0.2})).grids[0].transductive


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
    "path",
    sorted((Path(__file__).parents[1] / "studies").glob("*.yaml")),
    ids=lambda path: path.stem,
)
def test_studies_with_kept_results_do_not_follow_a_default_of_searches(path):
    content = yaml.safe_load(path.read_text())
    searches = [part.get("tuning") for part in (content, *content.get("cases", []))]
    assert all("standard_errors" in search for search in searches if isinstance(search, dict))
    registry = Registry.load()
    for block in load_study(path).blocks():
        method, written = registry.get("methods", block.method.name)[0], block.method.ranges
        # of these two the width by default is none of those searched, and is tried beside them
        if block.grid.tuning and method.name not in {"xnv", "xks"}:
            assert set(written) == set(searched_space(method, block.method.params)), block.cell
            defaults = {name: method.default(name) for name in written}
            assert all(contains(over, defaults[name]) for name, over in written.items()), (
                block.cell
            )
