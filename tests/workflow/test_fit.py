"""`harness fit`: the model of a row in a file, loaded where nothing of the study is."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import forked
import numpy as np
import pandas as pd
import pytest
from own_table import own_table
from project import TABLE, Project

pytestmark = pytest.mark.slow

BUDGET = "3MB"
PLUGIN = Path(__file__).parent / "plugins" / "taken_home.py"
PACKAGE = {
    "__init__.py": '''"""A method in a package."""

from harness import Method, hookimpl

from .inner import Packed


@hookimpl
def harness_methods():
    storage = lambda shape, size: shape.data_bytes + 2e6
    yield Method("packed", Packed, storage=storage, uses_unlabeled=False)
''',
    "inner.py": '''"""Its class."""

from sklearn.svm import SVC


class Packed(SVC):
    def fit(self, X, y):
        return super().fit(X[y >= 0], y[y >= 0])
''',
}
SCORED = """
import json, sys
import numpy as np
from harness.datasets import open_mapped
from harness.jobs.block_trials import BlockTrials
from harness.jobs.recorded import find_row
from harness.jobs.referee import Referee
from harness.planning.workload import load_workload
from harness import load_model

study, row, path = sys.argv[1:]
model = load_model(path)
workload = load_workload(study)
found = find_row(workload, row)
trials = BlockTrials(workload, found.block)
referee = Referee(trials.registry, workload, found.block, trials.prepared.meta)
trial = referee.assign(trials.method, trials.params, found.planned, found.seed)
X = open_mapped(trials.prepared.folder / "X.npy")[trial.test]
scores = referee.score(trial, model._predicted(X, prepared=True))
print(json.dumps([scores, {name: found.row[name] for name in scores}]))
"""


SHARE = """
import json, sys, pandas, harness
table = pandas.read_csv(sys.argv[2])
labels = harness.load_model(sys.argv[1]).predict(table)
print(json.dumps(float((labels == table["answer"]).mean())))
"""


@pytest.fixture(scope="module")
def study(tmp_path_factory, index_cache):
    """A study that was run, its rows by data set, method and case, and its project."""
    folder = tmp_path_factory.mktemp("fit")
    plugins = folder / "mine"
    (plugins / "packed").mkdir(parents=True)
    shutil.copy(PLUGIN, plugins)
    for name, text in PACKAGE.items():
        (plugins / "packed" / name).write_text(text)
    table = own_table(folder)
    project = Project(folder, index_cache)
    inductive = {"test": 0.3}
    name = project.write(
        title="Models",
        datasets=["breast_cancer"],
        methods=["nysck", "packed", "unpicklable", "unrepeatable", "clusk"],
        labeled=[40],
        budgets=[BUDGET],
        seeds=1,
        evaluation=inductive,
        plugins=["mine"],
        catalogs=["own-datasets.yaml"],
        cases=[
            {"datasets": ["own-table"], "methods": ["svm"], "labeled": [60]},
            {"methods": ["own"], "tuning": {"search": "grid", "trials": 3}},
            {"methods": ["rff-mssksc"], "data": "mapped"},
            {"methods": ["transductive"], "evaluation": "transductive"},
            {"methods": ["budget-kmedoids"], "task": "clustering"},
            {"datasets": ["diabetes-sklearn"], "methods": ["krr"]},
            {"methods": ["clusk"], "budgets": ["1kB"]},
        ],
    )
    status, log = project.run(name, *TABLE)
    assert status == 0, log
    table_of_rows = pd.read_parquet(folder / "results" / "study" / "trials.parquet")
    project.rows = {
        (row.dataset, row.method, row.budget): (number, row)
        for number, row in enumerate(table_of_rows.itertuples())
    }
    project.own_table = table
    project.study = name
    return project


def fit(
    project, method, *options, dataset="breast_cancer", budget=BUDGET, row=None, suffix=".joblib"
):
    """Fit the row of a method; return the exit status, what was said and the file."""
    number = project.rows[dataset, method, budget][0] if row is None else row
    path = project.folder / f"{dataset}-{method}{'-all' * ('--all' in options)}{suffix}"
    command = "fit", project.study, number, "-o", path, *options
    done = forked.command(*command, cwd=project.folder)
    return done.returncode, done.stdout + done.stderr, path


def fitted(project, method, dataset="breast_cancer"):
    """Return the file of a row's model, and what was said when it was written."""
    known = project.__dict__.setdefault("fitted", {})
    if (dataset, method) not in known:
        status, said, path = fit(project, method, dataset=dataset)
        assert status == 0, said
        known[dataset, method] = path, said
    return known[dataset, method]


