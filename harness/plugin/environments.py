"""Python environments of plugins whose requirements the harness's own does not meet.

Each is a folder below `.harness/environments`, named after the requirements, and made once by
`harness environments --make`. It sees the packages of the harness behind its own: numerics stay
those of the other methods, unless a requirement asks for others. Jobs and commands that use such a
plugin run in its environment, so plugins that contradict each other go into one study.
"""

from __future__ import annotations

import fcntl
import functools
import hashlib
import json
import os
import shutil
import site
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NoReturn

from harness.errors import HarnessError
from harness.files import write_whole
from harness.plugin.requirements import unmet
from harness.project import CACHE

FOLDER = CACHE / "environments"

_BEHIND = "harness-behind.pth"
_MADE = "made.json"


@dataclass(frozen=True)
class Home:
    """The Python that the harness is installed for, whichever runs now.

    Attributes
    ----------
    python : str
        Its interpreter.
    version : str
    packages : tuple of str
        Folders that its packages are in.
    """

    python: str
    version: str
    packages: tuple[str, ...]


@functools.cache
def home() -> Home:
    """Return the Python behind the environment that runs: itself, where none was made of it."""
    if current():
        told = json.loads(Path(sys.prefix, _MADE).read_text(encoding="utf-8"))["home"]
        return Home(told["python"], told["version"], tuple(told["packages"]))
    packages = (path for path in site.getsitepackages() if Path(path).is_dir())
    return Home(sys.executable, sys.version, tuple(packages))


def current() -> str:
    """Return the name of the environment that runs; empty for the Python of the harness."""
    return Path(sys.prefix).name if Path(sys.prefix, _MADE).is_file() else ""


@dataclass(frozen=True)
class Environment:
    """The environment of some requirements, whether it is made or not.

    Parameters
    ----------
    requirements : tuple of str
        In order, as PEP 508 writes them.
    """

    requirements: tuple[str, ...]

    @property
    def name(self) -> str:
        """Digest of the requirements and of the Python whose packages stand behind."""
        parts = [home().version, *home().packages, *self.requirements]
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]

    @property
    def folder(self) -> Path:
        """Where it is."""
        return FOLDER / self.name

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.folder.absolute() / "bin" / "python"

    @property
    def is_made(self) -> bool:
        """Whether all of its requirements are installed."""
        return (self.folder / _MADE).is_file()

    def make(self) -> None:
        """Make the environment, which downloads packages; nothing is done where it is made.

        Raises
        ------
        HarnessError
            If a requirement cannot be installed, with what pip says.
        """
        FOLDER.mkdir(parents=True, exist_ok=True)
        with self.folder.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if self.is_made:
                return
            shutil.rmtree(self.folder, ignore_errors=True)
            self._run(home().python, "-m", "venv", str(self.folder))
            packages = home().packages
            behind = "".join(f"import site; site.addsitedir({path!r})\n" for path in packages)
            (self._own_packages() / _BEHIND).write_text(behind, encoding="utf-8")
            # pip sees what stands behind, and installs what that does not meet
            install = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check")
            self._run(str(self.python), *install, *self.requirements)
            told = {"requirements": self.requirements, "home": asdict(home())}
            write_whole(json.dumps(told), self.folder / _MADE)

    def _own_packages(self) -> Path:
        (found,) = self.folder.glob("lib/python*/site-packages")
        return found

    def _run(self, *command: str) -> None:
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        if made.returncode:
            said = (made.stderr.strip() or made.stdout.strip()).splitlines() or ["no reason given"]
            told = next((line for line in said if line.startswith("ERROR:")), said[-1])
            raise HarnessError(
                f"the environment of {', '.join(self.requirements)} cannot be made: {told}"
            )


def environment_for(requirements: Sequence[str]) -> Environment | None:
    """Return the environment in which a plugin runs; None where this Python meets all it needs."""
    return Environment(tuple(requirements)) if unmet(requirements) else None


def enter(requirements: Sequence[str], module: str, arguments: Sequence[str]) -> None:
    """Go on as `python -m module` in the environment of some requirements, if it is another.

    Parameters
    ----------
    requirements : sequence of str
        Of the plugin that is used.
    module : str
    arguments : sequence of str

    Raises
    ------
    HarnessError
        If the environment is still to be made.
    """
    environment = environment_for(requirements)
    if environment is not None:
        _enter(environment, module, arguments)


def _enter(environment: Environment, module: str, arguments: Sequence[str]) -> NoReturn:
    if not environment.is_made:
        raise HarnessError(not_made(environment.requirements))
    python = str(environment.python)
    os.execv(python, [python, "-m", module, *arguments])


def not_made(requirements: Sequence[str]) -> str:
    """Say that an environment is missing, and how it is made."""
    lacking = ", ".join(unmet(requirements))
    return f"needs {lacking}, which is not installed: run `harness environments --make`"
