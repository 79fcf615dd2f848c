import pytest
from synthetic_trials import make_trials, write_results

from harness.errors import HarnessError
from harness.report.results import read_results
from harness.report.scores import SCORES, choose_scores

TASKS = ("binary", "multiclass", "regression", "clustering")


def choose(tmp_path, study, metric=None, provenance=None, change=lambda trials: trials):
    trials = change(make_trials([(task, task) for task in TASKS], seeds=[0]))
    directory = write_results(tmp_path / "s", trials, study, provenance)
    scores = choose_scores(read_results(directory), metric)
    return {problem: score.name for problem, score in scores.items()}, scores


def test_defaults_follow_the_task(tmp_path):
    names, _ = choose(tmp_path, {"title": "x"})
    expected = ("auc", "accuracy", "nmse", "adjusted_rand")
    assert names == dict(zip(TASKS, expected, strict=True))


def test_the_first_of_the_studys_metrics_that_a_data_set_has_decides(tmp_path):
    names, _ = choose(tmp_path, {"metrics": ["auc", "error_rate", "r2"]})
    expected = ("auc", "error_rate", "r2", "adjusted_rand")
    assert names == dict(zip(TASKS, expected, strict=True))


def test_one_metric_of_a_study_needs_no_list(tmp_path):
    names, _ = choose(tmp_path, {"metrics": "error_rate"})
    assert names["binary"] == names["multiclass"] == "error_rate"


def test_the_metric_asked_for_goes_before_the_study_where_it_applies(tmp_path):
    names, _ = choose(tmp_path, {"metrics": ["auc"]}, metric="accuracy")
    assert names["binary"] == names["multiclass"] == "accuracy"
    assert names["regression"] == "nmse"


def test_an_unknown_metric_is_refused_with_the_nearest(tmp_path):
    with pytest.raises(HarnessError, match="did you mean 'accuracy'"):
        choose(tmp_path, {}, metric="acuracy")


def test_a_task_without_any_score_keeps_a_metric_that_would_apply(tmp_path):
    def fail(trials):
        trials.loc[trials["task"] == "regression", ["nmse", "r2"]] = None
        return trials

    names, _ = choose(tmp_path, {"metrics": ["auc", "r2"]}, change=fail)
    assert names["regression"] == "r2"


@pytest.mark.parametrize("greater", [True, False])
def test_a_plugins_metric_takes_its_direction_from_provenance(tmp_path, greater):
    _, scores = choose(
        tmp_path,
        {},
        "brier",
        {"metrics": {"brier": {"greater_is_better": greater}}},
        lambda trials: trials.assign(brier=0.25),
    )
    assert scores["binary"].greater_is_better is greater
    assert scores["binary"].declared


def test_a_direction_that_nothing_states_is_marked(tmp_path):
    _, scores = choose(tmp_path, {}, "brier", {}, lambda trials: trials.assign(brier=0.25))
    assert scores["binary"].greater_is_better
    assert not scores["binary"].declared


def test_lower_is_better_for_errors_alone():
    lower = {name for name, score in SCORES.items() if not score.greater_is_better}
    errors = {"error_rate", "nmse", "mean_absolute_error"}
    assert lower == {*errors, "log_loss", "brier_score", "expected_calibration_error"}
