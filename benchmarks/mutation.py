"""What its tests do not notice: small faults in a module, made one at a time.

Changes one operator, comparison, constant or condition of the module at a time, in a copy of the
repository, and runs the given tests against it. A fault that no test fails for has survived.
Some survivors change nothing that can be seen; a reader decides which.

    python benchmarks/mutation.py harness/trial/tuning.py --tests tests/trial/test_tuning.py
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
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


def mutants(tree: ast.Module) -> Iterator[tuple[int, str, ast.Module]]:
    """Yield the line, what was there and what is there now, and the changed module."""
    hints = {
        id(part)
        for node in ast.walk(tree)
        for hint in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if isinstance(hint, ast.AST)
        for part in ast.walk(hint)
    }
    for index, node in enumerate(ast.walk(tree)):
        if id(node) in hints:  # never evaluated
            continue
        for replaced in _changes(node):
            changed = copy.deepcopy(tree)
            target = list(ast.walk(changed))[index]
            target.__dict__.update(replaced.__dict__)
            before, after = ast.unparse(node), ast.unparse(target)
            yield node.lineno, f"{before} -> {after}", ast.fix_missing_locations(changed)


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


def survives(copied: Path, tests: list[str], seconds: float) -> bool:
    """Tell whether the tests pass in the copy; one that runs out of time is killed."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-m", "", *tests]
    environment = {**os.environ, "PYTHONPATH": str(copied), "PYTHONDONTWRITEBYTECODE": "1"}
    child = subprocess.Popen(
        command,
        cwd=copied,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return child.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child.pid, signal.SIGKILL)
        child.wait()


def main() -> None:
    """Print each mutant with its line and its fate, and the share that was killed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("module", type=Path, help="path from the root of the repository")
    parser.add_argument("--tests", nargs="+", required=True, help="what pytest is to run")
    parser.add_argument("--sample", type=int, help="so many mutants, drawn at random")
    parser.add_argument("--seed", type=int, default=0, help="of the sample")
    given = parser.parse_args()

    tree = ast.parse((ROOT / given.module).read_text())
    found = list(mutants(tree))
    if given.sample is not None and given.sample < len(found):
        chosen = random.Random(given.seed).sample(range(len(found)), given.sample)
        found = [found[i] for i in sorted(chosen)]
    with tempfile.TemporaryDirectory() as temporary:
        copied = Path(temporary) / "copy"
        leave = shutil.ignore_patterns(".git", ".venv", "__pycache__", "*.egg-info")
        shutil.copytree(ROOT, copied, ignore=leave)
        target = copied / given.module
        target.write_text(ast.unparse(tree))
        start = time.monotonic()
        if not survives(copied, given.tests, 3600):
            sys.exit(f"{given.module}: its tests fail before anything is changed")
        seconds = 10 + 3 * (time.monotonic() - start)
        killed = 0
        for line, change, mutant in found:
            target.write_text(ast.unparse(mutant))
            alive = survives(copied, given.tests, seconds)
            killed += not alive
            what = change if len(change) <= 160 else change[:157] + "..."
            fate = "survived" if alive else "killed"
            print(f"{fate:8}  {line:4}  {' '.join(what.split())}", flush=True)
    share = f" ({killed / len(found):.0%})" if found else ""
    print(f"{given.module}: {killed} of {len(found)} mutants killed{share}")


if __name__ == "__main__":
    main()
