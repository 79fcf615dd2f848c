"""YAML in which a key that is written twice is an error, and 1e-3 is a number.

PyYAML's own loader takes the last of two such keys, and 1e-3, which has no point, as a text.
"""

from __future__ import annotations

import re
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


_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?\d+(\.\d*)?[eE][-+]?\d+$"), list("-+0123456789")
)


def read_yaml(source: str | IO[str]) -> Any:
    """Read one YAML document without tags.

    Raises
    ------
    yaml.YAMLError
        If it is not YAML, or a mapping has a key twice.
    """
    return yaml.load(source, Loader=_Loader)
