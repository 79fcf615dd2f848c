"""Kernels, landmark selectors and budgets of landmarks, as studies name them."""

import json
import shutil

import pytest
from project import PLUGINS, TABLE

from harness.errors import HarnessError
from harness.planning.size import plan
from harness.planning.workload import load_workload
from harness.plugin.registry import Registry
from harness.plugin.shape import Shape

OVERLAP = {"kernel-mean": {"kernel": "overlap", "selector": "first-rows"}, "as": "plugins"}
BUILT_IN = {"kernel-mean": {"kernel": "laplacian", "selector": "cssp"}, "as": "built-in"}
SHIPPED = {"budget-svm": {"kernel": "overlap", "selector": "first-rows"}, "as": "shipped"}
NEGATIVE = {"kernel-mean": {"kernel": "chi2"}, "as": "of negative values"}


def write(project, **changes):
    return project.write(
        **{
            "datasets": ["breast_cancer"],
            "methods": [OVERLAP, BUILT_IN],
            "labeled": 30,
            "budgets": "30MB",
            "seeds": 2,
            "plugins": [str(PLUGINS / "everything.py")],
        }
        | changes
    )


@pytest.mark.slow
def test_a_budget_of_landmarks_is_one_beside_a_budget_of_bytes(project):
    nysck = {"nysck": {"selector": "k-means++", "sigma": 1.0}}
    budgets = ["10 landmarks", "30MB"]
    study = write(project, methods=[OVERLAP, BUILT_IN, nysck, SHIPPED, NEGATIVE], budgets=budgets)
    status, said = project.run(study, *TABLE)
    assert status == 0, said[-3000:]
    rows = project.rows()
    negative = rows["method"] == "of negative values"
    assert set(rows[negative]["outcome"]) == {"error"}
    assert rows[negative]["reason"].str.contains("chi2 kernel is for values of at least 0").all()
    rows = rows[~negative]
    assert set(rows["outcome"]) == {"ok"}, list(rows["reason"])
    by_count = rows[rows["budget"] == "10 landmarks"]
    assert list(by_count["size"]) == [10] * 8
    assert by_count["budget_bytes"].isna().all()
    by_bytes = rows[rows["budget"] == "30MB"]
    assert (by_bytes["size"] > 100).all()
    assert (by_bytes["peak_bytes"] < 30e6).all()
    first = by_count[by_count["seed"] == 0].sort_values("method")
    params = [json.loads(text) for text in first["params"]]
    assert [(p.get("kernel"), p["selector"]) for p in params] == [
        ("laplacian", "cssp"),
        (None, "k-means++"),
        ("overlap", "first-rows"),
        ("overlap", "first-rows"),
    ]


def test_methods_with_landmarks_or_features_get_exactly_as_many_as_the_budget_says():
    shape = Shape(100, 5000, 20, 2)
    methods = [method for method, _ in Registry.load().items("methods")]
    counted = [m for m in methods if m.size in {"n_landmarks", "n_components"}]
    assert {"nysck", "nystrom-krr"} <= {m.name for m in counted}
    for method in counted:
        assert plan(method, shape, None, largest=64).size == 64, method.name
        if method.name == "pcg-krr":  # of 100 labeled points its blocks of rows are all there is
            continue
        assert plan(method, shape, 10**9, largest=64).size == 64, method.name
        assert plan(method, shape, 10**9, largest=128).planned_bytes > (
            plan(method, shape, 10**9, largest=64).planned_bytes
        ), method.name


