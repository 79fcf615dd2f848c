import numpy as np
import pytest
from budget_machines import newton_matrix
from budget_machines.newton_matrix import ActiveRows, newton_bytes


class Rows:
    """Features of rows as a `FeatureCache` gives them, in blocks of 37."""

    def __init__(self, Z):
        self.Z, self.taken_rows = Z, 0

    def __len__(self):
        return len(self.Z)

    def sums(self, values):
        return (values.T.astype(float) @ self.Z).T

    def taken(self, positions):
        assert (np.diff(positions) > 0).all()
        self.taken_rows += len(positions)
        for start in range(0, len(positions), 37):
            yield self.Z[positions[start : start + 37]].copy()


def moments(Z):
    Z = Z.astype(np.float64)
    return (Z - Z.mean(axis=0)).T @ (Z - Z.mean(axis=0))


@pytest.mark.parametrize("r", [1, 7, 300])
def test_the_matrix_is_that_of_the_rows_wherever_they_moved(r):
    rng = np.random.default_rng(r)
    Z = (3 + rng.standard_normal((2000, r))).astype(np.float32)
    kept, scores = ActiveRows(Rows(Z), r), rng.standard_normal(2000)
    for step in range(80):
        scores += 0.05 * rng.standard_normal(2000)
        active = np.flatnonzero(scores > (0.5 if step < 40 else 1.5))
        kept.move_to(active)
        A, expected = kept.centred(), moments(Z[active])
        assert A.flags.f_contiguous
        size = np.trace(expected) / r
        np.testing.assert_allclose(np.tril(A), np.tril(expected), atol=2e-5 * size)
        np.testing.assert_allclose(kept.mean(), Z[active].astype(float).mean(axis=0), rtol=1e-6)
        A[:] = np.where(np.tri(r), np.nan, A)  # as a factorisation leaves it


def test_only_rows_that_changed_are_read(monkeypatch):
    monkeypatch.setattr(newton_matrix, "_MOST_CHANGES", 3)
    Z = np.random.default_rng(0).standard_normal((1000, 5)).astype(np.float32)
    rows = Rows(Z)
    kept = ActiveRows(rows, 5)
    kept.move_to(np.arange(600))
    assert (rows.taken_rows, kept.n_changes) == (600, 0)
    kept.move_to(np.arange(10, 620))
    assert (rows.taken_rows, kept.n_changes) == (630, 1)
    kept.move_to(np.arange(500, 900))  # all but 120 of them are new
    assert (rows.taken_rows, kept.n_changes) == (1030, 0)
    kept.move_to(np.arange(500, 800))
    kept.move_to(np.arange(500, 700))
    assert (rows.taken_rows, kept.n_changes) == (1230, 2)
    kept.move_to(np.arange(500, 590))  # less than a quarter of what there was: anew
    assert (rows.taken_rows, kept.n_changes) == (1320, 0)
    for last in (589, 588, 587):
        kept.move_to(np.arange(500, last))
    assert (rows.taken_rows, kept.n_changes) == (1323, 3)
    kept.move_to(np.arange(500, 586))  # and after the most changes
    assert (rows.taken_rows, kept.n_changes) == (1409, 0)


def test_what_gave_its_room_to_products_is_made_anew():
    Z = np.random.default_rng(0).standard_normal((300, 5)).astype(np.float32)
    rows = Rows(Z)
    kept = ActiveRows(rows, 5)
    kept.move_to(np.arange(200))
    products, columns = kept.room_for_products(2)
    products[...], columns[...] = np.nan, np.nan
    kept.move_to(np.arange(201))
    assert (rows.taken_rows, kept.n_changes) == (401, 0)
    np.testing.assert_allclose(np.tril(kept.centred()), np.tril(moments(Z[:201])), atol=2e-3)


@pytest.mark.parametrize(("n", "r"), [(10, 100), (49, 100), (300, 5), (300, 100), (2000, 600)])
def test_what_it_holds_is_what_it_is_charged_for(n, r):
    kept = ActiveRows(Rows(np.ones((n, r), np.float32)), r)
    few = min(n, r // 2)
    products, columns = kept.room_for_products(few)
    assert products.shape == (few, few)
    assert products.flags.f_contiguous
    assert len(columns) == few * min(r, 256)
    assert not np.shares_memory(products, columns)
    if 2 * n > r:
        kept.move_to(np.arange(n))
        assert np.shares_memory(kept.centred(), kept.room_for_products(1)[0])
    assert kept._room.nbytes + 16 * r <= newton_bytes(n, r) <= kept._room.nbytes + 16 * r + 8
