"""Commands and scripts in a process of their own that need not import what this one has imported.

A new Python takes 1 to 3 CPU seconds before it does anything, a fork a tenth of one. What is run
here starts in the libraries as they are after their import: what a process needs to start, and
that a model finds its classes, others try with `subprocess`.
"""

import importlib
import os
import runpy
import subprocess
import sys
import tempfile
import traceback
import warnings
from functools import cache, partial
from pathlib import Path

_IMPORTED = (
    "harness.cli.main",
    "harness.trial.warm_up",
    "pandas",
    "pyarrow.parquet",
    "sklearn.svm",
)
# those of a Python that is told nothing
_QUIET = (DeprecationWarning, PendingDeprecationWarning, ImportWarning, ResourceWarning)


@cache
def _import():
    for name in _IMPORTED:
        importlib.import_module(name)


def command(*arguments, cwd, env=None):
    """Run a command of the command line; return how it ended and what it printed."""
    run = partial(runpy.run_module, "harness.cli", run_name="__main__", alter_sys=True)
    return _run(run, ["harness", *map(str, arguments)], cwd, env)


def script(path, *arguments, cwd):
    """Run a file, as Python would."""
    path = str(Path(cwd, path))
    return _run(partial(runpy.run_path, path, run_name="__main__"), [path, *arguments], cwd)


def code(text, *arguments, cwd):
    """Run a text, as `python -c` would."""
    run = partial(exec, compile(text, "<string>", "exec"), {"__name__": "__main__"})
    return _run(run, ["-c", *arguments], cwd)


def _run(call, arguments, cwd, env=None):
    _import()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                _become(out, err, [str(argument) for argument in arguments], cwd, env)
                status = _status(call)
            finally:
                os._exit(status)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(arguments, status, out.read(), err.read())


def _become(out, err, arguments, cwd, env):
    for number, file in ((1, out), (2, err)):
        os.dup2(file.fileno(), number)
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 (of a process that ends)
    sys.stderr = open(2, "w", closefd=False, buffering=1)  # noqa: SIM115
    os.chdir(cwd)
    if env is not None:
        os.environ.clear()
        os.environ.update(env)
    sys.argv, sys.path[:0] = arguments, [str(cwd)]
    warnings.resetwarnings()
    for category in _QUIET:
        warnings.simplefilter("ignore", category)


def _status(call):
    """Call it; return the status that Python would end with."""
    status = 0
    try:
        call()
    except SystemExit as ended:
        status = ended.code or 0
        if isinstance(status, str):
            print(status, file=sys.stderr)
            status = 1
    except BaseException:
        traceback.print_exc()
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    return status
