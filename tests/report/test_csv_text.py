import io

import pandas as pd
import pytest

from harness.report.csv_text import csv_text

FORMULAS = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    "=",
    "- none",
    "a\r=1",
]
TEXTS = ["a=1", "-0.5", "+3e-4", "-inf", "", "'=1", " =1", "é"]


@pytest.mark.parametrize("dtype", [object, "string", "category"])
def test_no_text_is_a_formula_and_numbers_stay(dtype):
    table = pd.DataFrame(
        {
            "text": pd.Series([*FORMULAS, *TEXTS, None], dtype=dtype),
            "number": -1.5,
            "count": pd.Series([-3] * 18, dtype="Int64"),
            "=label": True,
        }
    )
    again = pd.read_csv(
        io.StringIO(csv_text(table)), dtype={"text": str}, keep_default_na=False, na_values=["<"]
    )
    safe = [f"'{text}".replace("\r", "\n") for text in FORMULAS[:-1]]
    assert list(again["text"]) == [*safe, "a\n=1", *TEXTS, ""]
    assert list(again.columns) == ["text", "number", "count", "'=label"]
    assert set(again["number"]) == {-1.5}
    assert set(again["count"]) == {-3}
    assert list(table["text"][:1]) == ["=1+1"]
