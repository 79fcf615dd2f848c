"""What a study file says: trials, blocks, labels, fingerprints."""

from pathlib import Path

import pytest
import yaml

from harness.errors import HarnessError
from harness.plugin.registry import Registry
from harness.plugin.search_space import contains
from harness.project import STUDIES
from harness.study.study import load_study
from harness.trial.searched_space import searched_space


def test_blocks_cover_the_product_once(write):
    blocks = load_study(write()).blocks()
    trials = {(b.cell, seed) for b in blocks for seed in b.seeds}
    assert len(trials) == 2 * 2 * 2 * 3 * 7
    assert sum(len(b.seeds) for b in blocks) == len(trials)
    assert len({b.fingerprint for b in blocks}) == len(blocks)


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


def test_held_out_points_are_a_count_or_a_share(write):
    for given in (1, 200, 0.3):
        grid = load_study(write(evaluation={"test": given})).grids[0]
        assert grid.split_rules["test"] == given


def test_one_method_needs_no_list(write):
    for methods in ("clusk", {"nysck": {"C": 1}}):
        assert len(load_study(write(methods=methods)).grids[0].methods) == 1


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


@pytest.fixture(scope="module")
def registry():
    return Registry.load()


@pytest.mark.parametrize("path", sorted(STUDIES.glob("*.yaml")), ids=lambda path: path.stem)
def test_studies_with_kept_results_do_not_follow_a_default_of_searches(path, registry):
    content = yaml.safe_load(path.read_text())
    searches = [part.get("tuning") for part in (content, *content.get("cases", []))]
    assert all("standard_errors" in search for search in searches if isinstance(search, dict))
    grids = [grid for grid in load_study(path).grids if grid.tuning]
    for choice in (choice for grid in grids for choice in grid.methods):
        method, written = registry.get("methods", choice.name)[0], choice.ranges
        # of these two the width by default is none of those searched, and is tried beside them
        if method.name not in {"xnv", "xks"}:
            assert set(written) == set(searched_space(method, choice.params)), choice.label
            defaults = {name: method.default(name) for name in written}
            assert all(contains(over, defaults[name]) for name, over in written.items())


@pytest.mark.parametrize(
    ("written", "chunk", "delay"),
    [
        ("prequential", 1000, 0),
        ({"prequential": True}, 1000, 0),
        ({"prequential": True, "chunk": 50, "delay": 2, "order": "file"}, 50, 2),
    ],
)
def test_a_stream_needs_no_count_of_labels(write, written, chunk, delay):
    (grid,) = load_study(write(evaluation=written, labeled=None)).grids
    assert (grid.evaluation.chunk, grid.evaluation.delay) == (chunk, delay)
    assert grid.labeled == [0]
    assert grid.is_prequential
    assert not grid.transductive
    assert grid.part_rows(800) == chunk


def test_streamed_data_are_given_in_blocks_of_at_most_a_megabyte(write):
    (grid,) = load_study(write(data="streamed")).grids
    assert grid.streams
    assert (grid.part_rows(100), grid.part_rows(10_000)) == (1024, 104)
    (grid,) = load_study(write()).grids
    assert grid.part_rows(100) is None
