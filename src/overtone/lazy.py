"""Names that are imported when they are first used.

The stub of a package, `__init__.pyi`, is the one table of its names. Type checkers and editors read
it, and so does `attach`.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # the typing module is not free, and `from overtone import tune` must be
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any


def attach(package: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the `__getattr__` and `__dir__` of the package with this `__name__`.

    The package has the names that its stub imports "as" themselves: submodules, and names that are
    defined in other modules. The stub is read when the first of them is used.
    """
    homes: dict[str, str] = {}

    def read() -> dict[str, str]:
        if not homes:
            homes.update(stated(package))
        return homes

    def __getattr__(name: str) -> Any:
        # __import__: importlib would be the slowest import of `tune`.
        home = read().get(name)
        if home == package:
            __import__(f"{package}.{name}")
            value = sys.modules[f"{package}.{name}"]
        elif home is not None:
            __import__(home)
            value = getattr(sys.modules[home], name)
        elif name == "__all__":  # `import *` asks for it
            return sorted(name for name, home in homes.items() if home != package and name[0] != "_")
        elif name[0] != "_" and _is_elsewhere(f"{package}.{name}"):
            __import__(f"{package}.{name}")
            value = sys.modules[f"{package}.{name}"]
        else:
            raise AttributeError(f"{package} has no {name!r}{nearest(name, homes)}")
        setattr(sys.modules[package], name, value)
        return value

    def __dir__() -> list[str]:
        return sorted({*read(), *vars(sys.modules[package])})

    return __getattr__, __dir__


def stated(package: str) -> dict[str, str]:
    """Return the module of each name in the stub; for a submodule the package itself.

    Raises:
        ImportError: The package lacks its stub.
    """
    module = sys.modules[package]
    loader: Any = module.__loader__  # it also reads from zip files
    path = f"{module.__path__[0]}/__init__.pyi"
    try:
        stub = loader.get_data(path).decode()
    except OSError as error:
        raise ImportError(f"{package} lacks {path}, which names its contents: {error}") from error
    homes, home = {}, ""
    for line in stub.splitlines():
        words = line.split()
        if words and words[0] == "from":
            home = words[1]
        if words[-2:-1] == ["as"]:
            homes[words[-1].rstrip(",")] = home
    return homes


class ElsewhereFinder:
    """Finds modules that have their names elsewhere, and says what replaces those that do not exist.

    Python asks it last, for a module that is not a file.
    """

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of such a module; None for any other.

        Raises:
            ImportError: The module does not exist; the message says what to use instead.
        """
        if not name.startswith("overtone."):
            return None
        __import__("overtone.module_paths")
        return sys.modules["overtone.module_paths"].find_spec(name)


def _is_elsewhere(name: str) -> bool:
    """Return whether the module `name` has its names elsewhere.

    Raises:
        AttributeError: It does not exist; the message says what to use instead.
    """
    try:
        return ElsewhereFinder.find_spec(name) is not None
    except ImportError as error:
        raise AttributeError(str(error)) from None


def nearest(name: str, known: Iterable[str]) -> str:
    """Return '; did you mean ...?' with the known name most like `name`; "" if none is similar."""
    if name.startswith("_"):
        return ""  # Interpreters often probe for such names.
    from difflib import get_close_matches

    names = list(known)
    longer = [one for one in names if one.startswith(name)] if len(name) > 2 else []
    close = longer if len(longer) == 1 else get_close_matches(name, names, 1)
    return f"; did you mean {close[0]!r}?" if close else ""
