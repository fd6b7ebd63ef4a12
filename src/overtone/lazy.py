"""Names that are imported when they are first used."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # the typing module is not free, and `from overtone import tune` must be
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any


def attach(
    package: str, names: Mapping[str, str], modules: Iterable[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of a package whose names are defined in other modules.

    Args:
        package: The package's `__name__`.
        names: For each module, the names that it provides, separated by spaces.
        modules: Submodules that are attributes without being imported first.
    """
    where = {name: module for module, given in names.items() for name in given.split()}
    children = frozenset(modules)

    def __getattr__(name: str) -> Any:
        # __import__: importlib would be the slowest import of `tune`.
        if name in where:
            __import__(where[name])
            value = getattr(sys.modules[where[name]], name)
        elif name in children:
            __import__(f"{package}.{name}")
            value = sys.modules[f"{package}.{name}"]
        elif name == "__all__":  # `import *` asks for it
            return sorted(name for name in where if not name.startswith("_"))
        else:
            raise AttributeError(f"{package} has no {name!r}{nearest(name, [*where, *children])}")
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:
        return sorted({*where, *children, *vars(sys.modules[package])})

    return __getattr__, __dir__


def nearest(name: str, known: Iterable[str]) -> str:
    """Return '; did you mean ...?' with the known name most like `name`; "" if none is similar."""
    if name.startswith("_"):
        return ""  # Interpreters often probe for such names.
    from difflib import get_close_matches

    close = get_close_matches(name, list(known), 1)
    return f"; did you mean {close[0]!r}?" if close else ""
