"""A study file that a test changes."""

import pytest
import yaml

BASE = {
    "datasets": ["a9a", "w8a"],
    "methods": ["clusk", {"nysck": {"variant": "literal"}, "as": "literal"}],
    "labeled": [100, 0.1],
    "budgets": ["20MB", "none", "640 landmarks"],
    "seeds": 7,
}


@pytest.fixture
def write(tmp_path):
    def write(**changes):
        content = {key: value for key, value in (BASE | changes).items() if value is not None}
        path = tmp_path / "study.yaml"
        path.write_text(yaml.safe_dump(content))
        return path

    return write
