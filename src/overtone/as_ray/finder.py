"""The finder that answers imports of `ray`.

Three kinds of modules exist side by side:

- `ray`, `ray.tune.*`, `ray.train.*` and `ray.air.*`: Overtone's, for all code but Ray's own;
- other modules of `ray.*`: the installed Ray's, under their own names;
- `overtone.as_ray.installed` and its `.tune.*`, `.train.*` and `.air.*`: the parts of the installed Ray that
  Overtone replaces. Ray's own modules and Overtone's engine for Ray see these as `ray.*`.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ExtensionFileLoader, ModuleSpec, SourceFileLoader
from types import ModuleType
from typing import Any

from overtone.as_ray.installed_view import BUILTINS, InstalledRay, MissingRayError, is_replaced
from overtone.as_ray.state import INSTALLED

SEEING = ("overtone.engines.ray", "overtone.tune.rllib")
"""Modules of Overtone that see the installed Ray, with those below them."""

TAKEN_OVER = ("ray.cloudpickle", "ray.exceptions")
"""Further modules of Ray that Overtone has for the case that Ray is not installed."""


class RayFinder(MetaPathFinder):
    """Finds the modules of `ray`, as the module's docstring says."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module of Ray or of Overtone's engine for it; None for any other.

        Raises:
            MissingRayError: The module is the installed Ray's, and Ray is not installed.
        """
        if fullname == "ray":
            return self._spec_of_ray()
        if fullname.startswith("ray."):
            if is_replaced(fullname):
                return _alias(fullname, f"overtone.{fullname[4:]}")
            return self._spec_of_part(fullname, path)
        if fullname == INSTALLED:
            return self._spec_of_installed()
        if fullname.startswith(f"{INSTALLED}."):
            natural = f"ray.{fullname[len(INSTALLED) + 1 :]}"
            return self._seeing(fullname, path) if is_replaced(natural) else _alias(fullname, natural)
        if fullname.startswith("overtone.") and any(f"{fullname}.".startswith(f"{one}.") for one in SEEING):
            return self._seeing(fullname, path)
        return None

    def find_distributions(self, context: Any = None) -> Iterable[Any]:
        """Return metadata of a package "ray" if Ray is not installed."""
        if getattr(context, "name", None) not in (None, "ray") or self._elsewhere("ray", None) is not None:
            return []
        from overtone.as_ray.metadata import RayMetadata

        return [RayMetadata()]

    # --- specs ------------------------------------------------------------------------------

    def _spec_of_ray(self) -> ModuleSpec:
        from overtone.as_ray import facade

        installed = self._elsewhere("ray", None)
        spec = ModuleSpec("ray", FacadeLoader(), origin=facade.__file__, is_package=True)
        spec.has_location = True  # for libraries that take a package without `__file__` for a mere folder
        if installed is not None:
            spec.submodule_search_locations = list(installed.submodule_search_locations or ())
        return spec

    def _spec_of_part(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        """Return the spec of a part of Ray that Overtone does not replace."""
        if path:
            return self._seeing(name, path, PartLoader)
        if name in TAKEN_OVER:
            return _alias(name, f"overtone.{name[4:]}")
        raise MissingRayError(name)

    def _spec_of_installed(self) -> ModuleSpec:
        found = self._elsewhere("ray", None)
        if found is None or found.origin is None:
            raise MissingRayError("this part of ray")
        loader = InstalledLoader("ray", found.origin)
        spec = ModuleSpec(INSTALLED, loader, origin=found.origin, is_package=True)
        spec.submodule_search_locations = list(found.submodule_search_locations or ())
        spec.has_location = True
        return spec

    def _seeing(
        self, name: str, path: Sequence[str] | None, kind: type[SourceFileLoader] | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module whose own imports of `ray` find the installed Ray."""
        spec = self._elsewhere(name, path)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader = (kind or SeeingLoader)(spec.loader.name, spec.loader.path)
        elif spec is not None and kind is not None and type(spec.loader) is ExtensionFileLoader:
            importlib.import_module(INSTALLED)  # which may load this module by the way
            return _alias(name, name) if name in sys.modules else spec
        return spec

    def _elsewhere(self, name: str, path: Sequence[str] | None) -> ModuleSpec | None:
        """Return what the other finders find."""
        for finder in sys.meta_path:
            if finder is not self and not isinstance(finder, RayFinder):
                spec = finder.find_spec(name, path)
                if spec is not None:
                    return spec
        return None


class FacadeLoader(Loader):
    """Makes the module `ray` that scripts see."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return None: the module is an ordinary one."""

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its names."""
        from overtone.as_ray.facade import furnish

        furnish(module)


class AliasLoader(Loader):
    """Gives a module a second name; the module keeps its own `__name__` and `__spec__`."""

    def __init__(self, home: str) -> None:
        self._home = home

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module."""
        module = importlib.import_module(self._home)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Undo the import system's change of the module."""
        module.__spec__ = self._spec


def _alias(name: str, home: str) -> ModuleSpec | None:
    """Return a spec that imports the module `home` as `name`; None if there is no such module."""
    found = importlib.util.find_spec(home)
    if found is None:
        return None
    is_package = found.submodule_search_locations is not None
    return ModuleSpec(name, AliasLoader(home), origin=found.origin, is_package=is_package)


class SeeingLoader(SourceFileLoader):
    """Loads a module whose own imports of `ray` find the installed Ray."""

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module with its own `__import__`."""
        vars(module)["__builtins__"] = BUILTINS
        super().exec_module(module)


class PartLoader(SeeingLoader):
    """Loads a module of the installed Ray, after the installed Ray itself."""

    _loaded: ModuleType | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """Return the module if the installed Ray's first import has loaded it by the way, else None."""
        if INSTALLED not in sys.modules:
            importlib.import_module(INSTALLED)
            self._loaded = sys.modules.get(spec.name)
        return self._loaded

    def exec_module(self, module: ModuleType) -> None:
        """Execute the module, unless that was done."""
        if self._loaded is None:
            super().exec_module(module)


class InstalledLoader(SeeingLoader):
    """Loads the installed Ray as `overtone.as_ray.installed`; for itself its name is `ray`."""

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module, without its contents."""
        module = InstalledRay("ray")
        module.__package__ = "ray"
        return module


class NaturalNames(MetaPathFinder):
    """Finds the installed Ray's modules by the names that they have in processes with `install_as_ray`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module below `overtone.as_ray.installed`; None for any other."""
        is_below = fullname.startswith(f"{INSTALLED}.")
        return _alias(fullname, f"ray{fullname[len(INSTALLED) :]}") if is_below else None
