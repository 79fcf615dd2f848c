"""Trials that would stand in one place of the table."""

import pytest
import yaml

from harness.datasets.sizes import split_sizes
from harness.errors import HarnessError
from harness.planning.row_keys import refuse_shared_places
from harness.study.study import load_study

BASE = {"datasets": ["a"], "methods": ["svm"], "labeled": 20, "budgets": "5MB", "seeds": 3}


@pytest.fixture
def place(tmp_path):
    """Read a study of these cases and place its trials."""

    def place(*cases, **base):
        path = tmp_path / "study.yaml"
        path.write_text(yaml.safe_dump(BASE | base | {"cases": list(cases)}))
        blocks = load_study(path).blocks()
        sizes = (split_sizes(100, 2, block.labeled, block.grid.split_rules) for block in blocks)
        refuse_shared_places(
            path, ((block, "binary", size) for block, size in zip(blocks, sizes, strict=True))
        )

    return place


@pytest.mark.parametrize(
    ("case", "differs"),
    [
        ({"tuning": {"search": "grid"}}, "tuning"),
        ({"data": "mapped", "limits": {"time": "1h", "memory": "9GB"}}, "limits and data"),
        ({"limits": {"time": "1h"}, "seeds": [2, 7]}, "limits"),
        ({"labeled": 0.2}, "labeled"),
        ({"checkpoints": [1, 2]}, "checkpoints"),
        ({"methods": [{"svm": {"C": 1.0}, "as": "mine"}]}, "spelling of parameters"),
    ],
)
def test_trials_of_one_place_are_refused_with_what_differs(place, case, differs):
    label = "mine" if "methods" in case else "svm"
    methods = [{"svm": {"C": 1}, "as": "mine"}] if "methods" in case else ["svm"]
    with pytest.raises(HarnessError) as caught:
        place(case, methods=methods)
    seed = 2 if "seeds" in case else 0
    where = f"{label} on a with 20 labeled points, budget 5MB and seed {seed}"
    assert f"study.yaml: {where} is asked for in two ways (they differ in {differs})" in str(
        caught.value
    )
    assert "'as: label'" in str(caught.value)


@pytest.mark.parametrize(
    "case",
    [
        {},
        {"limits": {"memory": "9GB"}, "seeds": 9},
        {"tuning": {"search": "grid"}, "seeds": [7]},
        {"tuning": {"search": "grid"}, "methods": [{"svm": None, "as": "tuned"}]},
        {"evaluation": {"test": 30}},
        {"data": "mapped", "budgets": "6MB"},
        {"data": "mapped", "labeled": 30},
    ],
    ids=["again", "more seeds", "other seeds", "label", "sizes", "budget", "labeled"],
)
def test_trials_that_are_the_same_or_have_places_of_their_own_are_not(place, case):
    place(case)
