"""The lineage of trials: each source, the time, and the changes of the config."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from overtone.analysis.plots.objective import objective_of
from overtone.analysis.plots.shown import MOST_MARKS, Shown
from overtone.reading.columns.trial_columns import Exploit, TrialColumns


@dataclass(frozen=True, slots=True)
class ConfigChange:
    """A hyperparameter that changed when a trial went on from its source.

    Attributes:
        param: Its name.
        before: The source's value; None if it has none.
        after: The trial's value; None if it has none.
    """

    param: str
    before: Any
    after: Any

    @property
    def text(self) -> str:
        """The change in a few words, such as "lr 0.01 → 0.012"."""
        before, after = ("none" if one is None else _short(one) for one in (self.before, self.after))
        return f"{self.param} {before} → {after}"


@dataclass(frozen=True, slots=True)
class Lineage:
    """Lives of trials and their sources; arrays of shape (n,), families next to each other.

    A trial begins another life whenever it goes on from a trial's checkpoint, its own or another's.

    Attributes:
        metric: The metric that colours the trials.
        mode: "min" or "max"; None if the metric is not an objective.
        rows: The trials' rows in the columns, int64.
        values: The trials' values, float64; NaN without one, and for lives that another one followed.
        is_over: Whether the trial left this life for another one, bool.
        t: The trial's time when the life began, float64, in units of the scheduler; 0 for the first life.
        source: The place in these arrays of the life that this one went on from, int64; -1 for a founder.
        generation: The number of lives from the founder to this one, int64; a coordinate for drawing.
        lane: A coordinate for drawing across the generations, such that no branches cross, float64.
        changes: What changed between the source's configuration at that time and the trial's.
        shown: How many of the lives are shown; families with the best values come first.
    """

    metric: str
    mode: str | None
    rows: NDArray[np.int64]
    values: NDArray[np.float64]
    is_over: NDArray[np.bool_]
    t: NDArray[np.float64]
    source: NDArray[np.int64]
    generation: NDArray[np.int64]
    lane: NDArray[np.float64]
    changes: tuple[tuple[ConfigChange, ...], ...]
    shown: Shown


def lineage(columns: TrialColumns, metric: str | None = None, mode: str | None = None) -> Lineage:
    """Return which trial went on from which, when, and what changed (population-based training, clones).

    The history is a forest: what a trial went on from is the life that the other trial had then. If the lives
    are more than `MOST_MARKS`, the families with the best values are shown, as many as there is room for; a
    larger family is cut.

    Args:
        metric: A name; by default the first objective.
        mode: "min" or "max"; by default the objective's.

    Raises:
        GoalError: There is no such metric or mode.
        StorageError: The journal cannot be read.
    """
    objective = objective_of(columns, metric, mode)
    losses = np.where(np.isfinite(objective.losses), objective.losses, np.inf)
    asked = np.flatnonzero(np.asarray(columns.source) >= 0)
    n_asked = len(asked)
    asked = np.sort(asked[np.argsort(losses[asked], kind="stable")[:MOST_MARKS]])
    lives, current = _lives(columns.exploits(asked.tolist()))
    children: dict[int, list[int]] = {}
    for place, life in enumerate(lives):
        children.setdefault(life.parent, []).append(place)
    families = [_family(founder, children) for founder in children.get(-1, ())]

    def worth(place: int) -> float:
        row = lives[place].row
        return float(losses[row]) if current[row] == place else np.inf

    families.sort(key=lambda family: min(map(worth, family)))
    places: list[int] = []
    for family in families:
        if len(places) + len(family) <= MOST_MARKS or not places:
            places += family[:MOST_MARKS]
    new = {place: i for i, place in enumerate(places)}
    source = [new.get(lives[place].parent, -1) for place in places]
    generation: list[int] = []
    for i in source:  # A source comes before its trials.
        generation.append(generation[i] + 1 if i >= 0 else 0)
    rows = np.array([lives[place].row for place in places], np.int64)
    is_over = np.array([current[lives[place].row] != place for place in places], np.bool_)
    return Lineage(
        objective.metric,
        objective.mode,
        rows,
        np.where(is_over, np.nan, objective.values[rows]) if places else np.empty(0),
        is_over,
        np.array([lives[place].t for place in places], np.float64),
        np.array(source, np.int64),
        np.array(generation, np.int64),
        np.array(_lanes(source)),
        tuple(lives[place].changes for place in places),
        Shown(len(places), len(lives) + n_asked - len(asked)),
    )


class _Life(NamedTuple):
    row: int
    parent: int
    t: float
    changes: tuple[ConfigChange, ...]


def _lives(exploits: Sequence[Exploit]) -> tuple[list[_Life], dict[int, int]]:
    """Return the lives of trials in the order of their begin, and the place of each trial's newest one."""
    lives: list[_Life] = []
    places: dict[int, dict[int, int]] = {}  # by row, and how often the trial had gone on from another

    def place_of(row: int, number: int | None) -> int:
        known = places.setdefault(row, {})
        number = max(known, default=0) if number is None else number
        if number not in known:
            known[number] = len(lives)
            lives.append(_Life(row, -1, 0.0, ()))
        return known[number]

    for one in exploits:
        parent = place_of(one.source, one.n_before)
        if one.t > 0:
            place_of(one.row, None)  # It had a life before.
        known = places.setdefault(one.row, {})
        known[max(known, default=0) + 1] = len(lives)
        lives.append(_Life(one.row, parent, one.t, _changes(one)))
    return lives, {row: known[max(known)] for row, known in places.items()}


def _family(founder: int, children: dict[int, list[int]]) -> list[int]:
    """Return a trial and its descendants, depth first."""
    family, left = [], [founder]
    while left:
        family.append(left.pop())
        left += reversed(children.get(family[-1], ()))
    return family


def _lanes(source: list[int]) -> list[float]:
    """Return a lane of its own for each trial without descendants; others are in the middle of theirs."""
    n_children = [0] * len(source)
    for i in source:
        if i >= 0:
            n_children[i] += 1
    low, high = [0.0] * len(source), [0.0] * len(source)
    lane = 0.0
    for i, n in enumerate(n_children):
        if not n:
            low[i] = high[i] = lane
            lane += 1.0
    seen = [False] * len(source)
    for i in reversed(range(len(source))):  # Children come after their source.
        middle, parent = (low[i] + high[i]) / 2, source[i]
        if parent >= 0:
            low[parent] = min(low[parent], middle) if seen[parent] else middle
            high[parent] = max(high[parent], middle) if seen[parent] else middle
            seen[parent] = True
    return [(a + b) / 2 for a, b in zip(low, high, strict=True)]


def _changes(exploit: Exploit) -> tuple[ConfigChange, ...]:
    before, after = exploit.before, exploit.after
    return tuple(
        ConfigChange(name, before.get(name), after.get(name))
        for name in dict.fromkeys([*before, *after])
        if repr(before.get(name)) != repr(after.get(name))
    )


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
