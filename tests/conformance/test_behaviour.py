"""Each way to misbehave is found, and the advice names its cause."""

import pytest

PREDICT = "return predict_labels(self.decision_function(X), self.classes_)"
SCORES = "return self._means.decision_function("
ALL_SCORES = "return self._means.decision_function(self._kernel(X, self._Z))"
FIT_END = "        return self\n"


def in_fit(line):
    return {"        self._Z = X[": f"        {line}\n        self._Z = X["}


@pytest.mark.parametrize(
    ("edits", "check", "words"),
    [
        (in_fit("X -= X.mean(axis=0)"), "inputs unchanged", "entries of X in fit; work on a copy"),
        (in_fit("y[y == -1] = 0"), "inputs unchanged", "entries of y in fit; work on a copy"),
        (in_fit("self._f = lambda: 0"), "picklable", "keep lambdas"),
        (
            {"default_rng(self.random_state)": "default_rng()"},
            "deterministic",
            "two fits with random_state=7 gave different transductive scores",
        ),
        (in_fit("np.random.rand()"), "global random state", "global state of np.random"),
        (
            in_fit("__import__('random').random()"),
            "global random state",
            "global state of Python's random",
        ),
        (
            in_fit("if self.sigma < 1: raise ValueError('too narrow')"),
            "search space",
            "sigma=0.1, which `space` allows, raised ValueError: too narrow",
        ),
        ({ALL_SCORES: "return np.ones(3)"}, "predictions", "shape (3,), expected (120,)"),
        ({SCORES: "return np.nan * self._means.decision_function("}, "predictions", "NaN"),
        ({FIT_END: "        return None\n"}, "predictions", "end it with `return self`"),
        (
            {PREDICT: "return self.classes_[np.zeros(len(X), int)]"},
            "predictions",
            "predict differs",
        ),
        (
            {
                FIT_END: "        self.decision_scores_ = np.ones(len(X))\n"
                "        self.transduction_ = np.zeros(len(X), dtype=int)\n        return self\n"
            },
            "predictions",
            "transduction_ differs from the labels that its scores give for 90 of 90",
        ),
        (
            in_fit("self.transduction_ = np.where(y == -1, -1, y)"),
            "predictions",
            "seen points got the labels [-1]",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_misbehaviour_is_found(checked, edits, check, words):
    failed = checked(edits, only=check)
    assert words in failed[check]


def test_what_follows_from_broken_predictions_is_not_reported_again(checked):
    failed = checked({SCORES: "return np.nan * self._means.decision_function("})
    own = [check for check in failed if not check.startswith("check_")]
    assert own == ["predictions"]
