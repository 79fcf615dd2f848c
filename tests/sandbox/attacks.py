"""Ways in which a method may try to read labels, alter files, reach processes or stay behind.

Each takes a `Target` and returns labels of all points where it found them. One that fails raises
what it was refused with. Its name is what a test reports.
"""

import contextlib
import ctypes
import errno
import fcntl
import gc
import mmap
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

LIBC = ctypes.CDLL(None, use_errno=True)
LABELED = 40
NOTE = "harness-attack-note"


@dataclass
class Target:
    """Where things lie; a method finds its features' path in its own memory."""

    y: np.ndarray  # of fit
    features: Path
    mirror: Path
    results: Path
    plugin: Path
    port: int

    @property
    def labels(self):
        return self.features.with_name("y.npy")

    @property
    def journal(self):
        return self.results / "journal.jsonl"

    @property
    def runner(self):
        return os.getppid()

    @property
    def worker(self):
        return int(Path(f"/proc/{self.runner}/stat").read_text().rpartition(")")[2].split()[1])


def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


# labels


def open_by_path(t):
    return np.load(t.labels)


def open_after_chdir(t):
    os.chdir(t.labels.parent)
    return np.load("y.npy")


def open_through_a_symbolic_link(t):
    link = Path(tempfile.mkdtemp(), "y.npy")
    link.symlink_to(t.labels.resolve())
    return np.load(link)


def open_through_a_hard_link(t):
    link = Path(tempfile.mkdtemp(), "y.npy")
    os.link(t.labels, link)
    return np.load(link)


def rename_to_own_folder(t):
    moved = Path(tempfile.mkdtemp(), "y.npy")
    t.labels.rename(moved)
    return np.load(moved)


def open_through_cwd_of(t, pid):
    return np.load(f"/proc/{pid}/cwd/{t.labels}")


def open_through_the_runners_cwd(t):
    return open_through_cwd_of(t, t.runner)


def open_through_the_workers_cwd(t):
    return open_through_cwd_of(t, t.worker)


def open_through_the_workers_root(t):
    return np.load(f"/proc/{t.worker}/root{t.labels.resolve()}")


def open_through_own_root(t):
    return np.load(f"/proc/self/root{t.labels.resolve()}")


def read_descriptors_of(t, pid):
    found = None
    for number in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError, ValueError):
            place = os.readlink(f"/proc/{pid}/fd/{number}")
            if "y.npy" in place or "memfd" in place:
                found = np.load(f"/proc/{pid}/fd/{number}")
    return found


def read_own_descriptors(t):
    return read_descriptors_of(t, "self")


def read_the_runners_descriptors(t):
    return read_descriptors_of(t, t.runner)


def read_the_workers_descriptors(t):
    return read_descriptors_of(t, t.worker)


def looks_like_labels(content, t):
    """Find the labels of all points among bytes, by those of the labeled ones."""
    start = content.find(t.y[:LABELED].astype(np.int64).tobytes())
    if start < 0:
        return None
    whole = content[start : start + 8 * len(t.y)]
    labels = np.frombuffer(whole, np.int64)
    return labels if set(np.unique(labels)) == {0, 1} and len(labels) == len(t.y) else None


def read_memory_of(t, pid):
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            span, rights, *_ = line.split()
            start, end = (int(address, 16) for address in span.split("-"))
            if "w" in rights and end - start < 1 << 28:
                with contextlib.suppress(OSError):
                    memory.seek(start)
                    found = looks_like_labels(memory.read(end - start), t)
                    if found is not None:
                        return found
    return None


def read_the_runners_memory(t):
    return read_memory_of(t, t.runner)


def read_the_workers_memory(t):
    return read_memory_of(t, t.worker)


def read_own_inherited_memory(t):
    gc.unfreeze()
    for held in gc.get_objects():
        if isinstance(held, np.ndarray) and held.shape == (len(t.y),) and held is not t.y:
            with contextlib.suppress(TypeError):
                if set(np.unique(held)) == {0, 1}:
                    return held
    return None


