"""What is said of rows that are stale."""

import json

import pytest

from harness.planning.fingerprints import changes

THEN = {
    "data": "d",
    "harness": "h",
    "method": "m",
    "versions": {"numpy": "2.4.0", "scikit-learn": "1.9.0"},
}


@pytest.mark.parametrize(
    ("now", "told"),
    [
        ({}, ["the study's settings have changed"]),
        ({"method": "n"}, ["the code of the method has changed"]),
        ({"data": "e"}, ["the data set has changed"]),
        ({"kernel": "k"}, ["the code of the kernel has changed"]),
        (
            {"harness": "i", "method": "n"},
            [
                "the code that runs and scores trials has changed",
                "the code of the method has changed",
            ],
        ),
        (
            {"versions": {"numpy": "2.4.0", "scikit-learn": "1.9.1", "xgboost": "3"}},
            ["scikit-learn is 1.9.1, was 1.9.0", "xgboost is 3, was not used"],
        ),
    ],
)
def test_what_has_changed_is_named(now, told):
    assert changes(json.dumps(THEN), json.dumps(THEN | now)) == told


def test_rows_that_do_not_say_are_of_an_earlier_version():
    assert changes(None, json.dumps(THEN)) == ["an earlier version of the harness made them"]
