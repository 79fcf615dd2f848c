"""Why an address gave nothing, in a few words: libraries tell it by the names of their classes."""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator

_NO_WAY = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN)
_MOST = 200
"""Characters that are repeated of what nobody foresaw."""


def why_unreachable(error: BaseException) -> str:
    """Say why something could not be fetched.

    Parameters
    ----------
    error : Exception
        As requests or urllib raised it; what it wraps is looked at as well.
    """
    causes = list(_chain(error))
    for cause in causes:
        status = _status(cause)
        if status:
            return status
        if isinstance(cause, socket.gaierror):
            return "this name cannot be looked up (is there a network?)"
        if isinstance(cause, ConnectionRefusedError):
            return "the connection is refused"
        if isinstance(cause, ssl.SSLError):
            return "its certificate cannot be verified"
        if isinstance(cause, TimeoutError):
            return "there is no answer"
        if isinstance(cause, OSError) and cause.errno in _NO_WAY:
            return "there is no way to it (is there a network?)"
    told = " ".join(str(error).split())
    return told if len(told) <= _MOST else f"{told[:_MOST]}..."


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Give an error and all that it wraps, each once."""
    waiting, seen = [error], set()
    while waiting:
        found = waiting.pop(0)
        if id(found) in seen:
            continue
        seen.add(id(found))
        yield found
        inner = (*found.args, getattr(found, "reason", None), found.__cause__, found.__context__)
        waiting += [cause for cause in inner if isinstance(cause, BaseException)]


def _status(error: BaseException) -> str:
    """Return what a server answered, such as "404 Not Found"; empty if it is of no answer."""
    response = getattr(error, "response", None)  # of requests
    code = getattr(response, "status_code", None) or getattr(error, "code", None)
    if not isinstance(code, int) or not 300 <= code < 600:
        return ""
    reason = getattr(response, "reason", None) or getattr(error, "reason", None) or ""
    return f"the server answers {code} {reason}".strip()
