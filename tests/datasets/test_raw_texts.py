"""Texts as a source has them, prepared as their data set was."""

import io
import json

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from harness.datasets.preparation import load
from harness.datasets.raw_texts import learn_texts
from harness.errors import HarnessError

WORDS = [f"word{number}" for number in range(30)]
rng = np.random.default_rng(2)
FRAME = pd.DataFrame(
    {
        "body": [" ".join(rng.choice(WORDS, size=8)) for _ in range(40)],
        "price": rng.random(40).round(3),
        "kind": rng.choice(["book", "film"], 40),
        "title": [" ".join(rng.choice(WORDS, size=2)) for _ in range(40)],
        "stars": np.arange(40) % 2,
    }
)
FRAME.loc[3, "body"] = None
READ = {"header": True, "target": "stars", "nominal": ["kind"], "ignore": ["title"]}
BODY = {"task": "binary", "text": {"column": "body"}, "scaling": "unit"}


def written(frame, format):
    if format == "csv":
        return frame.to_csv(index=False)
    return "".join(f"{json.dumps(row)}\n" for row in frame.to_dict("records"))


def dense(X):
    return X.toarray() if sparse.issparse(X) else X


@pytest.mark.parametrize("format", ["csv", "jsonl"])
@pytest.mark.parametrize(
    "changes",
    [
        {"text": {"column": "body", "features": 64}},
        {"text": {"column": "body", "by": "tf-idf"}},
        {"text": {"column": ["title", "body"], "by": "tf-idf", "features": 20, "ngrams": [1, 2]}},
        {"scaling": "maxabs", "divide_by": 4, "dtype": "float32"},
        {"sparse": False, "scaling": "standard", "text": {"column": "body", "by": "tf-idf"}},
    ],
)
def test_rows_of_the_source_come_out_as_they_were_prepared(make_entry, format, changes):
    read = {key: value for key, value in READ.items() if key != "header" or format == "csv"}
    if "title" in changes.get("text", {}).get("column", ()):
        read = read | {"ignore": []}
    body = BODY | changes | {"read": {"format": format} | read}
    entry = make_entry(body, {"a.data": written(FRAME, format)})
    X, _ = load(entry)
    made = learn_texts(entry, X)
    again = joblib.load(io.BytesIO(pickled(made)))
    got = again(FRAME.sample(frac=1, random_state=0))
    order = FRAME.sample(frac=1, random_state=0).index
    assert sparse.issparse(got) == entry.sparse
    assert got.dtype == X.dtype
    np.testing.assert_allclose(dense(got), dense(X)[order], rtol=1e-6)


def pickled(made):
    held = io.BytesIO()
    joblib.dump(made, held)
    return held.getvalue()


@pytest.fixture
def folder(make_entry, tmp_path):
    for row, text in enumerate(FRAME["body"].fillna("")):
        place = tmp_path / "posts" / "ab"[row % 2] / f"{row:02}.txt"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    body = BODY | {"read": {"format": "texts"}, "text": {"column": "text", "by": "tf-idf"}}
    return make_entry(body | {"files": [{"path": "posts"}]})


def test_texts_of_folders_are_given_as_a_list(folder):
    X, _ = load(folder)
    made = learn_texts(folder, X)
    assert made.columns == ["text"]
    texts = list(FRAME["body"].fillna(""))
    np.testing.assert_allclose(made(texts[::2]).toarray(), X[:20].toarray())
    assert made(["nothing known"]).nnz == 0


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ("one text", "rows: one text was given: give a list of texts"),
        (pd.DataFrame({"body": ["a"]}), "rows: the columns text are not there"),
        ([["a", "b"]], r"rows: shape \(1, 2\), but the model takes rows of 1 values: text"),
    ],
)
def test_rows_that_are_none_are_told(folder, rows, told):
    made = learn_texts(folder, load(folder)[0])
    with pytest.raises(HarnessError, match=told):
        made(rows)


def test_rows_that_were_not_prepared_from_the_source_are_no_preparation(folder):
    X, _ = load(folder)
    with pytest.raises(HarnessError, match="its source became the prepared rows could not be"):
        learn_texts(folder, X[::-1])
