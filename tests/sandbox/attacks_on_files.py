"""Ways in which a method may try to alter files and its limits, or leave files behind."""

import contextlib
import os
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
from attack_target import LIBC, NOTE, EscapedError, check


def write_into_features(t):
    with t.features.open("r+b") as file:
        file.write(bytes(100))


def map_features_to_write(t):
    X = np.load(t.features, mmap_mode="r+")
    X[:] = 0


def unlink_features(t):
    t.features.unlink()


def truncate_features(t):
    os.truncate(t.features, 10)


def replace_features(t):
    other = t.features.with_name("other.npy")
    np.save(other, np.zeros((len(t.y), 3), np.float32))
    other.replace(t.features)


def replace_labels(t):
    np.save(t.labels, np.zeros(len(t.y), np.int64))


def write_through_a_descriptor_for_reading(t):
    with t.features.open("rb") as file, open(f"/proc/self/fd/{file.fileno()}", "r+b") as again:
        again.write(bytes(100))


def append_to_a_journal(t):
    with t.journal.open("ab") as file:
        file.write(b"{}\n")


def remove_results(t):
    shutil.rmtree(t.results)


def write_a_plugin(t):
    t.plugin.write_text("raise SystemExit")


def write_to_packages(t):
    Path(np.__file__).with_name("harness_attack.pth").write_text("import os")


def write_to_temporary_files_of_others(t):
    Path("/tmp", NOTE).write_text("x")


def write_a_setting_of_the_kernel(t):
    with open("/proc/sys/kernel/core_pattern", "r+") as file:
        file.write(file.read())
    raise EscapedError("may write settings of the kernel")


def set_the_clock(t):
    time.clock_settime(time.CLOCK_REALTIME, time.time())
    raise EscapedError("may set the clock")


def leave_its_group(t):
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, own = line.split(":", 2)
        if "memory" in controllers and "harness" in own:
            base = Path("/sys/fs/cgroup", controllers)
            (base / "cgroup.procs").write_text("0")
            raise EscapedError("left its memory cgroup")


def raise_its_groups_limit(t):
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, controllers, own = line.split(":", 2)
        if "memory" in controllers and "harness" in own:
            base = Path("/sys/fs/cgroup", controllers, own.lstrip("/"))
            (base / "memory.memsw.limit_in_bytes").write_text("-1")
            raise EscapedError("raised its own limit")


def places_of_notes(t):
    names = (tempfile.gettempdir(), "/tmp", "/var/tmp", "/dev/shm", ".", t.plugin.parent)
    return [Path(name, NOTE) for name in (*names, t.features.parent, t.results)]


def leave_notes(t):
    for place in places_of_notes(t):
        with contextlib.suppress(OSError):
            place.write_bytes(t.y.tobytes())
    if check(LIBC.shmget(0x6A7E, 4096, 0o1666)) >= 0:
        raise EscapedError("left shared memory (System V)")


def find_notes(t):
    found = [place for place in places_of_notes(t) if os.access(place, os.R_OK)]
    if found:
        raise EscapedError(f"found {found[0]}, left by an earlier trial")


def leave_a_locked_folder(t):
    folder = Path(tempfile.mkdtemp(), "a", "b")
    folder.mkdir(parents=True)
    (folder / "file").write_text("x")
    folder.chmod(0)
    folder.parent.chmod(0)


def leave_a_deep_folder(t):
    os.chdir(tempfile.mkdtemp())
    for _ in range(1500):
        os.mkdir("d")
        os.chdir("d")


def leave_many_files(t):
    folder = Path(tempfile.mkdtemp())
    for number in range(2000):
        (folder / str(number)).touch()


def leave_shared_memory(t):
    for number in range(10):
        Path("/dev/shm", f"{NOTE}-{number}").write_bytes(bytes(1000))
