"""Gives Ray's own modules, and Overtone's engine for Ray, the installed Ray alone as `ray`."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import sys
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

from overtone.as_ray.state import INSTALLED
from overtone.errors import MissingPackageError

REPLACED = ("tune", "train", "air")
"""The packages of Ray that Overtone replaces."""


def is_replaced(name: str) -> bool:
    """Return whether a module, such as "ray.tune.search", belongs to a package that Overtone replaces."""
    return name.split(".")[1:2] != [] and name.split(".")[1] in REPLACED


def seen(name: str) -> str:
    """Return the name in `sys.modules` of the installed Ray's module `name`."""
    if name == "ray":
        return INSTALLED
    return f"{INSTALLED}.{name[4:]}" if is_replaced(name) else name


class MissingRayError(MissingPackageError, ModuleNotFoundError):
    """A part of Ray that Overtone does not replace is needed, and Ray is not installed."""

    def __init__(self, name: str) -> None:
        super().__init__("ray", "ray", name)
        self.name = "ray"


class InstalledRay(ModuleType):
    """The installed Ray, whose submodules the import system binds to the module that scripts see."""

    def __getattr__(self, name: str) -> Any:
        module = sys.modules.get(seen(f"ray.{name}"))
        if module is None:
            raise AttributeError(f"module 'ray' has no attribute {name!r}")
        return module

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return importlib.import_module, ("ray",)


def adopt(ray: ModuleType) -> None:
    """Make the imported Ray of this process, with its tune, train and air, the installed Ray."""
    ray.__class__ = InstalledRay
    sys.modules[INSTALLED] = ray
    for name in [one for one in sys.modules if one.startswith("ray.") and is_replaced(one)]:
        sys.modules[seen(name)] = sys.modules.pop(name)


def import_seen(
    name: str,
    globals: Mapping[str, object] | None = None,
    locals: Mapping[str, object] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> ModuleType:
    """Import as `__import__` does, with `ray` as the installed Ray."""
    if level:
        package = str((globals or {}).get("__package__") or "")
        name = _natural(importlib.util.resolve_name("." * level + name, package))
    if not is_ray(name):
        return _plain(name, globals, locals, fromlist or (), 0)
    ray = importlib.import_module(INSTALLED)
    module = importlib.import_module(seen(name))
    if not fromlist:
        return ray
    if hasattr(module, "__path__"):
        names = list(getattr(module, "__all__", ())) if "*" in fromlist else list(fromlist)
        for one in names:
            if not hasattr(module, one):
                _try_submodule(f"{name}.{one}")
    return module


_plain = builtins.__import__

BUILTINS = {**vars(builtins), "__import__": import_seen}
"""The `__builtins__` of modules that see the installed Ray."""


def is_ray(name: str) -> bool:
    """Return whether a module's name is `ray` or begins with `ray.`."""
    return name == "ray" or name.startswith("ray.")


def _natural(name: str) -> str:
    """Return the name by which Ray knows one of its modules."""
    if name == INSTALLED or name.startswith(f"{INSTALLED}."):
        return f"ray{name[len(INSTALLED) :]}"
    return name


def _try_submodule(name: str) -> None:
    """Import a submodule named in a `from` import, if there is such a module."""
    try:
        importlib.import_module(seen(name))
    except ModuleNotFoundError as error:
        if error.name not in (name, seen(name)):
            raise
