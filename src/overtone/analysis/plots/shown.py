"""The number of trials that a plot shows, as marks and as densities."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

MOST_MARKS = 5_000
"""A plot with more marks than this shows densities or a selection."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The numbers of trials in a plot, of those that have the values that it needs.

    Attributes:
        n_shown: The number of trials with marks of their own.
        n_all: The number of trials that the plot is about.
        is_aggregated: Whether densities, counts or quantiles stand for the trials without marks.
    """

    n_shown: int
    n_all: int
    is_aggregated: bool = False

    @property
    def note(self) -> str:
        """A text for the title; empty if every trial is shown."""
        if self.is_aggregated and self.n_shown:
            return f"density of {self.n_all:,} trials, {self.n_shown:,} drawn"
        if self.is_aggregated:
            return f"density of {self.n_all:,} trials"
        return "" if self.n_shown == self.n_all else f"{self.n_shown:,} of {self.n_all:,} trials"


def marks_of_panel(n_panels: int) -> int:
    """Return the most marks of each of several panels: four times `MOST_MARKS` together."""
    return max(min(MOST_MARKS, 4 * MOST_MARKS // max(n_panels, 1)), 100)


def total_shown(parts: Iterable[Shown]) -> Shown:
    """Return the sum over the parts of a plot that show different trials."""
    parts = list(parts)
    return Shown(
        sum(one.n_shown for one in parts),
        sum(one.n_all for one in parts),
        any(one.is_aggregated for one in parts),
    )


def widest_shown(n_all: int, parts: Iterable[Shown]) -> Shown:
    """Return what a plot shows of `n_all` trials if each panel shows the same trials, or some of them."""
    parts = list(parts)
    is_aggregated = any(one.is_aggregated for one in parts)
    return Shown(0 if is_aggregated else max((one.n_shown for one in parts), default=0), n_all, is_aggregated)
