"""Ways in which a method may try to read labels: files, memory, descriptors, other networks."""

import contextlib
import ctypes
import errno
import gc
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from attack_target import LABELED, LIBC, EscapedError, check


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
