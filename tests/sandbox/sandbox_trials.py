"""What trials may do to the sandbox: behave, take memory in many ways, and misbehave."""

import contextlib
import ctypes
import fcntl
import mmap
import os
import resource
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

from harness.sandbox.prefault import find_libraries, map_pages

INHERITED = np.ones(60_000_000, dtype=np.uint8)
OBJECTS = [f"{i:08}" for i in range(100_000)]  # 6 MB of pages with reference counts


def nothing(monitor):
    return {}, {}


def answer(monitor):
    rows = np.arange(12.0).reshape(3, 4)
    arrays = {
        "rows": rows,
        "transposed": rows.T,
        "empty": np.empty((0, 3)),
        "text": np.array(["a"]),
    }
    return {"count": np.int64(3), "nan": float("nan"), "nested": [1, {"a": None}]}, arrays


def delivers(monitor, fails=False, size=3, parts=1):
    for step in range(3):
        with monitor.stage("work"):
            _busy(0.02)
        _busy(0.05)
        seconds, cpu_seconds = monitor.spent("work")
        value = {"step": step, "seconds": seconds, "cpu_seconds": cpu_seconds}
        monitor.deliver(value, ({"row": np.full(size, step, dtype=float)} for _ in range(parts)))
    if fails:
        raise MemoryError("after three")
    return {"never": monitor.spent("absent")}, {"row": np.full(3, 9.0)}


def goes_on(monitor, how, size=1_000_000):
    """Answers, and then does what is charged to nobody."""
    with monitor.stage("work"):
        held = np.ones(size, dtype=np.uint8)

    def afterwards():
        with monitor.stage("after"):
            if how == "takes":
                return {"sum": int(np.ones(30 * size, dtype=np.uint8).sum())}
            if how == "works":
                _busy(0.3)
            elif how == "sleeps":
                time.sleep(0.5)
            elif how == "hangs":
                time.sleep(1000)
            elif how == "dies":
                os.kill(os.getpid(), signal.SIGKILL)
            elif how == "fails":
                raise RuntimeError("afterwards")
        return {"held": int(held[0])}

    monitor.afterwards = afterwards
    return {"a": 1}, {"row": np.ones(3)}


def fail_afterwards(monitor):
    monitor.afterwards = dict
    raise ValueError("before")


