"""What a study is joined with: which trials a change of it, or of a plugin, makes others."""

import importlib.metadata

import pytest
import yaml

from harness.errors import HarnessError
from harness.planning.kept_predictions import (
    MOST_UNASKED,
    TRIAL_BYTES,
    keeps_predictions,
    predictions_bytes,
)
from harness.planning.workload import load_workload

METRIC = """
from harness import Metric, hookimpl

@hookimpl
def harness_metrics():
    return [Metric({name!r}, None, {tasks!r})]
"""


@pytest.fixture
def fingerprint(tmp_path, monkeypatch, built_in):
    """Return a function that gives the fingerprint of a study of one block."""
    built_in("supervised", "controls")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own").mkdir()

    def fingerprint(plugins=None, **changes):
        for name, text in (plugins or {}).items():
            (tmp_path / "own" / name).write_text(text)
        study = {
            "datasets": "wine",
            "methods": ["svm"],
            "labeled": 50,
            "plugins": "own",
            "seeds": 1,
        }
        (tmp_path / "study.yaml").write_text(yaml.safe_dump(study | changes))
        (block,) = load_workload(tmp_path / "study.yaml").blocks
        return block.fingerprint

    return fingerprint


def test_trials_are_others_if_another_metric_tunes_them(fingerprint):
    tuned = {"tuning": {"search": "grid"}}
    plain = fingerprint(metrics=["nmse", "auc"], **tuned)
    assert fingerprint(metrics=["nmse", "auc", "f1_macro"], **tuned) == plain
    assert fingerprint(metrics=["nmse", "f1_macro", "auc"], **tuned) != plain
    # of two that apply the first decides, of none the default
    assert fingerprint(metrics=["auc"], **tuned) == fingerprint(metrics=["auc", "nmse"], **tuned)
    assert fingerprint(metrics=["nmse", "auc"]) == fingerprint(metrics=["nmse", "f1_macro"])


def test_trials_are_others_if_probabilities_or_a_quantile_are_asked_for(fingerprint):
    plain = fingerprint()
    asked = fingerprint(metrics=["accuracy", "log_loss"])
    assert asked != plain
    assert asked == fingerprint(metrics=["brier_score"])
    # of a regression alone
    assert fingerprint(metrics=["accuracy", "pinball_0.9"]) == plain
    regression = {"datasets": "diabetes-sklearn", "methods": ["prior"]}
    assert fingerprint(metrics=["pinball_0.9"], **regression) != fingerprint(**regression)
    assert fingerprint(metrics=["log_loss"], **regression) == fingerprint(**regression)
    with pytest.raises(HarnessError, match=r"unknown metric 'pinball_1\.5'"):
        fingerprint(metrics=["pinball_1.5"], **regression)


def test_predictions_are_kept_unasked_up_to_a_limit(tmp_path, monkeypatch, built_in):
    built_in("controls")
    monkeypatch.chdir(tmp_path)

    def load(**changes):
        study = {"datasets": "digits", "methods": ["prior"], "labeled": 50, "seeds": 100}
        (tmp_path / "study.yaml").write_text(yaml.safe_dump(study | changes))
        return load_workload(tmp_path / "study.yaml")

    few, many = load(), load(seeds=10**5)
    assert predictions_bytes(few) == 100 * (2 * 10 * (1797 - 50) + TRIAL_BYTES)
    assert keeps_predictions(few)
    assert predictions_bytes(many) > MOST_UNASKED
    assert not keeps_predictions(many)
    assert keeps_predictions(load(seeds=10**5, predictions=True))
    assert not keeps_predictions(load(predictions=False))
    tested = load(evaluation={"test": 97})
    assert predictions_bytes(tested) == 100 * (2 * 10 * 97 + TRIAL_BYTES)


def test_trials_are_others_if_a_plugin_scores_them_otherwise(fingerprint):
    plain = fingerprint()
    elsewhere = {"m.py": METRIC.format(name="own", tasks={"regression"})}
    assert fingerprint(elsewhere) == plain
    # of another length: bytecode that is kept is told from other source by its size and second
    text = METRIC.format(name="own", tasks=["multiclass", "binary"])
    scored = fingerprint({"m.py": text})
    assert scored != plain
    assert fingerprint({"m.py": text + "# a comment"}) == scored
    assert fingerprint({"m.py": text + "EDITED = True"}) not in (plain, scored)


