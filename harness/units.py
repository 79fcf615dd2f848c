"""Bytes and durations as people write them: `200MB`, `64MiB`, `90s`, `2h`."""

from __future__ import annotations

import re

from harness.errors import HarnessError, shown

_BYTES = {
    "B": 1,
    **{f"{prefix}B": 1000**power for power, prefix in enumerate(("k", "M", "G", "T"), start=1)},
    **{f"{prefix}iB": 1024**power for power, prefix in enumerate(("K", "M", "G", "T"), start=1)},
}
_SECONDS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_QUANTITY = re.compile(r"\s*([0-9]*\.?[0-9]+)\s*([A-Za-z]*)\s*")


def parse_bytes(text: str | int) -> int:
    """Read a number of bytes, decimal (`200MB` is 200,000,000) or binary (`64MiB`).

    Parameters
    ----------
    text : str or int
        A bare number counts bytes.

    Raises
    ------
    HarnessError
        If the number or the unit is not understood, or the result is not from 1 to 10^15.
    """
    units = _BYTES | {"KB": 1000, "K": 1000, "M": 10**6, "G": 10**9}
    return round(_parse(text, units, "bytes", 1, 1e15))


def parse_duration(text: str | float) -> float:
    """Read a duration in seconds from `90s`, `5min`, `2h`, `1d`; a bare number counts seconds.

    Raises
    ------
    HarnessError
        If the number or the unit is not understood, or the result is not from 0.001 to 10^9.
    """
    return _parse(text, _SECONDS, "a duration", 1e-3, 1e9)


def parse_latency(text: str | float) -> float:
    """Read seconds from `5ms`, `200us`, `0.1s`; a bare number counts seconds.

    Raises
    ------
    HarnessError
        If the number or the unit is not understood, or the result is not from 1e-6 to 1,000.
    """
    return _parse(text, {"s": 1, "ms": 1e-3, "us": 1e-6}, "a duration", 1e-6, 1e3)


def format_latency(seconds: float) -> str:
    """Write a short duration in ms with two digits, or in seconds from one on."""
    if seconds >= 1:
        return format_duration(seconds)
    return f"{1000 * seconds:.2g} ms"


def format_bytes(count: float) -> str:
    """Write bytes in the largest decimal unit that leaves a rounded number of at least one."""
    for unit in ("TB", "GB", "MB", "kB"):
        value = count / _BYTES[unit]
        if abs(value) >= 999.5:  # three digits would be written as a power of ten
            return f"{value:.0f} {unit}"
        if abs(value) >= 0.9995:
            return f"{value:.3g} {unit}"
    return f"{count:.0f} B"


def format_duration(seconds: float) -> str:
    """Write a duration with the two units that matter (`1 h 20 min`, `35 s`, `12 ms`)."""
    if seconds < 1:
        return f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.3g} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min"


def _parse(
    text: str | float, units: dict[str, float], what: str, least: float, most: float
) -> float:
    allowed = ", ".join(units)
    match = _QUANTITY.fullmatch(str(text))
    if isinstance(text, bool) or match is None:
        raise HarnessError(f"{shown(text)} is not {what}: write a number and one of {allowed}")
    number, unit = match.groups()
    if unit and unit not in units:
        raise HarnessError(f"{shown(text)} is not {what}: unit {unit!r} is not one of {allowed}")
    value = float(number) * (units[unit] if unit else 1)
    if value <= 0:
        raise HarnessError(f"{shown(text)} is not {what}: it must be above zero")
    if not least <= value <= most:
        base = next(iter(units))
        raise HarnessError(
            f"{shown(text)} is not {what}: allowed are {least:g} to {most:g} {base}"
        )
    return value
