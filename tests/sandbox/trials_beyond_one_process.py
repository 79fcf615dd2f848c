"""Trials whose memory one process's own figures do not show, or that lift their limit."""

import contextlib
import ctypes
import fcntl
import mmap
import os
import resource
import signal
import socket
import subprocess
import time
from pathlib import Path

import numpy as np
from trials_that_hold import touch


def raises_its_limit(monitor, size):
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
    np.ones(size, dtype=np.uint8)
    return {}, {}


def four_short_children(monitor, size, oom_score=None):
    """Four processes at once that hold memory for an instant each; this one waits for all."""
    ready, go = os.pipe(), os.pipe()
    for _ in range(4):
        if os.fork() == 0:
            if oom_score:
                Path("/proc/self/oom_score_adj").write_text(oom_score)
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
            touch(held, len(held))
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
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))  # a session starts with 1,024
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