def python(code, *arguments, cwd, anew=False):
    """Return what a script prints last; of a Python that has imported nothing, if it is anew."""
    if anew:
        command = [sys.executable, "-c", code, *map(str, arguments)]
        done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    else:
        done = forked.code(code, *arguments, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("method", "dataset"),
    [
        ("nysck", "breast_cancer"),
        ("packed", "breast_cancer"),
        ("own", "breast_cancer"),
        ("clusk", "breast_cancer"),
        ("rff-mssksc", "breast_cancer"),
        ("svm", "own-table"),
        ("krr", "diabetes-sklearn"),
    ],
)
def test_a_loaded_models_scores_are_those_of_its_row(study, method, dataset):
    path, said = fitted(study, method, dataset)
    row = study.rows[dataset, method, BUDGET][0]
    if dataset == "diabetes-sklearn":  # values are put back to their scale by `predict` alone
        code = SCORED.replace(
            "model._predicted(X, prepared=True)", '{"values": model.predict(X, prepared=True)}'
        )
    else:
        code = SCORED
    anew = method == "nysck"  # whose class comes with the harness
    scores, recorded = python(code, study.study, row, path, cwd=study.folder, anew=anew)
    assert scores == recorded
    assert len(scores) > 1
    assert f"equal to row {row} bit for bit" in said


def test_it_loads_where_nothing_of_the_study_is(study, tmp_path):
    models = [fitted(study, method)[0] for method in ("own", "packed")]
    away = study.folder / "mine"
    away.rename(study.folder / "away")
    code = """
import json, sys, io, joblib, sklearn.datasets
X = sklearn.datasets.load_breast_cancer().data
found = []
for path in sys.argv[1:]:
    model = joblib.load(path)
    again = io.BytesIO()
    joblib.dump(model, again)  # and can be kept in another file
    again.seek(0)
    found.append([list(map(str, joblib.load(again).predict(X[:20]))), model.row["method"]])
print(json.dumps(found))
"""
    try:
        found = python(code, *models, cwd=tmp_path, anew=True)
    finally:
        (study.folder / "away").rename(away)
    for labels, method in found:  # 19 of the first 20 are
        assert labels.count("malignant") >= 15, method


def test_rows_are_taken_as_the_source_has_them(study, tmp_path):
    path, _ = fitted(study, "svm", "own-table")
    code = """
import json, sys, pandas, harness
from harness.errors import HarnessError
model = harness.load_model(sys.argv[1])
table = pandas.read_csv(sys.argv[2])
labels = model.predict(table)
said = []
for wrong in (
    table.assign(colour="pink"),
    table.drop(columns="amount"),
    table.assign(amount="much"),
    table[["colour", "length"]].to_numpy(),
    table.assign(amount=float("nan")),
):
    try:
        model.predict(wrong)
    except HarnessError as error:
        said.append(str(error))
fewer = table[["amount", "colour", "length"]]
same = list(model.predict(fewer)) == list(labels)
one = list(model.predict(table.iloc[7:8])) == list(labels[7:8])
share = float((labels == table["answer"]).mean())
print(json.dumps([share, same, one, model.columns, said]))
"""
    share, same, one, columns, said = python(code, path, study.folder / "own.csv", cwd=tmp_path)
    assert share > 0.8
    assert same
    assert one
    assert columns == ["length", "colour", "amount"]
    assert "column colour: 'pink' was not there" in said[0]
    assert said[1] == "rows: the columns amount are not there"
    assert said[2] == "row 0: column amount: 'much' is not a number"
    assert said[3].startswith("rows: shape (240, 2), but the model takes rows of 3 values")
    assert said[4].startswith("row 0: column amount: there is no number, and none was missing")


def test_all_points_may_be_fitted_to(study, tmp_path):
    status, said, path = fit(study, "svm", "--all", dataset="own-table")
    assert status == 0, said
    assert "bit for bit" not in said
    code = """
import json, sys, harness
model = harness.load_model(sys.argv[1])
print(json.dumps([model.row["fitted_to"], model.row["scores"]["accuracy"]]))
"""
    words, _ = python(code, path, cwd=tmp_path)
    assert words == "all labeled points"
    table = study.folder / "own.csv"
    whole = python(SHARE, path, table, cwd=tmp_path)
    assert whole >= python(SHARE, fitted(study, "svm", "own-table")[0], table, cwd=tmp_path)
    assert fit(study, "own", "--all")[0] == 0  # with the settings that the row's search found
    status, said, _ = fit(study, "budget-kmedoids", "--all")
    assert status == 1
    assert "is of a clustering, which has all points: leave --all out" in said


ONNX = """
import json, sys, numpy, onnxruntime, pandas, sklearn.datasets
session = onnxruntime.InferenceSession(sys.argv[1])
if sys.argv[2].endswith(".csv"):
    table = pandas.read_csv(sys.argv[2])
    numbers = table[["length", "amount"]].to_numpy()
    given = {"numbers": numbers, "names": table[["colour"]].to_numpy(dtype=object)}
else:
    given = {"X": getattr(sklearn.datasets, "load_" + sys.argv[2])().data}
outputs = [output.name for output in session.get_outputs()]
found = session.run(outputs, given)
print(json.dumps({name: values.tolist() for name, values in zip(outputs, found)}))
"""


