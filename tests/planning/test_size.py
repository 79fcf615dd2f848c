from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import Arrays, Method, Shape, Storage, choice, log_uniform, uniform
from harness.planning.own_bytes import loading_bytes, overhead_bytes, prediction_bytes
from harness.planning.size import plan


class Estimator:
    def __init__(self, rank=1, C=1.0, variant="a"):
        self.rank, self.C, self.variant = rank, C, variant


def ranked(**changes):
    settings = {
        "size": "rank",
        "storage": lambda shape, rank: shape.data_bytes + 8 * rank * shape.n_features + rank**2,
    }
    return Method("ranked", Estimator, **settings | changes)


shapes = st.builds(
    Shape,
    n_labeled=st.integers(1, 500),
    n_unlabeled=st.integers(0, 5000),
    n_features=st.integers(1, 200),
    n_classes=st.integers(0, 12),
    n_test=st.integers(0, 1000),
)


def standing_bytes(shape):
    """Return what the harness holds at all times: what is left where nothing is predicted."""
    return overhead_bytes(replace(shape, n_test=0, n_scored=0))


def needed_bytes(method, shape, size):
    """Return what a model that does not tell fit from prediction comes to."""
    fitted = max(method.peaks(shape, size, {})) + overhead_bytes(shape)
    return max(fitted, loading_bytes(shape) + standing_bytes(shape))


@given(shapes, st.integers(1, 10**9))
def test_the_planned_size_fits_and_the_next_does_not(shape, budget):
    method = ranked(enough=1)
    planned = plan(method, shape, budget)
    if planned.n_kept is not None:
        assert plan(method, shape, None, {"rank": 1}).planned_bytes > budget
        return

    def needed(size):
        return needed_bytes(method, shape, size)

    if not planned.feasible:
        assert planned.size is None
        assert needed(1) > budget
        return
    assert planned.planned_bytes == needed(planned.size) <= budget
    assert planned.size == shape.n or needed(planned.size + 1) > budget


def test_a_method_that_holds_nothing_is_charged_for_reading_its_points():
    method = ranked(size=None, storage=lambda shape, size: shape.data_bytes)
    shape = Shape(100, 20_000, 50, 2)
    held = plan(method, shape, None).planned_bytes - standing_bytes(shape)
    # a buffer, what is picked from it, and the order of all rows
    assert held == shape.data_bytes + 2 * 2**17 + 8 * 20_100 + 16 * 2**10
    mapped = replace(shape, mapped=True)
    assert plan(method, mapped, None).planned_bytes == overhead_bytes(mapped)


@given(shapes, st.integers(0, 10**7), st.integers(0, 10**7))
def test_predictions_are_charged_beside_prediction_alone(shape, fit, predict):
    model = Storage({"all": Arrays(fit=fit)}, {"all": Arrays(predict=predict)})
    method = ranked(size=None, storage=lambda shape, size: model)
    stages = loading_bytes(shape), fit, predict + overhead_bytes(shape) - standing_bytes(shape)
    planned = plan(method, shape, None).planned_bytes
    assert planned == max(stages) + standing_bytes(shape)
    either = ranked(size=None, storage=lambda shape, size: max(fit, predict))
    assert planned <= plan(either, shape, None).planned_bytes
    # what a fit that is paused is asked for stands beside it
    paused = plan(method, shape, None, paused=True).planned_bytes
    assert paused == max(planned, fit + overhead_bytes(shape))


@given(shapes)
def test_predictions_are_part_of_what_the_harness_holds(shape):
    one_more = replace(shape, n_unlabeled=shape.n_unlabeled + 1)
    predicted = prediction_bytes(one_more) - prediction_bytes(shape)
    assert 0 <= predicted <= overhead_bytes(one_more) - overhead_bytes(shape)
    assert predicted == 0 or not shape.n_test


@given(st.integers(1, 300), st.integers(1, 400), st.integers(0, 10**7))
def test_the_largest_size_is_found_where_another_solver_needs_less(n_unlabeled, limit, budget):
    def storage(shape, size):
        held = 80 * size**2 if size < limit else 20_000 + 300 * size
        return shape.data_bytes + held + 10_000 * bool(shape.n_test)

    method = ranked(size="n_unlabeled", storage=storage, non_monotone_at=(limit,))
    shape = Shape(10, n_unlabeled, 5, 2)
    needed = [
        plan(method, shape, None, {"n_unlabeled": size}).planned_bytes
        for size in range(1, n_unlabeled + 1)
    ]
    fitting = [size for size, bytes_ in enumerate(needed, 1) if bytes_ <= budget]
    assert plan(method, shape, budget).size == (max(fitting) if fitting else None)


