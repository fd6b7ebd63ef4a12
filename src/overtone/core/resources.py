"""The resources that a trial requests."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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


def parse_bytes(value: float | str) -> float:
    """Return the bytes in `value`: a number, or text such as "2GB", "512MiB", "1.5g"."""
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
            amount = parse_bytes(value) if key == "memory" else float(value)
        except ResourceError:
            raise
        except (TypeError, ValueError) as error:
            raise ResourceError(f"{name}={value!r} is not an amount of a resource") from error
        if not 0 <= amount < float("inf"):
            raise ResourceError(f"{name}={value!r}: an amount must be 0 or more, and finite")
        if key == "gpu" and amount > 1 and amount != int(amount):
            raise ResourceError(f"{name}={value!r}: above one GPU, only whole ones can be given")
        if amount:
            canonical[key] = canonical.get(key, 0.0) + amount
    return tuple(sorted(canonical.items()))


@dataclass(frozen=True, slots=True)
class Resources:
    """A trial's demand: bundle 0 is for its process, the others are for processes that it starts.

    Attributes:
        bundles: At least one; the first may be empty.
        strategy: Placement of bundles on nodes: PACK, SPREAD, STRICT_PACK or STRICT_SPREAD.
    """

    bundles: tuple[Bundle, ...]
    strategy: str = "PACK"
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        # Cached for look-ups; from checksums, since it may be sent to other processes.
        parts = [[(crc32(name.encode()), amount) for name, amount in one] for one in self.bundles]
        object.__setattr__(self, "_hash", hash((*map(tuple, parts), crc32(self.strategy.encode()))))

    def __hash__(self) -> int:
        return self._hash

    @classmethod
    def of(
        cls, amounts: Mapping[str, Any] | Sequence[Mapping[str, Any]] | Request, strategy: str = "PACK"
    ) -> Resources:
        """Return the demand of one mapping, such as `{"cpu": 1, "gpu": 0.5}`, or of one mapping per bundle.

        A `Request` is asked for its demand. A single mapping may hold `extra_cpu`, `extra_gpu`: added to
        the one bundle.
        """
        if isinstance(amounts, Request):
            return amounts.resources()
        if strategy not in STRATEGIES:
            raise ResourceError(f"strategy={strategy!r}: choose one of {', '.join(STRATEGIES)}")
        many = [amounts] if isinstance(amounts, Mapping) else list(amounts)
        if not many or not all(isinstance(one, Mapping) for one in many):
            raise ResourceError(f'resources must look like {{"cpu": 1, "gpu": 0.5}}, not {amounts!r}')
        return cls(tuple(bundle(one) for one in many), strategy)

    def total(self) -> dict[str, float]:
        """Return the sum over all bundles, by name."""
        sums: dict[str, float] = {}
        for one in self.bundles:
            for name, amount in one:
                sums[name] = sums.get(name, 0.0) + amount
        return sums

    def __str__(self) -> str:
        shown = [
            ", ".join(f"{name} {format_amount(name, amount)}" for name, amount in one) or "nothing"
            for one in self.bundles
        ]
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


def format_amount(name: str, amount: float) -> str:
    """Return the amount as people write it: "2", "0.5", "2.0 GiB"."""
    if name == "memory":
        return f"{amount / 2**30:.2f} GiB"
    return f"{amount:g}"
