"""Formulas that come with the harness: of its own methods, after what is measured here."""

import dataclasses
import json

import pytest

from harness.errors import HarnessError
from harness.planning.learned.envelope import Envelope, Term
from harness.planning.learned.general import with_known_storage
from harness.planning.learned.kept import kept_path, write_runs
from harness.planning.learned.model import EXTRAPOLATED, MEASURED, Fitted, LearnedStorage
from harness.planning.learned.runs import GENERATED, Run
from harness.planning.learned.shipped import ShippedStorage, read_shipped, shipped_storage
from harness.plugin.index import method_entry, read_index
from harness.plugin.registry import Registry
from harness.plugin.shape import Shape

SHAPE = Shape(400, 0, 20, 4)


@pytest.fixture(scope="module")
def index():
    return read_index()


@pytest.fixture(scope="module")
def methods():
    learned = (method for method, _ in Registry.load().items("methods") if method.learns_storage)
    return {method.name: method for method in learned}


def test_every_method_without_a_storage_model_has_one(methods):
    assert read_shipped().keys() == methods.keys()


def test_what_is_held_grows_with_every_count(methods):
    more = [{"n_labeled": 800}, {"n_features": 40}, {"n_classes": 8}]
    for name, shipped in read_shipped().items():
        size = 50 if methods[name].size else None
        peaks = [
            max(shipped(dataclasses.replace(SHAPE, **change), size).peaks)
            for change in ({}, *more)
        ]
        assert all(peak >= peaks[0] for peak in peaks), name
        assert peaks[0] > SHAPE.data_bytes / 10, name


def test_it_says_where_nothing_was_measured():
    shipped = read_shipped()["random-forest"]
    wide = dataclasses.replace(SHAPE, n_features=100_000)
    assert shipped.covers(SHAPE, 50)
    assert next(iter(shipped(SHAPE, 50).fit)).startswith(MEASURED)
    assert next(iter(shipped(wide, 50).fit)).startswith(EXTRAPOLATED)
    assert not shipped.covers(wide, 50)


def test_what_is_written_is_read():
    terms = ((Term(()), 1e5), (Term(("n", "d"), True), 1.5), (Term(("block", "d")), 2.0))
    fitted = Fitted((Envelope(terms[:2]), Envelope(terms)), 0.1, 0.02, 0.01, (), True)
    shipped = ShippedStorage(fitted, (5_000, 400, 20, 4, 8, 0), 7, {"scikit-learn": "1.9"})
    assert ShippedStorage.of_dict(json.loads(json.dumps(shipped.as_dict()))) == shipped


def test_a_method_of_the_same_name_is_measured(index, tmp_path):
    entry = method_entry(index, "knn")
    assert shipped_storage(entry) is not None
    assert shipped_storage(entry | {"plugin_path": str(tmp_path / "knn.py")}) is None


def test_what_was_measured_here_comes_first(index, methods, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    known = with_known_storage(index, methods["knn"])
    assert isinstance(known.storage, ShippedStorage)
    run = Run(GENERATED, SHAPE, None, 0, "ok", "", 2_000_000, 2_000_000, 0.1)
    write_runs([run], kept_path(method_entry(index, "knn"), index["harness"], {}))
    here = with_known_storage(index, methods["knn"])
    assert isinstance(here.storage, LearnedStorage)


@pytest.mark.parametrize("text", ["", "[]", '{"knn": {}}'])
def test_a_damaged_file_is_told(index, tmp_path, text):
    (tmp_path / "shipped.json").write_text(text)
    with pytest.raises(HarnessError, match=r"shipped\.json: cannot be read"):
        shipped_storage(method_entry(index, "knn"), tmp_path / "shipped.json")
