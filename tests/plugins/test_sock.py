"""SoCK's steps against a dense textbook form, its limits, and its answers to hard input."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
import sock
from blobs import blobs
from dense import dense_cluster_kernel
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sock import StochasticClusterKernelSVM
from sock.proximal_low_rank import LowRankKernel

from harness import kernels, overhead_bytes
from harness.kernels.transfer_functions import TRANSFERS
from harness.planning.size import plan
from harness.plugin.shape import Shape

ABSOLUTE = {"sigma": 1.5, "sigma_unit": "absolute", "random_state": 0}
METHOD = sock.harness_methods()[0]


def normalised_kernel(X, sigma):
    """Return L and the exact degrees."""
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * sigma**2))
    D = K.sum(1)
    return K / np.sqrt(np.outer(D, D)), D


def thresholded(A, threshold):
    e, U = np.linalg.eigh(A)
    return (U * np.maximum(e - threshold, 0)) @ U.T


def draws(d, a, sigma, seed):
    """Yield feature maps as the estimator draws them."""
    rng = np.random.RandomState(seed)
    while True:
        yield kernels.RandomFourierFeatures(d, a, sigma, rng)


def textbook(X, D, maps, steps, rank, threshold):
    """The same steps on an n x (a + b) matrix, by its QR and an SVD, all in float64."""
    B = np.zeros((len(X), 0))
    for t, features in zip(range(2, steps + 2), maps, strict=False):
        eta = 2 / t
        Phi = features.transform(X).astype(float) / np.sqrt(D)[:, None]
        Q, R = np.linalg.qr(np.hstack([np.sqrt(1 - eta) * B, np.sqrt(eta) * Phi]))
        U, s, _ = np.linalg.svd(R)
        lowered = np.maximum(s**2 - eta * threshold, 0)[:rank]
        B = Q @ U[:, : len(lowered)] * np.sqrt(lowered)
    return B @ B.T


def iterated(X, D, maps, steps, rank, threshold):
    kernel = LowRankKernel(X, D, rank, threshold)
    for t, features in zip(range(2, steps + 2), maps, strict=False):
        kernel.step(features, 2 / t)
    return kernel


# 700 rows are several blocks; ranks of 15 and 130 truncate, one of 700 leaves it to the threshold.
# A product with B is shared by 1, 2 and 4 steps.
@pytest.mark.parametrize(
    ("rank", "threshold"), [(15, 1e-4), (15, 0), (130, 0), (700, 0.02), (700, 1e-3)]
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gram_form_in_float32_is_the_textbook_form(rank, threshold, dtype, monkeypatch):
    monkeypatch.setattr("harness.kernels.gaussian.BLOCK_BYTES", 1 << 16)
    X = blobs(350, 2)[0].astype(dtype)
    _, D = normalised_kernel(X, 1.5)
    expected = textbook(X, D, draws(4, 30, 1.5, 0), 8, rank, threshold)
    found = iterated(X, D, draws(4, 30, 1.5, 0), 8, rank, threshold)
    np.testing.assert_allclose(found.factor @ found.factor.T, expected, atol=1e-5 * 0.1)
    top = np.linalg.eigvalsh(expected)[::-1]
    np.testing.assert_allclose(found.eigenvalues, top[: len(found.eigenvalues)], atol=1e-5)


def test_reading_the_factor_between_steps_changes_nothing():
    X = blobs(100, 2)[0]
    D = normalised_kernel(X, 1.5)[1]
    read, unread = (LowRankKernel(X, D, 120, 1e-4) for _ in range(2))
    for t, features in zip(range(2, 9), draws(4, 20, 1.5, 0), strict=False):
        read.step(features, 2 / t)
        unread.step(features, 2 / t)
        assert read.factor.shape == (200, len(unread.eigenvalues))
    np.testing.assert_allclose(
        read.factor @ read.factor.T, unread.factor @ unread.factor.T, atol=1e-6
    )


def test_columns_stay_orthogonal_and_eigenvalues_are_their_squared_norms():
    X = blobs(200, 2)[0]
    kernel = iterated(X, normalised_kernel(X, 1.5)[1], draws(4, 20, 1.5, 0), 30, 40, 1e-4)
    gram = kernel.factor.T.astype(float) @ kernel.factor
    np.testing.assert_allclose(gram, np.diag(kernel.eigenvalues), atol=1e-5)
    assert (kernel.eigenvalues > 0).all()
    assert (np.diff(kernel.eigenvalues) <= 0).all()


def test_truncation_keeps_the_largest():
    X = blobs(100, 2)[0]
    D = normalised_kernel(X, 1.5)[1]
    whole, cut = (iterated(X, D, draws(4, 60, 1.5, 0), 1, rank, 1e-3) for rank in (60, 7))
    np.testing.assert_allclose(cut.eigenvalues, whole.eigenvalues[:7], rtol=1e-6)
    np.testing.assert_allclose(
        cut.factor @ cut.factor.T, whole.factor[:, :7] @ whole.factor[:, :7].T, atol=1e-6
    )


def test_one_step_is_the_thresholded_first_draw():
    X = blobs(100, 2)[0]
    D = normalised_kernel(X, 1.5)[1]
    Phi = next(draws(4, 40, 1.5, 0)).transform(X) / np.sqrt(D)[:, None]
    kernel = iterated(X, D, draws(4, 40, 1.5, 0), 1, 200, 0.01)
    np.testing.assert_allclose(
        kernel.factor @ kernel.factor.T, thresholded(Phi @ Phi.T, 0.01), atol=1e-6
    )


def test_squared_error_falls_as_one_over_the_steps():
    """Theorem 1: the slope of log |Z_t - D_lambda[L]|^2 on log t is -1."""
    X = blobs(75, 2)[0]
    L, D = normalised_kernel(X, 1.5)
    optimum = thresholded(L, 0.01)
    steps = np.array([4, 8, 16, 32, 64])
    squares = np.zeros((16, len(steps)))
    for seed in range(len(squares)):
        kernel = LowRankKernel(X, D, len(X), 0.01)
        maps = draws(4, 20, 1.5, seed)
        for t in range(1, steps[-1] + 1):
            kernel.step(next(maps), 2 / (t + 1))
            if t in steps:
                Z = kernel.factor @ kernel.factor.T
                squares[seed, np.searchsorted(steps, t)] = np.sum((Z - optimum) ** 2)
    slope = np.polyfit(np.log(steps), np.log(squares.mean(axis=0)), 1)[0]
    assert -1.2 < slope < -0.8, slope


def test_features_drawn_again_are_equal():
    X = blobs(40, 2)[0]
    first, second = (next(draws(4, 50, 1.5, 3)) for _ in range(2))
    np.testing.assert_array_equal(first.frequencies.matrix(), second.frequencies.matrix())
    np.testing.assert_array_equal(first.transform(X), second.transform(X))


def test_with_many_features_it_is_the_cluster_kernel():
    """The linear one is the RBF kernel itself, for its diagonal is 1."""
    X, y, _ = blobs(40, 2)
    rows = np.flatnonzero(y >= 0)
    model = StochasticClusterKernelSVM(80, 300, 60, threshold=1e-7, degrees="exact", **ABSOLUTE)
    model.fit_features(X, rows)
    options = {"epsilon": 0.05, "degree": 3.0}
    for transfer in TRANSFERS:
        model.set_params(transfer=transfer, **options).fit_labels(y[rows])
        F = model._virtual_samples(model._kernel.factor)
        expected = dense_cluster_kernel(
            X, 1.5, lambda e, name=transfer: kernels.apply_transfer(e, name, 12, **options)
        )
        # Where "step" and "poly-step" cut, eigenvectors are hard to tell apart.
        atol = 0.05 if "step" in transfer else 0.02
        assert np.abs(F @ F.T - expected).mean() < atol, transfer
        if transfer == "linear":
            K = np.exp(-((X[:, None] - X[None]) ** 2).sum(-1) / (2 * 1.5**2))
            np.testing.assert_allclose(expected, K, atol=1e-6)
            assert np.abs(F @ F.T - K).max() < 0.05


def test_the_cut_of_steps_is_set_at_once():
    X, y, _ = blobs(40, 2)
    rows = np.flatnonzero(y >= 0)
    model = StochasticClusterKernelSVM(80, 300, 60, degrees="exact", **ABSOLUTE)
    model.fit_features(X, rows)
    kept = {}
    for cut in (None, len(rows) + 8, 3):
        model.set_params(transfer="step", cut=cut).fit_labels(y[rows])
        kept[cut] = model._weights > 0
    assert list(map(np.sum, kept.values())) == [len(rows) + 8, len(rows) + 8, 3]
    assert kept[3][:3].all()


def test_diagnostics_are_those_of_the_dense_matrices():
    X, y, _ = blobs(300, 2)
    L, _ = normalised_kernel(X, 1.5)
    for degrees in ("exact", "features"):
        model = StochasticClusterKernelSVM(20, n_iter=3, degrees=degrees, **ABSOLUTE).fit(X, y)
        Z = model._kernel.factor @ model._kernel.factor.T
        found = model.diagnostics(X)
        assert found["rank"] == 20
        assert found["error"] == pytest.approx(np.linalg.norm(Z - L) / len(X), rel=1e-4)


def test_steps_answer_as_a_fit_of_so_many_steps():
    X, y, _ = blobs(60, 2)
    model = StochasticClusterKernelSVM(20, n_iter=4, **ABSOLUTE)
    errors = []
    for done, _ in enumerate(model.fit_steps(X, y), 1):
        if done == 3:
            # Nothing is asked after this step: what was learned after step 2 must not linger.
            continue
        short = StochasticClusterKernelSVM(20, n_iter=done, **ABSOLUTE).fit(X, y)
        np.testing.assert_array_equal(model.decision_scores_, short.decision_scores_)
        np.testing.assert_array_equal(model.transduction_, short.transduction_)
        np.testing.assert_array_equal(model.decision_function(X), short.decision_function(X))
        errors.append(model.diagnostics(X)["error"])
    assert done == 4
    assert errors[-1] < errors[0]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_two_stages_are_the_fit(n_classes):
    X, y, _ = blobs(60, n_classes)
    rows = np.flatnonzero(y >= 0)
    held = np.arange(0, len(rows), 4)
    masked = y.copy()
    masked[rows[held]] = -1
    staged = StochasticClusterKernelSVM(20, C=0.1, **ABSOLUTE).fit_features(X, rows)
    with pytest.raises(NotFittedError, match="fit_labels has not"):
        staged.decision_function(X)
    for C, transfer in [(1.0, "linear"), (10.0, "poly-step")]:
        changed = {"C": C, "transfer": transfer}
        staged.set_params(**changed).fit_labels(masked[rows])
        whole = StochasticClusterKernelSVM(20, **changed, **ABSOLUTE).fit(X, masked)
        np.testing.assert_array_equal(staged.decision_scores_, whole.decision_scores_)
        expected = staged.decision_scores_[rows[held]]
        np.testing.assert_allclose(staged.held_out_scores_, expected, rtol=1e-3, atol=1e-3)
    assert {"C", "transfer"} <= METHOD.head_params


def test_where_poly_step_cuts_depends_on_the_labels_given():
    X, y, _ = blobs(100, 2)
    rows = np.flatnonzero(y >= 0)
    model = StochasticClusterKernelSVM(60, transfer="poly-step", **ABSOLUTE)
    model.fit_features(X, rows)
    few = np.where(np.isin(np.arange(len(rows)), [*np.flatnonzero(y[rows])[:1], 0]), y[rows], -1)
    if len(np.unique(few[few >= 0])) < 2:
        few[np.flatnonzero(y[rows] == 0)[0]] = 0
    for labels in (y[rows], few):
        model.fit_labels(labels)
        cut = np.sum(labels >= 0) + 8
        e = model.eigenvalues_
        phi = model._weights**2 * model._kernel.eigenvalues
        np.testing.assert_allclose(phi[:cut], np.sqrt(e[:cut]), rtol=1e-4)
        np.testing.assert_allclose(phi[cut:], e[cut:] ** 2, rtol=1e-4)


def test_new_points_are_scored_like_those_of_fit():
    X, y, truth = blobs(150, 2)
    model = StochasticClusterKernelSVM(40, 200, 40, degrees="exact", **ABSOLUTE).fit(X, y)
    found, seen = model.decision_function(X), model.decision_scores_
    assert np.corrcoef(found, seen)[0, 1] > 0.99
    np.testing.assert_array_equal(model.transduction_, np.where(y >= 0, y, (seen > 0).astype(int)))
    assert roc_auc_score(truth[y < 0], seen[y < 0]) > 0.9


def test_new_points_are_extended_as_the_eigenvectors_are():
    """k(x, .) D^-1/2 B / e, of norm one; the eigenvalues are those of L, not the lowered ones."""
    X, y, _ = blobs(60, 2)
    model = StochasticClusterKernelSVM(20, 200, 20, degrees="exact", **ABSOLUTE).fit(X, y)
    _, D = normalised_kernel(X, 1.5)
    B = model._kernel.factor
    lowered = np.square(B, dtype=float).sum(axis=0)
    np.testing.assert_allclose(model.eigenvalues_, lowered + model.threshold, rtol=1e-4)
    phi = kernels.apply_transfer(model.eigenvalues_, model.transfer, np.count_nonzero(y >= 0))
    new = X[:40] + 0.3
    K = np.exp(-((new[:, None] - X[None]) ** 2).sum(-1) / (2 * 1.5**2))
    F = (K / np.sqrt(D)) @ B / model.eigenvalues_ * np.sqrt(phi / lowered)
    F /= np.linalg.norm(F, axis=1, keepdims=True)
    expected = (F @ model.coef_ + model.intercept_)[:, 0]
    np.testing.assert_allclose(model.decision_function(new), expected, atol=1e-3)


def test_a_point_that_no_other_sees_has_a_row_of_zeros():
    X, y, _ = blobs(30, 2)
    model = StochasticClusterKernelSVM(20, **ABSOLUTE).fit(X, y)
    assert not model._virtual_samples(np.zeros((2, 20), np.float32)).any()
    far = model.decision_function(np.full((1, 4), 1e4))
    np.testing.assert_allclose(far, model.intercept_, rtol=1e-6)


def test_seeds_decide():
    X, y, _ = blobs(40, 2)
    scores = [
        StochasticClusterKernelSVM(10, n_iter=3, random_state=seed).fit(X, y).decision_scores_
        for seed in (1, 1, 2)
    ]
    np.testing.assert_array_equal(scores[0], scores[1])
    assert not np.array_equal(scores[0], scores[2])


@pytest.mark.parametrize("transfer", TRANSFERS)
@pytest.mark.parametrize("groups", [1, 3])
def test_points_that_are_the_same_get_the_same_score(transfer, groups):
    X = np.repeat(np.eye(3)[:groups], 30 // groups, axis=0)
    y = np.array([0, 1, 0, 1] + [-1] * 26)
    model = StochasticClusterKernelSVM(30, n_iter=5, transfer=transfer, random_state=0).fit(X, y)
    for scores in (model.decision_scores_, model.decision_function(X)):
        spread = np.ptp(scores.reshape(groups, -1), axis=1)
        assert spread.max() < 1e-3 * max(1, np.abs(scores).max())


def test_float32_agrees_with_float64():
    X, y, _ = blobs(60, 2)
    single, double = (
        StochasticClusterKernelSVM(30, **ABSOLUTE).fit(X.astype(t), y).decision_scores_
        for t in (np.float32, np.float64)
    )
    np.testing.assert_allclose(single, double, atol=1e-2 * np.abs(double).max())


def test_what_cannot_be_learned_from_is_refused_in_words():
    X, y, _ = blobs(40, 2)
    model = StochasticClusterKernelSVM(10, random_state=0)
    with pytest.raises(ValueError, match="one class among its labels"):
        model.fit(X, np.where(y == 1, -1, y))
    with pytest.raises(ValueError, match=r"threshold=5.* nothing is left"):
        clone(model).set_params(threshold=5.0).fit(X, y)
    sparse = scipy.sparse.csr_array(X)
    with pytest.raises(TypeError, match="Sparse data was passed"):
        model.fit(sparse, y)


def test_the_papers_formula_gives_the_papers_rank():
    """a9a at 200 MB: 8 n (d + 2 (a + b)) bytes, a = 100, b = 222."""
    shape = Shape(1000, 31561, 123, 2)
    found = plan(METHOD, shape, 200_000_000, {"storage": "paper"})
    assert found.size == 222
    assert found.planned_bytes == 8 * 32561 * (123 + 2 * 322)
    assert plan(METHOD, shape, 200_000_000).size > 3 * 222


@pytest.mark.memory
@pytest.mark.parametrize(
    ("shape", "budget", "degrees"),
    [
        (Shape(200, 2600, 30, 2, n_test=200), 10, "features"),
        (Shape(1000, 9000, 60, 2, itemsize=4), 20, "exact"),
        (Shape(1000, 14000, 20, 3), 25, "features"),
    ],
    ids=["small", "float32", "multiclass"],
)
def test_planned_bytes_are_within_a_tenth_of_the_peak(shape, budget, degrees, assert_peak_between):
    method = replace(METHOD, params={"degrees": degrees})
    planned = plan(method, shape, budget * 10**6)
    task = "binary" if shape.n_classes == 2 else "multiclass"
    own = planned.planned_bytes - overhead_bytes(shape)
    high = min(1.1 * own, 1.05 * planned.planned_bytes)
    assert_peak_between(0.9 * own, high, method, shape, planned.size, task)
