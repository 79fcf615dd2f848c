"""Checksums of a published folder, and what is said of a folder that is none."""

import hashlib

import pytest
from click.testing import CliRunner

from harness.cli.main import main
from harness.errors import HarnessError
from harness.publishing.verifying import compare_checksums, verify


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "cards").mkdir()
    lines = []
    for name in ("trials.parquet", "cards/a.json"):
        (tmp_path / name).write_text(name)
        lines.append(f"{hashlib.sha256(name.encode()).hexdigest()}  {name}\n")
    (tmp_path / "SHA256SUMS").write_text("".join(lines))
    return tmp_path


def test_what_was_altered_is_named(folder):
    assert compare_checksums(folder) == ([], 2)
    (folder / "cards/a.json").write_text("other")
    (folder / "more").write_text("")
    altered, _ = compare_checksums(folder)
    assert altered[0].startswith("cards/a.json: was altered: expected sha256 ")
    assert altered[1] == "more: is not listed"
    (folder / "trials.parquet").unlink()
    assert compare_checksums(folder)[0][0] == "trials.parquet: is missing"


@pytest.mark.parametrize("line", ["nonsense", "a" * 64 + "  ../outside", "a" * 63 + "  x"])
def test_a_list_that_is_none(folder, line):
    (folder / "SHA256SUMS").write_text(line + "\n")
    with pytest.raises(HarnessError, match=r"SHA256SUMS: line 1 is not 'SHA256  FILE'"):
        compare_checksums(folder)


def test_no_row_of_an_altered_folder_is_run(folder):
    (folder / "cards/a.json").write_text("other")
    done = CliRunner().invoke(main, ["verify", str(folder)])
    assert done.exit_code == 1
    assert "cards/a.json: was altered" in done.output
    assert "no row was run again" in done.output


def test_a_folder_without_rows(tmp_path):
    with pytest.raises(HarnessError, match=r"holds no trials\.parquet: give a published folder"):
        verify(tmp_path, 3)
