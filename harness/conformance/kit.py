"""The whole check of one plugin file, in order: does it load, then every method task by task."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import threadpoolctl

from harness.conformance import measured_storage, storage_model
from harness.conformance.anytime import steps_agree
from harness.conformance.behaviour import CHECKS, predicts
from harness.conformance.estimator_checks import sklearn_checks
from harness.conformance.finding import (
    FAILS,
    Finding,
    NotApplicableError,
    broken,
    one_line,
    skipped,
)
from harness.conformance.hard_inputs import INPUTS, survives
from harness.conformance.isolation import Check, HangsError, Isolation, describe
from harness.conformance.learned_plans import learned_workloads
from harness.conformance.offset import is_shift_invariant
from harness.conformance.permutation import is_permutation_equivariant
from harness.conformance.points_in_parts import keeps_no_part
from harness.conformance.problems import make_problem
from harness.conformance.sparse_input import is_same_of_sparse
from harness.conformance.split_fit import split_fit_agrees
from harness.errors import unknown_name
from harness.planning.learned.model import LearningError
from harness.plugin.method import Method
from harness.plugin.registry import PROVIDERS, FileSource, Plugin, load_plugin
from harness.sandbox import Limits, Monitor, Sandbox
from harness.site.storage_models import why_untranslated
from harness.trial.warm_up import warm_up

SECONDS = 20.0
"""What one check of small data may take."""

_LOADS = "loads"
_ON_THE_SITE = "storage on the site"


def check_file(
    file: Path, names: Sequence[str] = (), *, seconds: float = SECONDS, measure: bool = True
) -> Iterator[Finding]:
    """Check the methods of a plugin, finding after finding.

    Parameters
    ----------
    file : Path
        A module, or the folder of a package.
    names : sequence of str, default ()
        Only these methods; all of the file if empty.
    seconds : float, default 20
        What one check on small data may take before it counts as a hang; a measured trial may
        take six times as long.
    measure : bool, default True
        Whether to run trials that measure the storage model: most of the time a check takes.

    Yields
    ------
    Finding
        In the order of the file, as soon as it is known. A file that does not load, or provides
        nothing, is a finding. Of a method that hangs in two checks the others are left out.

    Raises
    ------
    HarnessError
        If the file provides no method of a name that was asked for.
    """
    source = FileSource(file.stem, str(file.parent), file.resolve())
    with threadpoolctl.threadpool_limits(1), Sandbox() as sandbox:
        advice = _load_advice(source, sandbox, seconds)
    if advice:
        yield broken(source.name, _LOADS, advice)
        return
    methods = load_plugin(source).provided["methods"]
    known = [method.name for method in methods]
    for name in names:
        if name not in known:
            raise unknown_name("method", name, known, str(file))
    yield Finding(source.name, _LOADS)
    asked = [method for method in methods if not names or method.name in names]
    yield from check_methods(asked, seconds=seconds, measure=measure)


def check_methods(
    methods: Iterable[Method], *, seconds: float = SECONDS, measure: bool = True
) -> Iterator[Finding]:
    """Check methods that are loaded already, finding after finding.

    Parameters
    ----------
    methods : iterable of Method
    seconds, measure
        As of `check_file`.

    Yields
    ------
    Finding
        Method after method, as soon as it is known. scikit-learn's checks run once for each
        class, with the first of the methods that have it.
    """
    with threadpoolctl.threadpool_limits(1):
        warm_up(sparse=True)
        # after the import: what a trial inherits must not be counted as its own
        with Sandbox() as sandbox, tempfile.TemporaryDirectory() as folder:
            first_of: dict[type, Method] = {}
            for method in methods:
                first = first_of.setdefault(method.estimator, method)
                check = _MethodCheck(method, sandbox, Path(folder), seconds, measure)
                yield from check.run("" if first is method else first.name)


class _MethodCheck:
    """All checks of one method."""

    def __init__(
        self, method: Method, sandbox: Sandbox, folder: Path, seconds: float, measure: bool
    ) -> None:
        self.method, self.sandbox, self.folder = method, sandbox, folder
        self.seconds, self.measure = seconds, measure
        self.isolation = Isolation(sandbox, seconds, method.name)

    def run(self, class_checked_as: str = "") -> Iterator[Finding]:
        """Check all; scikit-learn's checks are left out if those of another method were its own.

        They ask how a class keeps, validates and copies its parameters and its data.
        """
        try:
            if class_checked_as:
                name = self.method.estimator.__name__
                why = f"{name} was checked already, as the class of {class_checked_as}"
                yield skipped(self.method.name, "scikit-learn", why)
            else:
                yield from self._scikit_learn()
            for task in sorted(self.method.tasks):
                suffix = f", {task}" if len(self.method.tasks) > 1 else ""
                yield from self._task(task, suffix)
            yield from self._on_the_site()
        except HangsError as why:
            yield skipped(self.method.name, "all others", str(why))

    def _on_the_site(self) -> Iterator[Finding]:
        """Say where the page "What fits me?" cannot work out the size of the method."""
        if self.method.learns_storage:
            return
        if why := why_untranslated(self.method):
            advice = f"`harness site` cannot work out its size: {why}; `harness advise` can"
            yield skipped(self.method.name, _ON_THE_SITE, advice)

    def _scikit_learn(self) -> Iterator[Finding]:
        """All of scikit-learn's checks as one finding, or one for each that fails."""
        method = self.method
        try:
            checks = list(sklearn_checks(method))
        except Exception as error:
            advice = (
                f"scikit-learn cannot check {method.estimator.__name__} ({describe(error)}); "
                "derive it from sklearn.base.BaseEstimator and give every parameter a default"
            )
            yield broken(method.name, "scikit-learn", advice)
            return
        passes = True
        for finding in self.isolation.run(checks):
            if finding.result == FAILS:
                passes = False
                yield finding
        if passes:
            yield Finding(method.name, f"scikit-learn ({len(checks)} checks)")

    def _task(self, task: str, suffix: str) -> Iterator[Finding]:
        method, model_holds = self.method, True
        of_model = {name: partial(check, method, task) for name, check in self._model_checks()}
        for finding in self._small(of_model, suffix):
            model_holds &= finding.result != FAILS
            yield finding
        try:
            problem = make_problem(method, task)
        except Exception as error:
            why = f"`sizes` raised {type(error).__name__}: {error}; mend it first"
            yield broken(method.name, f"predictions{suffix}", why)
            return
        (found,) = self._small({"predictions": partial(predicts, method, problem)}, suffix)
        yield found
        if found.result == FAILS:
            why = "waits until `predictions` passes"
            yield skipped(method.name, f"all others{suffix}", why)
            return
        checks: dict[str, Check]
        checks = {name: partial(check, method, problem) for name, check in CHECKS.items()}
        checks["split fit"] = partial(split_fit_agrees, method, problem)
        checks["anytime fit"] = partial(steps_agree, method, problem)
        checks["permutation equivariant"] = partial(is_permutation_equivariant, method, problem)
        checks["far from the origin"] = partial(is_shift_invariant, method, problem)
        checks["sparse input"] = partial(is_same_of_sparse, method, problem)
        checks["points in parts"] = partial(keeps_no_part, method, problem)
        for name, make in INPUTS.items():
            checks[name] = partial(survives, method, problem, make)
        yield from self._small(checks, suffix)
        if self.measure:
            yield from self._measured(task, suffix, model_holds)

    def _model_checks(self) -> list[tuple[str, Callable[[Method, str], str]]]:
        checks: list[tuple[str, Callable[[Method, str], str]]] = []
        if not self.method.learns_storage:
            checks = [
                ("storage arguments", storage_model.asks_for_known_parameters),
                ("storage monotone", storage_model.is_monotone),
            ]
        if self.method.size not in (None, "n_unlabeled"):
            checks.insert(0, ("sizes", storage_model.sizes_are_valid))
        return checks

    def _measured(self, task: str, suffix: str, model_holds: bool) -> Iterator[Finding]:
        method = self.method
        chosen: list[measured_storage.Workload] = []
        if model_holds and method.learns_storage:
            try:
                method, chosen = learned_workloads(
                    method, task, self.sandbox, self.folder, 6 * self.seconds
                )
            except LearningError as error:
                advice = f"its storage cannot be learned: {one_line(str(error))}"
                yield broken(method.name, f"storage honest{suffix}", advice)
                return
        for name, check in (
            ("smallest budget", measured_storage.fits_smallest_budget),
            ("storage honest", partial(measured_storage.is_honest, chosen=chosen)),
        ):
            label = f"{name}{suffix}"
            if not model_holds:
                why = "waits until the storage model's other checks pass"
                yield skipped(method.name, label, why)
            elif chosen and name == "smallest budget":
                why = "a trial that runs over a learned plan is taken again at less"
                yield skipped(method.name, label, why)
            else:
                yield self._trial(label, partial(check, method, task))
        if model_holds:
            yield self._peak(method, task, f"peak{suffix}", chosen)

    def _peak(
        self, method: Method, task: str, name: str, chosen: Sequence[measured_storage.Workload]
    ) -> Finding:
        """Return what a trial held and where, which is for reading and cannot fail."""
        try:
            told = measured_storage.peak_words(
                method, task, self.sandbox, self.folder, 6 * self.seconds, chosen
            )
        except (NotApplicableError, ValueError) as why:
            return skipped(self.method.name, name, str(why))
        return Finding(self.method.name, name, one_line(told))

    def _small(self, checks: Mapping[str, Check], suffix: str) -> Iterator[Finding]:
        return self.isolation.run((f"{name}{suffix}", check) for name, check in checks.items())

    def _trial(self, name: str, check: Any) -> Finding:
        try:
            advice = check(self.sandbox, self.folder, 6 * self.seconds)
        except NotApplicableError as why:
            return skipped(self.method.name, name, str(why))
        except Exception as error:
            advice = f"its storage model or sizes raised {describe(error)}"
        return (
            broken(self.method.name, name, advice) if advice else Finding(self.method.name, name)
        )


