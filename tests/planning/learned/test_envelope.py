"""The envelope: never below what was measured, growing, exact where bytes are known."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.planning.learned.envelope import Point, fit_envelope
from harness.plugin.shape import Shape

counts = st.integers(1, 3000)


@st.composite
def points(draw):
    """Points of one method, with bytes that follow no rule."""
    sized = draw(st.booleans())
    found = []
    for _ in range(draw(st.integers(1, 12))):
        labeled, unlabeled, d = draw(counts), draw(counts), draw(st.sampled_from([3, 40]))
        shape = Shape(labeled, unlabeled, d, 3, itemsize=draw(st.sampled_from([4, 8])))
        own = draw(st.integers(0, 10**9))
        size = draw(st.integers(1, 500)) if sized else None
        found.append(Point(shape, size, own, own + shape.data_bytes, draw(st.booleans())))
    return found


@settings(max_examples=60, deadline=None)
@given(points(), st.booleans())
def test_it_is_never_below_what_was_measured(measured, bends):
    envelope = fit_envelope(measured, bends=bends)
    for point in measured:
        assert envelope(point.shape, point.size) >= point.bytes


@settings(max_examples=60, deadline=None)
@given(points(), counts, counts, st.integers(1, 500))
def test_it_grows_with_every_count(measured, more_labeled, more_unlabeled, more):
    envelope = fit_envelope(measured)
    for point in measured:
        shape, size = point.shape, point.size
        before = envelope(shape, size)
        wider = Shape(shape.n_labeled, shape.n_unlabeled, shape.n_features + more, 3)
        larger = Shape(
            shape.n_labeled + more_labeled,
            shape.n_unlabeled + more_unlabeled,
            shape.n_features,
            3,
            itemsize=shape.itemsize,
        )
        assert envelope(larger, size) >= before
        if size is not None:
            assert envelope(shape, size + more) >= before
        if shape.itemsize == 8 and shape.block_rows == wider.block_rows:
            assert envelope(wider, size) >= before


def known(shape, size):
    """Bytes of a method that keeps kernel rows, landmarks and a square of them."""
    return 50_000 + 8 * (shape.n * size + size**2) + shape.itemsize * size * shape.n_features


@pytest.mark.parametrize("n", [300, 5_000, 40_000])
@pytest.mark.parametrize("size", [10, 100, 800])
def test_it_finds_the_bytes_of_a_method_that_is_known(n, size):
    measured = []
    for points_, landmarks in ((200, 8), (200, 64), (200, 150), (1_000, 8), (1_000, 500)):
        shape = Shape(50, points_ - 50, 20, 2)
        own = known(shape, landmarks)
        measured.append(Point(shape, landmarks, own, own + shape.data_bytes))
    shape = Shape(50, n - 50, 20, 2)
    assert fit_envelope(measured, blocks=False)(shape, size) == pytest.approx(
        known(shape, size), rel=1e-3
    )


def test_a_cache_that_is_full_bends_it():
    measured = []
    for n in (100, 200, 400, 600, 800, 1600, 3200):
        own = min(8 * n**2, 5_000_000) + 300_000
        measured.append(Point(Shape(50, n - 50, 20, 2), None, own, own))
    envelope = fit_envelope(measured, blocks=False)
    for point in measured:
        assert envelope(point.shape, None) == pytest.approx(point.bytes, rel=0.02)
    straight = fit_envelope(measured, bends=False, blocks=False)
    assert straight(measured[-1].shape, None) > 2 * measured[-1].bytes


def test_of_terms_that_cannot_be_told_apart_the_simpler_is_taken():
    measured = [Point(Shape(n, 0, 20, 2), None, 80.0 * n + 10**6, 10**6) for n in (100, 300)]
    names = {term.name for term, _ in fit_envelope(measured).terms}
    assert names == {"1", "n"}


def test_the_source_says_what_the_formula_does():
    measured = [
        Point(Shape(50, n, 20, 2), size, known(Shape(50, n, 20, 2), size), 10**6)
        for n in (100, 900)
        for size in (10, 200, 400)
    ]
    envelope = fit_envelope(measured, lowest=0.0)
    shape = Shape(70, 400, 20, 2)
    told = sum(eval(line, {"shape": shape, "size": 90}) for line in envelope.source())
    assert told == pytest.approx(envelope(shape, 90), rel=0.01)
    assert told >= math.floor(envelope(shape, 90))


def test_what_a_limit_stopped_bounds_the_formula_and_no_more():
    shape = Shape(50, 450, 20, 2)
    stopped = Point(Shape(50, 4_950, 20, 2), None, 9e6, 9e6, exact=False)
    envelope = fit_envelope([Point(shape, None, 1e6, 1e6), stopped])
    assert envelope(stopped.shape, None) >= 9e6
    assert envelope(shape, None) == pytest.approx(1e6, rel=0.01)
