"""Folders that trials write to or map, and what is told of what they could reach."""

import os
import socket
import subprocess
import sys

import pytest

from harness.trial.reach import READABLE, isolation_told, mapped_folder, scratch_folder


def owner_that_is_gone():
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def test_what_a_killed_process_left_is_removed_and_what_others_hold_is_not(tmp_path):
    def folder(host, owner):
        path = tmp_path / f".rows-{host}-{owner}-x"
        path.mkdir()
        (path / "rows.npy").write_bytes(bytes(100))
        return path

    here, gone = socket.gethostname(), owner_that_is_gone()
    stale = folder(here, gone)
    held = [folder(here, os.getppid()), folder(f"{here}-other", gone), folder("elsewhere", gone)]
    with mapped_folder(tmp_path) as mine:
        assert not stale.exists()
        assert all(path.exists() for path in held)
        assert mine.parent == tmp_path
    assert not mine.exists()


def test_a_scratch_folder_lies_where_temporary_files_do(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with scratch_folder() as first, scratch_folder() as second:
        assert first != second
        assert {first.parent, second.parent} == {tmp_path}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("named", "isolation", "told"),
    [
        ("", "landlock-7", "landlock-7"),
        ("/opt/data", "landlock-7", "landlock-7; HARNESS_READABLE=/opt/data"),
        ("/opt/data", None, None),
    ],
)
def test_what_was_readable_besides_is_told(monkeypatch, named, isolation, told):
    monkeypatch.setenv(READABLE, named)
    assert isolation_told(isolation) == told
