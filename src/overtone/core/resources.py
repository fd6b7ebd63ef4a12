"""The resources that a trial requests."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any
from zlib import crc32

from overtone.core.message_class import message
from overtone.errors import ResourceError

Bundle = tuple[tuple[str, float], ...]
"""One reservation on one node: sorted (name, amount) pairs; memory in bytes."""

STRATEGIES = ("PACK", "SPREAD", "STRICT_PACK", "STRICT_SPREAD")

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_UNITS |= {"ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*", re.IGNORECASE)
_LOWER = {"CPU": "cpu", "GPU": "gpu"}

GPU_MEMORY = "gpu_memory"
"""Bytes of memory on each GPU of a bundle."""

SHARE = 0.25
"""The part of a GPU that a bundle with GPU memory gets if it asks for none: four trials share one."""


def parse_bytes(value: float | str) -> float:
    """Return the bytes in `value`: a number, or text such as "2GB", "512MiB", "1.5g".

    Raises:
        ResourceError: `value` is not a size.
    """
    if not isinstance(value, str):
        return float(value)
    match = _SIZE.fullmatch(value)
    if match is None:
        raise ResourceError(f'a size must look like "2GB", "512MiB" or 1000000, not {value!r}')
    return float(match[1]) * _UNITS[(match[2] or "").lower()]


def bundle(amounts: Mapping[str, Any]) -> Bundle:
    """Return the canonical form of a bundle, without zero amounts.

    Raises:
        ResourceError: An amount is negative, not finite, or not a number.
    """
    canonical: dict[str, float] = {}
    for name, value in amounts.items():
        key = _LOWER.get(name, name)
        if value is None:
            continue
        try:
            amount = parse_bytes(value) if key in ("memory", GPU_MEMORY) else float(value)
        except ResourceError:
            raise
        except (TypeError, ValueError, OverflowError) as error:
            raise ResourceError(f"{name}={value!r:.100} is not an amount of a resource") from error
        if not 0 <= amount < float("inf"):
            raise ResourceError(f"{name}={value!r}: an amount must be 0 or more, and finite")
        if key == "gpu" and amount > 1 and amount != int(amount):
            raise ResourceError(f"{name}={value!r}: above one GPU, only whole ones can be given")
        if amount:
            canonical[key] = canonical.get(key, 0.0) + amount
    if GPU_MEMORY in canonical:
        canonical.setdefault("gpu", SHARE)
    return tuple(sorted(canonical.items()))


@dataclass(frozen=True, slots=True)
class Resources:
    """A trial's demand: bundle 0 is for its process, the others are for processes that it starts.

    Attributes:
        bundles: At least one; the first may be empty.
        strategy: Placement of bundles on nodes: PACK, SPREAD, STRICT_PACK or STRICT_SPREAD.
        workers: The smallest and the largest number of bundles after the first, all alike, if a trial may
            start with fewer than it would like; None if the number is fixed.
        auto: The key of the config by which its GPU memory is estimated ("" for none), and its share of a
            GPU once it is; None if its GPU memory is given or unlimited.
    """

    bundles: tuple[Bundle, ...]
    strategy: str = "PACK"
    workers: tuple[int, int] | None = None
    auto: tuple[str, float] | None = None
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Cached for look-ups; from checksums, since it may be sent to other processes.
        parts = [[(crc32(name.encode()), amount) for name, amount in one] for one in self.bundles]
        auto = self.auto and crc32(repr(self.auto).encode())
        all_of_it = (*map(tuple, parts), crc32(self.strategy.encode()), self.workers, auto)
        object.__setattr__(self, "_hash", hash(all_of_it))

    def __hash__(self) -> int:
        return self._hash

    @classmethod
    def of(
        cls, amounts: Mapping[str, Any] | Sequence[Mapping[str, Any]] | Request, strategy: str = "PACK"
    ) -> Resources:
        """Return the demand of one mapping, such as `{"cpu": 1, "gpu": 0.5}`, or of one mapping per bundle.

        A `Request` is asked for its demand. A single mapping may hold `extra_cpu`, `extra_gpu`: added to
        the one bundle. `gpu_memory` may be "auto", or "auto:" and a key of the config: until there is an
        estimate, the demand is for a whole GPU.

        Raises:
            ResourceError: The strategy is unknown, or the amounts are not mappings of numbers.
        """
        if isinstance(amounts, Request):
            return amounts.resources()
        if strategy not in STRATEGIES:
            raise ResourceError(f"strategy={strategy!r}: choose one of {', '.join(STRATEGIES)}")
        is_one = isinstance(amounts, Mapping) or not isinstance(amounts, Iterable)
        many: list[Any] = [amounts] if is_one else list(amounts)
        if not many or not all(isinstance(one, Mapping) for one in many):
            raise ResourceError(f'resources must look like {{"cpu": 1, "gpu": 0.5}}, not {amounts!r:.100}')
        if any(_is_auto(one.get(GPU_MEMORY)) for one in many):
            return cls._automatic(many, strategy)
        return cls(tuple(bundle(one) for one in many), strategy)

    @classmethod
    def _automatic(cls, many: Sequence[Mapping[str, Any]], strategy: str) -> Resources:
        """Return the demand whose GPU memory is still to be estimated."""
        if len(many) > 1:
            raise ResourceError(
                f'gpu_memory="auto" is for trials of one bundle, not of {len(many)}: give each bundle an '
                'amount, such as "6GB"'
            )
        key = many[0][GPU_MEMORY].partition(":")[2].strip()
        others = bundle({name: value for name, value in many[0].items() if name != GPU_MEMORY})
        share = dict(others).get("gpu", SHARE)
        alone = {**dict(others), "gpu": max(1.0, share)}
        return cls((bundle(alone),), strategy, auto=(key, share))

    def sizes(self) -> list[Resources]:
        """Return the demands that a trial may start with, the largest first."""
        if self.workers is None:
            return [self]
        own, worker = self.bundles[0], self.bundles[-1]
        smallest, largest = self.workers
        return [replace(self, bundles=(own, *[worker] * n)) for n in range(largest, smallest - 1, -1)]

    @property
    def gpu_memory(self) -> float:
        """The most bytes that a bundle reserves on each of its GPUs; 0.0 if none does."""
        amounts = (amount for one in self.bundles for name, amount in one if name == GPU_MEMORY)
        return max(amounts, default=0.0)

    @property
    def is_alone(self) -> bool:
        """Whether each bundle with a GPU has whole GPUs."""
        return all(amount >= 1 for one in self.bundles for name, amount in one if name == "gpu")

    def with_gpu_memory(self, amount: float, share: float | None = None) -> Resources:
        """Return the demand with so many bytes on each GPU.

        Args:
            share: The part of a GPU for each bundle with one; as it is if None. Whole GPUs stay.
        """
        bundles = []
        for one in self.bundles:
            amounts = dict(one)
            if "gpu" in amounts:
                amounts[GPU_MEMORY] = amount
                amounts["gpu"] = amounts["gpu"] if share is None else share
            bundles.append(bundle(amounts))
        return replace(self, bundles=tuple(bundles))

    def total(self) -> dict[str, float]:
        """Return the sum over all bundles, by name."""
        sums: dict[str, float] = {}
        for one in self.bundles:
            for name, amount in one:
                sums[name] = sums.get(name, 0.0) + amount
        return sums

    def __str__(self) -> str:
        shown = []
        for one, equal in groupby(self.bundles):
            text = ", ".join(f"{name} {format_amount(name, amount)}" for name, amount in one) or "nothing"
            number = len(list(equal))
            shown += [f"{number} x ({text})"] if number > 2 else [text] * number
        return " + ".join(shown)


class Request(ABC):
    """A demand that is written in another way."""

    @abstractmethod
    def resources(self) -> Resources:
        """Return the demand."""


@message
class Placement:
    """The placement of a demand.

    Attributes:
        nodes: The node of each bundle.
        gpus: For each bundle, (index, fraction) of its GPUs.
    """

    nodes: tuple[str, ...]
    gpus: tuple[tuple[tuple[int, float], ...], ...]


def _is_auto(value: Any) -> bool:
    return isinstance(value, str) and value.partition(":")[0].strip().lower() == "auto"


def format_amount(name: str, amount: float) -> str:
    """Return the amount as people write it: "2", "0.5", "2.0 GiB"."""
    if name in ("memory", GPU_MEMORY):
        return f"{amount / 2**30:.2f} GiB"
    return f"{amount:g}"
