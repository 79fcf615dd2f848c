import bz2
import errno
import gzip
import hashlib
import lzma
import os
import shutil
import threading
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from harness.datasets import load_catalog, missing_bytes
from harness.datasets.fetching import fetch, open_unpacked
from harness.errors import HarnessError

TEXT = b"1,2,no\n3,4,yes\n5,6,no\n7,9,yes\n"
SHA = hashlib.sha256(TEXT).hexdigest()
PACKERS = {".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress, "": bytes}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        body = self.server.pages.get(self.path)
        if self.server.failures > 0:
            self.server.failures -= 1
            body = None
        self.send_response(200 if body is not None else 503)
        self.send_header("Content-Length", str(len(body or b"")))
        self.end_headers()
        self.wfile.write(body or b"")

    def log_message(self, *args):
        pass


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr("pooch.core.time.sleep", lambda seconds: None)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.pages, server.asked, server.failures = {}, [], 0
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=partial(server.serve_forever, poll_interval=0.01))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def remote(make_entry, csv_body, server):
    def make(urls=("/x.csv",), **file):
        file = {"name": "x.csv", "sha256": SHA, "bytes": len(TEXT)} | file
        return make_entry(csv_body | {"files": [file | {"urls": [server.url + u for u in urls]}]})

    return make


def cached(tmp_path):
    return tmp_path / "cache" / "mine" / "x.csv"


@pytest.mark.parametrize("packing", PACKERS)
def test_downloads_verify_plain_or_packed_and_are_kept(remote, server, tmp_path, packing):
    server.pages["/x.csv" + packing] = PACKERS[packing](TEXT)
    entry = remote(["/x.csv" + packing])
    assert missing_bytes(entry) == len(TEXT)
    (path,) = fetch(entry)
    with open_unpacked(path) as stream:
        assert stream.read() == TEXT
    assert missing_bytes(entry) == 0
    assert fetch(entry) == [path] == [cached(tmp_path)]
    assert len(server.asked) == 1


def test_a_checksum_of_the_download_itself_will_do(remote, server):
    server.pages["/x.csv"] = gzip.compress(TEXT, mtime=0)
    packed = hashlib.sha256(server.pages["/x.csv"]).hexdigest()
    assert fetch(remote(sha256=None, packed_sha256=packed))
    server.pages["/x.csv"] = gzip.compress(TEXT, mtime=1)
    with pytest.raises(HarnessError, match=f"expected sha256 {packed}"):
        fetch(remote(["/x.csv"], name="y.csv", sha256=None, packed_sha256=packed))


def test_a_failing_server_is_asked_again(remote, server):
    server.pages["/x.csv"], server.failures = TEXT, 2
    assert fetch(remote())
    assert len(server.asked) == 3


def test_the_next_address_is_tried_and_all_failures_are_told(remote, server, tmp_path):
    server.pages |= {"/altered": TEXT.replace(b"9", b"8"), "/good": TEXT}
    assert fetch(remote(["/gone", "/altered", "/good"]))
    shutil.rmtree(tmp_path / "cache")
    found = hashlib.sha256(server.pages["/altered"]).hexdigest()
    with pytest.raises(HarnessError, match=r"'mine': x.csv could not be fetched") as caught:
        fetch(remote(["/gone", "/altered"]))
    assert "/gone: the server answers 503" in str(caught.value)
    assert f"expected sha256 {SHA}, found {found} (truncated or altered" in str(caught.value)
    assert not cached(tmp_path).exists()


@pytest.mark.parametrize("packing", [".gz", ".bz2", ".xz"])
def test_a_truncated_archive_is_removed(remote, server, tmp_path, packing):
    server.pages["/x.csv"] = PACKERS[packing](TEXT)[:-10]
    with pytest.raises(HarnessError, match="found a damaged archive"):
        fetch(remote())
    assert not cached(tmp_path).exists()


def test_a_corrupt_cache_file_is_fetched_again(remote, server, tmp_path, caplog):
    server.pages["/x.csv"] = TEXT
    cached(tmp_path).parent.mkdir(parents=True)
    cached(tmp_path).write_bytes(TEXT[:-3])
    (path,) = fetch(remote())
    assert path.read_bytes() == TEXT
    assert "fetching it again" in caplog.text


def test_the_mirror_comes_first_and_a_corrupt_one_is_refused(
    remote, server, tmp_path, monkeypatch
):
    monkeypatch.setenv("HARNESS_MIRROR", str(tmp_path / "mirror"))
    kept = tmp_path / "mirror" / "mine" / "x.csv.gz"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(gzip.compress(TEXT))
    entry = remote()
    assert missing_bytes(entry) == 0
    assert fetch(entry) == [kept]
    kept.write_bytes(gzip.compress(TEXT[1:]))
    with pytest.raises(HarnessError, match=r"x\.csv\.gz: expected sha256 .* replace it in"):
        fetch(entry)
    assert kept.exists()
    assert not server.asked


def test_no_network_is_one_message(remote, server):
    entry = remote()
    server.shutdown()
    server.server_close()
    with pytest.raises(
        HarnessError, match=r"http://127\.0\.0\.1.*: the connection is ref.*; without a"
    ):
        fetch(entry)