@given(shapes, st.integers(10**6, 10**8), st.integers(10**6, 10**8))
def test_a_larger_budget_never_gives_a_smaller_size(shape, one, other):
    small, large = (plan(ranked(), shape, budget).size or 0 for budget in sorted((one, other)))
    assert small <= large


def test_subsampling_turns_the_unlabeled_points():
    method = ranked(size="n_unlabeled", storage=lambda shape, size: 8 * shape.n**2)
    shape = Shape(100, 10_000, 5, 2)
    planned = plan(method, shape, 20_000_000)
    assert 0 < planned.size < 10_000
    kept = method.training_shape(shape, planned.size)
    assert (kept.n_unlabeled, kept.n_test) == (planned.size, 10_000 - planned.size)
    assert plan(method, shape, None).size == 10_000


@given(shapes, st.integers(400_000, 10**7), st.integers(1, 400))
def test_points_are_given_up_where_a_useful_size_does_not_fit_with_all(shape, budget, enough):
    method = ranked(enough=enough)
    planned = plan(method, shape, budget)
    useful = min(enough, shape.n)
    everything = plan(method, shape, None, {"rank": useful}).planned_bytes <= budget
    if everything:
        assert planned.n_kept is None
        assert planned.size >= useful
    if not planned.feasible or planned.n_kept is None:
        return
    assert not everything
    assert 1 <= planned.n_kept < shape.n_unlabeled
    assert planned.planned_bytes <= budget
    kept = method.training_shape(shape, planned.size, planned.n_kept)
    assert kept.scored == shape.scored
    # of points that are given up those are predicted that would be
    assert kept.n_test == (shape.n_test or shape.n - kept.n)
    assert planned.planned_bytes == needed_bytes(method, kept, planned.size)


def test_few_points_are_not_given_up_for_the_last_of_the_landmarks():
    shape = Shape(161, 323, 57, 0)
    method = ranked(storage=lambda shape, rank: shape.data_bytes + 10_000 * rank)
    all_but = plan(method, shape, None, {"rank": 99}).planned_bytes
    planned = plan(method, shape, all_but)
    assert (planned.size, planned.n_kept) == (99, None)


def test_a_method_without_a_size_gives_up_points_too():
    method = ranked(size=None, storage=lambda shape, size: 2 * shape.data_bytes)
    shape = Shape(100, 20_000, 50, 2)
    planned = plan(method, shape, 5_000_000)
    assert planned.size is None
    assert 0 < planned.n_kept < 20_000
    supervised = ranked(size=None, uses_unlabeled=False, storage=lambda shape, size: 10**7)
    assert not plan(supervised, shape, 5_000_000).feasible


def test_a_size_that_a_study_fixes_is_kept_and_points_are_given_up():
    planned = plan(ranked(), Shape(100, 20_000, 50, 2), 5_000_000, {"rank": 30})
    assert planned.size == 30
    assert 0 < planned.n_kept < 20_000


def test_features_that_fit_does_not_look_at_are_not_charged_for():
    method = ranked(size=None, features=set(), storage=lambda shape, size: shape.data_bytes)
    shape = Shape(100, 100_000, 500, 2)
    assert plan(method, shape, 2_000_000).feasible


def test_a_fit_that_is_paused_is_planned_as_one():
    def storage(shape, size, paused=False):
        return shape.data_bytes + 1_000_000 * (2 if paused else 1)

    method, shape = ranked(size=None, storage=storage), Shape(10, 90, 5, 2)
    alone, paused = (plan(method, shape, None, paused=p).planned_bytes for p in (False, True))
    assert paused - alone == 1_000_000


def test_a_supervised_method_is_charged_for_labeled_points_only():
    method = ranked(size=None, uses_unlabeled=False, storage=lambda shape, size: shape.data_bytes)
    shape = Shape(100, 10_000, 50, 2)
    assert method.training_shape(shape).data_bytes == 100 * 50 * 8
    planned = plan(method, shape, 2_000_000)
    assert planned.feasible
    assert planned.size is None


def test_infeasible_says_what_it_needs():
    shape = Shape(9_000, 90, 100, 26)
    planned = plan(ranked(), shape, 5_000_000)
    assert "at its smallest, rank = 1" in planned.reason
    assert "the budget is 5 MB" in planned.reason
    fixed = plan(ranked(), shape, 5_000_000, {"rank": 7})
    assert "MB with rank = 7" in fixed.reason
    assert "of which the data of 9,001 points 7.2 MB, what reading takes" in planned.reason
    many = plan(ranked(), Shape(200, 5_000, 4, 100), 1_000_000)
    assert "of which predictions of 1,024 points x 100 classes 1.66 MB, " in many.reason
    assert plan(ranked(), Shape(10, 90, 1, 2), None, {"rank": 7}, 5).reason == (
        "rank is fixed at 7, and here at most 5"
    )


