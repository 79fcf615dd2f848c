"""What is held is near what was planned, phase by phase: a term too many or too few would show."""

from dataclasses import replace

import pytest
from registered import METHODS, named
from storage_problems import PROBLEMS

from harness.planning.size import plan

NARROW = 0.05

CASES = [
    pytest.param(
        name,
        problem,
        id=f"{name}-{number} {problem.phase}",
        marks=[pytest.mark.slow] if number else [],
    )
    for name, problems in PROBLEMS.items()
    for number, problem in enumerate(problems)
]


def narrowed(name, params):
    """Return a method whose kernel, if it has one, tells all points apart."""
    method = named(name)
    sigma = {"sigma": NARROW} if "sigma" in method.parameters else {}
    return replace(method, params={**method.params, **sigma, **params})


@pytest.mark.memory
@pytest.mark.parametrize(("name", "problem"), CASES)
def test_the_peak_is_near_the_plan_whichever_phase_it_is_in(name, problem, assert_peak_between):
    method = narrowed(name, problem.params)
    planned = plan(method, problem.shape, None, largest=problem.size)
    assert planned.phase == problem.phase, "find a problem that has its peak in this phase"
    least, most = problem.least * planned.planned_bytes, 1.002 * planned.planned_bytes + 25_000
    assert_peak_between(least, most, method, problem.shape, planned.size, problem.task)


def test_every_method_has_its_problems():
    assert PROBLEMS.keys() == {method.name for method in METHODS}
