"""Seccomp: system calls that no learning method makes, refused beside what files are denied.

They would leave something that outlasts a trial (System V memory, message queues, keys, extended
attributes), change what the machine or another process may do (`prlimit` of others, the clock), or
go round what else confines a trial. They fail with EPERM, as without the right to make them.

Without a memory cgroup a trial's memory is that of its one process, and what would hold memory
elsewhere is refused to it too. Looking now and then would miss what is short; a refusal is exact.
"""

from __future__ import annotations

import ctypes
import errno
import platform
import struct
import sys

from harness.sandbox import prctl

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_CALLS = {
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195),
    "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192),
    "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "mq_open": (240, 180), "mq_unlink": (241, 181),
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219),
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "settimeofday": (164, 170), "clock_settime": (227, 112),
    "adjtimex": (159, 171), "clock_adjtime": (305, 266),
    "reboot": (169, 142), "swapon": (167, 224), "swapoff": (168, 225),
    "init_module": (175, 105), "finit_module": (313, 273), "delete_module": (176, 106),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "open_by_handle_at": (304, 265), "perf_event_open": (298, 241), "bpf": (321, 280),
    "userfaultfd": (323, 282), "io_uring_setup": (425, 425), "pidfd_getfd": (438, 438),
}  # fmt: skip
"""Their numbers on each of the architectures."""

_UNCOUNTED = {
    "fork": (57, None), "vfork": (58, None),
    "socket": (41, 198), "socketpair": (53, 199),
    "shmget": (29, 194), "msgget": (68, 186), "mq_open": (240, 180),
    "memfd_create": (319, 279), "memfd_secret": (447, 447), "io_uring_setup": (425, 425),
    "splice": (275, 76), "tee": (276, 77), "vmsplice": (278, 75),
}  # fmt: skip
"""What holds memory elsewhere than in the process that calls."""

_CLONE, _MMAP, _CLONE3 = (56, 220), (9, 222), 435
_FCNTL, _SET_PIPE_SIZE = (72, 25), 1031
_OF_A_THREAD = 0x10000
_HUGE = 0x40000
_PRLIMIT = (302, 261)
_OTHER_ABI = 0x40000000
_SECCOMP = (317, 277)
_SET_MODE_FILTER, _ALL_THREADS, _NO_MITIGATION = 1, 1, 4

_LOAD, _JUMP_EQUAL, _JUMP_ABOVE, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM
_NO_SUCH_CALL = 0x00050000 | errno.ENOSYS
_NUMBER, _ARCHITECTURE, _FIRST, _SECOND, _THIRD, _FOURTH = 0, 4, 16, 24, 32, 40


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def available() -> bool:
    """Tell whether calls can be refused here."""
    return sys.platform == "linux" and platform.machine() in _ARCHITECTURES


def refuse_calls() -> bool:
    """Refuse the calls to this thread and to all that it starts; False where that cannot be done.

    It must have given up gaining privileges before, as Landlock asks too.
    """
    return available() and _install(_program(_column()))


def refuse_uncounted() -> bool:
    """Refuse, to all threads of this process, what would hold memory that is not in its own.

    Those are processes, sockets and large pipes (the kernel holds what is written until it is
    read), System V shared memory, messages, files in memory without a name, and huge pages that
    the administrator set aside. Threads, and maps shared or private, are a process's own.

    Returns
    -------
    bool
        Whether the kernel does so from now on.
    """
    if not available():
        return False
    prctl.gain_no_privileges()
    return _install(_program_of_uncounted(_column()), _ALL_THREADS)


def _column() -> int:
    return list(_ARCHITECTURES).index(platform.machine())


def _install(code: bytes, threads: int = 0) -> bool:
    program = _Program(len(code) // 8, code)
    call = (_SECCOMP[_column()], _SET_MODE_FILTER, _NO_MITIGATION | threads, ctypes.byref(program))
    return ctypes.CDLL(None).syscall(*call) == 0


def _program(column: int) -> bytes:
    """Write the filter: (operation, jump if true, jump if false, operand), eight bytes each."""
    numbers = sorted(numbers[column] for numbers in _CALLS.values())
    architecture = list(_ARCHITECTURES.values())[column]
    start: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _NUMBER),
    ]
    tests = [(_JUMP_ABOVE, _OTHER_ABI), *((_JUMP_EQUAL, number) for number in numbers)]
    # of a process other than the caller: refused where it sets a limit, not where it asks
    others_limits: list[tuple[int, int, int, int]] = [
        (_JUMP_EQUAL, 0, 7, _PRLIMIT[column]),
        (_LOAD, 0, 0, _FIRST),
        (_JUMP_EQUAL, 5, 0, 0),
        (_LOAD, 0, 0, _THIRD),
        (_JUMP_EQUAL, 0, 2, 0),
        (_LOAD, 0, 0, _THIRD + 4),
        (_JUMP_EQUAL, 1, 0, 0),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    ]
    refusal = len(tests) + len(others_limits)
    listed = [(test, refusal - at - 1, 0, operand) for at, (test, operand) in enumerate(tests)]
    whole = [*start, *listed, *others_limits, (_RETURN, 0, 0, _REFUSE)]
    return b"".join(struct.pack("<HBBI", *step) for step in whole)


def _program_of_uncounted(column: int) -> bytes:
    numbers = sorted(n for call in _UNCOUNTED.values() if (n := call[column]) is not None)
    steps: list[tuple[int, int, int, int]] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_EQUAL, 1, 0, list(_ARCHITECTURES.values())[column]),
        (_RETURN, 0, 0, _REFUSE),
        (_LOAD, 0, 0, _NUMBER),
        (_JUMP_ABOVE, 0, 1, _OTHER_ABI),
        (_RETURN, 0, 0, _REFUSE),
    ]
    for number in numbers:
        steps += [(_JUMP_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    steps += [
        # its flags lie in memory, where no filter sees them: without it, libc takes `clone`
        (_JUMP_EQUAL, 0, 1, _CLONE3),
        (_RETURN, 0, 0, _NO_SUCH_CALL),
        (_JUMP_EQUAL, 0, 4, _CLONE[column]),
        (_LOAD, 0, 0, _FIRST),
        (_JUMP_ANY_BIT, 1, 0, _OF_A_THREAD),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
        (_JUMP_EQUAL, 0, 4, _FCNTL[column]),
        (_LOAD, 0, 0, _SECOND),
        (_JUMP_EQUAL, 0, 1, _SET_PIPE_SIZE),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
        (_JUMP_EQUAL, 0, 3, _MMAP[column]),
        (_LOAD, 0, 0, _FOURTH),
        (_JUMP_ANY_BIT, 0, 1, _HUGE),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("<HBBI", *step) for step in steps)
