"""Rows as a source has them, prepared as their data set was."""

import numpy as np
import pandas as pd
import pytest
import yaml

from harness.datasets import load_catalog
from harness.datasets.preparation import load
from harness.datasets.raw_rows import learn_preparation
from harness.datasets.scaling import scale
from harness.errors import HarnessError

SCALINGS = ["none", "minmax", "standard", "whiten", "unit"]


@pytest.fixture
def source(tmp_path):
    """Write a table with its entry; return the table, the entry and what was prepared."""

    def source(missing="mean", gaps=("length",), **changes):
        rng = np.random.default_rng(5)
        n = 60
        table = pd.DataFrame(
            {
                "length": rng.normal(170, 10, n).round(2),
                "size": rng.choice(["small", "large", "none"], n),
                "flag": rng.integers(0, 2, n),
                "amount": rng.exponential(100, n).round(),
                "year": rng.choice([1990, 2000], n),
            }
        )
        for name in gaps:
            table[name] = table[name].astype(object).mask(np.arange(n) % 7 == 3)
        table["answer"] = rng.choice(["a", "b"], n)
        kept = table[list(gaps)].notna().all(axis=1) if missing == "drop" else table.index >= 0
        table.to_csv(tmp_path / "t.csv", index=False)
        width = 3 + table["size"].nunique() + 2
        entry = {
            "task": "binary",
            "n": int(np.sum(kept)),
            "d": width,
            "raw_n": n,
            "raw_d": 5,
            "classes": ["a", "b"],
            "positive": "b",
            "missing": missing,
            "read": {
                "format": "csv",
                "header": True,
                "target": "answer",
                "nominal": ["size", "year"],
            },
            "files": [{"path": "t.csv"}],
            **changes,
        }
        (tmp_path / "c.yaml").write_text(yaml.safe_dump({"mine": entry}))
        made = load_catalog([tmp_path / "c.yaml"])["mine"]
        return pd.read_csv(tmp_path / "t.csv")[kept], made, load(made)[0]

    return source


@pytest.mark.parametrize("scaling", SCALINGS)
def test_rows_of_the_source_come_out_as_they_were_prepared(source, scaling):
    table, entry, X = source(scaling=scaling, logarithm=[3])
    prepare, kept = learn_preparation(entry, X)
    close = 1e-12 if scaling == "whiten" else 0
    assert np.allclose(prepare(kept), X, rtol=close, atol=close)
    assert np.allclose(prepare(table), X, rtol=close, atol=close)
    rows = prepare(table.iloc[[5, 2]])
    assert np.allclose(rows, X[[5, 2]], rtol=close, atol=close)
    assert rows.dtype == X.dtype
    assert np.array_equal(prepare(table.drop(columns="answer").to_numpy()), prepare(table))


@pytest.mark.parametrize(
    ("missing", "gaps", "changes"),
    [
        ("median", ("length",), {}),
        ("drop", ("length", "size"), {}),
        ("value", ("size",), {"d": 9}),
        ("error", (), {"dtype": "float32", "divide_by": 4}),
        ("error", (), {"read": {"encoding": "integer"}, "d": 5}),
        ("error", (), {"read": {"encoding": "onehot-drop-binary"}, "d": 7}),
    ],
)
def test_whatever_an_entry_asks_for(source, missing, gaps, changes):
    nominal = {"format": "csv", "header": True, "target": "answer", "nominal": ["size", "year"]}
    if "read" in changes:
        changes = changes | {"read": nominal | changes["read"]}
    table, entry, X = source(missing, gaps, scaling="standard", **changes)
    assert np.array_equal(learn_preparation(entry, X)[0](table), X)


def test_what_was_never_seen_is_named(source):
    table, entry, X = source("mean", ("length",))
    prepare, _ = learn_preparation(entry, X)
    filled = prepare(table.assign(length=np.nan))
    assert np.all(filled[:, 0] == filled[0, 0])  # the mean was put in before
    for wrong, told in {
        "year": "row 0: column year: '1800' was not there when the model was fitted; known are",
        "amount": "row 0: column amount: there is no number, and none was missing",
    }.items():
        with pytest.raises(HarnessError, match=told):
            prepare(table.assign(**{wrong: 1800 if wrong == "year" else np.nan}))
    with pytest.raises(HarnessError, match="column size: a missing value was not there"):
        prepare(table.assign(size=None))


def test_data_that_do_not_come_from_the_source_are_refused(source):
    _, entry, X = source()
    with pytest.raises(HarnessError, match="could not be learned"):
        learn_preparation(entry, X + 1)


@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_scaling_does_the_same_to_further_rows(scaling, dtype):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(50, 4)) * [1, 100, 0.01, 1] + [0, 1e5, 3, 0]).astype(dtype)
    X[:, 3] = 7
    scaled = X.copy()
    fitted = scale(scaled, scaling)
    further = X[10:12].copy()
    fitted.apply(further)
    assert np.allclose(further, scaled[10:12], rtol=1e-6 if scaling == "whiten" else 0, atol=1e-6)


def test_rows_that_an_entry_leaves_out_are_no_hindrance(added, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"{'' if row == 3 else 'abc'[row % 3]},{row},{row / 8}" for row in range(8)]
    rows = "\n".join(["site,size,price", *lines, "a,9,"])
    _, entry, X, _ = added(rows, "price", task="regression", groups="site")
    assert (entry.other_classes, entry.groups.missing) == ("drop", "drop")
    assert X.shape == (7, 1)  # neither the row without a price nor the one without a site
    prepare, kept = learn_preparation(entry, X)
    assert kept["size"].tolist() == [0, 1, 2, 4, 5, 6, 7]
    assert np.array_equal(prepare(kept), X)
