"""Foreign classes as methods: what a study asks of a method, they answer."""

import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from harness import sklearn_method
from harness.errors import HarnessError

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
TRUTH = (X[:, 0] > 0).astype(int)
X.flags.writeable = False


def partly(classes=(0, 1), every=3):
    y = np.array([classes[code] for code in TRUTH], dtype=np.int8)
    y[np.arange(60) % every > 0] = -1
    return y


@pytest.mark.parametrize("foreign", [LogisticRegression, SVC, KNeighborsClassifier])
def test_points_without_a_label_are_left_out(foreign):
    method = sklearn_method(foreign)
    y = partly()
    made = method.estimator().fit(X, y)
    alone = clone(made).fit(X[y != -1], y[y != -1])
    assert np.array_equal(made.predict(X), alone.predict(X))
    assert not method.uses_unlabeled
    assert method.tasks == {"binary", "multiclass"}


def test_self_training_labels_them():
    method = sklearn_method(LogisticRegression, "st", unlabeled="self-training")
    assert method.uses_unlabeled
    made = method.estimator(C=10.0).fit(X, partly())
    assert made.estimator_.labeled_iter_.max() > 0
    assert (made.predict(X) == TRUTH).mean() > 0.6


@pytest.mark.parametrize("unlabeled", ["ignored", "self-training"])
def test_labels_are_numbered_and_given_back(unlabeled):
    made = sklearn_method(LogisticRegression, unlabeled=unlabeled).estimator()
    made.fit(X, partly(classes=(2, 5)))
    assert list(made.classes_) == [2, 5]
    assert list(made.estimator_.classes_) == [0, 1]
    assert set(made.predict(X)) == {2, 5}


@pytest.mark.parametrize("unlabeled", ["ignored", "self-training"])
def test_one_class_is_an_answer(unlabeled):
    made = sklearn_method(LogisticRegression, unlabeled=unlabeled).estimator()
    made.fit(X, partly(classes=(3, 3)))
    assert set(made.predict(X)) == {3}
    assert made.decision_function(X).shape == (60, 1)


def test_scores_are_there_where_the_foreign_class_has_them():
    assert hasattr(sklearn_method(LogisticRegression).estimator(), "decision_function")
    assert not hasattr(sklearn_method(KNeighborsClassifier).estimator(), "decision_function")
    assert hasattr(sklearn_method(KNeighborsClassifier).estimator(), "predict_proba")


def test_values_that_are_missing_are_left_out():
    method = sklearn_method(Ridge)
    y = X @ [1.0, 2.0, 0.0, 0.0]
    y[::2] = np.nan
    assert method.tasks == {"regression"}
    assert np.allclose(method.estimator(alpha=1e-9).fit(X, y).predict(X), X @ [1, 2, 0, 0])


@pytest.mark.parametrize("foreign", [LogisticRegression, RandomForestClassifier, Ridge])
def test_points_that_are_not_finite_are_refused(foreign):
    broken = X.copy()
    broken[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        sklearn_method(foreign).estimator().fit(broken, TRUTH * 1.0)


def test_no_labels_are_refused():
    with pytest.raises(ValueError, match="no labels"):
        sklearn_method(SVC).estimator().fit(X, np.full(60, -1))


def test_parameters_are_those_of_the_foreign_class():
    wrapped = sklearn_method(SVC).estimator
    theirs, ours = inspect.signature(SVC).parameters, inspect.signature(wrapped).parameters
    assert list(ours) == list(theirs)
    assert {n: p.default for n, p in ours.items()} == {n: p.default for n, p in theirs.items()}
    assert wrapped(C=3.0).get_params()["C"] == 3.0
    assert clone(wrapped(C=3.0)).C == 3.0
    with pytest.raises(TypeError, match="SVC has no parameter 'D'"):
        wrapped(D=1)


def test_it_can_be_pickled():
    made = sklearn_method(SVC).estimator(C=3.0).fit(X, partly())
    again = pickle.loads(pickle.dumps(made))
    assert type(again) is type(made)
    assert np.array_equal(again.predict(X), made.predict(X))


def test_names_tasks_and_whoever_knows_of_points_without_a_label():
    assert sklearn_method(KNeighborsClassifier).name == "k-neighbors-classifier"
    assert sklearn_method(SVC).name == "svc"
    assert sklearn_method(SVC, "mine", size="n_unlabeled").size == "n_unlabeled"
    assert sklearn_method(LabelSpreading).estimator is LabelSpreading
    assert sklearn_method(LabelSpreading).uses_unlabeled
    assert sklearn_method(KMeans).tasks == {"clustering"}
    assert sklearn_method(SVC).learns_storage


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ((StandardScaler,), "StandardScaler has no 'predict'"),
        ((make_pipeline(StandardScaler()),), "Pipeline has no 'predict'"),
        ((make_pipeline(StandardScaler(), KMeans()),), "Pipeline clusters: give the class"),
        ((3,), "3 is neither a class nor an estimator"),
    ],
)
def test_what_is_no_method_is_refused(given, told):
    with pytest.raises(HarnessError, match=told):
        sklearn_method(*given)


def test_arguments_are_checked():
    with pytest.raises(HarnessError, match=r"allowed are 'ignored', .*'tri-training'"):
        sklearn_method(SVC, unlabeled="dropped")
    with pytest.raises(HarnessError, match="a regressor has none"):
        sklearn_method(Ridge, unlabeled="self-training")
    with pytest.raises(ValueError, match="SVC has no 'rank'"):
        sklearn_method(SVC, size="rank")


MAPPED = make_pipeline(StandardScaler(), Nystroem(n_components=9), SGDClassifier(alpha=0.01))


