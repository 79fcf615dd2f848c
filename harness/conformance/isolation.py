"""Runs checks where they can do no harm: in a child with a time limit and a bound on memory."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from harness.conformance.finding import Finding, NotApplicableError, broken, one_line, skipped
from harness.plugin.registry import plugin_location
from harness.sandbox import Limits, Sandbox
from harness.units import format_duration

if TYPE_CHECKING:
    from harness.sandbox import Monitor

Check = Callable[[], str]
"""Returns its advice, empty where it passes."""

MEMORY = 2_000_000_000
"""Bytes that a check on small data may take: not a budget, but what keeps the machine usable."""


MOST_TIMEOUTS = 2
"""A method with so many is taken to hang everywhere."""


class HangsError(Exception):
    """Raised instead of running a check of a method that hangs; its message says so."""


class Isolation:
    """Runs the checks of one method.

    Parameters
    ----------
    sandbox : Sandbox
    seconds : float
        What one check may take.
    method : str
    """

    def __init__(self, sandbox: Sandbox, seconds: float, method: str) -> None:
        self._sandbox, self._seconds, self._method = sandbox, seconds, method
        self._timeouts = 0

    def run(self, checks: Iterable[tuple[str, Check]]) -> Iterator[Finding]:
        """Run quick checks in one child, and each in one of its own if that child is lost.

        A crash, a hang or an exception is a finding too.

        Raises
        ------
        HangsError
            If a check is to be run after `MOST_TIMEOUTS` did not end.
        """
        checks = list(checks)

        def all_of_them(monitor: Monitor) -> tuple[dict[str, Any], dict[str, Any]]:
            found = {str(i): _answer(check) for i, (_, check) in enumerate(checks)}
            return found, {}

        if len(checks) > 1 and self._timeouts < MOST_TIMEOUTS:
            result = self._sandbox.run(all_of_them, Limits(MEMORY, 2 * self._seconds))
            if result.outcome == "ok":
                for i, (name, _) in enumerate(checks):
                    yield _finding(self._method, name, result.answer[str(i)])
                return
        for name, check in checks:
            yield self._alone(name, check)

    def _alone(self, name: str, check: Check) -> Finding:
        if self._timeouts >= MOST_TIMEOUTS:
            within = format_duration(self._seconds)
            message = f"wait until checks end: {self._timeouts} did not within {within}"
            raise HangsError(message)
        limits = Limits(MEMORY, self._seconds)
        result = self._sandbox.run(lambda monitor: (_answer(check), {}), limits)
        if result.outcome == "ok":
            return _finding(self._method, name, result.answer)
        self._timeouts += result.outcome == "timeout"
        advice = _explain(result.outcome, result.reason, self._seconds)
        return broken(self._method, name, advice)


def _finding(method: str, name: str, answer: dict[str, str]) -> Finding:
    if answer["skipped"]:
        return skipped(method, name, answer["skipped"])
    return broken(method, name, answer["advice"]) if answer["advice"] else Finding(method, name)


def _answer(check: Check) -> dict[str, str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return {"advice": check(), "skipped": ""}
    except NotApplicableError as why:
        return {"advice": "", "skipped": str(why)}
    except MemoryError:
        raise
    except Exception as error:
        advice = f"raised {describe(error)}; mend what raises it"
        return {"advice": advice, "skipped": ""}


def describe(error: BaseException) -> str:
    """Name an exception, its message and the line of the plugin it came through last."""
    text = one_line(str(error), 200)
    if not text and error.__traceback__ is not None:
        # a bare assert: its own line says more than nothing
        text = traceback.extract_tb(error.__traceback__)[-1].line or ""
    return f"{type(error).__name__}: {text} {plugin_location(error)}".rstrip()


def _explain(outcome: str, reason: str, seconds: float) -> str:
    if outcome == "timeout":
        return (
            f"did not end within {format_duration(seconds)} on a few hundred points; bound its "
            "iterations, or refuse the input with a ValueError"
        )
    if outcome == "crashed":
        return (
            f"took its process down: {reason} raise an exception instead, and never call os._exit "
            "or unguarded native code"
        )
    if outcome == "over_budget":
        return f"allocated without bound on a few hundred points: {reason}"
    return f"raised {reason}; mend what raises it"
