"""What all plugins of a study provide, and the metrics that it makes by a name."""

from __future__ import annotations

from typing import Any

from harness.metrics.names import REGRESSION, quantile_of
from harness.plugin.index import read_index
from harness.plugin.registry import BuiltInSource
from harness.study.study import Study


def study_index(study: Study) -> dict[str, Any]:
    """Describe all plugins of a study, as `read_index` does; `pinball_0.9` is a metric too."""
    index = read_index(study.plugin_folders)
    names = dict.fromkeys(study.settings.metrics)
    made = [
        {
            **{"name": name, "needs": "values", "greater_is_better": False},
            **{"tasks": sorted(REGRESSION), "plugin": "harness", "plugin_sha256": ""},
            **{"plugin_path": BuiltInSource.location, "code": "", "versions": {}},
        }
        for name in names
        if quantile_of(name) is not None
    ]
    return index | {"metrics": [*index["metrics"], *made]}
