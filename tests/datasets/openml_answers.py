"""What OpenML answers when it is asked for a task and its folds, for tests without a network."""

import json

N = 10
"""Rows of the task's data."""


def described(type="1", **changes):
    """What OpenML says of task 59."""
    data = {"data_set_id": "61", "target_feature": "class"} | changes
    procedure = {
        "id": "1",
        "type": "crossvalidation",
        "data_splits_url": "https://api.openml.org/api_splits/get/59/Task_59_mine_splits.arff",
        "parameter": [{"name": "number_folds", "value": "2"}],
    }
    inputs = [
        {"name": "source_data", "data_set": data},
        {"name": "estimation_procedure", "estimation_procedure": procedure},
        {"name": "cost_matrix", "cost_matrix": []},
    ]
    return json.dumps({"task": {"task_id": "59", "task_type_id": type, "input": inputs}})


def folds(repeats=2, n=N):
    """Write repeats of two folds, whose rows are pairs in turn."""
    lines = [
        "% of a mirror",
        "@RELATION mine_splits",
        "",
        "@ATTRIBUTE type {TRAIN,TEST}",
        "@ATTRIBUTE rowid INTEGER",
        "@ATTRIBUTE repeat INTEGER",
        "@ATTRIBUTE fold INTEGER",
        "",
        "@DATA",
    ]
    for repeat in range(repeats):
        for fold in range(2):
            parts = ["TEST" if (row // 2 + repeat + fold) % 2 else "TRAIN" for row in range(n)]
            lines += [f"{part},{row},{repeat},{fold}" for row, part in enumerate(parts)]
    return "\n".join(lines)
