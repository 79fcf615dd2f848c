"""What a storage model says: arrays by name, in the phases of a fit and of a prediction.

A phase lists what is held at the same time, so a reader can check it line by line against the code
that allocates. The peak is the largest phase, and the plan can name it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Peaks(NamedTuple):
    """Bytes that a method holds at the peak of its fit, and at that of a prediction.

    What the harness holds of predictions is never there while a method fits: a storage model that
    tells the two apart is not charged for both at once.
    """

    fit: float
    predict: float


class Arrays(dict[str, float]):
    """Bytes of arrays that are held at the same time, by name.

    Examples
    --------
    >>> landmarks = Arrays(landmarks=4 * 100 * 20)
    >>> landmarks + Arrays(gram=8 * 100**2)
    {'landmarks': 8000, 'gram': 80000}
    >>> (landmarks + Arrays(gram=8 * 100**2)).bytes
    88000
    """

    def __add__(self, other: Mapping[str, float]) -> Arrays:
        """Return both together. Raises ValueError where an array would be counted once of two."""
        twice = self.keys() & other.keys()
        if twice:
            raise ValueError(f"arrays {sorted(twice)} are named twice in one phase")
        return Arrays({**self, **other})

    @property
    def bytes(self) -> float:
        """The sum of all."""
        return sum(self.values())


def beside(held: Mapping[str, float], phases: Mapping[str, Arrays]) -> dict[str, Arrays]:
    """Return phases in each of which these arrays are held, too.

    Examples
    --------
    >>> beside(Arrays(gram=800), {"solution": Arrays(vectors=80)})
    {'solution': {'vectors': 80, 'gram': 800}}
    """
    return {name: arrays + held for name, arrays in phases.items()}


@dataclass(frozen=True)
class Storage:
    """Arrays that a method holds, phase by phase.

    Parameters
    ----------
    fit : mapping of str to Arrays
        What is held in each phase of `fit`, by the phase's name.
    predict : mapping of str to Arrays, optional
        The same of `decision_function` and `predict`, beside what is kept of the fit. By default
        the phases of `fit`: a method that tells the two apart is charged for less.
    held : Arrays, optional
        What is there in every phase, such as X and y.
    includes_loading : bool, default False
        Whether reading X is in a phase of `fit`, as where trials were measured. By default a plan
        counts what it takes at most.
    """

    fit: Mapping[str, Arrays]
    predict: Mapping[str, Arrays] | None = None
    held: Arrays = field(default_factory=Arrays)
    includes_loading: bool = False

    def phases(self) -> dict[str, Arrays]:
        """Return the arrays of every phase, `held` among them, by "fit: name" and "predict: name".

        Phases of a fit are in the order in which the model lists them, those of prediction after.
        """
        stages = {"fit": self.fit, "predict": self.predict or {}}
        return {
            f"{stage}: {name}": self.held + arrays
            for stage, phases in stages.items()
            for name, arrays in phases.items()
        }

    def largest(self, stage: str = "fit") -> str:
        """Return the name of the phase of "fit" or "predict" that holds most."""
        told = self.predict is not None or stage == "fit"
        phases = {name: held for name, held in self.phases().items() if name.startswith(stage)}
        return max(phases, key=lambda name: phases[name].bytes) if told else self.largest()

    @property
    def peaks(self) -> Peaks:
        """Bytes at the peak of fit and of prediction."""
        fit = _most(self.fit)
        predict = fit if self.predict is None else _most(self.predict)
        return Peaks(self.held.bytes + fit, self.held.bytes + predict)


def _most(phases: Mapping[str, Arrays]) -> float:
    return max(arrays.bytes for arrays in phases.values())
