"""Measures the built-in methods without a storage model, and writes the formulas that are shipped.

`python -m harness.planning.learned.shipping [NAME ...]` measures those named, else all of which no
formula is shipped. What was measured in the current folder before is not measured again.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.errors import HarnessError
from harness.files import write_whole
from harness.planning.learned.general import measure_shapes
from harness.planning.learned.model import LearnedStorage, LearningError
from harness.planning.learned.shipped import SHIPPED, ShippedStorage
from harness.plugin.index import method_entry, read_index
from harness.plugin.registry import Registry
from harness.plugin.shape import Shape
from harness.project import PLUGINS

SHAPES = (Shape(400, 1_600, 20, 4), Shape(1_000, 9_000, 150, 4), Shape(8_000, 4_000, 20, 4))
"""What is measured around: `measure_shapes` varies each count of each."""

SECONDS = 30.0
"""Limit of one trial."""


def ship(names: Sequence[str], path: Path = SHIPPED) -> Iterator[str]:
    """Measure methods and write their formulas beside those that are there.

    Yields
    ------
    str
        What was measured of each method, or why nothing was.

    Raises
    ------
    HarnessError
        If a name is of no method that comes with the harness, or that has a storage model.
    """
    index = read_index()
    known = {
        method.name: method
        for method, plugin in Registry.load([]).items("methods")
        if method.learns_storage and plugin.source.location.startswith(str(PLUGINS))
    }
    content = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    for name in names or [name for name in known if name not in content]:
        if name not in known:
            raise HarnessError(f"{name}: give one of {', '.join(sorted(known))}")
        try:
            for shape in SHAPES:
                model = measure_shapes(index, known[name], [], shape, SECONDS)
            shipped = _formula(model, index, name)
        except LearningError as error:
            yield f"{name}: {error}"
            continue
        content[name] = shipped.as_dict()
        write_whole(_text(content), path)
        yield f"{name}: {shipped.trials} trials"


def _formula(model: LearnedStorage, index: Mapping[str, Any], name: str) -> ShippedStorage:
    fitted = model.overall()
    versions = index["harness"]["versions"] | method_entry(index, name)["versions"]
    del versions["numpy"], versions["scipy"]  # the plugin's own libraries hold what is measured
    return ShippedStorage(fitted, tuple(fitted.largest()), len(fitted.runs), versions)


def _text(content: Mapping[str, Any]) -> str:
    """Return JSON with a line for each method, the first by name first."""
    lines = [f"{json.dumps(name)}: {json.dumps(told)}" for name, told in sorted(content.items())]
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    for line in ship(sys.argv[1:]):
        print(line, flush=True)
