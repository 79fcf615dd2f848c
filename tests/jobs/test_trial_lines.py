"""The lines of a trial in the log of its job."""

from harness.jobs.trial_lines import trial_lines
from harness.records.columns import COLUMNS

RAN = {
    "dataset": "digits",
    "method": "nysck",
    "n_labeled": 50,
    "budget": "5MB",
    "seed": 3,
    "outcome": "ok",
    "size": 389,
    "size_name": "n_landmarks",
    "planned_bytes": 4_980_000,
    "peak_bytes": 4_600_000,
    "load_peak_bytes": 131_000,
    "predict_peak_bytes": 4_600_000,
    "fit_s": 0.0249,
    "params": '{"C": 1.0}',
    "accuracy": 0.8625,
    "reason": "",
    "started_at": "2026-01-02T03:04:05+00:00",
}


def test_a_trial_that_ended_ok():
    row = dict.fromkeys(COLUMNS) | RAN | {"recall_of_mine": 0.25}
    assert trial_lines(row).splitlines() == [
        "2026-01-02T03:04:05+00:00 digits, nysck, 50 labeled, 5MB, seed 3: ok",
        "  389 n_landmarks, planned 4.98 MB, peak 4.6 MB",
        "  held: load 131 kB, predict 4.6 MB",
        "  took: fit 0.0249 s",
        '  settings: {"C": 1.0}',
        "  scores: accuracy 0.8625, recall_of_mine 0.25",
    ]


def test_a_trial_that_nothing_is_known_of():
    unknown = ("size", "planned_bytes", "peak_bytes", "load_peak_bytes", "predict_peak_bytes")
    row = dict.fromkeys(COLUMNS) | RAN | dict.fromkeys([*unknown, "fit_s", "accuracy"])
    row |= {"outcome": "crashed", "reason": "SIGSEGV"}
    assert trial_lines(row).splitlines() == [
        "2026-01-02T03:04:05+00:00 digits, nysck, 50 labeled, 5MB, seed 3: crashed",
        "  planned unknown, peak unknown",
        '  settings: {"C": 1.0}',
        "  told: SIGSEGV",
    ]


def test_words_of_a_method_neither_end_a_job_nor_look_like_another_trial():
    row = dict.fromkeys(COLUMNS) | RAN | {"outcome": "error", "reason": "\ud800\nseed 4: ok é"}
    lines = trial_lines(row).splitlines()
    assert lines[-1] == r"  told: \ud800 seed 4: ok \xe9"
    assert sum("seed" in line and ": ok" in line for line in lines) == 1
