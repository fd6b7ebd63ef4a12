"""Conversion of `resources_per_trial`, in all its forms, to `Resources`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from overtone.core.placement_group import PlacementGroupFactory
from overtone.core.resources import Request, Resources
from overtone.errors import ResourceError

_IGNORED = frozenset({"object_store_memory", "extra_object_store_memory"})


@dataclass
class ScalingConfig(Request):
    """Resources of a trial that starts workers: given to `tune.with_resources`.

    Attributes:
        trainer_resources: Resources of the trial's own process, such as {"CPU": 1}. By default a trainer's
            process has none, and that of a function 1 CPU.
        num_workers: Number of workers that the trial starts; or (min, max): as many as all nodes together
            can hold when it starts.
        use_gpu: Whether each worker needs 1 GPU, if `resources_per_worker` has no "GPU".
        resources_per_worker: Resources of each worker; 1 CPU when None.
        placement_strategy: "PACK", "SPREAD", "STRICT_PACK" or "STRICT_SPREAD".
        accelerator_type: The type of accelerator that each worker needs, such as "A100".
    """

    trainer_resources: Mapping[str, Any] | None = None
    num_workers: int | tuple[int, int] | None = None
    use_gpu: bool = False
    resources_per_worker: Mapping[str, Any] | None = None
    placement_strategy: str = "PACK"
    accelerator_type: str | None = None

    def resources(self) -> Resources:
        return self.elastic(Resources.of(self.bundles, self.placement_strategy))

    def elastic(self, resources: Resources) -> Resources:
        """Return the demand of the largest number of workers, marked if their number may vary."""
        smallest, largest = worker_range(self.num_workers)
        return resources if smallest == largest else replace(resources, workers=(smallest, largest))

    @property
    def bundles(self) -> list[dict[str, Any]]:
        """The amounts of the trial's own process, then those of each worker."""
        worker = self._worker
        own = dict({"CPU": 1} if self.trainer_resources is None else self.trainer_resources)
        return [own, *([worker] * self.most_workers)]

    @property
    def most_workers(self) -> int:
        """The number of workers, or its maximum."""
        return worker_range(self.num_workers)[1]

    @property
    def _worker(self) -> dict[str, Any]:
        worker = dict(self.resources_per_worker or {"CPU": 1})
        if self.use_gpu:
            worker.setdefault("GPU", 1)
        if self.accelerator_type:
            worker.setdefault(f"accelerator_type:{self.accelerator_type}", 0.001)
        return worker

    def changes(self) -> dict[str, Any]:
        """Return the attributes that are not as in `ScalingConfig()`, by name; a pair as a list."""
        return {
            one.name: list(value) if isinstance(value, tuple) else value
            for one in fields(self)
            if (value := getattr(self, one.name)) is not one.default
        }

    @property
    def total_resources(self) -> dict[str, float]:
        """The sum over all bundles, such as {"CPU": 3.0}."""
        return self.as_placement_group_factory().required_resources

    @property
    def num_cpus_per_worker(self) -> float:
        """The CPUs of each worker."""
        return float(self._worker.get("CPU", 0))

    @property
    def num_gpus_per_worker(self) -> float:
        """The GPUs of each worker."""
        return float(self._worker.get("GPU", 0))

    @property
    def additional_resources_per_worker(self) -> dict[str, Any]:
        """The amounts of each worker except CPUs and GPUs."""
        return {name: amount for name, amount in self._worker.items() if name not in ("CPU", "GPU")}

    def as_placement_group_factory(self) -> PlacementGroupFactory:
        """Return the bundles as a placement group: the first worker shares the first bundle."""
        own, *workers = self.bundles
        if workers:
            first = workers.pop(0)
            own = {name: own.get(name, 0) + first.get(name, 0) for name in {**own, **first}}
        return PlacementGroupFactory([own, *workers], self.placement_strategy)

    @classmethod
    def from_placement_group_factory(cls, pgf: PlacementGroupFactory) -> ScalingConfig:
        """Return the config of a placement group whose bundles after the first are those of the workers."""
        own, *workers = pgf.bundles
        worker = workers[0] if workers else own
        rest = {name: amount - worker.get(name, 0) for name, amount in own.items()}
        return cls(
            trainer_resources={name: amount for name, amount in rest.items() if amount > 0},
            num_workers=len(workers) + 1,
            use_gpu=bool(worker.get("GPU")),
            resources_per_worker=worker,
            placement_strategy=pgf.strategy,
        )


def worker_range(num_workers: Any) -> tuple[int, int]:
    """Return the smallest and the largest number of workers; both 0 for None.

    Raises:
        ResourceError: `num_workers` is neither a whole number nor a pair (smallest, largest).
    """
    pair = num_workers if isinstance(num_workers, Sequence) else (num_workers or 0,) * 2
    smallest, largest = pair if len(pair) == 2 else (-1, -1)
    if not (isinstance(smallest, int) and isinstance(largest, int) and 0 <= smallest <= largest):
        raise ResourceError(
            f"num_workers={num_workers!r}: must be a whole number, 1 or more, or (min, max) such as (2, 4)"
        )
    return smallest, largest


def demand(given: Any) -> Any:
    """Return a `Resources`, or `config -> Resources` for a callable, or None for None.

    Args:
        given: A mapping with cpu, gpu, memory, `extra_cpu` and the like, `custom_resources`
            and other amounts; a sequence of mappings, one per bundle; a `Resources`,
            `PlacementGroupFactory` or `ScalingConfig`; or a callable that makes one of these from a config.

    Raises:
        ResourceError: `given` is none of these, or an amount is invalid.
    """
    if given is None or isinstance(given, Resources):
        return given
    if isinstance(given, Request):
        return given.resources()
    if isinstance(given, Mapping):
        return Resources.of(_flat(given))
    if isinstance(given, Sequence) and not isinstance(given, str):
        return Resources.of([_flat(one) for one in given])
    if callable(given):
        return _by_config(given)
    raise ResourceError(f'resources_per_trial must look like {{"cpu": 1, "gpu": 0.5}}, not {given!r}')


def _by_config(given: Callable[[Any], Any]) -> Callable[[Mapping[str, Any]], Any]:
    @functools.wraps(given, assigned=("__module__", "__qualname__"), updated=())
    def by_config(config: Mapping[str, Any]) -> Any:
        return demand(given(config))

    return by_config


def _flat(amounts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the amounts on one level: `extra_x` is added to x, `custom_resources` are merged in."""
    if not isinstance(amounts, Mapping):
        raise ResourceError(f'a bundle must look like {{"cpu": 1, "gpu": 0.5}}, not {amounts!r}')
    flat: dict[str, Any] = {}
    for name, value in amounts.items():
        if name in _IGNORED or value is None:
            continue
        if isinstance(value, Mapping):
            parts = {part.removeprefix("extra_"): amount for part, amount in value.items()}
        else:
            parts = {name.removeprefix("extra_"): value}
        for part, amount in parts.items():
            flat[part] = _sum(flat[part], amount) if part in flat else amount
    return flat


def _sum(one: Any, other: Any) -> Any:
    from overtone.core.resources import parse_bytes

    return parse_bytes(one) + parse_bytes(other)
