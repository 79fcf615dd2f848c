"""YAML in which a key that is written twice is an error, instead of the last one winning."""

from __future__ import annotations

from typing import IO, Any

import yaml


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict:
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.tag == "tag:yaml.org,2002:merge":
                continue
            if key.value in seen:
                problem = f"the key {key.value!r} is written twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def read_yaml(source: str | IO[str]) -> Any:
    """Read one YAML document without tags.

    Raises
    ------
    yaml.YAMLError
        If it is not YAML, or a mapping has a key twice.
    """
    return yaml.load(source, Loader=_Loader)
