"""Which profile of Snakemake a name stands for: settings of a machine or a cluster."""

from __future__ import annotations

from pathlib import Path

from harness.errors import unknown_name
from harness.files import write_whole
from harness.project import CACHE, ROOT
from harness.strict_yaml import read_document

FOLDER = "profiles"

_SNAKEFILE = """from harness.project import SNAKEFILE


include: SNAKEFILE


rule study:
    default_target: True
    input:
        rules.all.input,
"""


def find_profile(name: str) -> Path:
    """Return the folder or file of a profile.

    Parameters
    ----------
    name : str
        Its path, or a name: looked up in `profiles/` of the current folder, then among those that
        came with the harness, then among the user's own, where Snakemake keeps them.

    Raises
    ------
    HarnessError
        If there is none of that name.
    """
    places = [Path(FOLDER), ROOT / FOLDER, *_of_user()]
    for path in (Path(name), *(place / name for place in places)):
        if _is_profile(path):
            return path
    known = {path.name for place in places if place.is_dir() for path in place.iterdir()}
    raise unknown_name("profile", name, known)


def sees_sources(profile: Path) -> bool:
    """Tell whether jobs of a profile read the workflow where this process does.

    Parameters
    ----------
    profile : Path
        From `find_profile`.
    """
    files = [profile] if profile.is_file() else sorted(profile.glob("*.yaml"))
    usage: object = None
    for file in files:
        _, content = read_document(file)
        if isinstance(content, dict):
            usage = content.get("shared-fs-usage", usage)
    return usage is None or "sources" in str(usage)


def own_snakefile() -> Path:
    """Write a workflow into the current folder that is the one that came along.

    Snakemake hands it to machines that do not see this one's files. It takes the workflow of the
    harness that is installed there.
    """
    path = CACHE / "Snakefile"
    write_whole(_SNAKEFILE, path)
    return path


def _is_profile(path: Path) -> bool:
    return path.is_file() or any(path.glob("profile*.yaml")) or any(path.glob("config*.yaml"))


def _of_user() -> list[Path]:
    from snakemake.common import get_appdirs

    folders = get_appdirs()
    return [Path(folder) for folder in (folders.site_config_dir, folders.user_config_dir)]
