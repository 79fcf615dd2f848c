"""What a machine is, once beside the results, joined with what rows say of it."""

import json

from harness.jobs import hosts
from harness.jobs.hosts import host_facts, join_hosts, record_host
from harness.jobs.provenance import environment_info


def test_facts_name_what_decides_times():
    facts = host_facts()
    around = environment_info()
    assert (facts["host"], facts["cpu"]) == (around["host"], around["cpu"])
    assert facts["threads"] >= (facts["cores"] or 1) >= 1
    assert facts["memory_bytes"] > 10**8
    assert "openblas" in facts["blas"] or facts["blas"]


def test_a_host_is_kept_once_and_again_when_it_has_changed(tmp_path, monkeypatch):
    monkeypatch.setattr(hosts.socket, "gethostname", lambda: "../odd host")
    record_host(tmp_path)
    (kept,) = tmp_path.rglob("*.json")
    assert kept == tmp_path / "hosts" / "_odd_host.json"
    first = kept.stat().st_ino
    record_host(tmp_path)
    assert kept.stat().st_ino == first
    monkeypatch.setattr(hosts, "host_facts", lambda: {"host": "h", "cpu": "new"})
    record_host(tmp_path)
    assert json.loads(kept.read_text())["cpu"] == "new"


def test_rows_and_facts_are_joined_by_host_and_cpu(tmp_path):
    (tmp_path / "hosts").mkdir()
    (tmp_path / "hosts/a.json").write_text('{"host": "a", "cpu": "x", "cores": 4}')
    (tmp_path / "hosts/b.json").write_text('{"host": "b", "cpu": "changed", "cores": 8}')
    (tmp_path / "hosts/c.json").write_text('{"host": "c"')
    joined = join_hosts(tmp_path, {("a", "x"): 2, ("b", "y"): 5, ("c", "z"): 1})
    assert joined == [
        {"host": "b", "cpu": "y", "trials": 5},
        {"host": "a", "cpu": "x", "trials": 2, "cores": 4},
        {"host": "c", "cpu": "z", "trials": 1},
    ]
