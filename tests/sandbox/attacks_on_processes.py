"""Ways in which a method may try to reach other processes, stay behind or never end."""

import contextlib
import fcntl
import mmap
import os
import resource
import signal
import time

from attack_target import LIBC, EscapedError


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
