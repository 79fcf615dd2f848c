"""Names that become paths stay below their folder; what is written appears whole."""

import os
import subprocess
import sys
import time

import pytest

from harness import files
from harness.errors import HarnessError
from harness.files import (
    below,
    folder_sha256,
    is_file,
    not_in_future,
    remove_left,
    temporary_beside,
    why_no_path,
    write_whole,
)

OUTSIDE = [
    "/etc/passwd",
    "..",
    "../x",
    "a/../../x",
    "a/..",
    ".",
    "",
    "a//b",
    "a/",
    "a\\..\\b",
    "a\0b",
    "a\nb",
    "\ud800",
    "x" * 256,
    "/".join(["x" * 200] * 11),
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_names_that_lead_elsewhere_are_refused(tmp_path, name):
    assert why_no_path(name)
    with pytest.raises(HarnessError, match=f"names nothing below {tmp_path}: it"):
        below(tmp_path, name)


@pytest.mark.parametrize(
    "name", ["x", "a/b.c", "..x", "a..b/x", ".hidden", "x" * 255, "ü/é", "a b"]
)
def test_names_below_are_joined(tmp_path, name):
    assert why_no_path(name) == ""
    assert below(tmp_path, name) == tmp_path / name


def test_links_that_lead_out_are_refused_and_a_linked_folder_is_not(tmp_path):
    kept, outside = tmp_path / "kept", tmp_path / "outside"
    kept.mkdir()
    outside.mkdir()
    (kept / "out").symlink_to(outside)
    (kept / "round").symlink_to("round")
    (kept / "in").symlink_to(kept)
    (tmp_path / "linked").symlink_to(kept)
    for name in ("out", "out/x", "in/out/x"):
        with pytest.raises(HarnessError, match=f"a symbolic link leads out of {kept}"):
            below(kept, name)
    with pytest.raises(HarnessError, match="cannot be followed"):
        below(kept, "round/x")
    assert below(kept, "in/x") == kept / "in" / "x"
    assert below(tmp_path / "linked", "x") == tmp_path / "linked" / "x"


def test_only_regular_files_are_files(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    found = [is_file(tmp_path / name) for name in ("file", "pipe", ".", "x" * 300, "a\0b")]
    assert found == [True, False, False, False, False]


def test_a_file_that_cannot_be_written_leaves_what_was_there(tmp_path):
    path = tmp_path / "new" / "file"
    write_whole("a lone \ud800", path)
    assert path.read_text() == "a lone \\ud800"
    write_whole(b"\xff", path)
    assert path.read_bytes() == b"\xff"
    (tmp_path / "folder").mkdir()
    for place in (tmp_path / "folder", path / "x", tmp_path / ("x" * 300)):
        with pytest.raises(HarnessError, match="cannot be written: "):
            write_whole("x", place)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["file", "folder", "new"]


def test_a_link_is_replaced_and_what_it_led_to_is_not_touched(tmp_path):
    (tmp_path / "theirs").write_text("theirs")
    (tmp_path / "link").symlink_to(tmp_path / "theirs")
    write_whole("ours", tmp_path / "link")
    assert (tmp_path / "theirs").read_text() == "theirs"
    assert (tmp_path / "link").read_text() == "ours"


def test_names_for_a_while_are_of_no_other_process(tmp_path):
    path = tmp_path / "rows.jsonl"
    names = {temporary_beside(path).name for _ in range(100)}
    assert len(names) == 100
    assert all(name.startswith(f".{os.uname().nodename}-{os.getpid()}-") for name in names)


def test_what_a_clock_ahead_has_written_is_of_now_and_nothing_else_is_touched(tmp_path):
    ahead, earlier = tmp_path / "ahead", tmp_path / "earlier"
    for path, then in ((ahead, time.time() + 90_000), (earlier, 1000.0)):
        path.write_bytes(b"x")
        os.utime(path, (then, then))
    not_in_future([ahead, earlier, tmp_path / "gone"])
    assert time.time() - 60 < ahead.stat().st_mtime <= time.time() + 1
    assert earlier.stat().st_mtime == 1000.0


def left_by_a_dead_process(path):
    code = "import sys; from pathlib import Path; from harness.files import temporary_beside\n"
    code += "print(temporary_beside(Path(sys.argv[1])))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True
    )
    return path.with_name(done.stdout.strip().rpartition("/")[2])


def test_what_killed_processes_left_goes_and_nothing_else(tmp_path):
    dead, folder, mine, theirs, old, other = paths = [
        left_by_a_dead_process(tmp_path / "rows.jsonl"),
        left_by_a_dead_process(tmp_path / "data"),
        temporary_beside(tmp_path / "rows.jsonl"),
        tmp_path / ".other-node-7-1234abcd.part",
        tmp_path / ".old-node-7-1234abcd.part",
        tmp_path / ".download.part",
    ]
    folder.mkdir()
    (folder / "X.npy").write_bytes(b"x")
    for path in (dead, mine, theirs, old, other):
        path.write_bytes(b"x")
    yesterday = time.time() - 90_000
    for path in (old, mine, other):
        os.utime(path, (yesterday, yesterday))
    remove_left([*paths, tmp_path / "rows.jsonl", tmp_path / ".gone-7-1234abcd.part"])
    assert sorted(tmp_path.iterdir()) == sorted([mine, theirs, other])


def test_a_folder_is_read_again_only_after_a_file_changed(tmp_path, monkeypatch):
    folder = tmp_path / "texts"
    (folder / "a").mkdir(parents=True)
    (folder / "a/1.txt").write_text("one")
    monkeypatch.setattr("harness.files._SETTLED_NS", 0)
    first = folder_sha256(folder)
    read = []
    contents = files._contents_sha256
    monkeypatch.setattr(files, "_contents_sha256", lambda at: read.append(at) or contents(at))
    assert (folder_sha256(folder), read) == (first, [])
    time.sleep(0.02)
    (folder / "a/1.txt").write_text("two")
    second = folder_sha256(folder)
    assert second != first
    assert len(read) == 1
    (folder / "a/2.txt").symlink_to(tmp_path / "nowhere")
    assert folder_sha256(folder) == folder_sha256(folder) == second  # it is no file
    assert len(read) == 3  # and of a folder that cannot be looked through nothing is kept


def test_what_changed_just_now_is_read_again(tmp_path):
    (tmp_path / "1.txt").write_text("one")
    first = folder_sha256(tmp_path)
    state = (tmp_path / "1.txt").stat()
    (tmp_path / "1.txt").write_text("two")
    os.utime(tmp_path / "1.txt", ns=(state.st_atime_ns, state.st_mtime_ns))
    assert folder_sha256(tmp_path) != first