def vm_readv_of_the_worker(t):
    class Vector(ctypes.Structure):
        _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    buffer = ctypes.create_string_buffer(16)
    local = Vector(ctypes.addressof(buffer), 16)
    far = Vector(id(None), 16)  # where the worker has it too: it was forked
    check(LIBC.process_vm_readv(t.worker, ctypes.byref(local), 1, ctypes.byref(far), 1, 0))
    raise EscapedError("read the worker's memory")


def ptrace_the_worker(t):
    check(LIBC.ptrace(16, t.worker, None, None))
    raise EscapedError("attached to the worker")


def take_a_descriptor_of_the_worker(t):
    pidfd = os.pidfd_open(t.worker)
    check(LIBC.syscall(438, pidfd, 0, 0))
    raise EscapedError("has a file of the worker")


def read_the_source_in_the_mirror(t):
    return np.loadtxt(t.mirror / "toy.csv")


def load_what_scikit_learn_brings(t):
    from sklearn.datasets import load_breast_cancer

    load_breast_cancer()
    raise EscapedError("read a data set with its labels")


def read_in_a_child_process(t):
    code = f"import sys; sys.stdout.buffer.write(open({str(t.labels)!r}, 'rb').read())"
    run = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, check=False)
    if run.returncode:
        raise PermissionError(errno.EACCES, run.stderr.decode().splitlines()[-1])
    return np.frombuffer(run.stdout[-8 * len(t.y) :], np.int64)


def read_with_other_programs(t):
    run = subprocess.run(["cat", t.labels], capture_output=True, check=False)
    if run.returncode:
        raise PermissionError(errno.EACCES, run.stderr.decode())
    return np.frombuffer(run.stdout[-8 * len(t.y) :], np.int64)