SEARCH = """
from harness import Search, hookimpl

@hookimpl
def harness_searches():
    return [Search("own", None)]
"""


def test_trials_are_others_if_the_search_that_tunes_them_is(fingerprint):
    tuned = {"tuning": {"search": "own"}}
    plain = fingerprint({"s.py": SEARCH}, **tuned)
    untuned = fingerprint()
    assert fingerprint({"s.py": SEARCH + "EDITED = True"}, **tuned) != plain
    assert fingerprint() == untuned


def test_trials_are_others_with_other_versions_of_libraries(fingerprint, monkeypatch, tmp_path):
    plain = fingerprint()
    version = importlib.metadata.version
    monkeypatch.setattr(
        "importlib.metadata.version", lambda n: "99" if n == "scikit-learn" else version(n)
    )
    monkeypatch.setattr("harness.plugin.index.cache_directory", lambda: tmp_path / "nothing kept")
    assert fingerprint() != plain


def test_a_metric_has_a_name_of_its_own(fingerprint):
    with pytest.raises(HarnessError, match=r"'seed' of .*m.py is called like a column"):
        fingerprint({"m.py": METRIC.format(name="seed", tasks={"binary"})})
    twice = METRIC.format(name="own", tasks={"binary"})
    with pytest.raises(HarnessError, match=r"'own' is provided twice, by .*m.py and .*n.py"):
        fingerprint({"m.py": twice, "n.py": twice})


def test_a_set_without_classes_is_not_clustered(fingerprint):
    with pytest.raises(HarnessError, match="diabetes-sklearn has no classes to compare"):
        fingerprint(datasets="diabetes-sklearn", methods=["prior"], task="clustering")


@pytest.mark.parametrize(
    ("space", "message"),
    [
        ({"sigm": [1]}, "space of svm: unknown parameter 'sigm'; did you mean 'sigma'"),
        ({"cache_rows": [2]}, "space of svm: cache_rows is set by the plan; allowed: C, "),
        ({"n_classes": [2]}, "space of svm: n_classes is set by the data set"),
        ({"C": [1, -2]}, "space of svm: The 'C' parameter of svm must be a number"),
        ({"sigma": {"uniform": [-1, 2]}}, "space of svm: The 'sigma' parameter of svm must be"),
        ({"sigma_unit": ["median", "mean"]}, "space of svm: The 'sigma_unit' parameter of svm"),
        ({"kernel": ["rbf", "rbg"]}, "unknown kernel to search: 'rbg'; did you mean 'rbf'"),
    ],
)
def test_a_space_is_held_against_the_method(fingerprint, space, message):
    with pytest.raises(HarnessError) as caught:
        fingerprint(methods=[{"svm": None, "space": space}], tuning={"search": "grid"})
    assert message in str(caught.value)
    assert "study.yaml: methods: " in str(caught.value)


def test_a_space_without_a_search_is_refused(fingerprint):
    asked = {"methods": [{"svm": None, "space": {"C": [1, 2], "kernel": ["rbf", "chi2"]}}]}
    with pytest.raises(HarnessError, match="nothing is searched, since tuning is none"):
        fingerprint(**asked)
    assert fingerprint(**asked, tuning={"search": "grid"})


def test_an_entry_may_leave_sizes_unsaid_and_wrong_ones_are_told(fingerprint, tmp_path):
    rows = [f"{row},{row % 7},{'no' if row % 3 else 'yes'}" for row in range(30)]
    (tmp_path / "x.csv").write_text("\n".join(rows) + "\n")
    entry = {"task": "binary", "read": {"format": "csv"}, "files": [{"path": "x.csv"}]}

    def planned(**said):
        (tmp_path / "datasets.yaml").write_text(yaml.safe_dump({"mine": entry | said}))
        return fingerprint(datasets="mine", labeled=5)

    said = {"n": 30, "d": 2, "classes": ["no", "yes"], "positive": "yes"}
    assert planned() == planned(**said)
    with pytest.raises(HarnessError, match=r"datasets\.yaml: mine: found 30 x 2 points .* 30 x 3"):
        planned(**(said | {"d": 3}))
    with pytest.raises(HarnessError, match=r"mine: class counts are \{'no': 20, 'yes': 10\}"):
        planned(**(said | {"classes": {"no": 10, "yes": 20}}))
    with pytest.raises(
        HarnessError, match=r"datasets\.yaml: data set 'mine': .*cannot be read as"
    ):
        planned(read={"format": "arff"})
