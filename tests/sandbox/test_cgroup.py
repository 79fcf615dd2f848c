"""Finding a cgroup on machines that this one is not, described by a directory."""

import os

import pytest

from harness.errors import HarnessError
from harness.sandbox import Sandbox, backends, cgroup, doctor_text
from harness.sandbox.cgroup import (
    LEAF,
    Hierarchy,
    UnavailableError,
    find,
    move_to_leaf,
    prepare,
    slack,
)
from harness.sandbox.peaks import REFERENCE_COUNTS
from harness.sandbox.trial_cgroup import PREFIX, Group, Usage


@pytest.fixture
def machine(tmp_path):
    """Describe a machine: its mounts, the worker's groups, and files."""

    def describe(mounts, groups, files=()):
        proc = tmp_path / "proc/self"
        proc.mkdir(parents=True)
        lines = [
            f"{number} 1 0:{number} {within} {point} rw shared:1 - {kind} none rw,{options}"
            for number, (kind, within, point, options) in enumerate(mounts, start=20)
        ]
        (proc / "mountinfo").write_text("\n".join(lines) + "\n")
        (proc / "cgroup").write_text("\n".join(groups) + "\n")
        for path, text in dict(files).items():
            file = tmp_path / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return tmp_path

    return describe


def v2(machine, own="/user.slice/run.scope", within="/", controllers="cpu memory pids", **files):
    base = f"/sys/fs/cgroup{own}"
    return machine(
        [("cgroup2", within, "/sys/fs/cgroup", "nsdelegate")],
        [f"0::{own}"],
        {
            f"{base}/cgroup.procs": f"1\n{os.getpid()}\n",
            f"{base}/cgroup.controllers": controllers,
            f"{base}/cgroup.subtree_control": "",
            f"{base}/cgroup.type": "domain\n",
            f"{base}/memory.peak": "0\n",
            **{f"{base}/{name}": text for name, text in files.items()},
        },
    )


def test_v2_in_a_delegated_scope_must_move_to_a_leaf(machine):
    root = v2(machine)
    found = find(2, root)
    assert found == Hierarchy(2, root / "sys/fs/cgroup/user.slice/run.scope", crowded=True)
    assert found.name == "cgroup-v2"


def test_v2_below_a_group_that_was_prepared_uses_its_parent(machine):
    root = v2(machine, own=f"/run.scope/{LEAF}", controllers="")
    parent = root / "sys/fs/cgroup/run.scope"
    (parent / "cgroup.controllers").write_text("memory\n")
    (parent / "cgroup.subtree_control").write_text("memory\n")
    assert find(2, root) == Hierarchy(2, parent)


def test_v2_in_a_leaf_that_another_worker_is_filling_joins_in(machine):
    """Its parent has no controllers for its children before all processes have moved."""
    root = v2(machine, own=f"/run.scope/{LEAF}", controllers="")
    parent = root / "sys/fs/cgroup/run.scope"
    (parent / "cgroup.controllers").write_text("cpu memory\n")
    (parent / "cgroup.subtree_control").write_text("")
    (parent / "cgroup.type").write_text("domain\n")
    (parent / "memory.peak").write_text("0\n")
    assert find(2, root) == Hierarchy(2, parent, crowded=True)


def test_v2_follows_a_process_that_another_worker_moves(machine, monkeypatch):
    root = v2(machine, own=f"/run.scope/{LEAF}", controllers="")
    parent = root / "sys/fs/cgroup/run.scope"
    (parent / "cgroup.procs").write_text("1\n")
    (parent / "cgroup.controllers").write_text("memory\n")
    (parent / "cgroup.subtree_control").write_text("memory\n")
    read = cgroup._own_path
    answers = iter(["/run.scope"])
    monkeypatch.setattr(cgroup, "_own_path", lambda *given: next(answers, None) or read(*given))
    assert find(2, root) == Hierarchy(2, parent)


def test_v2_moves_everyone_to_the_leaf_and_asks_for_the_controller(machine):
    root = v2(machine)
    found = find(2, root)
    (found.base / LEAF).mkdir()
    (found.base / LEAF / "cgroup.procs").write_text("")
    move_to_leaf(found.base)
    assert (found.base / "cgroup.subtree_control").read_text() == "+memory"
    assert (found.base / LEAF / "cgroup.procs").read_text() == str(os.getpid())


def test_v2_moves_nobody_out_of_the_root_of_all_groups(machine):
    root = v2(machine, own="/")
    base = root / "sys/fs/cgroup"
    (base / "cgroup.type").unlink()
    assert find(2, root) == Hierarchy(2, base, crowded=False)


