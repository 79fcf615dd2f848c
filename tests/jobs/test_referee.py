"""What the referee hands to a trial, and how it scores what comes back; no study around it."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.svm import SVC

from harness import Metric, log_uniform
from harness.jobs.referee import Referee, primary, seed_sequence
from harness.metrics.functions import BUILT_IN
from harness.planning.size import Plan
from harness.plugin.method import Method
from harness.plugin.registry import Registry
from harness.study.schema import AS_PREPARED, Tuning

LEARNER = Method(
    "learner", SVC, lambda shape, size: shape.data_bytes, space={"C": log_uniform(1, 9)}
)
ORACLE = replace(LEARNER, name="oracle", control="truth")
N = 60


def fails(truth, scores):
    raise ZeroDivisionError("no score")


def grid(**changes):
    rules = {"transductive": True, "stratified": True}
    usual = {"transductive": True, "split_rules": rules, "tuning": None, "checkpoints": ()}
    usual |= {"streams": False, "is_prequential": False, "dtype": AS_PREPARED}
    return SimpleNamespace(**usual | changes)


@pytest.fixture
def make(tmp_path):
    """Return a function that makes a referee of 60 points in three pairs of clusters."""

    def make(task="binary", n_classes=2, seed=3, metrics=(), known=(), facts=(), **changes):
        rng = np.random.default_rng(0)
        y = np.arange(N) % max(n_classes, 2)
        np.save(tmp_path / "X.npy", 9.0 * y[:, None] + rng.random((N, 2)))
        np.save(tmp_path / "y.npy", y if task != "regression" else y + rng.random(N))
        workload = SimpleNamespace(
            task=lambda block: task,
            prepared=lambda name: tmp_path,
            entry=lambda block: SimpleNamespace(number_type="float64", small_integers=False),
            study=SimpleNamespace(
                settings=SimpleNamespace(seed=seed, metrics=metrics),
                split_source=lambda grid, dataset, n_train: None,
            ),
        )
        block = SimpleNamespace(
            dataset="wine", labeled=12, method=SimpleNamespace(ranges={}), grid=grid(**changes)
        )
        items = [(metric, None) for metric in (*BUILT_IN, *known)]
        registry = SimpleNamespace(items=lambda kind: items)
        meta = SimpleNamespace(n=N, n_classes=n_classes, n_train=40, facts=facts)
        return Referee(registry, workload, block, meta)

    return make


def test_official_test_points_are_those_that_the_data_came_with(make):
    referee = make(transductive=False, split_rules={"test": "official", "stratified": True})
    first, other = (assign(referee, seed=seed) for seed in (0, 1))
    assert first.test.tolist() == other.test.tolist() == list(range(40, N))
    assert first.labeled.tolist() != other.labeled.tolist()
    assert max(*first.labeled, *first.unlabeled) < 40


def test_the_search_is_told_the_groups_of_what_it_is_shown_and_of_nothing_else(make, tmp_path):
    groups = np.arange(N) // 5
    np.save(tmp_path / "facts.npy", groups[None])
    rules = {"test": 0.3, "groups": "test"}
    usual = {"facts": ["groups"], "transductive": False, "split_rules": rules}
    trial = assign(make(**usual, tuning=Tuning(folds=2, labeled=20)))
    shown = np.concatenate([trial.labeled, trial.unlabeled[:8]])
    np.testing.assert_array_equal(trial.groups, groups[shown])
    assert not set(groups[trial.test]) & set(groups[shown])
    assert not len(assign(make(**usual)).groups)
    # an evaluation that keeps no groups apart knows of none
    plain = assign(make(facts=["groups"], tuning=Tuning(folds=2)))
    assert not len(plain.groups)


def assign(referee, method=LEARNER, size=None, seed=0, n_kept=None, **params):
    return referee.assign(method, params, Plan(size, 1, n_kept=n_kept), seed)


def test_randomness_depends_on_study_data_set_and_seed_alone():
    def draw(*key):
        return seed_sequence(*key).generate_state(4).tolist()

    assert draw(1, "wine", 2) == draw(1, "wine", 2)
    others = [
        draw(*key) for key in ((1, "wine", 2), (2, "wine", 2), (1, "iris", 2), (1, "wine", 3))
    ]
    assert len({tuple(state) for state in others}) == 4


def test_splits_of_kept_rows_are_drawn_again_as_they_were():
    """Rows in docs/results can be reproduced only as long as these numbers stay."""
    assert seed_sequence(0, "wine", 0).generate_state(2).tolist() == [3824785256, 2115288227]
    assert seed_sequence(0, "wine", 0).entropy[1] < 2**64


def test_a_trial_gets_labels_of_its_labeled_rows_and_of_no_others(make):
    referee = make()
    trial = assign(referee, size=7, n_kept=20)
    rows = np.concatenate([trial.labeled, trial.unlabeled, trial.test])
    assert sorted(rows) == list(range(N))
    assert len(trial.labeled) == len(trial.y_labeled) == 12
    np.testing.assert_array_equal(trial.y_labeled, referee.y[trial.labeled])
    assert (trial.size, trial.n_kept, len(trial.y_search)) == (7, 20, 0)
    assert trial.mapped is None
    assert trial.costs


def test_the_split_is_that_of_the_seed_whatever_the_method_and_the_rest(make):
    one, other = make(), make(checkpoints=(3, 5), tuning=Tuning(folds=2))
    first, second = assign(one, size=1), assign(other, ORACLE, size=9, n_kept=5)
    for part in ("labeled", "unlabeled", "test"):
        np.testing.assert_array_equal(getattr(first, part), getattr(second, part))
    assert second.checkpoints == (3, 5)
    assert first.seed.generate_state(1) == second.seed.generate_state(1)
    again = assign(one, seed=1)
    assert first.unlabeled.tolist() != again.unlabeled.tolist()
    assert first.seed.generate_state(1) != again.seed.generate_state(1)
    # in the order of their numbers, the first of them would be the first of the file
    assert first.unlabeled.tolist() != sorted(first.unlabeled)


def test_what_a_search_draws_is_not_what_the_split_drew(make):
    split_seed = seed_sequence(3, "wine", 0).spawn(2)[0]
    assert assign(make()).seed.generate_state(2).tolist() != split_seed.generate_state(2).tolist()


def test_a_search_is_shown_targets_of_the_first_unlabeled_rows(make):
    referee = make(tuning=Tuning(folds=2, labeled=20))
    trial = assign(referee)
    np.testing.assert_array_equal(trial.y_search, referee.y[trial.unlabeled[:8]])
    assert trial.tuning == referee.block.grid.tuning
    # nothing is left to search: nothing is shown
    fixed = assign(referee, C=2.0)
    assert fixed.tuning is None
    assert len(fixed.y_search) == 0


def test_clusters_are_sought_in_all_points(make):
    trial = assign(make("clustering", 3))
    assert sorted(trial.unlabeled) == list(range(N))
    assert len(trial.labeled) == len(trial.test) == 0


@pytest.mark.parametrize("transductive", [True, False])
def test_predictions_are_held_against_the_rows_that_they_are_of(make, transductive):
    rules = {"transductive": True} if transductive else {"test": 0.5, "stratified": True}
    referee = make(transductive=transductive, split_rules=rules)
    trial = assign(referee)
    rows = trial.unlabeled if transductive else trial.test
    truth = referee.y[rows]
    assert referee.score(trial, {"labels": truth})["accuracy"] == 1
    wrong = np.where(np.arange(len(truth)) % 4 == 0, 1 - truth, truth)
    share = np.mean(np.arange(len(truth)) % 4 != 0)
    assert referee.score(trial, {"labels": wrong})["accuracy"] == pytest.approx(share)
    told = referee.score(trial, {"labels": truth, "scores": truth - 0.5})
    assert (told["accuracy"], told["auc"]) == (1, 1)


def test_predictions_of_another_length_are_an_error_that_says_how_many(make):
    referee = make()
    trial = assign(referee)
    truth = referee.y[trial.unlabeled]
    told = referee.score(trial, {"labels": truth[:-1]})
    assert told["outcome"] == "error"
    assert told["reason"] == "predicted {'labels': 47} where 48 points are scored"
    assert "{'labels': 0}" in referee.score(trial, {"labels": np.array(1.0)})["reason"]
    assert "predicted nothing where 48" in referee.score(trial, {})["reason"]
    # of two the one that is whole counts
    told = referee.score(trial, {"labels": truth, "scores": np.zeros(5)})
    assert told["accuracy"] == 1
    assert "auc" not in told


@pytest.mark.parametrize(
    ("task", "n_classes", "best"),
    [
        ("binary", 2, {"auc": 1, "accuracy": 1}),
        ("multiclass", 3, {"auc": 1, "f1_macro": 1}),
        ("regression", 0, {"nmse": 0}),
    ],
)
def test_the_oracle_scores_what_the_truth_scores(make, task, n_classes, best):
    referee = make(task, n_classes)
    noise = np.random.default_rng(0).random(48)
    for method, right in ((ORACLE, True), (LEARNER, False)):
        found = referee.score(assign(referee, method), {"values": noise, "labels": noise > 2})
        assert all(found.get(name) == value for name, value in best.items()) is right


def test_metrics_of_clusters_see_the_features_of_the_points_that_are_scored(make):
    referee = make("clustering", 3)
    trial = assign(referee)
    found = referee.score(trial, {"labels": referee.y[trial.unlabeled]})
    assert found["silhouette"] > 0.8
    assert found["adjusted_rand"] == 1
    # a task with a truth has no use for them
    assert "silhouette" not in make().score(trial, {"labels": referee.y[trial.unlabeled] % 2})


def test_a_metric_that_fails_is_an_error_in_words(make):
    referee = make(known=[Metric("broken", fails, {"binary"}, needs="labels")])
    trial = assign(referee)
    told = referee.score(trial, {"labels": referee.y[trial.unlabeled]})
    assert told == {
        "outcome": "error",
        "reason": "could not be scored: ZeroDivisionError: no score",
    }


def test_the_first_metric_that_a_study_asks_for_decides_searches(make):
    referee = make(metrics=("accuracy",))
    assert (referee.primary.name, make().primary.name) == ("accuracy", "auc")
    assert assign(referee).metric.name == "accuracy"
    workload = SimpleNamespace(
        task=lambda block: "regression",
        study=SimpleNamespace(settings=SimpleNamespace(metrics=("accuracy", "r2"))),
    )
    assert primary(workload, None, Registry([])).name == "r2"


def test_a_curve_ends_with_what_the_trial_itself_scored(make):
    referee = make()
    trial = assign(referee)
    truth = referee.y[trial.unlabeled]
    deliveries = [({"step": step}, {"labels": labels}) for step, labels in
                  ((1, 1 - truth), (2, truth), (4, truth[:3]))]  # fmt: skip
    curve = referee.score_curve(trial, deliveries, None, {})
    assert [point["step"] for point in curve] == [1, 2, 4]
    assert [point["scores"]["accuracy"] for point in curve[:2]] == [0, 1]
    assert "predicted {'labels': 3}" in curve[2]["reason"]
    assert "scores" not in curve[2]
    ended = referee.score_curve(trial, deliveries, {"step": 2, "s": 9}, {"accuracy": 0.5})
    assert [point["step"] for point in ended] == [1, 4, 2]
    assert ended[-1] == {"step": 2, "s": 9, "scores": {"accuracy": 0.5}}
    (failed,) = referee.score_curve(trial, [], {"step": 2}, {"reason": "no score"})
    assert failed == {"step": 2, "reason": "no score"}


def test_targets_that_would_be_unpickled_are_refused(make, tmp_path):
    referee = make()
    np.save(tmp_path / "y.npy", np.array([{}] * N), allow_pickle=True)
    workload = SimpleNamespace(
        task=lambda block: "binary",
        prepared=lambda name: tmp_path,
        study=SimpleNamespace(settings=SimpleNamespace(seed=0, metrics=())),
    )
    with pytest.raises(ValueError, match="allow_pickle"):
        Referee(Registry([]), workload, referee.block, referee.meta)
