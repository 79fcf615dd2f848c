"""What its tests do not notice: small faults in a module, made one at a time.

Changes one operator, comparison, constant or condition of a module at a time, in a copy of the
repository, and runs its tests against the fault. A fault that no test fails for has survived.
`mutation.yaml` says which tests look after which module, and which faults change nothing that
could be seen: a reader decided that, and wrote the reason beside it.

    python benchmarks/mutation.py                            # all that mutation.yaml lists
    python benchmarks/mutation.py harness/trial/tuning.py    # one of them
    python benchmarks/mutation.py harness/units.py --tests tests/test_units.py
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import yaml

ROOT = Path(__file__).resolve().parents[1]
LISTED = Path(__file__).with_suffix(".yaml")
# Imported once, before a process is forked for each fault. None of them imports the harness.
HEAVY = (
    "pandas",
    "pyarrow.parquet",
    "pydantic",
    "pytest",
    "scipy.optimize",
    "scipy.stats",
    "sklearn.linear_model",
    "sklearn.model_selection",
    "sklearn.svm",
    "sklearn.utils.estimator_checks",
)
OPERATORS: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Pow: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


class Mutant(NamedTuple):
    """A module with one fault."""

    line: int
    name: str  # the function, what was there and what is there now
    tree: ast.Module


def mutants(tree: ast.Module) -> Iterator[Mutant]:
    """Yield the module with each of its faults."""
    nodes = list(ast.walk(tree))
    parents = {id(child): node for node in nodes for child in ast.iter_child_nodes(node)}
    hints = {
        id(part)
        for node in nodes
        for hint in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if isinstance(hint, ast.AST)
        for part in ast.walk(hint)
    }
    # These tell an author of a mistake, and change no result.
    guards = {
        id(keyword.value)
        for keyword in nodes
        if isinstance(keyword, ast.keyword) and keyword.arg in ("frozen", "strict")
    }
    for index, node in enumerate(nodes):
        if id(node) in hints | guards or _is_for_types(node):  # a hint is never evaluated
            continue
        for replaced in _changes(node):
            changed = copy.deepcopy(tree)
            walked = list(ast.walk(changed))
            walked[index].__dict__.update(replaced.__dict__)
            shown, written = index, _code
            around = parents.get(id(node))
            if isinstance(node, ast.Constant) and isinstance(around, ast.expr | ast.keyword):
                shown, written = nodes.index(around), ast.unparse  # a bare figure says nothing
            before, after = (written(found[shown]) for found in (nodes, walked))
            name = f"{_function(node, parents)}: {before} -> {after}"
            yield Mutant(node.lineno, " ".join(name.split()), ast.fix_missing_locations(changed))


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"


def _code(node: ast.AST) -> str:
    """Return a node as it is written; of a statement its condition."""
    return ast.unparse(node.test if isinstance(node, ast.If | ast.IfExp | ast.While) else node)


def _function(node: ast.AST, parents: dict[int, ast.AST]) -> str:
    """Return the name of the function or class that a node stands in."""
    names = []
    while (node := parents.get(id(node))) is not None:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
    return ".".join(reversed(names)) or "module"


def _changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield copies of a node, each with one fault."""
    if isinstance(node, ast.BinOp | ast.AugAssign | ast.BoolOp):
        if type(node.op) in OPERATORS:
            changed = copy.deepcopy(node)
            changed.op = OPERATORS[type(node.op)]()
            yield changed
    elif isinstance(node, ast.Compare):
        for i, op in enumerate(node.ops):
            changed = copy.deepcopy(node)
            changed.ops[i] = OPERATORS[type(op)]()
            yield changed
    elif isinstance(node, ast.Constant):
        value = node.value
        if isinstance(value, bool):
            yield ast.copy_location(ast.Constant(not value), node)
        elif isinstance(value, int | float):
            yield ast.copy_location(ast.Constant(value + 1), node)
    elif isinstance(node, ast.If | ast.IfExp | ast.While):
        changed = copy.deepcopy(node)
        changed.test = ast.UnaryOp(ast.Not(), changed.test)
        yield changed