def test_v2_without_a_mark_of_what_a_tree_held_is_not_taken(machine):
    root = v2(machine)
    scope = root / "sys/fs/cgroup/user.slice/run.scope"
    (scope / "memory.peak").unlink()  # before Linux 5.19
    with pytest.raises(UnavailableError, match="no high-water mark") as caught:
        find(2, root)
    assert caught.value.remedy == "Linux 5.19"
    (scope / "cgroup.type").unlink()  # the root of all groups has no mark of its own
    with pytest.raises(UnavailableError, match="no high-water mark"):
        prepare(find(2, root))


def test_v2_without_a_memory_controller_says_how_to_get_one(machine):
    with pytest.raises(UnavailableError, match="has no memory controller") as caught:
        find(2, v2(machine, controllers="cpu io"))
    assert "systemd-run --user --scope -p Delegate=yes" in caught.value.remedy


def test_a_path_that_does_not_hold_this_process_is_not_believed(machine):
    root = v2(machine, **{"cgroup.procs": "1\n2\n"})
    with pytest.raises(UnavailableError, match="does not hold this process"):
        find(2, root)


def test_v1_is_found_among_other_controllers_and_below_a_mount_root(machine):
    root = machine(
        [
            ("cgroup", "/", "/sys/fs/cgroup/cpu", "cpu"),
            ("cgroup", "/docker/abc", "/sys/fs/cgroup/memory", "memory"),
        ],
        ["5:cpu:/docker/abc/job", "4:memory:/docker/abc/job", "0::/"],
        {"/sys/fs/cgroup/memory/job/cgroup.procs": f"{os.getpid()}\n"},
    )
    assert find(1, root) == Hierarchy(1, root / "sys/fs/cgroup/memory/job")


def test_a_machine_without_cgroups_has_two_other_backends(machine):
    root = machine([("tmpfs", "/", "/tmp", "size=1")], ["0::/"])
    reports = {report.name: report for report in backends(root)}
    assert list(reports) == ["cgroup-v2", "cgroup-v1", "rlimit-data", "watch"]
    for name in ("cgroup-v1", "cgroup-v2"):
        assert not reports[name].available
        assert "mounted" in reports[name].reason
        assert reports[name].remedy
    assert reports["watch"].available
    with Sandbox(root=root) as sandbox:
        assert sandbox.backend == next(r.name for r in reports.values() if r.available)
    with pytest.raises(HarnessError, match="'cgroup-v1' is not available: no memory controller"):
        Sandbox("cgroup-v1", root=root)
    text = doctor_text(reports.values())
    assert text.count("not available") == 2
    assert text.count("used by default") == 1
    assert reports["cgroup-v2"].remedy in text


def test_a_group_is_read_as_its_version_writes_it(tmp_path):
    first, second = tmp_path / "v1", tmp_path / "v2"
    for path in (first, second):
        path.mkdir()
    (first / "memory.max_usage_in_bytes").write_text("90\n")
    (first / "memory.stat").write_text("cache 1\ntotal_cache 50\ntotal_shmem 20\ntotal_rss 9\n")
    (first / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n")
    (second / "memory.peak").write_text("90\n")
    (second / "memory.stat").write_text("anon 9\nfile 50\nshmem 20\n")
    (second / "memory.events").write_text("max 7\noom 1\noom_kill 0\n")
    one, two = Group(1, first), Group(2, second)
    assert one.usage() == two.usage() == Usage(peak=90, cache=30, shared=20)
    assert one.usage().held_at_most == 60
    assert one.killed_for_memory()
    assert not two.killed_for_memory()
    (second / "memory.peak").unlink()  # before Linux 5.19
    assert two.usage() is None


def test_a_v2_limit_covers_swap_and_ends_the_whole_group(tmp_path):
    Group(2, tmp_path).limit(123)
    written = {file.name: file.read_text() for file in tmp_path.iterdir()}
    assert written == {"memory.max": "123", "memory.swap.max": "0", "memory.oom.group": "1"}


def test_a_group_lets_the_clean_error_come_first():
    for budget in (1_000_000, 100_000_000, 10_000_000_000):
        assert REFERENCE_COUNTS < slack(budget) < REFERENCE_COUNTS + 1_000_000 + budget // 40


@pytest.mark.parametrize("version", [1, 2])
def test_groups_of_dead_workers_are_removed(clients, version):
    sandbox = clients(f"cgroup-v{version}")
    assert sandbox.run("nothing").outcome == "ok"
    hierarchy = find(version)
    pid = os.spawnlp(os.P_NOWAIT, "true", "true")
    os.waitpid(pid, 0)
    stale = hierarchy.base / f"{PREFIX}{pid}-1"
    stale.mkdir()
    prepare(hierarchy)
    assert not stale.exists()
