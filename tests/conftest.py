"""What holds for every test."""

import contextlib
import inspect
import io
import os
import runpy
import shutil
import subprocess
import sys
import warnings
from types import SimpleNamespace

import pytest
from hypothesis import settings

from harness.threads import one_thread

# As in a trial, and before NumPy is imported: on small matrices threads cost many times the work.
one_thread()

# A process that compiles every module anew takes seconds to start, and tests start hundreds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# An example takes a second where others use the machine, which is no fault of what is tested.
settings.register_profile("busy", deadline=None)
settings.load_profile("busy")


def pytest_xdist_auto_num_workers(config):
    """Two workers a core: half of the time of these tests is waiting for other processes."""
    return 2 * (os.cpu_count() or 1)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Of a test that measures memory the middle of three answers counts.

    File pages that come and go on a busy machine can move one reading by 1 MB.
    """
    if pyfuncitem.get_closest_marker("memory") is None:
        return None
    test = pyfuncitem.obj
    given = {name: pyfuncitem.funcargs[name] for name in inspect.signature(test).parameters}
    try:
        test(**given)
    except (AssertionError, pytest.fail.Exception):
        for _ in range(2):
            test(**given)
    return True


@pytest.fixture(autouse=True)
def same_draws():
    """What is given no seed draws from numpy's global state: the same draws in every run."""
    import numpy as np

    np.random.seed(0)  # noqa: NPY002 (the global state is what scikit-learn draws from)


@pytest.fixture
def answers_here(monkeypatch):
    """What is asked of a process of its own is answered in this one, and kept as ever.

    The module runs as it does there, but need not wait for scikit-learn, and sees the built-in
    plugins that a test puts in place of the others.
    """
    from harness import lean_process
    from harness.plugin import out_of_process

    def run(command, input, **_):
        _, _, module, *folders = command
        printed = io.StringIO()
        with (
            monkeypatch.context() as patch,
            contextlib.redirect_stdout(printed),
            warnings.catch_warnings(),
        ):
            warnings.filterwarnings("ignore", f"'{module}' found in sys.modules", RuntimeWarning)
            patch.setattr(sys, "argv", [module, *folders])
            patch.setattr(sys, "stdin", io.StringIO(input))
            # that one would end, and is no longer collected from
            patch.setattr(lean_process, "leave", lambda code=0: None)
            patch.setattr(lean_process, "importing", contextlib.nullcontext)
            runpy.run_module(module, run_name="__main__")
        return subprocess.CompletedProcess(command, 0, printed.getvalue(), "")

    monkeypatch.setattr(out_of_process, "subprocess", SimpleNamespace(run=run))


@pytest.fixture
def built_in(answers_here, monkeypatch, tmp_path_factory):
    """Return a function that leaves only the named modules of the built-in plugins."""
    from harness.plugin import index, registry
    from harness.project import PLUGINS

    def keep(*names):
        # copies: of a file that is loaded again, what was loaded before cannot be pickled
        folder = tmp_path_factory.mktemp("built-in")
        for name in names:
            if (PLUGINS / name).is_dir():
                shutil.copytree(PLUGINS / name, folder / name)
            else:
                shutil.copy(PLUGINS / f"{name}.py", folder)
        monkeypatch.setattr(registry, "PLUGINS", folder)
        monkeypatch.setattr(index, "cache_directory", lambda: folder.parent / "cache")

    return keep


@pytest.fixture
def outer_group():
    """A group below that of the tests, as a scheduler makes one for a job: 400 MB."""
    from outer_group import OuterGroup

    from harness.sandbox.cgroup import UnavailableError

    try:
        group = OuterGroup(400_000_000)
    except UnavailableError as error:
        pytest.skip(f"no group can be made: {error}")
    yield group
    group.remove()
