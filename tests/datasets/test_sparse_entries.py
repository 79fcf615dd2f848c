"""Entries that say `sparse: true`: what is read, scaled, counted, prepared and refused."""

import io

import numpy as np
import pytest
from scipy.io import savemat
from scipy.sparse import csr_matrix, load_npz, random_array, save_npz
from sklearn.datasets import dump_svmlight_file

from harness import GeneratedDataset, add
from harness.datasets import Meta, load_catalog, prepare
from harness.datasets.entry import generated_entry
from harness.errors import HarnessError
from harness.plugin.shape import csr_bytes

N, D = 60, 20
X = csr_matrix(random_array((N, D), density=0.15, rng=0))
X.data -= 0.5
Y = np.arange(N) % 2
BODY = {"task": "binary", "positive": 1, "classes": [0, 1], "sparse": True}


def svmlight():
    text = io.BytesIO()
    dump_svmlight_file(X, Y, text, zero_based=False)
    return text.getvalue()


def mat(**matrices):
    raw = io.BytesIO()
    savemat(raw, matrices)
    return raw.getvalue()


def scipy_npz():
    raw, X_only = io.BytesIO(), io.BytesIO()
    save_npz(X_only, X, compressed=False)
    X_only.seek(0)
    np.savez(raw, y=Y, **np.load(X_only))
    return raw.getvalue()


SOURCES = {
    "svmlight": ({"format": "svmlight"}, "mine.svm", svmlight),
    "mat": ({"format": "mat", "y": "y"}, "mine.mat", lambda: mat(X=X, y=Y)),
    "npz": ({"format": "npz"}, "mine.npz", scipy_npz),
    "csv": (
        {"format": "csv"},
        "mine.csv",
        lambda: "\n".join(
            ",".join(map(str, row)) for row in np.column_stack([X.toarray(), Y]).tolist()
        ).encode(),
    ),
}


@pytest.mark.parametrize("kind", SOURCES)
@pytest.mark.parametrize("scaling", ["none", "unit", "maxabs"])
def test_sparse_and_dense_are_the_same_numbers(make_entry, tmp_path, kind, scaling):
    read, name, content = SOURCES[kind]
    body = BODY | {"read": read, "scaling": scaling, "d": D, "n": N}
    files = {name: content()}
    sparse = make_entry(body, files)
    meta = prepare(sparse, tmp_path / "sparse")
    prepare(make_entry(body | {"sparse": False}, files), tmp_path / "dense")
    found = load_npz(tmp_path / "sparse" / "X.npz")
    np.testing.assert_allclose(found.toarray(), np.load(tmp_path / "dense" / "X.npy"), rtol=1e-15)
    assert meta == Meta.read(tmp_path / "sparse")
    meta.verify(tmp_path / "sparse")
    assert meta.nnz == found.nnz == X.nnz
    assert sparse.data_bytes == csr_bytes(N, X.nnz)
    assert sparse.directory.endswith(".csr")
    assert not (tmp_path / "sparse" / "X.npy").exists()


def test_nonzeros_are_counted_or_compared(make_entry):
    read, name, content = SOURCES["svmlight"]
    files = {name: content()}
    assert make_entry(BODY | {"read": read}, files).nnz == X.nnz
    told = {"n": N, "d": D, "nnz": X.nnz + 1, "read": read, "classes": {0: N // 2, 1: N // 2}}
    entry = make_entry(BODY | told, files)
    with pytest.raises(
        HarnessError, match=rf"found {X.nnz} nonzeros, the catalog says {X.nnz + 1}"
    ):
        prepare(entry, entry.files[0].path.parent / "prepared")


@pytest.mark.parametrize("scaling", ["standard", "minmax", "whiten"])
def test_a_scaling_that_fills_zeros_is_refused(make_entry, scaling):
    read, name, content = SOURCES["svmlight"]
    with pytest.raises(HarnessError) as refused:
        make_entry(BODY | {"read": read, "scaling": scaling}, {name: content()})
    told = str(refused.value)
    assert "my-datasets.yaml: mine: " in told
    assert f"scaling is {scaling}, which fills the zeros of a sparse matrix" in told
    assert "`sparse: true` it is one of none, unit, maxabs" in told


def test_nnz_of_dense_data_is_refused(make_entry):
    with pytest.raises(HarnessError, match="nnz is a count of sparse data: add `sparse: true`"):
        make_entry(
            BODY | {"sparse": False, "nnz": 3, "read": {"format": "svmlight"}},
            {"mine.svm": svmlight()},
        )


def test_gaps_are_dropped_or_refused(make_entry, tmp_path):
    read = {"format": "svmlight"}
    files = {"mine.svm": b"1 1:2 3:nan\n0 2:1\n1 4:1\n0 1:3\n"}
    entry = make_entry(BODY | {"read": read, "d": 4, "n": 4, "nnz": 5}, files)
    with pytest.raises(HarnessError, match=r"in row 0 .*allowed is `missing: drop`"):
        prepare(entry, tmp_path / "refused")
    entry = make_entry(BODY | {"read": read, "d": 4, "raw_n": 4, "missing": "drop"}, files)
    assert (entry.n, entry.nnz) == (3, 3)


def test_zeros_that_cannot_be_held(make_entry):
    lines = b"1 1:2 9999999:1\n0 2:1\n" * 50_000
    body = BODY | {"sparse": False, "read": {"format": "svmlight"}, "n": 100_000, "d": 9_999_999}
    with pytest.raises(HarnessError, match=r"8 TB with all zeros.*write `sparse: true`"):
        prepare(make_entry(body, {"mine.svm": lines}), "never")


def test_a_plugin_may_generate_one(tmp_path):
    made = GeneratedDataset("mine", lambda rng: (X, Y), "binary", N, D, 2, nnz=X.nnz)
    entry = generated_entry(made)
    assert prepare(entry, tmp_path / "mine").nnz == X.nnz
    assert (
        entry.digest
        != generated_entry(GeneratedDataset("mine", lambda rng: (X, Y), "binary", N, D, 2)).digest
    )


def test_a_sparse_matrix_is_added_as_one(tmp_path):
    path = tmp_path / "mine.npz"
    path.write_bytes(scipy_npz())
    found = add(path, catalog=tmp_path / "datasets.yaml")
    assert found.body["sparse"] is True
    assert (found.body["nnz"], found.body["scaling"]) == (X.nnz, "maxabs")
    assert any("% is not zero: kept as a sparse matrix" in told for told in found.told)
    assert prepare(load_catalog([tmp_path / "datasets.yaml"])["mine"], tmp_path / "p").nnz == X.nnz


@pytest.mark.parametrize(("columns", "sparse"), [(9_000_000, True), (900, False)])
def test_text_of_lines_is_kept_sparse_where_its_zeros_would_be_large(tmp_path, columns, sparse):
    path = tmp_path / "mine.svm"
    path.write_text(f"1 1:2 {columns}:1\n0 2:1\n" * 10)
    found = add(path, catalog=tmp_path / "datasets.yaml")
    assert found.body.get("sparse", False) is sparse
