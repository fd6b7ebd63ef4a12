"""What trials wait for that the cluster does not give them, and why."""

from __future__ import annotations

from collections.abc import Mapping

from overtone.core.ledger import Ledger
from overtone.core.resources import Resources, format_amount
from overtone.errors import ResourceError

_Nodes = Mapping[str, Mapping[str, float]]
_HELD_BY_OTHERS = "others hold it"


class Shortage:
    """Keeps what is wanted, and finds out why it is not there.

    Args:
        most: Of all nodes, trials use no more than this at once.
        patience_s: So long trials wait, while none runs, for what no node has; None for ever.

    Attributes:
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
        """So many trials of this shape wait now."""
        if count:
            is_new = shape not in self.wanted
            self.wanted[shape] = count
            if is_new:
                self._explain(shape)
        else:
            self.wanted.pop(shape, None)
            self._forget(shape)

    def look(self, total: _Nodes, left: _Nodes) -> None:
        """Take note of what the nodes have, and of what of it this run may use."""
        if (total, left) != self._seen:
            self._seen = total, left
            for shape in self.wanted:
                self._explain(shape)

    def news(self) -> list[str]:
        """What was not told yet; what others hold comes and goes, and is not told."""
        lasting = {one for one in self._reasons.items() if one[1] != _HELD_BY_OTHERS}
        new = [f"trials wait for {shape}: {why}" for shape, why in lasting - self._told]
        self._told = lasting
        return sorted(new)

    def status(self) -> str:
        """What is waited for and is not there, in one line; "" for nothing."""
        lines = [
            f"waiting: {why}" if why == _HELD_BY_OTHERS else f"waiting for {shape}: {why}"
            for shape, why in self._reasons.items()
        ]
        return "; ".join(dict.fromkeys(lines))

    def check(self, now: float, runs: bool) -> None:
        """Lose patience, where nothing runs.

        Args:
            now: On any clock in seconds.
            runs: Whether any trial has a process, or is getting one.

        Raises:
            ResourceError: All that trials wait for was on no node, for longer than they should wait.
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
