"""The baselines are scikit-learn's own estimators, on the kernel and the points they should be."""

import numpy as np
import pytest
from baselines import NystroemRidge, RBFSamplerRidge, SelfTraining
from blobs import blobs
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.semi_supervised import SelfTrainingClassifier

from harness import kernels
from harness.semi_supervised import predict_labels


def gamma_of(X, sigma=1.0):
    return 0.5 / kernels.kernel_width(X, sigma, "median") ** 2


@pytest.mark.parametrize("n_classes", [2, 3])
def test_ridge_on_random_features_is_the_pipeline_on_the_labeled_points(n_classes):
    X, y, _ = blobs(40, n_classes)
    known = y != -1
    rng = np.random.RandomState(3)
    pipeline = make_pipeline(
        RBFSampler(gamma=gamma_of(X[known], 0.5), n_components=30, random_state=rng),
        RidgeClassifier(alpha=0.2),
    ).fit(X[known], y[known])
    model = RBFSamplerRidge(30, 0.2, sigma=0.5, random_state=3).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), pipeline.decision_function(X))
    np.testing.assert_array_equal(model.predict(X), pipeline.predict(X))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_ridge_on_landmarks_takes_them_from_all_points(n_classes):
    X, y, _ = blobs(40, n_classes)
    known = y != -1
    landmarks = Nystroem(gamma=gamma_of(X), n_components=30, random_state=3).fit(X)
    ridge = RidgeClassifier(alpha=0.2).fit(landmarks.transform(X[known]), y[known])
    expected = ridge.decision_function(landmarks.transform(X))
    model = NystroemRidge(30, 0.2, random_state=3).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), expected)
    assert not known[model._map.component_indices_].all()


def test_with_every_point_a_landmark_it_is_kernel_ridge_regression():
    X, _, truth = blobs(30, 2)
    model = NystroemRidge(60, 0.5, sigma=0.3, random_state=0).fit(X, truth)
    K = rbf_kernel(X, gamma=gamma_of(X, 0.3))
    # a free intercept: the solution of the bordered system
    system = np.block([[K + 0.5 * np.eye(60), np.ones((60, 1))], [np.ones((1, 60)), 0]])
    solution = np.linalg.solve(system, np.append(2.0 * truth - 1, 0))
    expected = K @ solution[:-1] + solution[-1]
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-6)


def test_self_training_is_the_classifier_on_features_of_all_points():
    X, y, truth = blobs(60, 2)
    landmarks = Nystroem(gamma=gamma_of(X), n_components=30, random_state=3).fit(X)
    base = LogisticRegression(C=5.0, max_iter=200)
    expected = SelfTrainingClassifier(base, threshold=0.8).fit(landmarks.transform(X), y)
    model = SelfTraining(30, 5.0, threshold=0.8, random_state=3).fit(X, y)
    scores = expected.decision_function(landmarks.transform(X))
    np.testing.assert_allclose(model.decision_scores_, scores)
    np.testing.assert_allclose(model.decision_function(X), scores)
    assert (model._classifier.transduction_ != -1).sum() > 20
    assert (model.predict(X) == truth).mean() > 0.8


@pytest.mark.parametrize(
    ("estimator", "change"), [(NystroemRidge, {"alpha": 0.03}), (SelfTraining, {"C": 9.0})]
)
def test_folds_are_fits_of_their_own(estimator, change):
    X, y, _ = blobs(40, 3)
    rows = np.flatnonzero(y != -1)
    staged = estimator(25, random_state=0).fit_features(X, rows)
    for held in (rows[::3], rows[1::3]):
        masked = y.copy()
        masked[held] = -1
        staged.set_params(**change).fit_labels(masked[rows])
        whole = estimator(25, random_state=0, **change).fit(X, masked)
        expected = whole.decision_function(X[held])
        np.testing.assert_allclose(staged.held_out_scores_, expected, atol=1e-10)


@pytest.mark.parametrize("estimator", [NystroemRidge, RBFSamplerRidge, SelfTraining])
def test_features_are_not_kept_and_landmarks_are_no_more_than_points(estimator):
    X, y, _ = blobs(20, 2)
    model = estimator(500, random_state=0).fit(X, y)
    assert not hasattr(model, "_Z")
    wide = 500 if estimator is RBFSamplerRidge else 40
    assert model._map.transform(X).shape == (40, wide)


def test_a_class_without_labeled_point_ranks_last():
    X, y, _ = blobs(40, 3)
    for estimator in (NystroemRidge, RBFSamplerRidge, SelfTraining):
        model = estimator(25, n_classes=3, random_state=0).fit(X, np.where(y == 1, -1, y))
        scores = model.decision_function(X)
        assert scores.shape == (120, 3)
        assert (scores[:, 1] < scores[:, [0, 2]].min(axis=1)).all()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_self_training_decides_by_the_shares_of_the_labels_if_it_is_told_to(n_classes):
    X, y, _ = blobs(80, n_classes)
    rare = np.flatnonzero(y == 0)[2:]
    y[rare] = -1
    kept, shares = y != -1, np.bincount(y[y != -1], minlength=n_classes) / np.sum(y != -1)
    models = {
        rule: SelfTraining(30, decision_threshold=rule, random_state=0).fit(X, y)
        for rule in ("zero", "share")
    }
    decided = predict_labels(models["share"].decision_scores_, models["share"].classes_)[~kept]
    found = np.bincount(decided, minlength=n_classes) / len(decided)
    np.testing.assert_allclose(found, shares, atol=0.03)
    np.testing.assert_array_equal(
        models["share"].predict(X),
        predict_labels(models["share"].decision_scores_, np.arange(9)),
    )
    offsets = models["share"].decision_scores_ - models["zero"].decision_scores_
    np.testing.assert_allclose(offsets, np.broadcast_to(offsets[0], offsets.shape), atol=1e-12)
    assert np.abs(offsets).max() > 1e-3
