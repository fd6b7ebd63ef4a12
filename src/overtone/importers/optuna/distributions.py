"""Distributions of Optuna, as JSON in its storages, as domains of Overtone, and back."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from overtone.errors import SpaceError, StorageError
from overtone.space.categorical import Categorical
from overtone.space.domain import Domain
from overtone.space.dsl import choice, lograndint, loguniform, qrandint, quniform, randint, uniform
from overtone.space.interval import Float, Integer

_OLD_FLOATS = {"UniformDistribution", "LogUniformDistribution", "DiscreteUniformDistribution"}
_OLD_INTS = {"IntUniformDistribution", "IntLogUniformDistribution"}


class Distribution:
    """One distribution.

    Args:
        text: Its JSON, in any form that Optuna has written since version 0.9.

    Attributes:
        kind: "float", "int" or "categorical".
        data: Its arguments by the names of today: low, high, log, step or choices.

    Raises:
        StorageError: It is not one.
    """

    __slots__ = ("data", "kind")
    kind: str
    data: dict[str, Any]

    def __init__(self, text: str) -> None:
        try:
            document = json.loads(text)
            name = document["name"] if "name" in document else document["type"]
            given = document["attributes"] if "name" in document else document
            if name in ("CategoricalDistribution", "categorical"):
                self.kind, self.data = "categorical", {"choices": list(given["choices"])}
                return
            is_float = name in ("FloatDistribution", "float") or name in _OLD_FLOATS
            if not is_float and name not in _OLD_INTS and name not in ("IntDistribution", "int"):
                raise ValueError(f"an unknown distribution {name!r}")
            self.kind = "float" if is_float else "int"
            step = given.get("step", given.get("q"))
            is_log = bool(given.get("log", False)) or "LogUniform" in name
            low, high = given["low"], given["high"]
            self.data = {"low": low, "high": high, "log": is_log, "step": None if is_log else step}
            if not is_float:
                self.data["step"] = 1 if is_log or step is None else step
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise StorageError(f"{text!r:.200} is not a distribution of Optuna: {error}") from error

    def value(self, internal: float) -> Any:
        """Return the value of a parameter that is stored as a number.

        Raises:
            StorageError: There is no such value.
        """
        try:
            if self.kind == "categorical":
                return self.data["choices"][int(internal)]
            return int(internal) if self.kind == "int" else float(internal)
        except (ValueError, TypeError, IndexError, OverflowError) as error:
            raise StorageError(f"{internal!r} is not a value of {self.data}: {error}") from error

    def internal(self, value: Any) -> float:
        """Return the number that a value is stored as.

        Raises:
            SpaceError: The value does not belong to the distribution.
        """
        if self.kind != "categorical":
            return float(value)
        for index, one in enumerate(self.data["choices"]):
            if type(one) is type(value) and (one == value or one != one):
                return float(index)
        raise SpaceError(f"{value!r:.200} is not one of {self.data['choices']!r:.200}")

    def text(self) -> str:
        """Return it as JSON, as Optuna 3 to 5 write it."""
        name = {"float": "FloatDistribution", "int": "IntDistribution"}.get(self.kind)
        return json.dumps({"name": name or "CategoricalDistribution", "attributes": self.data})

    def domain(self) -> Any:
        """Return the smallest domain that contains it, or its only value."""
        if self.kind == "categorical":
            return choice(self.data["choices"])
        low, high, step = self.data["low"], self.data["high"], self.data["step"]
        if low == high:
            return low
        try:
            if self.kind == "float":
                if self.data["log"]:
                    return loguniform(low, high)
                return uniform(low, high) if step is None else quniform(low, high, step)
            if self.data["log"]:
                return lograndint(low, high + 1)
            return randint(low, high + 1) if step == 1 else qrandint(low, high, step)
        except (ValueError, TypeError):  # Steps that are not multiples of their width.
            return uniform(low, high) if self.kind == "float" else randint(low, high + 1)

    def united(self, other: Distribution) -> Distribution:
        """Return the smallest distribution that contains both; of another kind, the first."""
        made = Distribution.of(self.kind, dict(self.data))
        if self.kind != other.kind:
            return made
        if self.kind == "categorical":
            known = {json.dumps(one) for one in made.data["choices"]}
            made.data["choices"] += [one for one in other.data["choices"] if json.dumps(one) not in known]
        else:
            made.data["low"] = min(made.data["low"], other.data["low"])
            made.data["high"] = max(made.data["high"], other.data["high"])
            if made.data["step"] != other.data["step"]:
                made.data["step"] = 1 if self.kind == "int" else None
            made.data["log"] = made.data["log"] and other.data["log"]
        return made

    @classmethod
    def of(cls, kind: str, data: dict[str, Any]) -> Distribution:
        """Return the distribution with this kind and these arguments."""
        made = cls.__new__(cls)
        made.kind, made.data = kind, data
        return made

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Distribution) and self.text() == other.text()

    __hash__ = None  # type: ignore[assignment]


def of_domain(domain: Any) -> Distribution | None:
    """Return the distribution of a domain; None if Optuna has none, as for normal distributions."""
    if isinstance(domain, Float):
        step = None if domain.log else domain.q
        data = {"low": domain.lower, "high": domain.upper, "log": domain.log, "step": step}
        return Distribution.of("float", data)
    if isinstance(domain, Integer):
        low, high = int(domain.lower), int(domain.upper) - (domain.q is None)
        step = 1 if domain.log else int(domain.q or 1)
        data = {"low": low, "high": low + (high - low) // step * step, "log": domain.log, "step": step}
        return Distribution.of("int", data)
    if isinstance(domain, Categorical):
        are_plain = all(_is_plain(one) for one in domain.categories)
        return Distribution.of("categorical", {"choices": list(domain.categories)}) if are_plain else None
    return None


def of_values(values: Iterable[Any]) -> Distribution:
    """Return the smallest distribution with these values: of numbers an interval, else a choice."""
    kept: dict[str, Any] = {}
    for one in values:
        kept.setdefault(json.dumps(one, sort_keys=True, default=repr), one)
    found = list(kept.values())
    if found and all(type(one) is int for one in found):
        return Distribution.of("int", {"low": min(found), "high": max(found), "log": False, "step": 1})
    if found and all(type(one) in (int, float) and abs(one) < float("inf") for one in found):
        low, high = float(min(found)), float(max(found))
        return Distribution.of("float", {"low": low, "high": high, "log": False, "step": None})
    return Distribution.of("categorical", {"choices": [as_choice(one) for one in found]})


def as_choice(value: Any) -> Any:
    """Return a value as Optuna can store it among the choices of a category: others become JSON text."""
    return value if _is_plain(value) else json.dumps(value, sort_keys=True, default=repr)


def _is_plain(value: Any) -> bool:
    return not isinstance(value, Domain) and type(value) in (type(None), bool, int, float, str)


def space_of(distributions: Mapping[str, Distribution]) -> dict[str, Any]:
    """Return distributions as a space, with "a/b" nested as in configs."""
    from overtone.importers.optuna.names import as_config

    return as_config({name: one.domain() for name, one in distributions.items()})
