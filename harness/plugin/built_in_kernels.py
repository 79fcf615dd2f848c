"""Kernels and landmark selectors that come with the harness, through the hooks of plugins.

Estimators know them by name: a method that is given one imports it, so its own code has it.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.kernels import KERNELS, SELECTORS
from harness.plugin.hookspecs import Kernel, LandmarkSelector, hookimpl


@hookimpl
def harness_kernels() -> Iterator[Kernel]:
    """Provide the kernels of `harness.kernels`."""
    for name, kernel in KERNELS.items():
        yield Kernel(name, kernel.function, kernel.unit, kernel.diagonal)


@hookimpl
def harness_landmark_selectors() -> Iterator[LandmarkSelector]:
    """Provide the landmark selectors of `harness.kernels`."""
    for name, selector in SELECTORS.items():
        yield LandmarkSelector(name, selector)
