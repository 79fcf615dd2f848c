"""Landmark selectors: what each promises about the points that it chooses."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from landmark_choices import bind, choose, clusters

from harness import kernels
from harness.kernels.landmarks import columns, entropy, hashing, sampling

SELECTORS = list(kernels.SELECTORS)
PIVOTS = ["rpcholesky", "rpcholesky-accelerated"]
KERNELS = list(kernels.KERNELS)


def nystrom_error(X, rows, name="rbf"):
    """Return what the landmarks leave of the trace of the kernel matrix, as a share."""
    bound = bind(X, name)
    C = bound(X, X[rows])
    eigenvalues, U = np.linalg.eigh(C[rows])
    kept = eigenvalues > 1e-10 * eigenvalues[-1]
    F = C @ U[:, kept] / np.sqrt(eigenvalues[kept])
    return 1 - np.sum(F**2) / bound.diagonal(X).sum()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("b", [1, 2, 10, 64, 200])
@pytest.mark.parametrize("selector", SELECTORS)
def test_as_many_distinct_rows_as_asked_for_the_same_each_time(selector, b, dtype):
    X = clusters(200).astype(dtype)
    X.flags.writeable = False
    rows = choose(selector, X, b)
    assert rows.shape == (b,)
    assert (np.diff(rows) > 0).all()
    assert rows[0] >= 0
    assert rows[-1] < 200
    np.testing.assert_array_equal(choose(selector, X, b), rows)


@pytest.mark.parametrize("b", [1, 2, 20])
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("selector", SELECTORS)
def test_every_selector_goes_with_every_kernel(selector, name, b):
    X = clusters(300)
    first, second = (choose(selector, X, b, seed, name) for seed in (0, 1))
    assert len(first) == len(second) == b


@pytest.mark.parametrize("selector", SELECTORS)
def test_another_seed_gives_other_landmarks(selector):
    X = clusters(3000)
    assert not np.array_equal(choose(selector, X, 20), choose(selector, X, 20, seed=1))


@pytest.mark.parametrize("selector", SELECTORS)
def test_duplicates(selector):
    X = np.repeat(clusters(30), 10, axis=0)
    assert len(choose(selector, X, 120)) == 120
    assert len(choose(selector, np.ones((50, 3)), 7)) == 7


@pytest.mark.parametrize("selector", ["cssp", "k-means++", "rpcholesky", "rpcholesky-accelerated"])
def test_equal_points_are_not_chosen_twice_while_there_are_others(selector):
    X = np.repeat(clusters(30), 10, axis=0)
    assert len(np.unique(X[choose(selector, X, 15)], axis=0)) == 15


@pytest.mark.parametrize("selector", SELECTORS)
def test_more_landmarks_than_points(selector):
    with pytest.raises(ValueError, match="n_landmarks=31 is more than the 30 points there are"):
        choose(selector, clusters(30), 31)


def test_an_unknown_selector_is_told_what_there_is():
    with pytest.raises(ValueError, match="selector='random' is not one of uniform, dbh"):
        choose("random", clusters(30), 3)


def last_rows(X, n_landmarks, random_state, kernel):
    return np.arange(len(X) - n_landmarks, len(X))[::-1]


def repeats_itself(X, n_landmarks, random_state, kernel):
    return np.zeros(n_landmarks, int)


def test_a_selector_of_ones_own():
    X = clusters(30)
    np.testing.assert_array_equal(choose(last_rows, X, 4), [26, 27, 28, 29])
    wanted = "4 distinct rows of 30 are wanted, not"
    with pytest.raises(ValueError, match=f"repeats_itself: {wanted} 1 distinct of type int64"):
        choose(repeats_itself, X, 4)
    with pytest.raises(ValueError, match=f"{wanted} 4 distinct of type float64 from 0.0 to 3.0"):
        choose(lambda X, n_landmarks, *others: np.arange(float(n_landmarks)), X, 4)
    with pytest.raises(ValueError, match=f"{wanted} 4 distinct of type int64 from 30 to 33"):
        choose(lambda X, n_landmarks, *others: len(X) + np.arange(n_landmarks), X, 4)
    with pytest.raises(ValueError, match=f"{wanted} 0 distinct"):
        choose(lambda *arguments: np.array([], int), X, 4)


@pytest.mark.parametrize(
    "selector",
    [
        "cssp",
        "k-means++",
        "leverage",
        "recursive-leverage",
        "rpcholesky",
        "rpcholesky-accelerated",
    ],
)
def test_the_kernel_matrix_is_approximated_better_than_by_uniform_landmarks(selector):
    X = clusters()
    errors = {
        name: [nystrom_error(X, choose(name, X, 20, seed)) for seed in range(10)]
        for name in (selector, "uniform")
    }
    assert np.mean(errors[selector]) < np.mean(errors["uniform"])


@pytest.mark.parametrize("name", ["rbf", "linear", "poly2"])
def test_column_subset_selection_is_the_greedy_choice(name):
    X = clusters(60)
    R = bind(X, name)(X, X)
    chosen = []
    for _ in range(4):
        gains = np.sum(R**2, axis=0) / np.where(np.diag(R) > 1e-9, np.diag(R), np.inf)
        best = int(np.argmax(gains))
        chosen.append(best)
        R = R - np.outer(R[best], R[best]) / R[best, best]
    np.testing.assert_array_equal(choose("cssp", X, 4, name=name), sorted(chosen))


def test_column_subset_selection_does_not_depend_on_the_order_of_the_rows():
    X = clusters(200)
    order = np.random.default_rng(1).permutation(200)
    rows = choose("cssp", X[order], 12)
    np.testing.assert_array_equal(np.sort(order[rows]), choose("cssp", X, 12))


def test_column_subset_selection_ends_at_the_rank():
    X = clusters(200)
    rows = choose("cssp", X, 20, name="linear")
    assert len(rows) == 20
    assert np.linalg.matrix_rank(X[choose("cssp", X, 5, name="linear")]) == 5


def overlap(X, rows):
    """Return the sum of overlaps, of which the entropy is the negative logarithm."""
    bound = bind(X)
    return kernels.gaussian_kernel(X[rows], X[rows], 2**0.5 * bound.width).sum()


def test_the_entropy_never_falls_with_further_swaps():
    X = clusters(600)
    sums = []
    for trials in (0, 1, 2, 5, 20, 100, 128):
        # up to one batch, fewer trials are the beginning of more
        random_state = _Prefix(trials)
        rows = entropy.renyi(X, 20, random_state, bind(X), trials)
        assert len(set(rows)) == 20
        sums.append(overlap(X, rows))
    assert (np.diff(sums) <= 1e-9).all()
    assert sums[-1] < 0.9 * sums[0]


class _Prefix(np.random.RandomState):
    """Draws 128 numbers whatever is asked for, and returns the first."""

    def __init__(self, size):
        super().__init__(0)

    def randint(self, high, size):
        return super().randint(high, size=128)[:size]


def test_the_entropy_is_above_that_of_uniform_landmarks_and_swaps_are_added_up_right():
    X = clusters()
    means = {
        name: np.mean([overlap(X, choose(name, X, 40, seed)) for seed in range(5)])
        for name in ("renyi", "uniform")
    }
    assert means["renyi"] < 0.7 * means["uniform"]
    # with as many trials as it likes it finds nothing that a swap would still improve
    X = clusters(40)
    rows = entropy.renyi(X, 5, np.random.RandomState(0), bind(X), 6000)
    best = overlap(X, rows)
    for member in range(5):
        for other in set(range(40)) - set(rows):
            swapped = rows.copy()
            swapped[member] = other
            assert overlap(X, swapped) > best - 1e-9


def buckets(X, b, hierarchical, monkeypatch):
    found = []
    medoid = hashing._medoid

    def noted(X, bucket, *rest):
        found.append(bucket)
        return medoid(X, bucket, *rest)

    monkeypatch.setattr(hashing, "_medoid", noted)
    hashing.dbh(X, b, np.random.RandomState(0), bind(X), hierarchical)
    return found


@pytest.mark.parametrize("b", [2, 10, 64, 100])
def test_a_hierarchical_hash_has_balanced_buckets_for_all_points(b, monkeypatch):
    found = buckets(clusters(1000), b, True, monkeypatch)
    assert len(found) == b
    np.testing.assert_array_equal(np.sort(np.concatenate(found)), np.arange(1000))
    sizes = [len(bucket) for bucket in found]
    assert max(sizes) <= 2 * min(sizes) + 2


@pytest.mark.parametrize("ties", [False, True])
def test_every_pair_halves_the_points(ties):
    projection = np.zeros(101) if ties else np.random.default_rng(0).normal(size=101)
    upper = hashing._upper_half(projection)
    lower = np.setdiff1d(np.arange(101), upper)
    assert len(upper) == 50
    assert projection[upper].min() >= projection[lower].max()
    if ties:
        assert upper.min() > lower.max()


def test_a_hash_keeps_its_most_populated_buckets(monkeypatch):
    found = buckets(clusters(1000), 10, False, monkeypatch)
    sizes = [len(bucket) for bucket in found]
    assert sizes == sorted(sizes, reverse=True)
    assert sum(map(len, found)) == len(np.unique(np.concatenate(found)))
    # 16 codes of four halvings, and the ten most frequent of them hold more than their share
    assert sum(sizes) > 1000 * 10 / 16


def test_buckets_without_a_point_are_made_up_for_at_random():
    # three halvings along one line give four codes and not eight
    X = np.linspace(0, 1, 64)[:, None]
    assert len(choose("dbh", X, 8, name="linear")) == 8


def test_a_bucket_stands_for_what_is_near():
    X = np.concatenate([np.zeros((20, 2)), np.full((20, 2), 9.0)])
    X += np.random.default_rng(0).normal(size=X.shape) / 10
    rows = choose("dbh", X, 2)
    assert (rows < 20).sum() == 1


def test_leverage_prefers_what_uniform_points_do_not_span():
    X = np.concatenate([np.zeros((980, 2)), np.arange(20)[:, None] + [[5.0, 0.0]]])
    X[:980] += np.random.default_rng(0).normal(size=(980, 2)) / 50
    bound = kernels.bind_kernel("rbf", X, 1.0, "absolute")
    found = dict.fromkeys(["leverage", "uniform"], 0)
    for seed in range(5):
        for name in found:
            rows = kernels.select_landmarks(name, X, 20, np.random.RandomState(seed), bound)
            found[name] += np.sum(rows >= 980)
    assert found["leverage"] > 3 * found["uniform"]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("selector", SELECTORS)
def test_a_kernel_that_is_zero_on_all_points(selector, dtype):
    assert len(choose(selector, np.zeros((50, 3), dtype), 7, name="linear")) == 7


def test_large_files_are_read_in_part(tmp_path):
    path = tmp_path / "X.npy"
    np.save(path, clusters(150_000, 3).astype(np.float32))
    X = np.load(path, mmap_mode="r")
    # the factor of all rows is what "rpcholesky" is
    for selector in set(SELECTORS) - {"uniform", "rpcholesky"}:
        tracemalloc.start()
        rows = choose(selector, X, 16)
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(rows) == 16
        # 4 MB are a pre-sample's kernel matrix; a row of numbers for all points would be 1.2 MB
        assert held < 7e6, selector


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name == "rbf" else pytest.mark.slow) for name in KERNELS],
)
@pytest.mark.parametrize("selector", SELECTORS)
def test_what_a_selector_holds_is_what_it_says(selector, name, dtype):
    # NumPy broadcasts by way of a buffer of 8,192 numbers
    slack = 10_000 * np.dtype(dtype).itemsize
    # how many points the halves of a recursion keep is chance, and bounded
    least = 0.35 if selector == "recursive-leverage" else 0.5
    for n, d, b in ((5000, 60, 30), (3000, 12, 600)):
        X = clusters(n, d).astype(dtype)
        random_state, bound = np.random.RandomState(0), bind(X, name)
        kernels.select_landmarks(selector, X[:200], 5, random_state, bound)
        tracemalloc.start()
        kernels.select_landmarks(selector, X, b, random_state, bound)
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        stated = kernels.selection_bytes(selector, n, d, b, X.itemsize, name)
        assert least * stated - slack < held < 1.05 * stated + slack, (n, d, b, held, stated)


@pytest.mark.parametrize("selector", ["dbh", "dbh-hierarchical"])
@pytest.mark.parametrize(
    ("n", "d", "b", "kernel"),
    [(70_000, 3, 100, "linear"), (12_000, 5, 217, "rbf"), (18, 7000, 9, "chi2")],
    ids=["more-than-are-hashed", "kernel-rows", "wide"],
)
def test_a_hash_holds_what_it_says_whatever_is_largest(selector, n, d, b, kernel):
    X = clusters(n, d).astype(np.float32)
    bound = bind(X, kernel)
    kernels.select_landmarks(selector, X[:200], 5, np.random.RandomState(0), bound)
    tracemalloc.start()
    kernels.select_landmarks(selector, X, b, np.random.RandomState(0), bound)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    stated = kernels.selection_bytes(selector, n, d, b, X.itemsize, kernel)
    assert 0.8 * stated < held < stated + 40_000


@pytest.mark.parametrize("chosen", [[7, 3], [], [2, 9, 4], [40]])
def test_what_is_missing_is_drawn_from_the_other_rows(chosen):
    rows = np.array([2, 3, 4, 7, 9, 30])
    found = sampling.fill_up(np.array(chosen, np.intp), rows, 4, np.random.RandomState(0))
    assert len(set(found)) == 4
    assert list(found[: len(chosen)]) == chosen
    assert set(found[len(chosen) :]) <= set(rows) - set(chosen)


def test_nothing_is_counted_of_a_selector_of_ones_own():
    assert kernels.selection_bytes(last_rows, 100, 3, 10) == 0


def test_presamples_are_bounded_by_the_landmarks():
    assert columns.presample_size(10**6, 10) == 1000
    assert columns.presample_size(10**6, 640) == 1280
    assert columns.presample_size(300, 10) == 300


def test_selectors_can_be_given_options():
    X = clusters(300)
    hierarchical = partial(hashing.dbh, hierarchical=True)
    np.testing.assert_array_equal(choose(hierarchical, X, 20), choose("dbh-hierarchical", X, 20))