def test_parameters_of_an_object_are_those_of_its_steps():
    method = sklearn_method(
        MAPPED, size="nystroem__n_components", params={"sgdclassifier__eta0": 1}
    )
    assert method.name == "standard-scaler-nystroem-sgd-classifier"
    assert method.tasks == {"binary", "multiclass"}
    assert not method.uses_unlabeled
    assert {"sgdclassifier__alpha", "random_state", "memory"} <= method.parameters
    assert not {"steps", "nystroem", "nystroem__random_state"} & method.parameters
    made = clone(method.estimator(nystroem__n_components=7, sgdclassifier__eta0=2.0))
    made.set_params(sgdclassifier__alpha=0.1).fit(X, partly())
    _, mapping, machine = (step for _, step in made.estimator_.steps)
    assert (mapping.n_components, machine.alpha, machine.eta0) == (7, 0.1, 2.0)
    assert sklearn_method(MAPPED).estimator().fit(X, partly()).estimator_[1].n_components == 9
    with pytest.raises(TypeError, match="Pipeline has no parameter 'nystroem__rank'"):
        made.set_params(nystroem__rank=1)
    with pytest.raises(ValueError, match="Pipeline has no 'nystroem__rank'"):
        sklearn_method(MAPPED, size="nystroem__rank")


def test_an_object_is_what_it_was_when_it_was_given():
    pipeline = make_pipeline(StandardScaler(), SVC(C=2.0))
    method = sklearn_method(pipeline)
    pipeline.set_params(svc__C=5.0)
    assert method.estimator().get_params()["svc__C"] == 2.0
    method.estimator().fit(X, partly())
    assert not hasattr(pipeline[1], "support_")


def test_one_seed_is_for_every_step_of_an_object():
    method = sklearn_method(MAPPED)

    def steps(seed):
        made = method.estimator(random_state=seed).fit(X, partly())
        return [step.random_state for _, step in made.estimator_.steps[1:]], made

    (first, made), (again, same), (other, _) = steps(0), steps(0), steps(1)
    assert first == again
    assert len({*first, *other}) == 4
    assert np.array_equal(made.decision_function(X), same.decision_function(X))


def test_an_object_can_be_pickled_fitted_and_not():
    method = sklearn_method(MAPPED)
    made = method.estimator(nystroem__n_components=5, random_state=0)
    fitted = pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(made)).fit(X, partly())))
    expected = made.fit(X, partly()).decision_function(X)
    assert np.array_equal(fitted.decision_function(X), expected)


@pytest.mark.parametrize("unlabeled", ["ignored", "self-training"])
def test_an_object_sees_labels_as_a_class_does(unlabeled):
    of_class = sklearn_method(LogisticRegression, unlabeled=unlabeled).estimator()
    of_object = sklearn_method(LogisticRegression(), unlabeled=unlabeled).estimator()
    expected = of_class.fit(X, partly((2, 5))).predict_proba(X)
    assert np.array_equal(of_object.fit(X, partly((2, 5))).predict_proba(X), expected)


def test_a_step_that_knows_of_points_without_a_label_is_given_them():
    method = sklearn_method(make_pipeline(StandardScaler(), LabelSpreading(gamma=1.0)))
    assert method.uses_unlabeled
    made = method.estimator().fit(X, partly((2, 5)))
    assert len(made.estimator_[1].transduction_) == len(X)
    assert set(made.predict(X)) == {2, 5}


def test_a_class_that_needs_arguments_says_how():
    class Needy(SVC):
        def __init__(self, must):
            self.must = must

    with pytest.raises(HarnessError, match=r"say tasks=\{...\}, and give them as params"):
        sklearn_method(Needy)


class TakesAny(ClassifierMixin, BaseEstimator):
    """As XGBoost's and LightGBM's: `get_params` alone tells some parameters, none the others."""

    def __init__(self, *, objective="hinge", **kwargs):
        self.objective, self.depth = objective, kwargs.pop("depth", 6)
        self.others = kwargs

    def get_params(self, deep=True):
        return {"objective": self.objective, "depth": self.depth, **self.others}

    def fit(self, X, y):
        self.seen_ = (self.depth, dict(self.others))
        return self

    def predict(self, X):
        return np.zeros(len(X), int)


def test_a_constructor_that_takes_any_parameter_is_given_those_that_are_named():
    method = sklearn_method(
        TakesAny, params={"verbosity": -1}, size="depth", sizes=lambda shape: (1, 9)
    )
    made = clone(method.estimator(verbosity=-1, depth=3))
    X, y = np.arange(8.0)[:, None], np.array([0, 1] * 4)
    fitted = pickle.loads(pickle.dumps(made.fit(X, y)))
    assert fitted.estimator_.seen_ == (3, {"verbosity": -1})
    assert method.estimator().fit(X, y).estimator_.seen_ == (6, {})
    with pytest.raises(TypeError, match="has no parameter 'leaves'"):
        method.estimator(leaves=3)


class NeedsDepth(TakesAny):
    def __init__(self, depth, **kwargs):
        super().__init__(depth=depth, **kwargs)


def test_one_that_also_needs_an_argument_is_given_what_is_named():
    method = sklearn_method(
        NeedsDepth, tasks={"binary"}, params={"depth": 2, "verbosity": -1}, size="n_unlabeled"
    )
    made = method.estimator(depth=2, verbosity=-1)
    assert "n_unlabeled" not in made.get_params()
    fitted = made.fit(np.arange(8.0)[:, None], np.array([0, 1] * 4))
    assert fitted.estimator_.seen_ == (2, {"verbosity": -1})