def _load_advice(source: FileSource, sandbox: Sandbox, seconds: float) -> str:
    """Import the plugin in a child and say why it cannot be used, if it cannot."""
    if source.path.is_file() and source.path.suffix != ".py":
        return "is not a Python file"
    if source.path.is_dir() and not (source.path / "__init__.py").is_file():
        return "is a folder without __init__.py; name a file of it, or make it a package"

    def probe(monitor: Monitor) -> tuple[dict[str, Any], dict[str, Any]]:
        return {"advice": _plugin_advice(load_plugin(source))}, {}

    result = sandbox.run(probe, Limits(seconds=6 * seconds))
    if result.outcome == "ok":
        return one_line(result.answer["advice"])
    return (
        f"could not be imported: {result.outcome}: {result.reason} Define classes and functions "
        "at module level and do no work there"
    )


def _plugin_advice(plugin: Plugin) -> str:
    if plugin.failure:
        return f"{plugin.failure}; mend this first"
    foreign = [item for item in plugin.provided["methods"] if not isinstance(item, Method)]
    if foreign:
        return (
            f"harness_methods gave a {type(foreign[0]).__name__}; yield Method(...) objects only"
        )
    if not any(plugin.provided.values()):
        unmarked = [hook for hook in PROVIDERS.values() if hasattr(plugin.module, hook)]
        if unmarked:
            return f"{unmarked[0]} provides nothing; mark it with @hookimpl and yield something"
        return (
            "provides nothing; write a function harness_methods marked with @hookimpl that yields "
            "Method(...), or start from `harness new method`"
        )
    return ""
