"""What a scheduler is asked to reserve for preparing a data set."""

from types import SimpleNamespace

import pytest

from harness.datasets.entry import Entry
from harness.planning.reserving import preparing_mb

BODY = {
    "name": "mine",
    "task": "binary",
    "n": 30_000,
    "d": 1_000_000,
    "classes": ["a", "b"],
    "positive": "b",
    "sparse": True,
    "nnz": 5_000_000,
    "files": [{"name": "x", "sha256": "0" * 64}],
}


@pytest.mark.parametrize(
    ("read", "most"),
    [
        ({"read": {"format": "csv"}, "text": {"column": "body"}}, 1241),  # 60 MB of rows
        ({"read": {"format": "svmlight"}}, 1241),
        ({"read": {"format": "csv"}, "d": 100, "nnz": 90_000}, 1096),  # with its zeros
    ],
)
def test_texts_are_never_held_with_their_zeros(read, most):
    entry = Entry.model_validate(BODY | read)
    workload = SimpleNamespace(catalog={"mine": entry}, datasets=lambda: ["mine"])
    assert preparing_mb(workload, entry.directory) == most
