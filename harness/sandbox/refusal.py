"""How libraries say that an allocation was refused: in exceptions, and in their last words.

`RLIMIT_DATA` has no counter of refusals, so what a library says is the evidence. NumPy and Python
raise MemoryError. C++ throws `std::bad_alloc`, which bindings turn into an exception of their own
(XGBoostError, LightGBMError, torch's RuntimeError) or which ends the process where nobody catches
it, as Rust, OpenBLAS and OpenMP end it on purpose. A thread whose stack is refused is "temporarily
unavailable" to them. The memory of a graphics card is not what a budget limits.
"""

from __future__ import annotations

import errno
import re

_TOLD = re.compile(
    r"bad_alloc|bad allocation|bad_array_new_length"
    r"|(?:unable|failed|failure|can(?:no|')t|could not|couldn't) (?:to )?(?:re)?allocate"
    r"|out[ -]of[ -]memory|(?:not enough|insufficient|no more) (?:\w+ )?memory"
    r"|memory allocation (?:\w+ )*fail|allocation (?:of \d+ bytes )?failed|[mc]alloc failed"
    r"|memory exhausted|memory allocation|can't start new thread",
    re.IGNORECASE,
)
_CARD = re.compile(r"\b(?:CUDA|HIP|GPU|cublas\w*)\b", re.IGNORECASE)
_LOADER = re.compile(
    r"[Cc]annot allocate memory|failed to map segment|cannot map zero-fill|MemoryError"
)
_LAST_WORDS = re.compile(
    r"OpenBLAS.*(?:memory|Memory|pthread_create failed)"
    r"|terminate called (?:.|\n)*(?:bad_alloc|bad_array_new_length|bad allocation|[Aa]llocate)"
    r"|terminate called after throwing an instance of 'std::system_error'"
    r"\n.*Resource temporarily unavailable"
    r"|std::bad_alloc|lib[gi]omp\S*: (?:Out of memory|Thread creation failed)"
    r"|OMP: (?:Error|System error) .*(?:[Mm]emory|Resource temporarily unavailable)"
    r"|memory allocation of \d+ bytes failed|^(?:virtual )?memory exhausted"
    r"|^MemoryError|Fatal Python error.*[Mm]emory",
    re.MULTILINE,
)


def is_refusal(failure: BaseException | None) -> bool:
    """Tell whether an exception, or what it came from, says that memory was refused."""
    seen: set[int] = set()
    while failure is not None and id(failure) not in seen:
        seen.add(id(failure))
        if isinstance(failure, MemoryError):
            return True
        if isinstance(failure, OSError) and failure.errno == errno.ENOMEM:
            return True
        told = str(failure)
        if isinstance(failure, Exception) and _TOLD.search(told) and not _CARD.search(told):
            return True
        failure = failure.__cause__ or failure.__context__
    return False


def are_last_words(output: str) -> bool:
    """Tell whether a process that ended said that memory was refused."""
    return _LAST_WORDS.search(output) is not None


def ends_in_refusal(output: str) -> bool:
    """Tell whether the end of a command's stderr says that memory was refused to it."""
    last = output.rstrip().rsplit("\n", 1)[-1]
    return are_last_words(output) or bool(
        (_TOLD.search(last) or _LOADER.search(last)) and not _CARD.search(last)
    )
