"""Storage models as phases of named arrays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import Arrays, Storage
from harness.plugin.storage import beside

names = st.sampled_from("abcdef")
arrays = st.dictionaries(names, st.integers(0, 10**9)).map(Arrays)
phases = st.dictionaries(st.text("pqr", min_size=1), arrays, min_size=1)


@given(phases, phases, st.integers(0, 10**9))
def test_peaks_are_those_of_the_largest_phases(fit, predict, X):
    model = Storage(fit, predict, held=Arrays(X=X))
    told = model.phases()
    assert len(told) == len(fit) + len(predict)
    for stage, peak in zip(("fit", "predict"), model.peaks, strict=True):
        of_stage = [held.bytes for name, held in told.items() if name.startswith(f"{stage}: ")]
        assert peak == max(of_stage)
        assert told[model.largest(stage)].bytes == peak


@given(phases)
def test_prediction_holds_what_a_fit_does_where_a_model_does_not_tell_them_apart(fit):
    model = Storage(fit)
    assert model.peaks.fit == model.peaks.predict
    assert model.largest("predict") == model.largest("fit")


@given(arrays, arrays)
def test_an_array_that_would_be_lost_is_refused(first, second):
    twice = first.keys() & second.keys()
    if twice:
        with pytest.raises(ValueError, match="named twice"):
            first + second
    else:
        assert (first + second).bytes == first.bytes + second.bytes


def test_what_is_held_throughout_must_not_be_named_again_in_a_phase():
    model = Storage({"step": Arrays(X=8)}, held=Arrays(X=8))
    with pytest.raises(ValueError, match=r"\['X'\] are named twice"):
        model.phases()


@given(phases, st.integers(0, 10**9))
def test_what_is_held_beside_phases_is_held_in_each(fit, many):
    held = beside(Arrays(z=many), fit)
    assert held.keys() == fit.keys()
    for name, arrays_ in held.items():
        assert arrays_ == {**fit[name], "z": many}


def test_a_model_is_taken_to_leave_out_what_reading_holds():
    """A plan that did not count it would be too small for most methods."""
    assert not Storage({"all": Arrays(a=1)}).includes_loading
