"""What is compared, and when it is good enough. Pure values."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from statistics import median


class Compare(Enum):
    """How ours is set against a peer's. OWN: it is judged by itself."""

    RATIO = "ratio"
    DIFFERENCE = "difference"
    OWN = "own"


class Bound(Enum):
    AT_LEAST = ">="
    AT_MOST = "<="


@dataclass(frozen=True)
class Target:
    bound: Bound
    value: float

    def met(self, value: float) -> bool:
        return (operator.ge if self.bound is Bound.AT_LEAST else operator.le)(value, self.value)

    def __str__(self) -> str:
        return f"{self.bound.value} {self.value:,g}"


def at_least(value: float) -> Target:
    return Target(Bound.AT_LEAST, value)


def at_most(value: float) -> Target:
    return Target(Bound.AT_MOST, value)


@dataclass(frozen=True)
class Metric:
    """One row of the table. name: also the key under which a measurement gives its value.

    target: for the comparison with llama-server (or for ours alone); None: shown, not judged.
    """

    name: str
    unit: str
    compare: Compare = Compare.RATIO
    target: Target | None = None


@dataclass(frozen=True)
class Row:
    """A metric, measured. ours, theirs: medians.  value: the median, over pairs, of ratio or difference.

    low, high: its range.  theirs: None when there is nobody to compare with.  target: None when it is not judged.
    """

    scenario: str
    metric: Metric
    peer: str
    ours: float
    theirs: float | None
    value: float
    low: float
    high: float
    target: Target | None

    @property
    def met(self) -> bool | None:
        return None if self.target is None else self.target.met(self.value)


def make_row(
    scenario: str, metric: Metric, peer: str, ours: Sequence[float], theirs: Sequence[float], *, judged: bool
) -> Row:
    """Pair by pair: what slows the machine for a minute slows both sides of a pair.

    theirs: empty when there is no peer. judged: the targets speak of this peer.
    """
    if theirs and metric.compare is Compare.RATIO:
        values = [mine / other for mine, other in zip(ours, theirs, strict=True)]
    elif theirs and metric.compare is Compare.DIFFERENCE:
        values = [mine - other for mine, other in zip(ours, theirs, strict=True)]
    else:
        values = list(ours)
    alone = metric.compare is Compare.OWN
    return Row(
        scenario,
        metric,
        peer,
        median(ours),
        median(theirs) if theirs else None,
        median(values),
        min(values),
        max(values),
        metric.target if judged and (theirs or alone) else None,
    )
