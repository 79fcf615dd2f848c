"""A method that computes with points as they lie is found; one that means to is left alone."""

from harness.conformance import check_file, kit

BOUND = 'kernels.bind_kernel("rbf", self._Z, self.sigma)'


def test_squared_norms_far_from_the_origin(checked):
    failed = checked({BOUND: f"{BOUND}.at_origin"})
    assert list(failed) == ["far from the origin"]
    assert "when 1000 was added to every feature, in float32" in failed["far from the origin"]


def test_a_method_that_knows_the_origin_is_not_asked(example, monkeypatch):
    monkeypatch.setattr(kit, "sklearn_checks", lambda method: [])
    path = example({BOUND: BOUND.replace("rbf", "poly2")})
    (found,) = (f for f in check_file(path, measure=False) if f.check == "far from the origin")
    assert found.result == "does not apply"
    assert "an offset of 1" in found.advice
