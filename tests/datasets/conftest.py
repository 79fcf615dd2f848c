import gzip
from pathlib import Path

import pytest
import yaml

from harness import add
from harness.datasets import load_catalog
from harness.datasets.preparation import load


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HARNESS_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("HARNESS_MIRROR", raising=False)


@pytest.fixture
def make_entry(tmp_path):
    """Write a catalog with one entry called "mine" and return the entry."""

    def make(body: dict, files: dict[str, bytes | str] | None = None):
        for name, content in (files or {}).items():
            raw = content.encode() if isinstance(content, str) else content
            (tmp_path / name).write_bytes(raw)
        if files and "files" not in body:
            body = body | {"files": [{"path": name} for name in files]}
        path = tmp_path / "my-datasets.yaml"
        path.write_text(yaml.safe_dump({"mine": body}, sort_keys=False))
        return load_catalog([path]).entry("mine")

    return make


@pytest.fixture
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def added(tmp_path):
    """Write a file, add it, and return the entry with what it prepares to."""

    def added(content, target=None, file="mine.csv", **wishes):
        raw = content.encode() if isinstance(content, str) else content
        (tmp_path / file).write_bytes(raw)
        found = add(file, target, **wishes)
        entry = load_catalog()[found.name]
        return found, entry, *load(entry)

    return added


@pytest.fixture
def csv_body():
    return {
        "task": "binary",
        "n": 4,
        "d": 2,
        "classes": ["no", "yes"],
        "positive": "yes",
        "read": {"format": "csv"},
    }


CSV = "1,2,no\n3,4,yes\n5,6,no\n7,9,yes\n"


@pytest.fixture
def csv_text():
    return CSV


@pytest.fixture
def pack():
    return lambda text: gzip.compress(text.encode(), mtime=0)


@pytest.fixture
def leftovers():
    """Names in a folder, hidden ones included."""
    return lambda folder: sorted(path.name for path in Path(folder).iterdir())
