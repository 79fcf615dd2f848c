"""Plans for sparse data: bytes of nonzeros are charged, and who takes none of them says so."""

from dataclasses import replace

import pytest
from registered import METHODS, named

from harness import Method, Shape
from harness.planning.own_bytes import fold_bytes, loading_bytes
from harness.planning.size import plan

W8A = Shape(20_000, 29_749, 300, 2, row_nnz=11.65)
DENSE = replace(W8A, row_nnz=None)


def takes_sparse(method):
    return bool(method.features) and method.takes_sparse({})


def test_a_method_that_takes_dense_data_declines_with_the_figures():
    planned = plan(named("clusk"), W8A, 10**9)
    assert (planned.feasible, planned.outcome) == (False, "infeasible")
    assert planned.reason == (
        "takes dense data only; the set is sparse, with 300 columns and 3.9 % nonzeros: dense "
        "its 49,749 points are 119 MB, which an entry without `sparse: true` gives"
    )
    assert not plan(named("clusk"), DENSE, 10**9).reason.startswith("takes dense data only")


def test_whether_it_takes_sparse_data_may_depend_on_a_parameter():
    svm, few = named("svm"), replace(W8A, n_labeled=500)
    assert plan(svm, few, None).feasible
    assert plan(svm, few, None, {"kernel": "chi2"}).reason.startswith("takes dense data only")


@pytest.mark.parametrize("name", ["prior", "random", "oracle"])
def test_who_looks_at_no_features_declines_nothing(name):
    assert plan(named(name), W8A, None).feasible


@pytest.mark.parametrize("method", [*filter(takes_sparse, METHODS)], ids=lambda m: m.name)
def test_nonzeros_are_charged_and_never_more_than_all_elements(method):
    shape = replace(W8A, n_labeled=800, n_unlabeled=1_200)
    size = None if method.size is None else 20
    many = [
        plan(method, replace(shape, row_nnz=nnz), None, largest=size).planned_bytes
        for nnz in (5.0, 20.0, 60.0)
    ]
    dense = plan(method, replace(shape, row_nnz=None), None, largest=size).planned_bytes
    assert many == sorted(many)
    assert many[0] < many[2]
    assert many[0] < dense


def test_what_the_harness_holds_is_of_compressed_rows():
    assert fold_bytes(W8A) == W8A.matrix_bytes(20_000) < 20_000 * 300
    assert W8A.data_bytes < loading_bytes(W8A) < W8A.data_bytes + 1_200_000
    assert loading_bytes(replace(W8A, loaded=False)) == 0


def test_a_budget_of_its_dense_bytes_is_not_needed():
    svm: Method = named("linear-svm")
    assert plan(svm, W8A, 8_000_000).feasible
    assert plan(svm, DENSE, 8_000_000).reason.startswith("needs 195 MB")
