"""Options of a search: each is declared once, with a field of a dataclass."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, fields
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

from overtone.errors import ArgumentError

Check = Callable[[str, Any], Any]

DATA = "among the options, as data"
CODE = "among the options; code by its import path"
APART = "an entry of its own"


class Option(NamedTuple):
    """The declaration of an option.

    Attributes:
        text: Its meaning, with unit, allowed range and the meaning of None.
        changed: What a resume does with a changed value; empty if a change is not told.
        argument: Its name as an argument of `tune.run`; the field's name by default.
        also: Other arguments that set it, each with its text.
        config: The class that has it for a `Tuner`, or two classes.
        config_name: Its name there; `argument` by default.
        shown: Its name in messages of a restore and a resume; `argument` by default.
        check: Gets the argument's name and a value; returns the value to keep, or raises ValueError.
        recorded: Its place in a journal's header: DATA, CODE, APART, or a text that says where else
            its value is found.
    """

    text: str
    changed: str
    argument: str = ""
    also: Mapping[str, str] = MappingProxyType({})
    config: str = ""
    config_name: str = ""
    shown: str = ""
    check: Check = lambda _, value: value
    recorded: str = DATA


def option(default: Any, text: str, **facts: Any) -> Any:
    """Return a dataclass's field that declares an option; a class as default is called for each object."""
    kind = "default_factory" if isinstance(default, type) else "default"
    return field(**{kind: default}, metadata={"option": Option(text, **facts)})


@cache
def options(kind: Any) -> Mapping[str, Option]:
    """Return the options that a dataclass declares, by the names of their fields."""
    return {
        one.name: _with_names(one.metadata["option"], one.name)
        for one in fields(kind)
        if "option" in one.metadata
    }


def _with_names(one: Option, field_name: str) -> Option:
    name = one.argument or field_name
    return one._replace(argument=name, config_name=one.config_name or name, shown=one.shown or name)


def check_options(described: Any) -> None:
    """Check each option of a dataclass's object.

    Raises:
        ValueError: A value is not allowed; the message names the argument.
    """
    for name, one in options(described.__class__).items():
        setattr(described, name, one.check(one.argument, getattr(described, name)))


def must(is_right: Callable[[Any], bool], rule: str) -> Check:
    """Return a check whose error is the argument, its value and the rule."""

    def check(name: str, value: Any) -> Any:
        if not is_right(value):
            raise ArgumentError(f"{name}={value!r}{rule}")
        return value

    return check


def at_least(least: int, method: str = "__index__") -> Check:
    """Return a check for None, or a number from `least` on; whole if `method` is not "__float__"."""
    kind = "number" if method == "__float__" else "whole number"
    is_number = must(
        lambda value: value is None or (hasattr(value, method) and not isinstance(value, bool)),
        f" must be a {kind}, {least} or more",
    )
    is_enough = must(lambda value: value is None or value >= least, f" must be {least} or more")
    return lambda name, value: is_enough(name, is_number(name, value))


def are_names(value: Any) -> bool:
    """Return whether the value is None, a name, or a list of names."""
    many = [value] if isinstance(value, str) or value is None else value
    return hasattr(many, "__iter__") and all(isinstance(one, (str, type(None))) for one in many)
