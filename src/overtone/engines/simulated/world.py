"""How bad a simulated world is: slow machines, failures, preemptions, costs of starting and saving."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from math import inf, isfinite

from overtone.core.resources import bundle


@dataclass(frozen=True, slots=True)
class Machines:
    """Machines of one kind, that come and go together.

    Attributes:
        count: How many.
        cpus: CPUs of each.
        name: What they are called: "spot-0", "spot-1", ...; no two kinds have the same.
        speed: How fast they train: 2.0 takes half the time.
        resources: What else each has, by name.
        price_per_hour: Of one machine, in any currency; it is paid for as long as the machine
            is there, by the second.
        mean_life_s: They are preempted, each after an exponential life of this mean; None for never.
        notice_s: How long before it goes a machine's trials are told. It takes no new ones from then on.
        return_s: A machine that was preempted is replaced after so long; None for never.
        joins_s: When they come; at least one kind is there from the beginning.
        leaves_s: When they go for good, with `notice_s`; None for never.
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
        """Whether they are not there all the time."""
        return self.mean_life_s is not None or self.leaves_s is not None or self.joins_s > 0

    def __post_init__(self) -> None:
        if not isinstance(self.count, int) or isinstance(self.count, bool) or self.count < 1:
            raise ValueError(f"count={self.count!r}: a kind of machines has at least one")
        if not isinstance(self.name, str) or not self.name:
            raise ValueError(f'name={self.name!r}: give a text, such as "spot"')
        if not isinstance(self.resources, Mapping):
            raise ValueError(f'resources={self.resources!r:.100}: give amounts by name, such as {{"gpu": 1}}')
        bundle(self.resources)
        _check(self, "cpus", "price_per_hour", "notice_s", "return_s", "joins_s")
        _check(self, "speed", "mean_life_s", "leaves_s", least_is_open=True)
        if self.leaves_s is not None and not self.leaves_s > self.joins_s:
            raise ValueError(f"leaves_s={self.leaves_s}: must be later than joins_s={self.joins_s}")


@dataclass(frozen=True, slots=True)
class World:
    """What a simulated search meets with. All that is random depends on the experiment's seed alone.

    Attributes:
        machines: What there is; none for one machine with a CPU for each of the engine's `workers`.
        straggler_sd: Each time that a trial is started, it is slower by the factor 1 + |z|, where z
            is normal with this standard deviation (Li et al. 2020, arXiv 1810.05934, appendix A.1).
        failures_per_hour: Of a trial while it has a process; exponential. A failed trial is tried
            again where `max_failures` allows it.
        start_s: From the order to the trial's first iteration.
        save_s: What a checkpoint costs its trial.
        restore_s: What going on from one costs, beside `start_s`.
        decision_s: How long after a report, or an order to start, the trial gets its answer.
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
            raise ValueError(f"machines={self.machines!r:.100}: give Machines(...), or a list of them")
        _check(self, *(one.name for one in fields(self) if one.name != "machines"))
        names = [one.name for one in self.machines]
        if len({*names}) < len(names):
            raise ValueError(f"machines are called {names}: give each kind a name of its own")
        if names and min(one.joins_s for one in self.machines) > 0:
            raise ValueError("no machine is there from the beginning: one kind needs joins_s=0")

    @property
    def takes_trials(self) -> bool:
        """Whether a trial may lose its process, so that it is worth saving."""
        return self.failures_per_hour > 0 or any(
            one.mean_life_s is not None or one.leaves_s is not None for one in self.machines
        )


_MAY_BE_NONE = ("mean_life_s", "return_s", "leaves_s")


def _check(one: object, *names: str, least_is_open: bool = False) -> None:
    """Raise for amounts that are none."""
    for name in names:
        value = getattr(one, name)
        if value is None and name in _MAY_BE_NONE:
            continue
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value)
        if not is_number or not (0 < value < inf or (value == 0 and not least_is_open)):
            least = "above 0" if least_is_open else "0 or more"
            raise ValueError(f"{name}={value!r}: must be a number, {least}, and finite")
