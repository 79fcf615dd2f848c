import pytest

from harness import Method, Shape


class Estimator:
    def __init__(self, rank=1):
        self.rank = rank


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
