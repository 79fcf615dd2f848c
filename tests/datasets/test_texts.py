"""Texts as features: of tables, JSON lines and folders; hashed, weighted, guessed and refused."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix, hstack
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.preprocessing import normalize

from harness import add
from harness.datasets import load_catalog, prepare
from harness.datasets import texts as texts_module
from harness.datasets.preparation import load
from harness.errors import HarnessError

WORDS = [f"word{number}" for number in range(40)]


def reviews(n=60, seed=0):
    rng = np.random.default_rng(seed)
    bodies = [" ".join(rng.choice(WORDS, size=rng.integers(6, 12))) for _ in range(n)]
    frame = pd.DataFrame({"body": bodies, "price": rng.random(n).round(3)})
    frame["kind"] = rng.choice(["book", "film"], n)
    frame["stars"] = rng.choice(["bad", "good"], n)
    return frame


def body(format, **text):
    return {
        "task": "binary",
        "positive": "good",
        "read": {"format": format, "target": "stars", "nominal": ["kind"]}
        | ({"header": True} if format == "csv" else {}),
        "text": {"column": "body"} | text,
        "scaling": "unit",
    }


def lines(frame):
    return "".join(json.dumps(row) + "\n" for row in frame.to_dict("records"))


def parquet(frame):
    import io

    raw = io.BytesIO()
    frame.to_parquet(raw, index=False)
    return raw.getvalue()


WRITTEN = {
    "csv": lambda frame: frame.to_csv(index=False),
    "jsonl": lines,
    "parquet": parquet,
}


@pytest.mark.parametrize("format", WRITTEN)
@pytest.mark.parametrize("by", ["hashing", "tf-idf"])
def test_features_are_those_of_scikit_learn_whatever_is_held_at_once(
    make_entry, monkeypatch, format, by
):
    monkeypatch.setattr(texts_module, "_ROWS", 7)
    frame = reviews()
    frame.loc[3, "body"] = None
    told = {"by": by, "features": 1000, "ngrams": [1, 2]}
    entry = make_entry(body(format, **told), {f"mine.{format}": WRITTEN[format](frame)})
    X, y = load(entry)
    options = {"ngram_range": (1, 2), "norm": None}
    if by == "hashing":
        made = HashingVectorizer(n_features=1000, **options)
    else:
        made = TfidfVectorizer(max_features=1000, **options)
    words = made.fit_transform(frame["body"].fillna(""))
    others = [frame["price"], frame["kind"] == "book", frame["kind"] == "film"]
    expected = hstack([csr_matrix(np.column_stack(others).astype(float)), words])
    assert entry.sparse
    assert (entry.d, entry.nnz) == (expected.shape[1], X.nnz)
    np.testing.assert_allclose(X.toarray(), normalize(expected).toarray(), rtol=1e-12)
    np.testing.assert_array_equal(y, frame["stars"] == "good")


def test_rows_that_are_left_out_take_their_texts_along(make_entry):
    frame = reviews(30)
    frame.loc[[2, 9], "price"] = None
    frame.loc[4, "stars"] = "unknown"
    told = body("csv", by="tf-idf") | {
        "missing": {"numeric": "drop"},
        "classes": ["bad", "good"],
        "other_classes": "drop",
        "scaling": "none",
    }
    X, y = load(make_entry(told, {"mine.csv": frame.to_csv(index=False)}))
    kept = frame.drop(index=[2, 4, 9])
    words = TfidfVectorizer(norm=None).fit_transform(frame["body"])[kept.index]
    np.testing.assert_allclose(X[:, 3:].toarray(), words.toarray())
    assert y.tolist() == (kept["stars"] == "good").astype(int).tolist()


def test_texts_with_their_zeros_on_request(make_entry):
    frame = reviews(20)
    told = body("jsonl", by="tf-idf") | {"sparse": False, "scaling": "standard"}
    X, _ = load(make_entry(told, {"mine.jsonl": lines(frame)}))
    assert isinstance(X, np.ndarray)
    np.testing.assert_allclose(X[:, 4:].mean(axis=0), 0, atol=1e-12)


def test_several_columns_are_one_text(make_entry):
    frame = reviews(20).assign(title="a heading here")
    told = body("csv", by="tf-idf") | {"scaling": "none"}
    told["text"]["column"] = ["title", "body"]
    X, _ = load(make_entry(told, {"mine.csv": frame.to_csv(index=False)}))
    words = TfidfVectorizer(norm=None).fit_transform(frame["title"] + " " + frame["body"])
    np.testing.assert_allclose(X[:, 3:].toarray(), words.toarray())


def test_a_million_columns_prepare_in_the_bytes_of_their_nonzeros(make_entry, tmp_path):
    entry = make_entry(
        body("csv", features=1_000_000), {"mine.csv": reviews(50).to_csv(index=False)}
    )
    meta = prepare(entry, tmp_path / "prepared")
    assert meta.d == 1_000_003
    assert entry.data_bytes < 20_000


def a_folder(tmp_path, texts, name="mine"):
    for label, held in texts.items():
        for number, content in enumerate(held):
            path = tmp_path / name / label / f"{number:03}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode("latin-1"))


@pytest.mark.usefixtures("in_a_folder")
def test_a_folder_with_a_file_a_text(tmp_path):
    frame = reviews(30)
    texts = {label: frame.loc[frame["stars"] == label, "body"] for label in ("bad", "good")}
    a_folder(tmp_path, texts)
    found = add("mine", positive="good")
    entry = load_catalog()["mine"]
    X, y = load(entry)
    words = TfidfVectorizer().fit_transform([*texts["bad"], *texts["good"]])
    np.testing.assert_allclose(X.toarray(), words.toarray())
    assert y.tolist() == [0] * len(texts["bad"]) + [1] * len(texts["good"])
    assert found.body["read"] == {"format": "texts"}
    (tmp_path / "mine" / "good" / "000.txt").write_text("others")
    with pytest.raises(HarnessError, match=r"mine: expected sha256 .* found"):
        load(entry)


@pytest.mark.usefixtures("in_a_folder")
def test_the_charset_of_texts_in_a_folder(tmp_path):
    a_folder(tmp_path, {"bad": ["schön wie nie"] * 3, "good": ["übel"] * 3})
    assert add("mine", force=True).body["read"]["charset"] == "latin-1"
    text = (tmp_path / "datasets.yaml").read_text()
    (tmp_path / "datasets.yaml").write_text(text.replace(", charset: latin-1", ""))
    with pytest.raises(HarnessError, match=r"000\.txt: byte 3 is no utf-8: name the charset"):
        load(load_catalog()["mine"])


@pytest.mark.usefixtures("in_a_folder")
@pytest.mark.parametrize("format", ["csv", "jsonl"])
def test_texts_are_guessed_where_they_are_long_and_differ(added, format):
    frame = reviews().assign(name=[f"Ms. {row} of Place" for row in range(60)])
    found, entry, X, _ = added(WRITTEN[format](frame), "stars", file=f"mine.{format}")
    assert found.body["text"] == {"column": "body", "by": "tf-idf", "features": 65536}
    assert found.body["read"]["ignore"] == ["name"]
    assert X.shape == (60, 3 + len(WORDS)) == (entry.n, entry.d)
    assert any(
        told.startswith("texts, whose words become features: 'body'") for told in found.told
    )
    assert found.name == "mine"
    assert "nnz" in found.body


@pytest.mark.usefixtures("in_a_folder")
def test_who_names_texts_or_leaves_them_out_has_it_so():
    frame = reviews().assign(name=[f"Ms. {row} of Place" for row in range(60)])
    frame.to_csv("mine.csv", index=False)
    found = add("mine.csv", "stars", text=["name", "body"])
    assert found.body["text"]["column"] == ["body", "name"]
    found = add("mine.csv", "stars", drop=["body"], force=True)
    assert "text" not in found.body
    with pytest.raises(HarnessError, match="--text names 'stars', which is the target"):
        add("mine.csv", "stars", text="stars", force=True)
    with pytest.raises(HarnessError, match=r"--text: unknown column 'bodi'.*did you mean"):
        add("mine.csv", "stars", text="bodi", force=True)
    np.save("mine.npy", np.arange(12.0).reshape(4, 3))
    with pytest.raises(HarnessError, match=r"npy has none; formats with texts are csv"):
        add("mine.npy", text="0", name="other")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": {"column": "boddy"}}, r"text\.column: there is no column 'boddy'; the columns"),
        ({"text": {"column": "stars"}}, r"text\.column names stars, which is the target"),
        ({"text": {"column": "body", "by": "bag"}}, r"text\.by: .*'hashing' or 'tf-idf'"),
        ({"text": {"column": "body", "featurs": 9}}, r"unknown key 'text\.featurs'; did you mean"),
        ({"text": {"column": "body", "features": 10**8}}, r"text\.features: .*10000000"),
        ({"text": {"column": "body", "ngrams": [2, 1]}}, r"text\.ngrams: the fewest words come"),
        ({"scaling": "standard"}, r"fills the zeros of a sparse matrix"),
        ({"read": {"format": "svmlight"}}, r"format svmlight has none; formats with texts are"),
        ({"read": {"format": "texts"}}, r"format texts reads folders, and this is a file"),
        ({"read": {"format": "texts"}, "text": None}, r"format texts needs the key text"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(make_entry, change, message):
    if change.get("read") == {"format": "texts"} and "text" not in change:
        change = change | {"text": {"column": "text"}}
    with pytest.raises(HarnessError, match=message):
        load(make_entry(body("csv") | change, {"mine.csv": reviews(10).to_csv(index=False)}))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"body": "a b", "stars": "bad"}\n[1]\n', r"line 2 is no object"),
        ('{"body": "a b", "stars": "bad"}\n{"body": \n', r"line 2 is no JSON"),
        ('{"body": "a b", "stars": ["bad"]}\n', r"line 1: 'stars' is a list"),
        (
            '{"body": "...", "stars": "bad"}\n{"body": "", "stars": "good"}\n',
            r"no text has a word",
        ),
    ],
)
def test_lines_that_are_no_rows(make_entry, content, message):
    told = body("jsonl")
    told["read"].pop("nominal")
    with pytest.raises(HarnessError, match=message):
        load(make_entry(told, {"mine.jsonl": content}))


def test_json_lines_without_texts(make_entry):
    frame = reviews(20)[["price", "kind", "stars"]]
    told = body("jsonl") | {"text": None, "scaling": "none"}
    X, y = load(make_entry(told, {"mine.jsonl": lines(frame)}))
    np.testing.assert_array_equal(X[:, 0], frame["price"])
    np.testing.assert_array_equal(y, frame["stars"] == "good")
