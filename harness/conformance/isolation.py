"""Runs checks where they can do no harm: in a child with a time limit and a bound on memory."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from harness.conformance.finding import Finding, NotApplicableError, broken, one_line, skipped
from harness.registry import place_in_plugin
from harness.sandbox import Limits, Sandbox
from harness.units import format_duration

if TYPE_CHECKING:
    from harness.sandbox import Monitor

Check = Callable[[], str]
"""Returns its advice, empty where it passes."""

MEMORY = 2_000_000_000
"""Bytes that a check on small data may take: not a budget, but what keeps the machine usable."""


def run_check(sandbox: Sandbox, seconds: float, method: str, name: str, check: Check) -> Finding:
    """Run one check in a child of its own; a crash, a hang or an exception is a finding too."""
    result = sandbox.run(lambda monitor: _answer(check, monitor), Limits(MEMORY, seconds))
    if result.outcome == "ok":
        return _finding(method, name, result.value)
    return broken(method, name, _explain(result.outcome, result.reason, seconds))


def run_together(
    sandbox: Sandbox, seconds: float, method: str, checks: Iterable[tuple[str, Check]]
) -> list[Finding]:
    """Run many quick checks in one child, and each in one of its own if that child is lost."""
    checks = list(checks)

    def all_of_them(monitor: Monitor) -> tuple[dict[str, Any], dict]:
        found = {
            str(number): _answer(check, monitor)[0] for number, (_, check) in enumerate(checks)
        }
        return found, {}

    if len(checks) == 1:
        return [run_check(sandbox, seconds, method, *checks[0])]
    result = sandbox.run(all_of_them, Limits(MEMORY, 2 * seconds))
    if result.outcome != "ok":
        return [run_check(sandbox, seconds, method, name, check) for name, check in checks]
    return [_finding(method, name, result.value[str(i)]) for i, (name, _) in enumerate(checks)]


def _finding(method: str, name: str, answer: dict[str, str]) -> Finding:
    if answer["skipped"]:
        return skipped(method, name, answer["skipped"])
    return broken(method, name, answer["advice"]) if answer["advice"] else Finding(method, name)


def _answer(check: Check, monitor: Monitor) -> tuple[dict[str, Any], dict]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return {"advice": check(), "skipped": ""}, {}
    except NotApplicableError as why:
        return {"advice": "", "skipped": str(why)}, {}
    except MemoryError:
        raise
    except Exception as error:
        advice = f"raised {describe(error)}; mend what raises it"
        return {"advice": advice, "skipped": ""}, {}


def describe(error: BaseException) -> str:
    """Name an exception, its message and the line of the plugin it came through last."""
    text = one_line(str(error), 200)
    if not text and error.__traceback__ is not None:
        # a bare assert: its own line says more than nothing
        text = traceback.extract_tb(error.__traceback__)[-1].line or ""
    return f"{type(error).__name__}: {text} {place_in_plugin(error)}".rstrip()


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
