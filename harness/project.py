"""Where the project's own files are, and which of the current folder come before them.

In a checkout, or installed from one as editable, they stand beside the package; a wheel has them
within it (`pyproject.toml`). The current folder is the user's: results, prepared data and caches
go there, and what it holds of the same kind comes first.
"""

import os
from pathlib import Path

import platformdirs

PACKAGE = Path(__file__).resolve().parent
_IN_WHEEL = PACKAGE / "_project"
IS_CHECKOUT = not _IN_WHEEL.is_dir()
"""Whether the package is one folder of a checkout, whose commit says which code it is."""

ROOT = PACKAGE.parent if IS_CHECKOUT else _IN_WHEEL
SNAKEFILE = ROOT / "Snakefile"
PROFILE = ROOT / "profiles" / "default"
PLUGINS = ROOT / "plugins"
CATALOG = ROOT / "datasets.yaml"
STUDIES = ROOT / "studies"
TEMPLATES = ROOT / "reports"
PUBLISHED = TEMPLATES / "published"
CACHE = Path(".harness")
"""What can be made again, in the current folder."""


def cache_directory() -> Path:
    """Return the user's folder of what every project of his needs: downloads, built-in answers."""
    named = os.environ.get("HARNESS_CACHE")
    return Path(named) if named else platformdirs.user_cache_path("memory-budget-harness")


def own(name: str) -> Path | None:
    """Return the current folder's counterpart of one of the project's files or folders.

    Parameters
    ----------
    name : str
        As it stands at the top of the project: "plugins", "datasets.yaml".

    Returns
    -------
    Path or None
        Relative to the current folder. None if it has none, or is the checkout itself.
    """
    path = Path(name)
    return path if path.exists() and path.resolve() != ROOT / name else None
