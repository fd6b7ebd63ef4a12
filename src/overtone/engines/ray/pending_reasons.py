"""The reasons why trials stay pending: the resources that they wait for."""

from __future__ import annotations

from collections.abc import Mapping

from overtone.core.ledger import Ledger
from overtone.core.resources import Resources, format_amount
from overtone.errors import ResourceError

_Nodes = Mapping[str, Mapping[str, float]]
_HELD_BY_OTHERS = "others hold it"


class Shortage:
    """The demand of waiting trials, and the reasons why it is not met.

    Args:
        most: Maximum amounts that trials use at once on all nodes together.
        patience_s: Seconds that trials wait for resources that no node has, while none runs; None
            for no limit.

    Attributes:
        wanted: Number of waiting trials, by shape.
        labels: The selector of the nodes that are used.
    """

    def __init__(self, most: Mapping[str, float], patience_s: float | None = None) -> None:
        self.wanted: dict[Resources, int] = {}
        self.labels: Mapping[str, str] = {}
        self._most, self._patience_s = dict(most), patience_s
        self._reasons: dict[Resources, str] = {}
        self._told: set[tuple[Resources, str]] = set()
        self._seen: tuple[_Nodes, _Nodes] | None = None
        self._since: float | None = None

    def want(self, shape: Resources, count: int) -> None:
        """Set the number of waiting trials of this shape."""
        if count:
            is_new = shape not in self.wanted
            self.wanted[shape] = count
            if is_new:
                self._explain(shape)
        else:
            self.wanted.pop(shape, None)
            self._forget(shape)

    def look(self, total: _Nodes, left: _Nodes) -> None:
        """Record the total amounts of the nodes, and the amounts that this run may use."""
        if (total, left) != self._seen:
            self._seen = total, left
            for shape in self.wanted:
                self._explain(shape)

    def news(self) -> list[str]:
        """Return the reasons that were not returned yet, except that others hold the resources."""
        lasting = {one for one in self._reasons.items() if one[1] != _HELD_BY_OTHERS}
        new = [f"trials wait for {shape}: {why}" for shape, why in lasting - self._told]
        self._told = lasting
        return sorted(new)

    def status(self) -> str:
        """Return the missing resources and the reasons, in one line; "" if none are missing."""
        lines = [
            f"waiting: {why}" if why == _HELD_BY_OTHERS else f"waiting for {shape}: {why}"
            for shape, why in self._reasons.items()
        ]
        return "; ".join(dict.fromkeys(lines))

    def check(self, now: float, runs: bool) -> None:
        """Raise an error if trials have waited too long while none runs.

        Args:
            now: Time on any clock, in seconds.
            runs: Whether any trial has a process, or is getting one.

        Raises:
            ResourceError: For `patience_s` seconds, no waiting trial could ever start on the nodes.
        """
        stuck = [why for why in self._reasons.values() if why != _HELD_BY_OTHERS]
        if runs or not stuck or len(stuck) < len(self.wanted):
            self._since = None
            return
        if self._since is None:
            self._since = now
        if self._patience_s is not None and now - self._since >= self._patience_s:
            raise ResourceError(
                f"{self.status()}, for {self._patience_s:g} s (resource_timeout_s): ask for less, add a node "
                "that has it, or wait longer"
            )

    def _explain(self, shape: Resources) -> None:
        if self._seen is None:
            return
        total, left = self._seen
        above = [f"{name} {format_amount(name, amount)}" for name, amount in self._most.items()
                 if shape.total().get(name, 0.0) > amount]  # fmt: skip
        if not Ledger(total).is_feasible(shape):
            labels = ", ".join([f"{label}={condition}" for label, condition in self.labels.items()])
            those = f" with the labels {labels}" if labels else ""
            has = f"no node{those} has" if len(shape.bundles) == 1 else f"no nodes{those} have"
            self._reasons[shape] = f"{has} that now"
        elif above:
            self._reasons[shape] = f"max_resources allows no more than {', '.join(above)}"
        elif not Ledger(left).is_feasible(shape):
            self._reasons[shape] = _HELD_BY_OTHERS
        else:
            self._forget(shape)

    def _forget(self, shape: Resources) -> None:
        self._reasons.pop(shape, None)
        self._told = {one for one in self._told if one[0] != shape}