def _busy(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


# memory


def numpy_array(monitor, size):
    with monitor.stage("take"):
        held = np.ones(size, dtype=np.uint8)
    return {"length": len(held)}, {}


def python_bytes(monitor, size):
    held = bytearray(b"1") * size
    return {"length": len(held)}, {}


def many_objects(monitor, size):
    held = [b"%030d" % i for i in range(size // 72)]  # 64 bytes each and 8 in the list
    return {"length": len(held)}, {}


def in_thread(monitor, size):
    failures = []

    def take():
        try:
            np.ones(size, dtype=np.uint8)
        except MemoryError as error:
            failures.append(error)

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    if failures:
        raise RuntimeError("the thread failed") from failures[0]
    return {}, {}


def pinned_hole(monitor, first, freed, last):
    """Free an array below a small one that stays, and take a larger one than fits in the hole."""
    held = np.ones(first, dtype=np.uint8)  # freed, it would teach malloc to keep what follows
    del held
    held = np.ones(freed, dtype=np.uint8)
    pin = np.ones(1_000_000, dtype=np.uint8)
    del held
    held = np.ones(last, dtype=np.uint8)
    return {"length": len(held) + len(pin)}, {}


def late_code(monitor, size):
    """Free an array, and only then map all pages of libraries, as code does that runs late."""
    held = np.ones(size, dtype=np.uint8)
    del held
    map_pages(find_libraries())
    return {}, {}


def private_map(monitor, size):
    held = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    _touch(held, size)
    return {}, {}


def shared_map(monitor, size):
    held = mmap.mmap(-1, size)
    _touch(held, size)
    return {}, {}


def in_subprocess(monitor, size, hold=0.0):
    code = f"import time; held = bytearray(b'1') * {size}; time.sleep({hold})"
    with monitor.stage("call"):
        subprocess.run([sys.executable, "-S", "-c", code], check=True)
    return {}, {}


def overwrite_inherited(monitor):
    INHERITED[:] = 2
    return {}, {}


def read_mapped(monitor, path, rows):
    data = np.load(path, mmap_mode="r")
    with monitor.stage("sum"):
        total = float(sum(data[start : start + 1000].sum() for start in range(0, rows, 1000)))
        time.sleep(0.05)
    return {"total": total}, {}


def map_and_unmap(monitor, path):
    data = np.load(path, mmap_mode="r")
    return {"total": float(data.sum())}, {}


def write_and_remove(monitor, path, size):
    with Path(path).open("wb", buffering=0) as file:
        for _ in range(size // 1_000_000):
            file.write(b"x" * 1_000_000)
    Path(path).unlink()
    return {}, {}


def shared_file(monitor, size):
    """Fill a file in memory that no process maps, and remove it after it was measured."""
    descriptor = os.memfd_create("held")
    with monitor.stage("fill"):
        for _ in range(size // 1_000_000):
            os.write(descriptor, b"x" * 1_000_000)
    return {}, {}


def multiprocessing_segment(monitor):
    from multiprocessing import shared_memory

    segment = shared_memory.SharedMemory(create=True, size=1_000_000)
    print(segment.name)
    time.sleep(0.5)  # the tracker is a Python of its own, which must have started
    os._exit(3)


def read_file(monitor, path):
    with Path(path).open("rb", buffering=0) as file:
        total = 0
        while chunk := file.read(1 << 20):
            total += len(chunk)
    return {"total": total}, {}


def read_and_take(monitor, path, size, limit, limited):
    """Fill the own group with page cache, have another one limited, and take memory."""
    read_file(monitor, path)
    Path(limit).write_text(str(limited))
    return numpy_array(monitor, size)


def stages(monitor):
    with monitor.stage("outer"):
        with monitor.stage("large"):
            held = np.ones(40_000_000, dtype=np.uint8)
        del held
        with monitor.stage("small"):
            held = np.ones(10_000_000, dtype=np.uint8)
    for _ in range(2):
        with monitor.stage("twice"):
            time.sleep(0.02)
    with monitor.stage("busy"):
        end = time.process_time() + 0.05
        while time.process_time() < end:
            pass
    return {"length": len(held)}, {}


def products(monitor, size):
    from threadpoolctl import threadpool_info

    matrix = np.ones((size, size))
    with monitor.stage("product"):
        matrix @ matrix
    return {"threads": max(pool["num_threads"] for pool in threadpool_info())}, {}


def allocate_unchecked(monitor, size):
    held = np.ones(size, dtype=np.uint8)
    ctypes.string_at(0)
    return {"length": len(held)}, {}


# ends


def segfault(monitor):
    ctypes.string_at(0)


def crash_after_reading(monitor, size):
    """Take reference counts of inherited objects, which copies their pages, and segfault."""
    with monitor.stage("fit"):
        held = np.ones(size, dtype=np.uint8)
        length = sum(len(text) for text in OBJECTS)
        ctypes.string_at(0)
    return {"length": length + len(held)}, {}


def exit_at_once(monitor, status):
    with monitor.stage("fit"):
        os._exit(status)


def kill_itself(monitor):
    os.kill(os.getpid(), signal.SIGKILL)


def system_exit(monitor):
    sys.exit("enough")


def fail(monitor):
    print("about to fail")
    raise KeyError("alpha")


def fail_with_note(monitor):
    error = KeyError("alpha")
    error.add_note("(somewhere)")
    raise error


def wrapped_memory_error(monitor):
    try:
        raise MemoryError("Unable to allocate 9 GiB")
    except MemoryError as error:
        raise ValueError("fit failed") from error


def loop_in_python(monitor):
    with monitor.stage("loop"):
        held = np.ones(30_000_000, dtype=np.uint8)
        while len(held):
            pass


def one_endless_call(monitor):
    """A single numpy call that takes hours and never looks at signals."""
    np.add.reduce(np.broadcast_to(np.ones(1), (1 << 20, 1 << 20)), axis=None)


def forks(monitor, count):
    for _ in range(count):
        if os.fork() == 0:
            signal.pause()
    return {}, {}


def fork_and_return(monitor):
    """Both come back from here; only one of them is the trial."""
    pid = os.fork()
    if pid:
        os.waitpid(pid, 0)
    return {"pid": pid}, {}


def daemon(monitor):
    """A process with a session of its own, whose parent has died."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            time.sleep(1000)
        os._exit(0)
    os.waitpid(pid, 0)
    return {}, {}


def daemon_and_loop(monitor):
    daemon(monitor)
    while True:
        pass


def fork_bomb(monitor):
    """Twenty processes that each start another when they can, until killed."""
    for _ in range(20):
        if os.fork() == 0:
            while True:
                if os.fork() == 0:
                    time.sleep(0.05)
                    os._exit(0)
                os.wait()
    signal.pause()


def close_output(monitor):
    os.close(1)
    os.close(2)
    raise KeyError("unheard")


def close_everything(monitor):
    os.closerange(0, 1000)
    return {}, {}


def write_garbage(monitor, text):
    for descriptor in range(3, 20):
        try:
            os.write(descriptor, text.encode())
        except OSError:
            continue
    return {}, {}


def print_much(monitor, size):
    line = "x" * 999_999
    for _ in range(size // 1_000_000):
        print(line)
    print("the end")
    return {}, {}


def read_input(monitor):
    return {"read": sys.stdin.read() if sys.stdin else os.read(0, 10).decode()}, {}


def list_descriptors(monitor):
    """Which open files the trial could reach."""
    found = []
    for descriptor in Path("/proc/self/fd").iterdir():
        try:
            found.append(str(descriptor.readlink()))
        except OSError:
            continue
    return {"files": found}, {}


def returns(monitor, what):
    return {
        "none": lambda: None,
        "list": lambda: [1, 2],
        "array instead of dict": lambda: (np.ones(3), {}),
        "list as array": lambda: ({}, {"a": [1, 2]}),
        "objects": lambda: ({}, {"a": np.array([{}], dtype=object)}),
        "record": lambda: ({}, {"a": np.zeros(2, dtype="i4,f8")}),
        "number as name": lambda: ({}, {1: np.ones(2)}),
        "not json": lambda: ({"a": {1, 2}}, {}),
        "circular": _circular,
        "nan": lambda: ({"a": float("nan")}, {"b": np.array([np.nan])}),
    }[what]()


def _circular():
    value = {}
    value["self"] = value
    return value, {}


def _touch(held, size):
    for start in range(0, size, 4096):
        held[start] = 1


# allocations that C++ libraries are refused


def cpp_new_unchecked(monitor):
    """C++'s operator new throws where nobody catches, and the process is aborted."""
    new = ctypes.CDLL("libstdc++.so.6")._Znwm
    new.restype = ctypes.c_void_p
    new(ctypes.c_size_t(400_000_000))
    return {}, {}


def library_error(monitor):
    class LibraryError(Exception):
        pass

    raise LibraryError("[12:00:00] /src/tree.cc:7: std::bad_alloc")


def abort_next_to_the_limit(monitor):
    held = np.ones(57_000_000, dtype=np.uint8)
    os.abort()
    return {"length": len(held)}, {}


# memory that only a cgroup counts


def raises_its_limit(monitor, size):
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
    np.ones(size, dtype=np.uint8)
    return {}, {}


def four_short_children(monitor, size):
    """Four processes at once that hold memory for an instant each."""
    ready, go = os.pipe(), os.pipe()
    for _ in range(4):
        if os.fork() == 0:
            held = np.ones(size, dtype=np.uint8)
            os.write(ready[1], b"x")
            os.read(go[0], 1)
            os._exit(len(held) % 2)
    filled = 0
    while filled < 4:
        filled += len(os.read(ready[0], 4))
    os.write(go[1], b"xxxx")
    for _ in range(4):
        os.wait()
    return {}, {}


def hidden_daemons(monitor, size):
    """Two processes in a session of their own that take memory, end, and are nobody's children."""
    if os.fork() == 0:
        os.setsid()
        for _ in range(2):
            if os.fork() == 0:
                held = np.ones(size, dtype=np.uint8)
                time.sleep(0.2)
                os._exit(len(held) % 2)
        os._exit(0)
    os.wait()
    time.sleep(0.5)
    return {}, {}


def ignored_children(monitor, size):
    """Two children that nobody waits for, so that no account of them is kept."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for _ in range(2):
        if os.fork() == 0:
            held = np.ones(size, dtype=np.uint8)
            time.sleep(0.2)
            os._exit(len(held) % 2)
    time.sleep(0.5)
    return {}, {}


def file_in_memory(monitor, folder, size):
    with Path(folder, "harness-test").open("wb", buffering=0) as file:
        Path(file.name).unlink()
        for _ in range(size // 1_000_000):
            file.write(b"x" * 1_000_000)
    return {}, {}


def mapped_file_in_memory(monitor, folder, size):
    """Fill a file through a map of a small part of it at a time."""
    with Path(folder, "harness-test").open("w+b", buffering=0) as file:
        Path(file.name).unlink()
        file.truncate(size)
        for start in range(0, size, 1 << 20):
            held = mmap.mmap(file.fileno(), 1 << 20, offset=start)
            _touch(held, len(held))
            held.close()
    return {}, {}


def full_pipes(monitor, size):
    ends = []
    for _ in range(size // 1_000_000):
        ends.append(os.pipe())
        fcntl.fcntl(ends[-1][1], fcntl.F_SETPIPE_SZ, 1 << 20)
        os.write(ends[-1][1], b"x" * (1 << 20))
    return {}, {}


def many_pipes(monitor, size):
    ends = []
    for _ in range(size // 65_536):
        ends.append(os.pipe())
        os.write(ends[-1][1], b"x" * 65_536)
    return {}, {}


def pool_of_threads(monitor, path):
    from multiprocessing.pool import ThreadPool

    maps = [np.load(path, mmap_mode="r") for _ in range(4)]
    with ThreadPool(2) as pool:
        return {"sum": float(sum(pool.map(np.sum, maps)))}, {}


def full_sockets(monitor, size):
    held, filled = [], 0
    while filled < size:
        held.append(socket.socketpair())
        held[-1][0].setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while filled < size:
                filled += held[-1][0].send(b"x" * 65536)
    return {}, {}


def system_v_segment(monitor, size):
    libc = ctypes.CDLL(None, use_errno=True)
    libc.shmat.restype = ctypes.c_void_p
    number = libc.shmget(0, ctypes.c_size_t(size), 0o1600)
    if number < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    address = libc.shmat(number, None, 0)
    libc.shmctl(number, 0, None)
    ctypes.memset(ctypes.c_void_p(address), 1, size)
    libc.shmdt(ctypes.c_void_p(address))
    return {}, {}


def runs_if_it_may(monitor):
    """As libraries do that ask `lscpu` how many cores there are, and can do without."""
    try:
        subprocess.run(["true"], check=True)
    except OSError:
        return {"ran": False}, {}
    return {"ran": True}, {}


def leaves_its_group(monitor, tasks, size):
    """Move to another cgroup, as root may, and take memory there in a process of an instant."""
    Path(tasks).write_text(str(os.getpid()))
    if os.fork() == 0:
        np.ones(size, dtype=np.uint8)
        os._exit(0)
    os.wait()
    return {}, {}


def child_leaves_its_group(monitor, tasks, size):
    if os.fork() == 0:
        Path(tasks).write_text(str(os.getpid()))
        held = np.ones(size, dtype=np.uint8)
        time.sleep(20)
        os._exit(len(held) % 2)
    os.wait()
    return {}, {}
