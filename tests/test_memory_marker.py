"""What the marker `memory` does with a test that fails."""

import shutil
import subprocess
import sys
from pathlib import Path

TESTS = """
import pytest

said = {"passes": "100", "errs": "011", "fails": "010"}
answers = {name: iter(passes) for name, passes in said.items()}


@pytest.mark.memory
@pytest.mark.parametrize("name", answers)
def test_measured(name):
    assert next(answers[name]) == "1"


def test_of_another_kind():
    assert next(answers["passes"]) == "1"
"""


def test_the_middle_of_three_answers_counts(tmp_path):
    shutil.copy(Path(__file__).with_name("conftest.py"), tmp_path)
    (tmp_path / "test_inner.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "ignore"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    failed = [line for line in done.stdout.splitlines() if line.startswith("FAILED")]
    names = [line.split("::")[1].split(" ")[0] for line in failed]
    assert names == ["test_measured[fails]", "test_of_another_kind"], done.stdout
    assert "2 failed, 2 passed" in done.stdout
