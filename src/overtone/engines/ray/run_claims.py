"""Claims of runs on a shared cluster: the leases and the demand that each run publishes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from overtone.core.resources import Bundle, Resources

Wanted = Sequence[tuple[Resources, int]]
"""Number of waiting trials of each shape."""

Place = tuple[Resources, tuple[str, ...]]
"""A shape, and the node (Ray's id) of each of its bundles."""

NOTHING_YET = -1.0
"""The value of `Claim.spent` for a run that has not held any lease yet."""

MOST_SHAPES = 16
MOST_OF_A_SHAPE = 64


@dataclass(frozen=True)
class Claim:
    """The claim of one run.

    Attributes:
        run: Unique name of the run.
        priority: Priority of the run; higher priorities are served first.
        began: Start of the run, in seconds since 1970.
        spent: Dominant share of the run, summed over seconds; NOTHING_YET if it never held a lease.
        held: Number of leases of the run, by shape and nodes.
        wanted: Number of waiting trials of each shape.
        barred: The nodes (Ray's ids) that the run cannot use.
    """

    run: str
    priority: float = 0.0
    began: float = 0.0
    spent: float = NOTHING_YET
    held: Mapping[Place, int] = ()  # type: ignore[assignment]
    wanted: Wanted = ()
    barred: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "held", Counter(dict(self.held)))

    def holds(self) -> Counter[Resources]:
        """Return the number of leases that the run holds, by shape."""
        found: Counter[Resources] = Counter()
        for (shape, _), count in self.held.items():
            found[shape] += count
        return found

    def by_node(self) -> dict[str, dict[str, float]]:
        """Return the amounts that the run holds, by node."""
        found: dict[str, dict[str, float]] = {}
        for node, bundle, count in self.bundles():
            sums = found.setdefault(node, {})
            for name, amount in bundle:
                sums[name] = sums.get(name, 0.0) + amount * count
        return found

    def bundles(self) -> list[tuple[str, Bundle, int]]:
        """Return (node, bundle, count) for all bundles that the run holds."""
        return [
            (node, bundle, count)
            for (shape, nodes), count in self.held.items()
            for node, bundle in zip(nodes, shape.bundles, strict=True)
            if bundle
        ]

    def text(self) -> str:
        """Return the claim as JSON, without the name of the run."""
        shapes = list(dict.fromkeys([shape for shape, _ in self.held] + [shape for shape, _ in self.wanted]))
        index = {shape: at for at, shape in enumerate(shapes)}
        return json.dumps({
            "priority": self.priority,
            "began": self.began,
            "spent": round(self.spent, 3),
            "shapes": [[list(map(dict, shape.bundles)), shape.strategy] for shape in shapes],
            "held": [[index[shape], list(nodes), count] for (shape, nodes), count in self.held.items()],
            "wanted": [[index[shape], count] for shape, count in self.wanted],
            "barred": sorted(self.barred),
        })  # fmt: skip


def claim_of(run: str, text: str) -> Claim | None:
    """Return the claim in a run's text; None if the text is unreadable, as from another version."""
    try:
        told: dict[str, Any] = json.loads(text)
        shapes = [Resources.of(bundles, strategy) for bundles, strategy in told["shapes"]]
        held: Counter[Place] = Counter()
        for at, nodes, count in told["held"]:
            if len(nodes) != len(shapes[at].bundles):
                return None
            held[shapes[at], tuple(map(str, nodes))] += int(count)
        wanted = [(shapes[at], min(int(count), MOST_OF_A_SHAPE)) for at, count in told["wanted"]]
        return Claim(
            run, float(told["priority"]), float(told["began"]), float(told["spent"]), held,
            wanted[:MOST_SHAPES], frozenset(map(str, told["barred"])),
        )  # fmt: skip
    except (ValueError, KeyError, TypeError, IndexError):
        return None


def within(wanted: Mapping[Resources, int], most: Mapping[str, float], held: Mapping[str, float]) -> Wanted:
    """Return the part of `wanted` that fits in a limit.

    Args:
        wanted: Number of waiting trials of each shape.
        most: Maximum amounts that may be held, by resource name.
        held: Amounts that are held, by resource name.
    """
    room = {name: amount - held.get(name, 0.0) for name, amount in most.items()}
    found = []
    for shape, count in list(wanted.items())[:MOST_SHAPES]:
        total = shape.total()
        needs = {name: amount for name, amount in total.items() if name in room}
        many = min(
            [count, MOST_OF_A_SHAPE, *(int(room[name] / amount + 1e-9) for name, amount in needs.items())]
        )
        for name, amount in needs.items():
            room[name] -= amount * many
        if many > 0 and total:  # a trial that needs no resources never waits
            found.append((shape, many))
    return found
