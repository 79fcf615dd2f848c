"""What the tuning of a trial searches."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from harness.plugin.method import Method
from harness.plugin.search_space import Distribution


def searched_space(
    method: Method, params: Mapping[str, Any], ranges: Mapping[str, Distribution] | None = None
) -> dict[str, Distribution]:
    """Return what a search turns: what is not fixed, and no width of a kernel that has none.

    Parameters
    ----------
    method : Method
    params : mapping
        Parameters that a study holds fixed.
    ranges : mapping of str to Distribution, optional
        What it has searched besides or instead of the method's own space.
    """
    from harness.kernels.functions import has_width

    space = {**method.space, **(ranges or {})}
    space = {name: over for name, over in space.items() if name not in params}
    kernel = {**method.params, **params}.get("kernel")
    if kernel is not None and not has_width(kernel):
        space.pop("sigma", None)
    return space
