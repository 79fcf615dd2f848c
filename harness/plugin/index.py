"""The index: what all plugins provide, as plain JSON, read without importing any of them."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import HarnessError, unknown_name
from harness.files import is_file
from harness.lean_process import import_scikit_learn, importing, leave
from harness.plugin.code_digests import harness_code, plugin_code
from harness.plugin.environments import Environment, environment_for
from harness.plugin.hookspecs import GeneratedDataset
from harness.plugin.method import Method
from harness.plugin.out_of_process import ask
from harness.plugin.parameters import describe_parameters, own_names
from harness.plugin.registry import BUILT_IN, PROVIDERS, Registry, Source, built_in

_MODULE = "harness.plugin.index"


def read_index(folders: Sequence[Path] = ()) -> dict[str, Any]:
    """Describe all plugins without importing them here.

    Parameters
    ----------
    folders : sequence of Path
        Folders besides `plugins/`.

    Returns
    -------
    dict
        "plugins": a list of {name, origin, path, sha256, requirements, environment, failure,
        hooks}; environment is "" where the plugin runs in the Python of the harness;
        "methods", "datasets", "metrics", ...: descriptions, each with `plugin`, `plugin_path`,
        `plugin_sha256` and `plugin_requirements`, and with `code` and `versions` as
        `code_digests` tells them.
        What comes with the harness is among them, without a digest. "harness": the code that
        runs and scores trials, likewise.

    Raises
    ------
    HarnessError
        If a folder is missing, or a plugin takes the describing process down with it.
    """
    index = ask(_MODULE, folders)
    apart = {tuple(plugin["requirements"]) for plugin in index["plugins"] if plugin["environment"]}
    for environment in map(Environment, sorted(apart)):
        if environment.is_made:
            told = ask(_MODULE, folders, python=environment.python)
            index = _with_told(index, told, environment.name)
    return index


def _with_told(
    index: Mapping[str, Any], told: Mapping[str, Any], environment: str
) -> dict[str, Any]:
    """Return the index with what an environment says of the plugins that run in it."""
    own = {p["path"] for p in index["plugins"] if p["environment"] == environment}
    there = {p["path"]: p | {"environment": environment} for p in told["plugins"]}
    plugins = [there[p["path"]] if p["path"] in own else p for p in index["plugins"]]
    joined = {**index, "plugins": plugins}
    here = index["harness"]["versions"]
    others = {k: v for k, v in told["harness"]["versions"].items() if here.get(k) != v}
    for kind in PROVIDERS:
        items = [item for item in told[kind] if item["plugin_path"] in own]
        joined[kind] = index[kind] + [
            item | {"versions": others | item["versions"]} for item in items
        ]
    return joined


def method_entry(index: Mapping[str, Any], name: str, where: str = "") -> dict[str, Any]:
    """Return the index's description of a method.

    Raises
    ------
    HarnessError
        If no working plugin provides it, or two do. The message names plugins that failed to
        load, since the method may be theirs.
    """
    found = [method for method in index["methods"] if method["name"] == name]
    prefix = f"{where}: " if where else ""
    if len(found) > 1:
        owners = " and ".join(method["plugin_path"] for method in found)
        raise HarnessError(f"{prefix}method {name!r} is provided twice, by {owners}")
    if found:
        return found[0]
    raise unknown_entry(index, "method", name, (m["name"] for m in index["methods"]), where)


def generated_version(dataset: Mapping[str, Any]) -> str:
    """Return what a generated set is made by: its plugin's code, and the files that it declares.

    Parameters
    ----------
    dataset : mapping
        Its description in an index, which knows where the files are and not what they hold.
    """
    if not dataset["files"]:
        return str(dataset["code"])
    found = hashlib.sha256(dataset["code"].encode())
    for path in map(Path, dataset["files"]):
        # where one is missing, it is for the plugin to say so
        found.update(hashlib.sha256(path.read_bytes() if is_file(path) else b"").digest())
    return found.hexdigest()


def unknown_entry(
    index: Mapping[str, Any], kind: str, name: str, known: Iterable[str], where: str = ""
) -> HarnessError:
    """Build the error for a name that no working plugin provides; failed ones are told with it."""
    error = unknown_name(kind, name, known, where)
    failed = [f"{p['path']}: {p['failure']}" for p in index["plugins"] if p["failure"]]
    hint = "\nplugins that could not be loaded:\n  " + "\n  ".join(failed) if failed else ""
    return HarnessError(f"{error}{hint}")


def _describe(folders: Sequence[Path]) -> dict[str, Any]:
    registry = Registry.load(folders)
    index: dict[str, Any] = {"harness": harness_code(), "plugins": []}
    index |= {kind: [] for kind in PROVIDERS}
    origin: dict[str, Any]
    for kind in BUILT_IN:
        for plugin in built_in(kind):
            origin = {
                **{"plugin": "harness", "plugin_path": plugin.source.location},
                **{"plugin_sha256": "", "plugin_requirements": []},
                **{"code": "", "versions": {}},
            }
            index[kind] += [_plain(item) | origin for item in plugin.provided[kind]]
    for plugin in registry.plugins:
        callers = [] if plugin.failure else registry.manager.get_hookcallers(plugin.module)
        owner = {
            "name": plugin.source.name,
            "origin": plugin.source.origin,
            "path": plugin.source.location,
            "sha256": plugin.source.sha256,
            **_needs(plugin.source),
            "failure": plugin.failure,
            "hooks": sorted(caller.name for caller in callers or []),
        }
        index["plugins"].append(owner)
        origin = {f"plugin{key}": owner[name] for key, name in _OWNER_KEYS.items()}
        if any(plugin.provided.values()):
            origin |= plugin_code(plugin)
        for kind, items in plugin.provided.items():
            index[kind] += [
                _plain(item) | _of_estimator(item) | _of_dataset(item) | origin for item in items
            ]
    return index


_OWNER_KEYS = {
    "": "name",
    "_path": "path",
    "_sha256": "sha256",
    "_requirements": "requirements",
}


def _needs(source: Source) -> dict[str, Any]:
    """Say what a plugin requires, and in which environment it runs if not in this one."""
    try:
        requirements = list(source.requirements)
    except HarnessError:  # which is its failure
        requirements = []
    environment = environment_for(requirements)
    return {"requirements": requirements, "environment": environment.name if environment else ""}


def _of_estimator(item: object) -> dict[str, Any]:
    if not isinstance(item, Method):
        return {}
    return {
        "values": describe_parameters(item),
        "own_names": own_names(item),
        "learns_storage": item.learns_storage,
    }


def _of_dataset(item: object) -> dict[str, Any]:
    return {"files": list(map(str, item.files))} if isinstance(item, GeneratedDataset) else {}


def _plain(item: object) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for name, value in vars(item).items():
        if isinstance(value, type):
            plain[name] = f"{value.__module__}.{value.__qualname__}"
        elif isinstance(value, frozenset):
            plain[name] = sorted(value)
        elif isinstance(value, Mapping):
            plain[name] = {key: str(entry) for key, entry in value.items()}
        elif isinstance(value, (str, int, float, type(None))):
            plain[name] = value
    return plain


if __name__ == "__main__":
    import_scikit_learn()
    with importing():  # all that is read here is kept to the end
        print(json.dumps(_describe([Path(folder) for folder in sys.argv[1:]])))
    leave()
