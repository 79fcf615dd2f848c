"""What is said of an address that gave nothing."""

import errno
import socket
import ssl
from urllib.error import HTTPError, URLError

import pytest
import requests
from urllib3.exceptions import MaxRetryError, NameResolutionError

from harness.datasets.unreachable import why_unreachable


def answered(status, reason):
    response = requests.Response()
    response.status_code, response.reason = status, reason
    return requests.HTTPError(f"{status} Client Error for url", response=response)


UNKNOWN = NameResolutionError("a.invalid", None, socket.gaierror(-2, "Name or service not known"))
UNKNOWN.__cause__ = socket.gaierror(-2, "Name or service not known")
WRAPPED = requests.ConnectionError(MaxRetryError(None, "/x", UNKNOWN))


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (WRAPPED, "this name cannot be looked up (is there a network?)"),
        (URLError(socket.gaierror(-3, "Temporary")), "this name cannot be looked up (is there a"),
        (URLError(ConnectionRefusedError(111, "refused")), "the connection is refused"),
        (URLError(OSError(errno.ENETUNREACH, "unreachable")), "there is no way to it (is there a"),
        (requests.exceptions.SSLError(ssl.SSLError("bad")), "its certificate cannot be verified"),
        (requests.exceptions.ReadTimeout(TimeoutError("60 s")), "there is no answer"),
        (answered(404, "Not Found"), "the server answers 404 Not Found"),
        (HTTPError("http://x", 503, "Busy", None, None), "the server answers 503 Busy"),
        (ValueError("a\n  new kind"), "a new kind"),
        (ValueError("x" * 900), "x" * 200 + "..."),
    ],
)
def test_the_reason_is_told_in_our_words(error, told):
    assert why_unreachable(error).startswith(told)
