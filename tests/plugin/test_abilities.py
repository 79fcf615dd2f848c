import ast

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline

from harness import Method
from harness.plugin import abilities
from harness.project import ROOT
from harness.trial.prediction import predict, transduction

ASKED = {
    "fit_features": abilities.splits_fit,
    "fit_steps": abilities.fits_in_steps,
    "finish_fit": abilities.finishes_fit,
    "diagnostics": abilities.diagnoses,
    "partial_fit": abilities.learns_in_parts,
}
PROTOCOLS = [c for c in vars(abilities).values() if getattr(c, "_is_protocol", False)]
METHODS = {
    name
    for protocol in PROTOCOLS
    if protocol.__module__ == abilities.__name__
    for name in vars(protocol)
    if not name.startswith("_") and name != "set_params"
}
NAMES = METHODS | {
    *abilities.SCORE_METHODS,
    *abilities.SCORE_ATTRIBUTES,
    *("transduction_", "labels_", "classes_"),
}


def with_names(*names):
    return type("Estimator", (), dict.fromkeys(names, lambda self, *given: self))


@pytest.mark.parametrize("name", ASKED)
def test_an_estimator_and_its_class_are_asked_alike(name):
    able = with_names(name, "fit_labels")
    assert ASKED[name](able)
    assert ASKED[name](able())
    other = with_names(*(set(ASKED) - {name}), "fit_labels")
    assert not ASKED[name](other)
    assert not ASKED[name](other())


@pytest.mark.parametrize("half", ["fit_features", "fit_labels"])
def test_half_of_a_split_fit_is_none(half):
    estimator = with_names(half)
    assert not abilities.splits_fit(estimator)
    with pytest.raises(ValueError, match=r"need an estimator with fit_features and fit_labels$"):
        Method("half", with_parameter(estimator), lambda *_: 0, head_params={"C"})


def with_parameter(estimator):
    class Parametrised(estimator):
        def __init__(self, C=1.0):
            self.C = C

    return Parametrised


def test_a_method_that_scikit_learn_hides_is_not_there():
    assert abilities.scorer(make_pipeline(Ridge())) is None
    name, score = abilities.scorer(make_pipeline(LogisticRegression()))
    assert name == "decision_function"
    assert callable(score)


def test_decision_values_come_before_probabilities():
    class Both:
        def predict_proba(self, X):
            return np.tile([0.9, 0.1], (len(X), 1))

        def decision_function(self, X):
            return np.full(len(X), 2.0)

    found = predict(Both(), np.zeros((3, 1)), "binary", 2)
    assert found["scores"].tolist() == [2, 2, 2]
    assert found["labels"].tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("binary", "decision_scores_"),
        ("multiclass", "decision_scores_"),
        ("clustering", "labels_"),
        ("regression", None),
    ],
)
def test_what_fit_left_is_taken_by_task(task, expected):
    class Fitted:
        labels_ = transduction_ = np.array([0, 1])
        label_distributions_ = np.eye(2)
        decision_scores_ = np.array([-1.0, 1.0])

    found = transduction(Fitted(), 2, task, 2)
    assert (found and found.name) == expected


def test_no_other_module_asks_an_estimator_for_an_ability():
    asking = []
    for path in sorted((ROOT / "harness").rglob("*.py")):
        if path.name == "abilities.py":
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("hasattr", "getattr"):
                named = [a.value for a in node.args if isinstance(a, ast.Constant)]
                asking += [f"{path.name}: {name}" for name in named if name in NAMES]
    assert not asking


def test_the_guide_names_every_ability():
    text = (ROOT / "docs" / "plugins.md").read_text()
    table = text[text.index("| ability |") :].split("\n\n")[0]
    assert len(METHODS) == 7
    assert not [name for name in NAMES if f"`{name}" not in table]
