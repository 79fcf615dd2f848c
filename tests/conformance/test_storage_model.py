"""A storage model that misleads the plan is found without running anything."""

import pytest

from harness.conformance.finding import DOES_NOT_APPLY

STORAGE = (
    "return shape.data_bytes + shape.block_bytes + 8 * (kernel + 2 * landmarks * shape.n_features)"
)
HEAD = "def storage(shape, landmarks):"
METHOD = '"landmarks", tasks'


@pytest.mark.parametrize(
    ("edits", "check", "words"),
    [
        (
            {STORAGE: "return shape.data_bytes + 1e9 / landmarks"},
            "storage monotone",
            "at size 1 to",
        ),
        ({STORAGE: "return 8 * landmarks"}, "storage monotone", "add shape.data_bytes"),
        (
            {STORAGE: "return shape.data_bytes + (0 if shape.n_test == 0 else 8 // 0)"},
            "storage monotone",
            "ZeroDivisionError",
        ),
        ({STORAGE: "return np.inf"}, "storage monotone", "storage is inf at size 1"),
        (
            {HEAD: "def storage(shape, landmarks, width=1):"},
            "storage arguments",
            "asks for 'width', which Example has not",
        ),
        (
            {HEAD: "def storage(shape, landmarks, sigma):"},
            "storage arguments",
            "write sigma=1.0 as the estimator does",
        ),
        (
            {HEAD: "def storage(shape, landmarks, sigma=2.0):"},
            "storage arguments",
            "takes sigma=2.0 by default, the estimator sigma=1.0",
        ),
        ({HEAD: "def storage(landmarks):"}, "storage arguments", "storage takes 1 arguments"),
        (
            {METHOD: '"landmarks", sizes=lambda shape: (0, shape.n), tasks'},
            "sizes",
            "sizes gave (0, 251)",
        ),
        (
            {METHOD: '"landmarks", sizes=lambda shape: (1, shape.n / 2), tasks'},
            "sizes",
            "sizes gave (1, 125.5) for n = 251, d = 5; give two whole numbers",
        ),
        (
            {METHOD: '"landmarks", sizes=lambda shape: (1, float(shape.n)), tasks'},
            "sizes",
            "sizes gave (1, 251.0)",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_model(checked, edits, check, words):
    assert words in checked(edits, only=check)[check]


def test_storage_that_the_site_cannot_translate_is_told_and_fails_nothing(checked):
    edits = {HEAD: "@np.vectorize\n" + HEAD}
    told = checked(edits, only="predictions", result=DOES_NOT_APPLY)["storage on the site"]
    assert "cannot work out its size" in told
    assert "is no plain function" in told
    within = {STORAGE: "return shape.data_bytes + int(np.ceil(8.0 * landmarks * shape.n))"}
    told = checked(within, only="predictions", result=DOES_NOT_APPLY)["storage on the site"]
    assert "ceil" in told
    assert "`harness advise` can" in told
    assert "storage on the site" not in checked(only="predictions", result=DOES_NOT_APPLY)
