"""`points_to_evaluate`, and their known rewards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, isnan
from typing import Any

from overtone.core.randomness import keyed
from overtone.core.types import Config
from overtone.errors import SpaceError
from overtone.space import parse, pin
from overtone.space.allowed import Allowed


class FirstPoints:
    """`points_to_evaluate`: points with a reward are known, the others are the first suggestions.

    Args:
        points: Configs, or parts of them; what one leaves open is drawn, and of a grid that it
            leaves open the first point is taken.
        rewards: A value for each of the first points, in the metric's own sense.

    Raises:
        SpaceError: A point names something that the space does not have, or there are more rewards.
    """

    def __init__(
        self, space: Any, points: Iterable[Mapping[str, Any]], seed: int, rewards: Sequence[float] = ()
    ) -> None:
        root, listed, self._seed = parse(space), list(points), seed
        checked_rewards(rewards, listed)
        self._variants = []
        for i, point in enumerate(listed):
            try:
                self._variants.append(Allowed(pin(root, point)))
            except SpaceError as error:
                raise SpaceError(f"points_to_evaluate[{i}]: {error}") from None
        self.known = [(self._drawn(i), _number(i, reward)) for i, reward in enumerate(rewards)]

    def __len__(self) -> int:
        return len(self._variants) - len(self.known)

    def config(self, index: int) -> Config | None:
        """Return the config of suggestion `index`; None where the points are over."""
        return self._drawn(len(self.known) + index) if index < len(self) else None

    def _drawn(self, i: int) -> Config:
        return self._variants[i].config(0, lambda key: keyed(self._seed, f"space:{key}", f"point {i}"))


def checked_rewards(rewards: Any, points: Sequence[Any] | None) -> Sequence[float]:
    """Return `rewards`, if there are at most as many rewards as points.

    Raises:
        SpaceError: There are more rewards than points, or `rewards` is not a list.
    """
    if isinstance(rewards, (str, Mapping)) or not hasattr(rewards, "__len__"):
        raise SpaceError(
            f"evaluated_rewards={rewards!r:.100} must be a list of numbers, one for each known point"
        )
    if len(rewards) > len(points or ()):
        raise SpaceError(
            f"evaluated_rewards has {len(rewards)} values for {len(points or ())} points_to_evaluate: "
            "give one for each point that is known"
        )
    found: Sequence[float] = rewards
    return found


def score_of(reward: float, mode: Any) -> float:
    """Return a reward with its sign put right: higher is better, and NaN is the worst."""
    if isnan(reward):
        return -inf
    return reward if mode == "max" else -reward


def _number(i: int, reward: Any) -> float:
    try:
        return float(reward)
    except (TypeError, ValueError, OverflowError):
        raise SpaceError(
            f"evaluated_rewards[{i}]={reward!r} must be a number: the metric at points_to_evaluate[{i}]"
        ) from None