@pytest.mark.parametrize(
    ("method", "dataset", "source", "output"),
    [
        ("nysck", "breast_cancer", "breast_cancer", "label"),
        ("rff-mssksc", "breast_cancer", "breast_cancer", "label"),
        ("svm", "own-table", "own.csv", "label"),
        ("krr", "diabetes-sklearn", "diabetes", "value"),
        ("budget-kmedoids", "breast_cancer", "breast_cancer", "cluster"),
    ],
)
def test_a_file_of_onnx_predicts_what_the_model_does(study, method, dataset, source, output):
    pytest.importorskip("onnxruntime", reason="needs the extra 'onnx'")
    status, said, path = fit(study, method, dataset=dataset, suffix=".onnx")
    assert status == 0, said
    assert "bytes" not in said
    assert f"{path.stat().st_size / 1000:.3g} kB in the file" in said
    assert "checked by onnxruntime on " in said
    found = python(
        ONNX, path, study.folder / source if "." in source else source, cwd=study.folder
    )
    rows = study.folder / source if "." in source else source
    code = """
import json, sys, harness, pandas, sklearn.datasets
path, source = sys.argv[1:]
rows = pandas.read_csv(source) if source.endswith(".csv") else None
rows = getattr(sklearn.datasets, "load_" + source)().data if rows is None else rows
print(json.dumps(harness.load_model(path).predict(rows).tolist()))
"""
    expected = python(code, fitted(study, method, dataset)[0], rows, cwd=study.folder)
    if output == "value":
        np.testing.assert_allclose(found[output], expected, rtol=1e-5)
    else:
        assert found[output] == expected
        assert len(set(expected)) == 2


def test_a_file_of_onnx_may_be_of_all_points(study):
    pytest.importorskip("onnxruntime", reason="needs the extra 'onnx'")
    status, said, path = fit(study, "svm", "--all", dataset="own-table", suffix=".onnx")
    assert (status, path.is_file()) == (0, True), said
    assert "no label is another" in said


def test_what_onnx_cannot_say_is_refused(study):
    pytest.importorskip("onnxruntime", reason="needs the extra 'onnx'")
    status, said, path = fit(study, "clusk", suffix=".onnx")
    assert (status, path.exists()) == (1, False)
    assert "gives no model: clusk cannot be written as ONNX (" in said
    assert "write it as model.joblib" in said


@pytest.mark.parametrize(
    ("method", "told"),
    [
        ("unpicklable", "gives no model: the fitted model cannot be pickled: "),
        ("unrepeatable", "was not reproduced, so no model is written: "),
        (
            "transductive",
            "gives no model: transductive predicts only the points of its fit: there is no model",
        ),
    ],
)
def test_what_gives_no_model_says_why(study, method, told):
    status, said, path = fit(study, method)
    assert status == 1
    assert told in said
    assert "Traceback" not in said
    assert not path.exists()


def test_a_model_that_cannot_be_pickled_has_a_row_without_its_bytes(study):
    _, row = study.rows["breast_cancer", "unpicklable", BUDGET]
    assert row.outcome == "ok"
    assert pd.isna(row.model_bytes)
    assert row.reason.startswith("the fitted model cannot be pickled: ")
    _, row = study.rows["breast_cancer", "nysck", BUDGET]
    assert row.model_bytes > 10_000
    assert 0 < row.predict_row_s <= row.predict_row_p99_s < 1
    assert row.model_bytes < row.predict_row_peak_bytes < row.peak_bytes


def test_mistakes_are_told_in_a_sentence(study):
    number, row = study.rows["breast_cancer", "clusk", "1kB"]
    assert row.outcome == "infeasible"
    path = study.folder / "breast_cancer-clusk-none.joblib"
    status, said, _ = fit(study, "clusk", "-o", str(path), budget="1kB")
    assert (status, f"row {number} ended infeasible, so there is no model" in said) == (1, True)
    _, said, _ = fit(study, "nysck", "-o", str(path), row=10_000)
    assert "there is no row 10000: the table has rows 0 to " in said
    (study.folder / "folder").mkdir(exist_ok=True)
    for option, told in {
        "folder": "folder is a folder: name the file to write",
        "own.csv": "own.csv is there already: name another file, or give --force",
        "no/m.joblib": "there is no folder no",
    }.items():
        status, said, _ = fit(study, "nysck", "-o", option)
        assert (status, told in said) == (1, True), said


def test_a_clustering_predicts_numbers_of_clusters(study, tmp_path):
    path, _ = fitted(study, "budget-kmedoids")
    code = """
import json, sys, harness, sklearn.datasets
model = harness.load_model(sys.argv[1])
print(json.dumps(model.predict(sklearn.datasets.load_breast_cancer().data).tolist()))
"""
    assert set(python(code, path, cwd=tmp_path)) == {0, 1}
