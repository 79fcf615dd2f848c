"""Trials that hold memory in one of many ways, or read what is mapped."""

import ctypes
import mmap
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

from harness.sandbox.prefault import find_libraries, map_pages

INHERITED = np.ones(60_000_000, dtype=np.uint8)


OBJECTS = [f"{i:08}" for i in range(100_000)]  # 6 MB of pages with reference counts


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
    touch(held, size)
    return {}, {}


def shared_map(monitor, size):
    held = mmap.mmap(-1, size)
    touch(held, size)
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


def touch(held, size):
    for start in range(0, size, 4096):
        held[start] = 1
