import io

import numpy as np
import pandas as pd
import pytest

from harness.report import csv_text as module
from harness.report.csv_text import csv_text, write_csv

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


def tables():
    numbers = [0.1, 1 / 3, 0.0, -0.0, 1e-5, 1e15, 1e16, np.inf, -np.inf, np.nan, 2.5e-312, 7.0]
    texts = ["a", "b,c", 'd"e', "f\ng", "", None, "é", '"', "b,c", "a", "0", "nan"]
    mixed = [True, 1, 1.0, None, "x", 0.1, np.nan, False, 0, "True", -0.0, 2**60]
    together = pd.DataFrame({"n": numbers, "t": texts, "m": pd.Series(mixed, dtype=object)})
    together["whole"] = pd.Series([1, None] * 6, dtype="Int64")
    together["said"] = pd.Series([True, None, False] * 4, dtype="boolean")
    together["float"] = together["n"].astype("Float64")
    yield together
    yield from (together[[name]] for name in together)
    yield together.iloc[:0]
    yield pd.DataFrame()


def test_numbers_of_every_size_are_written_as_python_writes_them():
    rng = np.random.default_rng(0)
    spread = rng.standard_normal(20_000) * 10.0 ** rng.integers(-12, 25, 20_000)
    edges = np.array([1e-4, 1e10, 1e16, 2.0**53])
    numbers = [spread, np.round(spread, 2), rng.random(20_000).astype("float32"), edges]
    numbers += [np.nextafter(edges, 0), rng.integers(0, 2**64, 20_000, "uint64").view("float64")]
    for some in numbers:
        said = csv_text(pd.DataFrame({"n": some.astype("float64")}), header=False)
        known = (value if value == value else '""' for value in some.tolist())
        assert said.splitlines() == list(map(str, known))


def test_it_is_the_text_that_pandas_writes(monkeypatch, tmp_path):
    monkeypatch.setattr(module, "PART", 5)
    for table in tables():
        assert csv_text(table) == table.to_csv(index=False)
        write_csv([table.iloc[:7], table.iloc[7:]], tmp_path / "t.csv")
        assert (tmp_path / "t.csv").read_text() == table.to_csv(index=False)
        assert csv_text(table, header=False) == table.to_csv(index=False, header=False)