class Copy:
    """A copy of the repository, in which one module is changed and its tests are run."""

    def __init__(self, folder: Path) -> None:
        leave = shutil.ignore_patterns(".git", ".venv", "__pycache__", "*.egg-info", "results")
        self.folder = folder / "copy"
        shutil.copytree(ROOT, self.folder, ignore=leave)
        self._changes = int(time.time()) - 10**8

    def write(self, module: Path, source: str) -> None:
        """Put a source in place of a module's."""
        path = self.folder / module
        path.write_text(source)
        # Compiled files are told apart by size and second: two faults may share both.
        self._changes += 1
        os.utime(path, (self._changes, self._changes))

    def passes(self, tests: list[str], seconds: float) -> bool:
        """Tell whether the tests pass. Those that run out of time do not."""
        child = os.fork()
        if not child:
            os.setsid()
            quiet = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(quiet, stream)
            import pytest

            code = pytest.main(
                ["-q", "-x", "-m", "", "-W", "ignore::pytest.PytestAssertRewriteWarning", *tests]
            )
            os._exit(code)
        end = time.monotonic() + seconds
        try:
            while time.monotonic() < end:
                ended, status = os.waitpid(child, os.WNOHANG)
                if ended:
                    return status == 0
                time.sleep(0.02)
            return False
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(child, 0)


class UnexaminedError(Exception):
    """The tests of a module cannot tell anything of it."""


class Counts(NamedTuple):
    """What became of the faults of a module."""

    mutants: int
    killed: int
    equivalent: int

    @property
    def share(self) -> float:
        """Of the faults that can be seen, those that a test failed for."""
        seen = self.mutants - self.equivalent
        return self.killed / seen if seen else 1.0


def examine(
    copied: Copy,
    module: Path,
    tests: list[str],
    equivalent: dict[str, str],
    sample: int,
    seed: int,
) -> Counts:
    """Print each fault of a module with its line and its fate, and count them."""
    print(f"\n{module}: {' '.join(tests)}", flush=True)
    tree = ast.parse((ROOT / module).read_text())
    found = list(mutants(tree))
    if sample < len(found):
        found = [found[i] for i in sorted(random.Random(seed).sample(range(len(found)), sample))]
    copied.write(module, ast.unparse(tree))
    start = time.monotonic()
    if not copied.passes(tests, 3600):
        raise UnexaminedError(f"{module}: its tests fail before anything is changed")
    seconds = 10 + 3 * (time.monotonic() - start)
    copied.write(module, "raise AssertionError")
    if copied.passes(tests, seconds):
        raise UnexaminedError(f"{module}: its tests pass without it")
    killed = unseen = 0
    for mutant in found:
        copied.write(module, ast.unparse(mutant.tree))
        alive = copied.passes(tests, seconds)
        killed += not alive
        unseen += alive and mutant.name in equivalent
        fate = "killed" if not alive else "same" if mutant.name in equivalent else "survived"
        print(f"{fate:8}  {mutant.line:4}  {mutant.name}", flush=True)
    copied.write(module, (ROOT / module).read_text())
    return Counts(len(found), killed, unseen)


def main() -> None:
    """Examine the modules, and print a table of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("modules", type=Path, nargs="*", help="paths from the root")
    parser.add_argument("--tests", nargs="+", help="what pytest is to run (mutation.yaml says it)")
    parser.add_argument("--sample", type=int, default=25, help="mutants of a module, at random")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    given = parser.parse_args()

    listed = yaml.safe_load(LISTED.read_text())
    modules = given.modules or [Path(name) for name in listed]
    if not given.tests and (unlisted := [m for m in modules if str(m) not in listed]):
        parser.error(f"{LISTED.name} has no {unlisted[0]}: say its --tests")
    counts = {}
    with tempfile.TemporaryDirectory() as temporary:
        copied = Copy(Path(temporary))
        os.chdir(copied.folder)
        sys.path[0] = os.environ["PYTHONPATH"] = str(copied.folder)
        for name in HEAVY:
            importlib.import_module(name)
        for module in modules:
            about = listed.get(str(module), {})
            tests = given.tests or about["tests"]
            equivalent = about.get("equivalent", {})
            try:
                counts[module] = examine(
                    copied, module, tests, equivalent, given.sample, given.seed
                )
            except UnexaminedError as error:
                print(error, flush=True)
                copied.write(module, (ROOT / module).read_text())

    width = max([6, *(len(str(module)) for module in counts)])
    print(f"\n{'module':{width}}  mutants  killed  equivalent  share")
    for module, found in counts.items():
        print(
            f"{module!s:{width}}  {found.mutants:7}  {found.killed:6}  {found.equivalent:10}"
            f"  {found.share:5.0%}"
        )


if __name__ == "__main__":
    main()
