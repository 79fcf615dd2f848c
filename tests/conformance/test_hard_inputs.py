"""Hard inputs that crash, hang or slip through are found; refusals with a message are right."""

import pytest

ONE_CLASS = "len(np.unique(y[y != -1])) == 1"
FIT = "    def fit(self, X, y):  # y is -1 where a point has no label\n"


def in_fit(line):
    return {"        self._Z = X[": f"        {line}\n        self._Z = X["}


@pytest.mark.parametrize(
    ("edits", "check", "words"),
    [
        (
            in_fit(f"if {ONE_CLASS}: __import__('os')._exit(3)"),
            "one class",
            "took its process down: Ended with exit status 3",
        ),
        (in_fit("while np.ptp(X) == 0: pass"), "constant features", "did not end within 1 s"),
        (
            in_fit(f"if {ONE_CLASS}: raise KeyError('label 1')"),
            "one labeled point",
            "fit raised KeyError: 'label 1' (example.py, line 20)",
        ),
        (in_fit(f"if {ONE_CLASS}: raise ValueError"), "one class", "without a message"),
        (
            {FIT: FIT + "        X = np.nan_to_num(X)\n"},
            "NaN in X",
            "accepted X with NaN; refuse it with a ValueError that names NaN",
        ),
        (
            {FIT: FIT + "        if np.isnan(X).any(): raise ValueError('bad X')\n"},
            "NaN in X",
            "by 'bad X', which does not name NaN",
        ),
        (
            {"permutation(len(X))[: self.landmarks]": "choice(len(X), self.landmarks, False)"},
            "fewer points than size",
            "",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_hard_input(checked, edits, check, words):
    failed = checked(edits, seconds=1.0, only=check)
    if words:
        assert words in failed[check]
    else:
        # numpy's ValueError says why: a refusal
        assert check not in failed