def test_a_fixed_size_is_taken_as_given_or_refused():
    shape = Shape(10, 90, 10, 2)
    assert plan(ranked(), shape, 10**8, {"rank": 7}).size == 7
    assert not plan(ranked(), shape, 10**6, {"rank": 10_000}).feasible


def test_a_bound_on_the_size():
    shape = Shape(10, 90, 10, 2)
    assert plan(ranked(), shape, None, largest=16).size == 16
    low = ranked(sizes=lambda shape: (32, 64))
    assert "at least 32" in plan(low, shape, None, largest=16).reason


def test_more_labels_for_the_search_are_planned_for():
    method = ranked(
        size=None, storage=lambda shape, size: shape.data_bytes + 8 * shape.n_labeled**2
    )
    shape = Shape(300, 5000, 5, 2, n_test=50)
    alone = plan(method, shape, None, tuned=True).planned_bytes
    more = plan(method, shape, None, tuned=True, shown=900).planned_bytes
    assert more - alone >= 8 * (1200**2 - 300**2)


def test_points_of_the_fit_wait_beside_those_of_a_larger_search():
    method = ranked(size=None, storage=lambda shape, size: shape.data_bytes, uses_unlabeled=False)
    shape = Shape(100, 5000, 5, 2, n_test=50)
    more = plan(method, shape, None, tuned=True, shown=900).planned_bytes
    assert more >= 8 * 5 * (1000 + 100)


def test_rows_that_a_search_is_shown_are_read_though_those_of_the_fit_are_mapped():
    method = ranked(uses_unlabeled=False)
    shape = Shape(100, 5000, 50, 2, mapped=True)
    mapped, counted = (
        plan(method, s, None, tuned=True, shown=4000).planned_bytes
        for s in (shape, replace(shape, mapped=False))
    )
    # the points of the fit, which wait beside them, are no bytes of the trial
    assert counted - mapped == 100 * shape.row_bytes


def test_sizes_may_be_integers_of_numpy():
    method = ranked(sizes=lambda shape: (np.int64(1), np.int64(50)))
    assert type(plan(method, Shape(100, 500, 5, 2), None).size) is int


def test_a_search_that_cannot_be_shown_its_labels_is_not_run_without_them():
    planned = plan(ranked(), Shape(100, 500, 5, 2), None, tuned=True, shown=501)
    assert "tuning shows the labels of 501 unlabeled points; there are 500" in planned.reason
    assert plan(ranked(), Shape(100, 500, 5, 2), None, tuned=True, shown=500).feasible


def test_of_what_is_searched_the_value_that_needs_most_counts():
    def storage(shape, size, C=1.0, variant="a"):
        return 10**6 + size * round(C) * {"a": 1, "b": 50, "c": 2}[variant]

    method, shape = ranked(storage=storage), Shape(10, 90, 10, 2)
    space = {"variant": choice(["a", "b", "c"]), "C": log_uniform(0.1, 1000)}
    plain = plan(method, shape, None, tuned=True).planned_bytes
    assert plan(method, shape, None, space=space).planned_bytes - plain == 100 * (50_000 - 1)
    # the default is tried too
    narrow = {"C": uniform(0.1, 0.4)}
    assert plan(method, shape, None, space=narrow).planned_bytes == plain


def test_a_plan_names_the_phase_of_its_peak_and_a_refusal_its_largest_arrays():
    def storage(shape, size):
        X = Arrays(X=shape.data_bytes)
        square = X + Arrays(kernel_matrix=8 * size**2)
        return Storage({"filling": X, "solution": square + Arrays(copy=8 * size)}, {"a block": X})

    method, shape = ranked(storage=storage), Shape(100, 900, 10, 2)
    assert plan(method, shape, 2_000_000).phase == "fit: solution"
    assert plan(method, shape, None, {"rank": 1}).phase == "loading"
    refused = plan(method, shape, 2_000_000, {"rank": 900})
    assert refused.phase == "fit: solution"
    assert "of which kernel matrix 6.48 MB" in refused.reason
    assert "the data of 101 points 8.08 kB" in refused.reason


@pytest.mark.parametrize("size", ["rank", None])
@given(n_clusters=st.integers(2, 60), budget=st.integers(300_000, 10**7))
def test_points_without_labels_are_never_fewer_than_their_clusters(size, n_clusters, budget):
    method = ranked(size=size, storage=lambda shape, size: 2 * shape.data_bytes)
    planned = plan(method, Shape(0, 60, 6_000, n_clusters), budget)
    assert not planned.feasible or planned.n_kept is None or planned.n_kept >= n_clusters