def test_the_plan_counts_what_a_selector_holds(project, monkeypatch):
    monkeypatch.chdir(project.folder)
    registry = Registry.load([PLUGINS / "everything.py"])
    method, _ = registry.get("methods", "kernel-mean")
    shape = Shape(100, 5000, 20, 2)

    def planned(selector):
        params = registry.look_up({"selector": selector})
        return plan(method, shape, None, params, largest=100).planned_bytes

    assert planned("first-rows") - planned(lambda *arguments: None) == 8 * 100
    assert planned("cssp") > planned("uniform") > planned("first-rows")


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (
            {"kernel-mean": {"kernel": "overlpa"}},
            "unknown kernel of kernel-mean: 'overlpa'; did you mean 'overlap'? known: chi2, "
            "cosine, laplacian, linear, overlap, poly2, rbf",
        ),
        (
            {"kernel-mean": {"selector": "kmeans++"}},
            "did you mean 'k-means++'? known: cssp, dbh, dbh-hierarchical, first-rows, k-means++",
        ),
        # an estimator that lists what it takes and takes no callable is believed
        (
            {"tsvm": {"kernel": "chi2"}},
            "unknown kernel of tsvm: 'chi2'; known: linear, rbf",
        ),
        ({"prior": {"kernel": "rbf"}}, "unknown parameter of prior: 'kernel'"),
    ],
)
def test_an_unknown_name(project, monkeypatch, method, message):
    study = write(project, methods=[method])
    monkeypatch.chdir(project.folder)
    with pytest.raises(HarnessError) as caught:
        load_workload(study)
    assert message in str(caught.value)


def test_names_that_an_estimator_lists_are_its_own(project, monkeypatch):
    study = write(project, methods=[{"kernel-mean": {"kernel": "cosine"}}])
    monkeypatch.chdir(project.folder)
    assert len(load_workload(study).blocks) == 1


TWICE = """
from harness import Kernel, hookimpl

@hookimpl
def harness_kernels():
    yield Kernel("rbf", lambda X, Z, width: X @ Z.T)
"""


def test_a_name_that_is_provided_twice(project, monkeypatch, built_in):
    built_in("budget_machines", "tsvm")
    folder = project.folder / "mine"
    folder.mkdir()
    (folder / "twice.py").write_text(TWICE)
    monkeypatch.chdir(project.folder)
    shutil.copy(PLUGINS / "everything.py", folder)
    study = write(project, methods=[{"kernel-mean": {"kernel": "linear"}}], plugins=[str(folder)])
    assert load_workload(study).blocks
    with (folder / "twice.py").open("a") as file:
        file.write('    yield Kernel("linear", lambda X, Z, width: X @ Z.T)\n')
    twice = "'linear' is provided twice, by the harness itself and .*twice.py"
    with pytest.raises(HarnessError, match=twice):
        load_workload(study)
    listed = [{"budget-svm": {"kernel": "rbf"}}, {"tsvm": {"kernel": "rbf"}}]
    with pytest.raises(HarnessError) as caught:
        load_workload(write(project, methods=listed, plugins=[str(folder)]))
    assert "kernel of budget-svm: 'rbf' is provided twice" in str(caught.value)
    assert "kernel of tsvm: 'rbf' is provided twice" in str(caught.value)


def test_a_changed_plugin_reruns_only_what_uses_its_kernel_or_selector(
    project, monkeypatch, built_in
):
    built_in("controls")
    folder = project.folder / "mine"
    folder.mkdir()
    shutil.copy(PLUGINS / "everything.py", folder)
    (folder / "more.py").write_text(TWICE.replace('"rbf"', '"product"'))
    methods = [
        {"kernel-mean": {"kernel": "product"}, "as": "new"},
        {"kernel-mean": {"kernel": "rbf"}, "as": "old"},
    ]
    study = write(project, methods=methods, plugins=[str(folder)])
    monkeypatch.chdir(project.folder)
    before = [block.fingerprint for block in load_workload(study).blocks]
    with (folder / "more.py").open("a") as file:
        file.write("# a comment changes nothing\n")
    commented = [block.fingerprint for block in load_workload(study).blocks]
    assert commented == before
    with (folder / "more.py").open("a") as file:
        file.write("CHANGED = True\n")
    after = [block.fingerprint for block in load_workload(study).blocks]
    assert [old == new for old, new in zip(before, after, strict=True)] == [False, True]


def test_the_list_of_kernels_and_selectors(project):
    study = write(project)
    listed = json.loads(project.harness("kernels", "--study", study, "--json"))
    named = {(item["parameter"], item["name"], item["plugin"]) for item in listed}
    assert {
        ("kernel", "laplacian", "harness"),
        ("kernel", "overlap", "everything"),
        ("selector", "dbh", "harness"),
        ("selector", "first-rows", "everything"),
    } <= named
