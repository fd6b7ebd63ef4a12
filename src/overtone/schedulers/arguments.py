"""Checks of schedulers' arguments, by name: a name means the same in all schedulers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from math import inf, log
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar

from overtone.core.protocols import TrialScheduler
from overtone.errors import ArgumentError

T = TypeVar("T")

MOST_RUNGS = 500
"""Most rungs in a bracket; a trial is judged at each rung."""


def checked(cls: type[T]) -> type[T]:
    """Return `cls` with a check of its arguments on construction.

    Arguments named in `ALLOWED` must follow its rules; None is valid if it is the default. Arguments
    that a child class passes on are checked, too. Numbers of other libraries become Python's.
    `reward_attr`, of the first versions of the API, is accepted in place of `metric` and `mode`.

    Raises:
        TypeError: When it is made: an argument is of another kind than it must be.
        ValueError: It is out of its range, or two of them do not go together.
    """
    init: Any = cls.__init__
    names = init.__code__.co_varnames[1 : init.__code__.co_argcount]
    defaults = dict(zip(reversed(names), reversed(init.__defaults__ or ()), strict=False))

    @wraps(init)
    def made(self: Any, *args: Any, reward_attr: Any = None, **kwargs: Any) -> None:
        kwargs |= goal_of(reward_attr)
        who, given = type(self).__name__, {**defaults, **dict(zip(names, args, strict=False)), **kwargs}
        for name, value in given.items():
            allowed = ALLOWED.get(name)
            if allowed is None or (value is None and name in defaults and defaults[name] is None):
                continue
            if not allowed.is_kind(value) or not allowed.is_inside(value):
                error = ValueError if allowed.is_kind(value) else TypeError
                raise error(f"{who}: {name}={value!r:.100}: give {allowed.text}")
        if {"max_t", "reduction_factor"} <= given.keys():
            _check_rungs(who, given["max_t"], given.get("grace_period"), given["reduction_factor"])
        decides = next((one for one in type(self).__mro__ if {"on_result", "review"} & vars(one).keys()), cls)
        if isinstance(self, TrialScheduler) and issubclass(cls, decides):
            self.ends_trials = "max_t" in given and bool(given.get("stop_last_trials", True))
        init(self, *map(_plain, args), **{name: _plain(value) for name, value in kwargs.items()})

    cls.__init__ = made  # type: ignore[method-assign]
    return cls


def goal_of(reward_attr: Any) -> dict[str, str]:
    """Return the arguments `metric` and `mode` that `reward_attr` stands for; none for None.

    "neg_mean_loss" minimises "mean_loss"; any other metric is maximised.
    """
    if reward_attr is None:
        return {}
    mode = "min" if str(reward_attr).startswith("neg_") else "max"
    return {"metric": str(reward_attr).removeprefix("neg_"), "mode": mode}


def is_number(value: Any) -> bool:
    """Return whether `value` is a real number; True and False are not."""
    return isinstance(value, Real) and not isinstance(value, bool)


class Allowed(NamedTuple):
    """The rule of an argument: a text for people, and checks of its type and its range."""

    text: str
    is_kind: Callable[[Any], bool]
    is_inside: Callable[[Any], bool] = lambda value: True


def _check_rungs(who: str, max_t: float, grace_period: float | None, reduction_factor: float) -> None:
    """Raise if there would be no rungs, or too many."""
    first = 1 if grace_period is None else grace_period
    if not 0 < first <= max_t:
        needs = "max_t >= 1" if grace_period is None else "0 < grace_period <= max_t"
        given = "" if grace_period is None else f"grace_period={grace_period} and "
        raise ArgumentError(f"{who}: need {needs}, not {given}max_t={max_t}")
    if log(max_t / first) / log(reduction_factor) > MOST_RUNGS:
        raise ArgumentError(
            f"{who}: reduction_factor={reduction_factor} makes more than {MOST_RUNGS} rungs from "
            f"{first} to {max_t}: choose a larger one, such as 3"
        )


def _plain(value: Any) -> Any:
    """Return a number or flag as Python's type, for example from a numpy type."""
    if _is_flag(value):
        return bool(value)
    if not is_number(value) or type(value) in (int, float):
        return value
    return int(value) if isinstance(value, Integral) else float(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_flag(value: Any) -> bool:
    return type(value).__name__ in ("bool", "bool_")  # Python's, or numpy's


def _one_or_all(test: Callable[[Any], bool]) -> Callable[[Any], bool]:
    def holds(value: Any) -> bool:
        return test(value) or (_is_listed(value) and all(map(test, value)))

    return holds


def _is_listed(value: Any) -> bool:
    return isinstance(value, Iterable) and hasattr(value, "__len__") and not isinstance(value, (str, Mapping))


def _are_factors(value: Any) -> bool:
    return len(value) > 0 and all(is_number(one) and 0 < one < inf for one in value)


_FINITE = Allowed("a number above 0, and finite", is_number, lambda x: 0 < x < inf)
_ABOVE_0 = Allowed("a number above 0", is_number, lambda x: x > 0)
_FROM_0 = Allowed("a number, 0 or more", is_number, lambda x: x >= 0)
_SHARE = Allowed("a number from 0 to 1", is_number, lambda x: 0 <= x <= 1)
_COUNT = Allowed("a whole number, 1 or more", _is_count, lambda x: x >= 1)
_FLAG = Allowed("True or False", _is_flag)
_AMOUNTS = Allowed('amounts by name, such as {"cpu": 1}', lambda one: isinstance(one, Mapping))

ALLOWED: Mapping[str, Allowed] = {
    "time_attr": Allowed('the name of a metric, such as "training_iteration"', _is_text),
    "metric": Allowed("the name of a metric, or a list of names", _one_or_all(_is_text)),
    "mode": Allowed('"max" or "min"', _one_or_all(_is_text), _one_or_all(lambda one: one in ("max", "min"))),
    "max_t": _FINITE,
    "grace_period": _FROM_0,
    "reduction_factor": Allowed("a number above 1, and finite", is_number, lambda x: 1 < x < inf),
    "first_whole": Allowed("a number from 0.05 to 1", is_number, lambda x: 0.05 <= x <= 1),
    "pause": _FLAG,
    "brackets": _COUNT,
    "n": _COUNT,
    "stop_last_trials": _FLAG,
    "rule": Allowed('"stop" or "promote"', _is_text, lambda one: one in ("stop", "promote")),
    "sizes": Allowed('"algorithm" or "table"', _is_text, lambda one: one in ("algorithm", "table")),
    "min_samples_required": Allowed("a whole number, 0 or more", _is_count, lambda x: x >= 0),
    "min_time_slice": _FROM_0,
    "hard_stop": _FLAG,
    "perturbation_interval": _ABOVE_0,
    "burn_in_period": _FROM_0,
    "quantile_fraction": Allowed("a number from 0 to 0.5", is_number, lambda x: 0 <= x <= 0.5),
    "resample_probability": _SHARE,
    "perturbation_factors": Allowed("numbers above 0, such as (1.2, 0.8)", _is_listed, _are_factors),
    "custom_explore_fn": Allowed("a function that gets a config and returns one", callable),
    "log_config": _FLAG,
    "require_attrs": _FLAG,
    "synch": _FLAG,
    "clone_config": _FLAG,
    "mutation_factor": _FINITE,
    "crossover_prob": _SHARE,
    "add_bundles": _FLAG,
    "increase_by": _AMOUNTS,
    "increase_by_times": Allowed(
        "a whole number, 1 or more, or -1 for any number", _is_count, lambda x: x >= 1 or x == -1
    ),
    "reserve_resources": _AMOUNTS,
    "policy_file": Allowed("its path", lambda one: _is_text(one) or hasattr(one, "__fspath__")),
    "trial_id": Allowed("the id of a trial", _is_text),
    "rate": _FINITE,
    "last": Allowed("a number, and finite", is_number, lambda x: -inf < x < inf),
    "over": _ABOVE_0,
}
"""The rules by argument name; other arguments have their own checks."""
