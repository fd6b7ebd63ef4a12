"""Description of a simulated world: machines, stragglers, failures, preemption and delays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import inf, isfinite

from overtone.core.resources import bundle
from overtone.errors import ArgumentError


@dataclass(frozen=True, slots=True)
class Machines:
    """Machines of one kind, with the same times of joining and leaving.

    Attributes:
        count: Number of machines.
        cpus: CPUs of each machine.
        name: Prefix of the machines' names: "spot" for "spot-0", "spot-1", ...; unique for each kind.
        speed: Relative training speed: 2.0 takes half the time.
        resources: Other resources of each machine, by name.
        price_per_hour: Price of one machine, in any currency, charged by the second while the
            machine is in the cluster.
        mean_life_s: Mean of the exponential time until a machine is preempted; None for never.
        notice_s: Time between the notice to a machine's trials and its end. The machine takes no
            new trials after the notice.
        return_s: Time until a preempted machine is replaced; None for never.
        joins_s: Time at which the machines join; 0 for at least one kind.
        leaves_s: Time at which the machines leave for good, after `notice_s`; None for never.
    """

    count: int = 1
    cpus: float = 1.0
    name: str = "machine"
    speed: float = 1.0
    resources: Mapping[str, float] = field(default_factory=dict)
    price_per_hour: float = 0.0
    mean_life_s: float | None = None
    notice_s: float = 0.0
    return_s: float | None = 0.0
    joins_s: float = 0.0
    leaves_s: float | None = None

    @property
    def comes_and_goes(self) -> bool:
        """True if the machines are not in the cluster all the time."""
        return self.mean_life_s is not None or self.leaves_s is not None or self.joins_s > 0

    def __post_init__(self) -> None:
        if not isinstance(self.count, int) or isinstance(self.count, bool) or self.count < 1:
            raise ArgumentError(f"count={self.count!r}: a kind of machines has at least one")
        if not isinstance(self.name, str) or not self.name:
            raise ArgumentError(f'name={self.name!r}: give a text, such as "spot"')
        if not isinstance(self.resources, Mapping):
            raise ArgumentError(
                f'resources={self.resources!r:.100}: give amounts by name, such as {{"gpu": 1}}'
            )
        bundle(self.resources)
        _check(self, "cpus", "price_per_hour", "notice_s", "return_s", "joins_s")
        _check(self, "speed", "mean_life_s", "leaves_s", least_is_open=True)
        if self.leaves_s is not None and not self.leaves_s > self.joins_s:
            raise ArgumentError(f"leaves_s={self.leaves_s}: must be later than joins_s={self.joins_s}")


@dataclass(frozen=True, slots=True)
class World:
    """Machines, failures and delays of a simulated search.

    Random events depend on the experiment's seed alone.

    Attributes:
        machines: Kinds of machines; if empty, one machine with a CPU for each of the engine's `workers`.
        straggler_sd: Standard deviation of a normal z: each start of a trial makes the trial slower by
            the factor 1 + |z| (Li et al. 2020, arXiv 1810.05934, appendix A.1).
        failures_per_hour: Failure rate of a trial that has a process; the time to a failure is
            exponential. A failed trial is retried if `max_failures` allows it.
        start_s: Time from the order to start until the trial's first iteration.
        save_s: Time that a checkpoint takes from its trial.
        restore_s: Time to restore a checkpoint, in addition to `start_s`.
        decision_s: Delay of the answer to a report or of an order to start.
    """

    machines: Sequence[Machines] = ()
    straggler_sd: float = 0.0
    failures_per_hour: float = 0.0
    start_s: float = 0.0
    save_s: float = 0.0
    restore_s: float = 0.0
    decision_s: float = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.machines, Machines):
            object.__setattr__(self, "machines", (self.machines,))
        if not isinstance(self.machines, Sequence) or not all(
            isinstance(one, Machines) for one in self.machines
        ):
            raise ArgumentError(f"machines={self.machines!r:.100}: give Machines(...), or a list of them")
        _check(self, *(one.name for one in fields(self) if one.name != "machines"))
        names = [one.name for one in self.machines]
        if len({*names}) < len(names):
            raise ArgumentError(f"machines are called {names}: give each kind a name of its own")
        if names and min(one.joins_s for one in self.machines) > 0:
            raise ArgumentError("no machine is there from the beginning: one kind needs joins_s=0")

    @property
    def takes_trials(self) -> bool:
        """True if a trial may lose its process, so that saving checkpoints is useful."""
        return self.failures_per_hour > 0 or any(
            one.mean_life_s is not None or one.leaves_s is not None for one in self.machines
        )


_MAY_BE_NONE = ("mean_life_s", "return_s", "leaves_s")


def _check(one: object, *names: str, least_is_open: bool = False) -> None:
    """Raise ValueError for invalid amounts: with `least_is_open`, 0 is invalid too."""
    for name in names:
        value = getattr(one, name)
        if value is None and name in _MAY_BE_NONE:
            continue
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value)
        if not is_number or not (0 < value < inf or (value == 0 and not least_is_open)):
            least = "above 0" if least_is_open else "0 or more"
            raise ArgumentError(f"{name}={value!r}: must be a number, {least}, and finite")
