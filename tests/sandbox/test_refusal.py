"""What C++ and other libraries make of a refused allocation is told from other failures."""

import errno

import pytest

from harness.sandbox.refusal import are_last_words, ends_in_refusal, is_refusal

BUDGET = 60_000_000


class LibraryError(Exception):
    """As LightGBMError: neither a MemoryError nor a RuntimeError."""


TORCH = (
    "[enforce fail at alloc_cpu.cpp:118] err == 0. DefaultCPUAllocator: can't allocate memory: "
    "you tried to allocate 400000000 bytes. Error code 12 (Cannot allocate memory)"
)


@pytest.mark.parametrize(
    "failure",
    [
        LibraryError("std::bad_alloc"),
        LibraryError("[22:01:07] /src/data.cc:12: bad allocation"),
        ValueError("[12:00:00] src/tree.cc:7: std::bad_alloc\nStack trace:"),
        RuntimeError(TORCH),
        RuntimeError("can't start new thread"),
        RuntimeError("not enough memory: you tried to allocate 9 bytes"),
        OSError(errno.ENOMEM, "x"),
        MemoryError(),
        LibraryError("Malloc failed, out of memory"),
    ],
    ids=str,
)
def test_exceptions_that_say_so(failure):
    assert is_refusal(failure)
    wrapped = KeyError("fit failed")
    wrapped.__cause__ = failure
    assert is_refusal(wrapped)


@pytest.mark.parametrize(
    "failure",
    [
        ValueError("memory must be above zero"),
        RuntimeError("CUDA out of memory. Tried to allocate 2.00 GiB"),
        LibraryError("the rows could not be located"),
        KeyError("allocation"),
        None,
    ],
    ids=str,
)
def test_exceptions_that_do_not(failure):
    assert not is_refusal(failure)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("terminate called after throwing an instance of 'std::bad_alloc'\n  what(): x", True),
        (
            "terminate called after throwing an instance of 'dmlc::Error'\n  what():  bad_alloc",
            True,
        ),
        (
            "terminate called after throwing an instance of 'std::system_error'\n"
            "  what():  Resource temporarily unavailable",
            True,
        ),
        ("the last line of a library: std::bad_alloc", True),
        ("libgomp: Out of memory allocating 400 bytes", True),
        ("libgomp: Thread creation failed: Resource temporarily unavailable", True),
        ("OpenBLAS blas_thread_init: pthread_create failed for thread 1 of 2", True),
        ("OMP: Error #34: System unable to allocate necessary resources for memory", True),
        ("memory allocation of 65536 bytes failed", True),
        ("terminate called after throwing an instance of 'std::out_of_range'", False),
        ("free(): invalid pointer", False),
    ],
)
def test_last_words(output, expected):
    assert are_last_words(output) is expected


@pytest.mark.parametrize(
    "trial", ["cpp_new_unchecked", "library_error", "abort_next_to_the_limit"]
)
def test_a_refused_allocation_is_over_budget_however_it_is_told(sandbox, trial):
    if sandbox.backend == "watch" and trial != "library_error":
        pytest.skip("no allocation is refused where the limit is a watch")
    result = sandbox.run(trial, memory=BUDGET)
    assert result.outcome == "over_budget", result.reason


def test_without_a_budget_it_is_the_methods_own_failure(any_sandbox):
    assert any_sandbox.run("library_error").outcome == "error"


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (
            "Traceback:\nnumpy._core._ArrayMemoryError: Unable to allocate 1 GiB\n",
            True,
        ),
        ("error while loading shared libraries: libx.so: failed to map segment\n\n", True),
        ("ImportError: libblas.so: cannot allocate memory", True),
        # whoever went on after it did not end over it
        ("could not allocate a cache: going on without\nValueError: no such column", False),
        ("Unable to allocate 1 GiB\nretrying\nValueError: x", False),
        # unless these are words that nobody writes and goes on
        ("terminate called after throwing an instance of 'std::bad_alloc'\n  what(): x", True),
        ("RuntimeError: CUDA out of memory", False),
        ("ValueError: the GPU is busy", False),
        ("", False),
    ],
)
def test_how_the_stderr_of_a_command_ends(output, expected):
    assert ends_in_refusal(output) is expected
