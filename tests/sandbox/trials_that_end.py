"""Trials that fail, crash, hang, fork, or break what they inherited."""

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np
from trials_that_hold import OBJECTS


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