def in_a_namespace(step, t):
    """Take a step as root of a user and mount namespace; that takes a process of one thread."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        try:
            check(LIBC.unshare(0x10020000))
            with contextlib.suppress(OSError):
                Path("/proc/self/uid_map").write_text(f"0 {os.getuid()} 1")
            os.write(writer, step(t).tobytes())
        except OSError as error:
            os.write(writer, str(error).encode())
        os._exit(0)
    os.close(writer)
    os.wait()
    with open(reader, "rb") as file:
        content = file.read()
    if len(content) != 8 * len(t.y):
        raise PermissionError(errno.EACCES, content.decode())
    return np.frombuffer(content, np.int64)


def unmount_in_a_namespace(t):
    return in_a_namespace(unmount, t)


def bind_in_a_namespace(t):
    def bind(t):
        own = os.fsencode(tempfile.mkdtemp())
        check(LIBC.mount(os.fsencode(t.labels.parent.resolve()), own, None, 4096 | 16384, None))
        return np.load(Path(os.fsdecode(own), "y.npy"))

    return in_a_namespace(bind, t)


def open_in_a_namespace(t):
    return in_a_namespace(open_by_path, t)


def unmount(t):
    for place in (t.labels.parent, t.labels.parent.parent):
        LIBC.umount2(os.fsencode(place.resolve()), 2)
    return np.load(t.labels)


def join_the_workers_namespace(t):
    descriptor = os.open(f"/proc/{t.worker}/ns/mnt", os.O_RDONLY)
    check(LIBC.setns(descriptor, 0))
    return np.load(t.labels)


def change_the_root(t):
    os.chroot(t.labels.parent)
    return np.load("/y.npy")


def open_by_handle(t):
    handle = ctypes.create_string_buffer(136)
    ctypes.memmove(handle, np.array([128, 0], np.uint32).tobytes(), 8)
    mount = ctypes.c_int()
    path = os.fsencode(t.labels)
    check(LIBC.name_to_handle_at(-100, path, handle, ctypes.byref(mount), 0))
    folder = os.open(".", os.O_RDONLY)
    descriptor = check(LIBC.open_by_handle_at(folder, handle, os.O_RDONLY))
    with open(descriptor, "rb") as file:
        return np.load(file)


def read_the_disk(t):
    device = os.stat(t.features).st_dev
    place = Path(tempfile.mkdtemp(), "disk")
    os.mknod(place, 0o60600, device)
    with place.open("rb") as disk:
        disk.read(4096)
    raise EscapedError("read the disk")


def read_the_kernels_memory(t):
    with open("/proc/kcore", "rb") as core:
        core.read(4096)
    raise EscapedError("read the kernel's memory")


def download(t):
    with socket.create_connection(("127.0.0.1", t.port), 1) as server:
        server.sendall(b"labels?")
    raise EscapedError("reached a server")


def listen(t):
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
    raise EscapedError("offers a service")


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


# files


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


# processes


def signal_to(pid, number):
    os.kill(pid, number)
    time.sleep(0.5)
    raise EscapedError(f"sent {signal.Signals(number).name}")


def stop_the_runner(t):
    signal_to(t.runner, signal.SIGSTOP)


def kill_the_runner(t):
    signal_to(t.runner, signal.SIGKILL)


def terminate_the_runner(t):
    signal_to(t.runner, signal.SIGTERM)


def stop_the_worker(t):
    signal_to(t.worker, signal.SIGSTOP)


def kill_the_worker(t):
    signal_to(t.worker, signal.SIGKILL)


def interrupt_the_worker(t):
    signal_to(t.worker, signal.SIGINT)


def kill_through_a_child(t):
    child = os.fork()
    if child == 0:
        with contextlib.suppress(OSError):
            os.kill(t.worker, signal.SIGKILL)
        os._exit(0)
    os.waitpid(child, 0)


def kill_through_a_file(t):
    """Have the kernel send a signal for a pipe that has something to read."""
    reader, writer = os.pipe()
    fcntl.fcntl(reader, 10, signal.SIGKILL)  # F_SETSIG
    fcntl.fcntl(reader, fcntl.F_SETOWN, t.runner)
    fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC)
    os.write(writer, b"x")
    time.sleep(0.2)


def limit_the_runners_time(t):
    resource.prlimit(t.runner, resource.RLIMIT_CPU, (0, 0))
    raise EscapedError("limits the runner")


def limit_the_workers_files(t):
    resource.prlimit(t.worker, resource.RLIMIT_NOFILE, (3, 3))
    raise EscapedError("limits the worker")


def stop_itself(t):
    os.kill(os.getpid(), signal.SIGSTOP)


def stay_as_a_daemon(t):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in range(1, 32):
                with contextlib.suppress(OSError, ValueError):
                    signal.signal(number, signal.SIG_IGN)
            time.sleep(600)
        os._exit(0)


def stay_as_many(t):
    for _ in range(10):
        if os.fork() == 0:
            while True:
                time.sleep(0.001)


def stay_in_a_namespace(t):
    """Have processes of which the first one is process 1 to the others."""
    if os.fork() == 0:
        LIBC.unshare(0x30000000)
        if os.fork() == 0:
            if os.fork() == 0:
                time.sleep(600)
            time.sleep(600)
        time.sleep(600)


def hold_the_pipes(t):
    if os.fork() == 0:
        os.setsid()
        time.sleep(600)
    os._exit(0)


def close_all_files(t):
    os.closerange(3, 1024)


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


def take_over_signals(t):
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGCHLD):
        signal.signal(number, signal.SIG_IGN)
    while True:
        with contextlib.suppress(BaseException):
            time.sleep(600)


def never_end(t):
    mmap.mmap(-1, 1)
    while True:
        pass


class EscapedError(Exception):
    """Did what no trial may do, and no label or file shows it."""


HELPERS = ("check", "open_through_cwd_of", "read_descriptors_of", "looks_like_labels",
           "read_memory_of", "places_of_notes", "signal_to", "in_a_namespace",
           "dataclass")  # fmt: skip
WAYS = [
    function
    for name, function in list(globals().items())
    if callable(function)
    and getattr(function, "__module__", "") == __name__
    and not isinstance(function, type)
    and name not in HELPERS
]
NAMES = [way.__name__ for way in WAYS]
