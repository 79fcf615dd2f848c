"""Charsets of texts, as a catalog names them."""

from __future__ import annotations

import codecs
from typing import Annotated

from pydantic import AfterValidator


def _known_charset(charset: str) -> str:
    try:
        codecs.lookup(charset)
    except (LookupError, ValueError):
        raise ValueError("no charset that Python knows, such as utf-8 or latin-1") from None
    return charset


Charset = Annotated[str, AfterValidator(_known_charset)]