def test_a_file_only_mirrors_have_says_so():
    with pytest.raises(HarnessError, match=r"fashion_mnist/fashion-all-images-idx3-ubyte and set"):
        fetch(load_catalog()["fashion_mnist"])


def test_a_full_disk_or_a_forbidden_cache_is_told(remote, server, monkeypatch, tmp_path):
    def no_space(self, url, output_file, pooch):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("pooch.HTTPDownloader.__call__", no_space)
    with pytest.raises(HarnessError, match=r"x\.csv: the download \(30 B\) cannot be kept: No"):
        fetch(remote())
    assert not cached(tmp_path).exists()
    blocked = tmp_path / "a-file"
    blocked.write_text("")
    monkeypatch.setenv("HARNESS_CACHE", str(blocked / "cache"))
    with pytest.raises(HarnessError, match="HARNESS_CACHE names another folder"):
        fetch(remote())


def test_a_local_file_is_checked_too(make_entry, csv_body):
    entry = make_entry(csv_body | {"files": [{"path": "x.csv", "sha256": SHA}]}, {"x.csv": TEXT})
    assert [path.name for path in fetch(entry)] == ["x.csv"]
    Path(entry.files[0].path).write_bytes(TEXT[1:])
    with pytest.raises(HarnessError, match=r"x\.csv: expected sha256 .* correct the file"):
        fetch(entry)
    Path(entry.files[0].path).unlink()
    with pytest.raises(HarnessError, match=r"x\.csv: there is no such file"):
        fetch(entry)


def test_without_a_checksum_the_found_one_is_logged(remote, server, caplog):
    server.pages["/x.csv"] = TEXT
    assert fetch(remote(sha256=None))
    assert SHA in caplog.text


def test_a_cache_that_cannot_be_mended_is_told(remote, server, monkeypatch, tmp_path):
    server.pages["/x.csv"] = TEXT
    cached(tmp_path).parent.mkdir(parents=True)
    cached(tmp_path).write_bytes(TEXT[:-3])

    def refuse(path, target):
        raise OSError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "rename", refuse)
    with pytest.raises(HarnessError, match=r"cache/mine/x\.csv: .* cannot be kept: Permission"):
        fetch(remote())
    assert cached(tmp_path).read_bytes() == TEXT[:-3]


OUTSIDE = ["/etc/hostname", "../../theirs", "mine/../../theirs", "..", "a\nb"]


@pytest.mark.parametrize("key", ["mirror", "name"])
@pytest.mark.parametrize("place", OUTSIDE)
def test_a_place_outside_mirror_and_cache_is_refused_with_its_key(remote, server, key, place):
    with pytest.raises(HarnessError, match=rf"mine: files\.0\.{key}: names no file of a mirror"):
        remote(**{key: place})


def test_a_link_out_of_the_cache_is_refused_and_nothing_there_is_touched(remote, tmp_path, server):
    server.pages["/x.csv"] = TEXT
    theirs = tmp_path / "theirs" / "x.csv"
    theirs.parent.mkdir()
    theirs.write_text("theirs")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "mine").symlink_to(theirs.parent)
    with pytest.raises(HarnessError, match=r"a symbolic link leads out of .*cache"):
        fetch(remote())
    assert [path.read_text() for path in theirs.parent.iterdir()] == ["theirs"]
    assert not server.asked


@pytest.mark.parametrize("pages", [{}, {"/x.csv": TEXT[1:]}])
def test_a_download_that_fails_leaves_what_was_there(remote, server, tmp_path, pages):
    server.pages |= pages
    cached(tmp_path).parent.mkdir(parents=True)
    cached(tmp_path).write_bytes(b"of somebody")
    with pytest.raises(HarnessError, match=r"x\.csv could not be fetched"):
        fetch(remote())
    assert [p.read_bytes() for p in cached(tmp_path).parent.iterdir()] == [b"of somebody"]


def test_a_file_with_other_bytes_is_kept_beside_the_right_one(remote, server, tmp_path):
    server.pages["/x.csv"] = TEXT
    cached(tmp_path).parent.mkdir(parents=True)
    cached(tmp_path).write_bytes(b"of somebody")
    assert fetch(remote()) == [cached(tmp_path)]
    aside = f"x.csv.{hashlib.sha256(b'of somebody').hexdigest()[:12]}"
    found = {path.name: path.read_bytes() for path in cached(tmp_path).parent.iterdir()}
    assert found == {"x.csv": TEXT, aside: b"of somebody"}


def test_addresses_that_are_none_are_told(remote):
    entry = remote()
    file = entry.files[0].model_copy(update={"urls": ("http://[", "file:///etc/passwd")})
    told = r"could not be fetched: http.*; file:///etc/passwd"
    with pytest.raises(HarnessError, match=told):
        fetch(entry.model_copy(update={"files": (file,)}))


def test_a_pipe_is_no_local_file(make_entry, csv_body, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    entry = make_entry(csv_body | {"files": [{"path": "pipe"}]})
    for ask in (fetch, lambda entry: entry.digest):
        with pytest.raises(HarnessError, match=r"pipe.*there is no such file"):
            ask(entry)
