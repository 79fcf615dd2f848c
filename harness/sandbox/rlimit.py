"""`RLIMIT_DATA`: the kernel refuses the allocation, and Python raises a clean MemoryError.

It limits private virtual memory of one process, so whatever is reserved but never touched must be
kept small: one malloc arena (`heap`), and thread stacks of 1 MiB instead of 8. `RLIMIT_AS` would
punish memory-mapped data and shared libraries too, and is never used.
"""

from __future__ import annotations

import ctypes
import resource
import threading

THREAD_STACK = 1 << 20
SLACK = 256 * 1024
"""Bytes that malloc may have to itself beyond the budget."""
_LIBC = ctypes.CDLL(None)


def limit_data(bytes_now: int, budget: int, threads: int) -> None:
    """Let this process add `budget` bytes of private memory to what it has.

    Parameters
    ----------
    bytes_now : int
        `VmData` of this process.
    budget : int
    threads : int
        Stacks of further threads are granted on top: they are the harness's choice.
    """
    soft = bytes_now + budget + SLACK + (threads - 1) * THREAD_STACK
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    if hard != resource.RLIM_INFINITY:
        soft = min(soft, hard)
    resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def lift() -> None:
    """Take the limit away again, so that the result can be sent."""
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))


def small_stacks() -> None:
    """Give threads that Python, OpenMP or BLAS start from now on a stack of 1 MiB."""
    threading.stack_size(THREAD_STACK)
    set_default = getattr(_LIBC, "pthread_attr_setdefault_np", None)
    if set_default is None:
        return
    attributes = ctypes.create_string_buffer(64)
    if _LIBC.pthread_attr_init(attributes) == 0:
        _LIBC.pthread_attr_setstacksize(attributes, ctypes.c_size_t(THREAD_STACK))
        set_default(attributes)
        _LIBC.pthread_attr_destroy(attributes)
