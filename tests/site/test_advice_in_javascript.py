"""The page's expected scores are those of `harness advise`."""

import json

import pytest

from harness.advice.advise import advise
from harness.advice.evidence import read_evidence
from harness.advice.model import scores_of
from harness.advice.nearness import Query
from harness.advice.sizes import Fit
from harness.project import TEMPLATES
from harness.site.advice_data import RULES, advice_data

CONTROLS = ("prior", "random", "oracle")
COST = "(name) => 1000 + 20 * name.length"  # some within a tenth, some beyond
ASKED = [
    ("auc", (500, 99_500, 50, 2, 20e6), "binary"),
    ("auc", (20, 400, 10, 2, 1e6), "binary"),
    ("accuracy", (1000, 50_000, 784, 10, 1e8), "multiclass"),
    ("nmse", (100, 1000, 8, 0, 5e6), "regression"),
    ("nmse", (10**7, 10**9, 10**5, 0, 1e12), "regression"),
]


def test_expected_scores_are_the_same(javascript):
    evidence = read_evidence(None)
    data = advice_data(evidence, CONTROLS, sorted({metric for metric, *_ in ASKED}))
    script = (TEMPLATES / "site" / "advice.js").read_text()
    asked = [
        [metric, [counts[0] + counts[1], counts[0], *counts[2:]]] for metric, counts, _ in ASKED
    ]
    given = f"const rules = {json.dumps(RULES)}; const data = {json.dumps(data)};"
    answered = javascript(
        f"{given}\n{script}\nObject.values(data).forEach(prepare);",
        f"{json.dumps(asked)}.map(([metric, counts]) => {{"
        "const found = expected(data[metric], coordinates(...counts), data[metric].methods);"
        f"return {{ ...found, taken: taken(found.rows, {COST}).method }}; }})",
    )
    for (metric, counts, task), told in zip(ASKED, answered, strict=True):
        scores = scores_of(evidence, metric, CONTROLS)
        fits = [Fit(name, planned_bytes=1000 + 20 * len(name)) for name in scores.methods]
        found = advise(scores, Query(*counts, task), fits)
        assert told["taken"] == found.taken
        assert told["near"] == found.near
        assert told["nearest"] == found.nearest
        rows = {row["method"]: row for row in told["rows"]}
        assert set(rows) == set(found.ranked["method"])
        for row in found.ranked.to_dict("records"):
            for name in ("score", "low", "high", "behind", "behind_low", "behind_high"):
                here = rows[row["method"]][name]
                expected = row[name] if abs(row[name]) < float("inf") else None
                assert here == pytest.approx(expected, abs=2e-5), (metric, row["method"], name)