def test_a_model_that_includes_loading_is_not_charged_for_it_again():
    def storage(shape, size, includes=True):
        return Storage({"fit": Arrays(all=10.0)}, {"block": Arrays()}, includes_loading=includes)

    shape = Shape(500, 500, 40, 2)
    method = Method("m", Estimator, storage)
    charged = replace(method, storage=lambda shape, size: storage(shape, size, False))
    assert plan(method, shape, None).phase != "loading"
    assert plan(method, shape, None).planned_bytes < loading_bytes(shape)
    assert plan(charged, shape, None).phase == "loading"


def test_of_smaller_sizes_and_fewer_points_what_keeps_most_of_both_is_taken():
    """Of points times size: at n (8 d + 8 rank) bytes 0.9 of the points or 0.85 of the size."""
    method = ranked(enough=100, storage=lambda shape, rank: shape.n * (400 + 8 * rank))
    shape = Shape(20, 19_980, 50, 2)
    planned = plan(method, shape, overhead_bytes(shape) + 18_000 * 1200)
    assert planned.size == 100
    assert 0.88 < planned.n_kept / 20_000 < 0.91
    # where points cost little beside a size, to give them up would buy nothing
    method = ranked(enough=100, storage=lambda shape, rank: 400 * shape.n + 500_000 * rank)
    planned = plan(method, shape, overhead_bytes(shape) + 8 * 10**6 + 90 * 500_000)
    assert (planned.size, planned.n_kept) == (90, None)


def test_a_budget_that_is_just_what_is_needed_is_enough():
    shape = Shape(50, 400, 20, 2)
    for method, params in ((ranked(size=None, storage=lambda s, r: 10**6), {}), (ranked(), {})):
        least = plan(method, shape, None, largest=1).planned_bytes
        planned = plan(method, shape, least, params)
        assert (planned.feasible, planned.n_kept) == (True, None)
        fewer = plan(replace(method, uses_unlabeled=False), shape, least - 1, params)
        assert fewer.planned_bytes < least or not fewer.feasible
    supervised = ranked(size=None, uses_unlabeled=False, storage=lambda s, r: 10**6)
    least = plan(supervised, shape, None).planned_bytes
    assert plan(supervised, shape, least).feasible
    assert not plan(supervised, shape, least - 1).feasible


def test_one_cluster_needs_one_point():
    method = ranked(size=None, storage=lambda shape, size: 10**6 * shape.n)
    planned = plan(method, Shape(0, 60, 4, 1), 1_900_000)
    assert planned.n_kept == 1


def searched_points(method, shape, shown, **given):
    """Return how many points a search is charged for, at 1 MB a point and nothing else."""
    planned = plan(method, shape, None, tuned=True, shown=shown, **given)
    return planned.planned_bytes // 10**6


def test_of_the_points_that_are_kept_a_search_is_shown_the_labels_of_some():
    """They are among those that the fit is given, and not beside them."""

    def storage(shape, size):
        return 10**6 * shape.n

    shape = Shape(10, 90, 1, 2)
    subsampled = ranked(size="n_unlabeled", storage=storage)
    assert searched_points(subsampled, shape, 20, params={"n_unlabeled": 50}) == 60
    assert searched_points(subsampled, shape, 60, params={"n_unlabeled": 50}) == 70
    plain = ranked(size=None, storage=storage)
    assert searched_points(plain, shape, 20) == 100
    for shown in (0, 20):
        planned = plan(plain, shape, 60 * 10**6, tuned=True, shown=shown)
        assert planned.n_kept == 49


def test_rows_that_a_search_is_shown_are_bytes_of_the_trial():
    method = ranked(uses_unlabeled=False, storage=lambda shape, rank: shape.data_bytes)
    shape = Shape(100, 5000, 50, 2, mapped=True)
    planned = plan(method, shape, None, tuned=True, shown=4000)
    assert planned.planned_bytes > 4100 * shape.row_bytes
    assert plan(method, shape, None, tuned=True).planned_bytes < 4100 * shape.row_bytes


def test_the_harness_takes_a_quarter_of_a_mebibyte_and_a_search_a_sixteenth_more():
    nothing = Shape(0, 0, 1, 2)
    assert overhead_bytes(nothing) == 2**18
    assert overhead_bytes(nothing, tuned=True) == 2**18 + 2**16


@pytest.mark.parametrize(("n_classes", "columns"), [(0, 1), (2, 1), (3, 3), (50, 50)])
def test_predictions_of_two_classes_are_one_score_a_point(n_classes, columns):
    """In the estimator's type and in float64, with labels in two types."""
    shape = Shape(10, 90, 4, n_classes)
    assert prediction_bytes(shape) == 90 * (16 * columns + 16 + shape.label_bytes)
