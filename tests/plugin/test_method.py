import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import SVC

from harness import Method, Shape
from harness.plugin.shape import PREDICT_BYTES, score_rows


class Estimator:
    def __init__(self, rank=1):
        self.rank = rank


def one_number(shape, size, paused):
    return shape.data_bytes


def ranked(**changes):
    settings = {"size": "rank", "storage": lambda shape, rank: shape.data_bytes + rank**2}
    return Method("ranked", Estimator, **settings | changes)


def test_storage_is_given_the_parameters_it_names():
    method = ranked(storage=lambda shape, rank, variant: 10 if variant == "a" else 20)
    shape = Shape(1, 1, 1, 2)
    assert max(method.peaks(shape, 1, {"variant": "b", "C": 3})) == 20


@pytest.mark.parametrize(
    ("d", "itemsize", "rows"),
    [(2, 8, 1024), (128, 8, 1024), (129, 8, 1016), (784, 4, 334), (8192, 8, 16), (12_000, 8, 16)],
)
def test_a_block_has_fewer_rows_the_wider_they_are(d, itemsize, rows):
    shape = Shape(10, 5000, d, 2, itemsize=itemsize)
    assert shape.block_rows == rows
    assert shape.block_bytes == rows * d * itemsize
    assert Shape(3, 4, d, 2, itemsize=itemsize).block_rows == 4


def test_mapped_data_are_not_charged():
    assert Shape(10, 10, 10, 2, mapped=True).data_bytes == 0


def test_a_method_refuses_what_its_estimator_does_not_have():
    with pytest.raises(ValueError, match="no 'depth'"):
        ranked(size="depth")
    with pytest.raises(ValueError, match=r"'ranked': tasks = 'binary'; give a set, {'binary'}$"):
        ranked(tasks="binary")
    with pytest.raises(ValueError, match=r"space\['rank'\] is \(1, 9\); allowed are uniform\("):
        ranked(space={"rank": (1, 9)})
    with pytest.raises(ValueError, match="tasks"):
        ranked(tasks={"ranking"})
    with pytest.raises(ValueError, match="'quality' or 'time'"):
        ranked(size_affects="speed")


SHAPE = Shape(30, 200, 7, 3, itemsize=4)


def test_bytes_of_a_shape_are_those_of_its_arrays():
    assert SHAPE.data_bytes == np.zeros((230, 7), np.float32).nbytes
    assert SHAPE.predict_data_bytes == SHAPE.data_bytes
    held_out = replace(SHAPE, n_test=50)
    # all points of the fit are let go, and a block of the others is read
    assert held_out.predict_data_bytes == np.zeros((50, 7), np.float32).nbytes
    assert replace(SHAPE, loaded=False).data_bytes == 0


@pytest.mark.parametrize(("n_classes", "bytes_"), [(0, 0), (2, 1), (128, 1), (129, 2)])
def test_a_label_takes_the_smallest_integers_that_hold_it(n_classes, bytes_):
    assert replace(SHAPE, n_classes=n_classes).label_bytes == bytes_


@pytest.mark.parametrize(("n_classes", "machines"), [(0, 1), (2, 1), (3, 3), (10, 10)])
def test_of_two_classes_there_is_one_machine(n_classes, machines):
    assert replace(SHAPE, n_classes=n_classes).n_machines == machines


def test_scores_are_handed_over_in_blocks_of_so_many_bytes():
    assert score_rows(0) == score_rows(1) == score_rows(2) == 1024
    assert 8 * 1000 * score_rows(1000) <= PREDICT_BYTES < 8 * 1000 * (score_rows(1000) + 1)


def test_a_method_sees_what_it_learns_from():
    method = ranked()
    assert method.training_shape(SHAPE) == SHAPE
    fewer = method.training_shape(SHAPE, 5, 50)
    assert (fewer.n_labeled, fewer.n_unlabeled, fewer.n_test) == (30, 50, 150)
    assert fewer.scored == SHAPE.scored == 200
    assert method.training_shape(replace(SHAPE, n_test=40), 5, 50).n_test == 40
    # a size is no number of points, unless it is called so
    assert method.training_shape(SHAPE, 5) == SHAPE
    subsampled = ranked(size="n_unlabeled", storage=lambda shape, size: 1.0)
    assert subsampled.training_shape(SHAPE, 5).n_unlabeled == 5
    assert subsampled.training_shape(SHAPE, None) == SHAPE
    assert not subsampled.may_subsample
    supervised = ranked(uses_unlabeled=False)
    assert supervised.training_shape(SHAPE, 5, 50).n_unlabeled == 0
    assert not supervised.may_subsample
    assert method.may_subsample
    blind = ranked(features={"predict"}).training_shape(SHAPE)
    assert (blind.loaded, blind.data_bytes, blind.n_test) == (False, 0, 200)


def test_a_storage_model_is_told_of_searches_and_pauses_where_it_asks():
    method = ranked(storage=lambda shape, size, tuned, paused: 100 + 10 * tuned + paused)
    asked = [max(method.peaks(SHAPE, 1, {}, *given)) for given in ((), (True,), (True, True))]
    assert asked == [100, 110, 111]
    clusters = ranked(storage=lambda shape, size, n_clusters: n_clusters)
    assert max(clusters.peaks(SHAPE, 1, {})) == 3


def test_by_default_a_size_is_anything_up_to_the_number_of_points():
    assert ranked().sizes(SHAPE) == (1, 230)


def test_a_method_that_was_asked_about_can_be_pickled():
    method = Method("mine", SVC, storage=one_number)
    assert "C" in method.accepted
    assert list(method.storage_parameters) == ["paused"]
    again = pickle.loads(pickle.dumps(method))
    assert again.accepted.keys() == method.accepted.keys()
