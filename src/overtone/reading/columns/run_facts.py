"""Facts about a run as a whole, record by record: its limits, drivers, nodes and warnings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from overtone.core.goal import is_number
from overtone.core.messages import (
    Added,
    CapacityChanged,
    Interrupted,
    Noted,
    Record,
    Requested,
    Resumed,
    Started,
    Steered,
)
from overtone.worker.machines import DRIVER

_MOST_DRIVERS, _MOST_WARNINGS = 1000, 20


@dataclass(slots=True)
class RunFacts:
    """The state of a run as its journal tells it; JSON data.

    Attributes:
        trainable: Its name.
        total: The number of planned trials; None if unknown.
        max_concurrent: Most trials at the same time; None for no limit.
        time_budget_s: Seconds after which the search ends; None for no limit.
        drivers: The drivers, oldest first: [seconds since 1970, seconds of the run before].
        is_interrupted: Whether the newest driver was interrupted.
        is_finished: Whether the run has ended.
        is_stopping: Whether somebody asked the newest driver to stop.
        nodes: The amounts of each node by resource name, as of now.
        names: The name of each node by its address: its host, as trials started there told. A second node
            of a host has its address in brackets behind that. Of `DRIVER`, the host of the newest driver.
        demand: The bundles of the newest trial: amounts by resource name.
        warnings: The newest warnings: [record, time, text].
    """

    trainable: str = ""
    total: int | None = None
    max_concurrent: int | None = None
    time_budget_s: float | None = None
    drivers: list[list[float]] = field(default_factory=list)
    is_interrupted: bool = False
    is_finished: bool = False
    is_stopping: bool = False
    nodes: dict[str, dict[str, float]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    demand: list[dict[str, float]] = field(default_factory=list)
    warnings: list[list[Any]] = field(default_factory=list)

    @property
    def started(self) -> float | None:
        """The start of the first driver, in seconds since 1970; None if unknown."""
        return self.drivers[0][0] if self.drivers else None

    def wall(self, time: float) -> float | None:
        """Return a time of the run as seconds since 1970: between two drivers, its clock stands still."""
        last = next((one for one in reversed(self.drivers) if one[1] <= time), None)
        return None if last is None else last[0] + time - last[1]

    def on_fact(self, facts: Mapping[str, Any], time: float) -> None:
        """Take note that a driver began or resumed at a time of the run, or that the run finished."""
        self.is_finished = facts["e"] == "end"
        if self.is_finished:
            return
        self.is_interrupted = self.is_stopping = False
        wall = facts.get("wall")
        if is_number(wall) and len(self.drivers) < _MOST_DRIVERS:
            self.drivers.append([float(wall), time if self.drivers else 0.0])  # type: ignore[arg-type]
        if isinstance(hostname := facts.get("hostname"), str):
            self.names[DRIVER] = hostname
        parts = facts.get("parts")
        if isinstance(parts, dict):
            self.trainable = str(parts.get("name", self.trainable))
            if isinstance(limits := parts.get("limits"), dict):
                self._limit(limits)

    def on_record(self, record: Record) -> None:
        """Take note of a record that is not a plain result."""
        event = record.event
        if self.is_finished:  # A request without a driver: it waits for a resume.
            self.is_finished, self.is_interrupted = False, True
        if isinstance(event, Resumed):
            self._limit(asdict(event.limits))
        elif isinstance(event, Interrupted):
            self.is_interrupted = True
        elif isinstance(event, CapacityChanged):
            self.nodes = {name: dict(amounts) for name, amounts in event.nodes.items()}
        elif isinstance(event, Started) and event.hostname:
            self._name(event.node, event.hostname)
        elif isinstance(event, Requested) and event.what == "stop":
            self.is_stopping = True
        for choice in record.choices:
            if isinstance(choice, Added):
                self.demand = [dict(one) for one in choice.resources.bundles]
            elif isinstance(choice, Steered) and choice.limits is not None:
                self._limit(asdict(choice.limits))
            elif isinstance(choice, Noted) and choice.is_warning:
                self.warnings = [*self.warnings, [record.n, event.time, choice.text]][-_MOST_WARNINGS:]

    def _name(self, node: str, hostname: str) -> None:
        others = (one for one, name in self.names.items() if name == hostname and one not in (node, DRIVER))
        if node not in self.names or self.names[node].partition(" (")[0] != hostname:
            is_second = any(one in self.nodes for one in others)
            self.names[node] = f"{hostname} ({node})" if is_second else hostname

    def _limit(self, limits: Mapping[str, Any]) -> None:
        for name in ("total", "max_concurrent", "time_budget_s"):
            value = limits.get(name)
            setattr(self, name, value if is_number(value) else None)

    def data(self) -> dict[str, Any]:
        """Return all facts."""
        return asdict(self)

    @classmethod
    def of_data(cls, data: Mapping[str, Any]) -> RunFacts:
        """Return the facts of `data`.

        Raises:
            KeyError, TypeError: They are not such facts.
        """
        return cls(**{one.name: data[one.name] for one in fields(cls)})
