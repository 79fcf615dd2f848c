"""scikit-learn's checks run, and the one that fails is named with its message."""

from sklearn.linear_model import Lasso, Ridge

from harness.conformance import kit
from harness.conformance.estimator_checks import DO_NOT_APPLY
from harness.scikit_learn import sklearn_method

OF_TWO_CLASSES = [(Ridge, "a"), (Ridge, "b"), (Lasso, "c")]


def test_an_attribute_that_fit_does_not_own(checked):
    failed = checked(
        {"        self.classes_ = self": "        self.sigma = 2.0\n        self.classes_ = self"},
        scikit_learn=True,
    )
    name = "check_estimators_overwrite_params"
    assert failed[name].startswith(f"scikit-learn's {name} failed: ")
    assert "sigma" in failed[name]


def test_an_estimator_that_is_none(checked):
    fields = "    landmarks: PositiveInt = 100\n    sigma: PositiveFloat = 1.0\n"
    fields += "    random_state: RandomState = None\n"
    written = (
        "    def __init__(self, landmarks=100, sigma=1.0, random_state=None):\n"
        "        self.landmarks, self.sigma, self.random_state = landmarks, sigma, random_state\n"
    )
    edits = {"(ClassifierMixin, Estimator)": "", "        self._validate_params()\n": ""}
    edits[fields] = written
    failed = checked(edits, scikit_learn=True)
    assert "derive it from sklearn.base.BaseEstimator" in failed["scikit-learn"]


def test_a_class_of_two_methods_is_asked_once(monkeypatch):
    asked = []

    def checks(method):
        asked.append(method.name)
        yield "check_one", lambda: "is wrong" if method.name == "a" else ""

    monkeypatch.setattr(kit, "sklearn_checks", checks)
    monkeypatch.setattr(kit._MethodCheck, "_task", lambda *_: iter(()))
    methods = [sklearn_method(estimator, name) for estimator, name in OF_TWO_CLASSES]
    found = {(f.method, f.check): f for f in kit.check_methods(methods)}
    assert asked == ["a", "c"]
    assert found["a", "check_one"].result == "fails"
    told = found["b", "scikit-learn"]
    assert (told.result, told.advice) == (
        "does not apply",
        "Ridge was checked already, as the class of a",
    )
    assert found["c", "scikit-learn (1 checks)"].result == "passes"


def test_checks_left_out_exist_in_scikit_learn():
    from sklearn.utils import estimator_checks

    assert all(hasattr(estimator_checks, name) for name in DO_NOT_APPLY)
