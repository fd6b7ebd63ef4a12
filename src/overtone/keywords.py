"""Errors about arguments: unknown names, with the name that was meant, and values of another type."""

from __future__ import annotations

from overtone.errors import ArgumentError, UsageError
from overtone.lazy import nearest

TYPE_CHECKING = False  # see overtone.lazy
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from typing_extensions import Self

_TAKES_ANY = 0x08  # inspect.CO_VARKEYWORDS; the inspect module is slow to import


def check_keywords(cls: type, given: Iterable[str]) -> None:
    """Check the names of keyword arguments for the constructor of a class.

    Raises:
        UsageError: One of them is unknown; the message names the nearest one, and all.
    """
    init: Any = cls.__init__  # type: ignore[misc]
    hidden: tuple[str, ...] = ()
    while (inner := getattr(init, "__wrapped__", None)) is not None:
        hidden += _names(init)
        init = inner
    code = getattr(init, "__code__", None)
    if code is None or code.co_flags & _TAKES_ANY:
        return
    names = _names(init)
    for name in given:
        if name not in names and name not in hidden:
            near = nearest(name, names)
            raise UsageError(f"{cls.__name__}() has no argument {name!r}{near} (known: {', '.join(names)})")


def check_kind(name: str, value: Any, kind: type, example: str) -> None:
    """Check the type of an argument that may be None.

    Raises:
        ArgumentError: It has another type.
    """
    if value is not None and not isinstance(value, kind):
        raise ArgumentError(f"{name}={value!r:.100}: must be a {kind.__name__}, such as {example}")


def check_config(name: str, value: Any, kind: str) -> None:
    """Check that an argument is None or an object of a config class, by the class's name; Ray's will do.

    Raises:
        ArgumentError: It is something else, such as a dict.
    """
    if value is not None and kind not in [one.__name__ for one in type(value).__mro__]:
        raise ArgumentError(f"{name}={value!r:.200}: must be None or made with tune.{kind}(...)")


def _names(init: Any) -> tuple[str, ...]:
    code = init.__code__
    return tuple(code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount])


class KnownKeywords:
    """Base of a class whose constructor names the argument that was meant by an unknown one."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        check_keywords(cls, kwargs)
        return super().__new__(cls)
