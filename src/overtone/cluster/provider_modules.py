"""Finds the module of a provider: one of Overtone's own, a file that a config names, or one of a package."""

from __future__ import annotations

import functools
import importlib.util
import inspect
import sys
import traceback
import zlib
from collections.abc import Callable
from importlib import import_module, metadata
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from overtone.cluster.provider import About, Provider
from overtone.cluster.resource import Resource
from overtone.errors import OvertoneError

if TYPE_CHECKING:
    from overtone.cluster.config import ClusterConfig

BUILT_IN = ("local", "aws", "gcp", "kubernetes", "slurm")
ENTRY_POINTS = "overtone.providers"
FUNCTIONS = ("check", "find", "start", "stop", "reach")


class ProviderError(OvertoneError):
    """A provider cannot be used, or one of its functions failed; the message says which and where."""

    has_lines = True


def provider_types() -> tuple[str, ...]:
    """Return the providers that a config may name: Overtone's own, and those of installed packages."""
    others = {one.name for one in metadata.entry_points(group=ENTRY_POINTS)} - set(BUILT_IN)
    return (*BUILT_IN, *sorted(others))


def provider_of(config: ClusterConfig) -> Provider:
    """Return the module of the config's provider.

    Raises:
        ProviderError: There is no such module, or it is not a provider's.
    """
    return provider_module(config.provider.type)


def about(kind: str) -> About:
    """Return the facts of a provider, by its type in a config.

    Raises:
        ProviderError: There is no such module, or it is not a provider's.
    """
    return provider_module(kind).ABOUT


def loaded(function: str) -> Callable[..., Any]:
    """Return the function that a text such as "overtone.cluster.aws.ending:end_from_head" names.

    Raises:
        ProviderError: There is no such function.
    """
    module, _, name = function.partition(":")
    try:
        return getattr(import_module(module), name)  # type: ignore[no-any-return]
    except (ImportError, AttributeError, ValueError) as error:
        raise ProviderError(f"{function}: is not a function that can be imported here: {error}") from error


@functools.cache
def provider_module(kind: str) -> Provider:
    """Return the module of a provider, by its type in a config; one that is not Overtone's own is checked.

    Raises:
        ProviderError: There is no such module, or it is not a provider's.
    """
    if kind in BUILT_IN:
        return import_module(f"overtone.cluster.providers.{kind}")
    try:
        module = _module_of_file(Path(kind)) if kind.endswith(".py") else _module_of_package(kind)
    except ProviderError:
        raise
    except (Exception, SystemExit) as error:
        raise ProviderError(f"the provider {kind} cannot be imported: {_said(error, kind)}") from error
    return _checked(kind, module)


def _module_of_file(path: Path) -> Any:
    name = f"overtone_provider_{path.stem}_{zlib.crc32(str(path).encode()):x}"
    spec = importlib.util.spec_from_file_location(name, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise ProviderError(
            f"{path}: the provider's file is missing: put it back, or name its new place in the config"
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # where dataclasses and pickles look for it
    spec.loader.exec_module(module)
    return module


def _module_of_package(kind: str) -> Any:
    found = metadata.entry_points(group=ENTRY_POINTS, name=kind)
    if not found:
        raise ProviderError(f"{kind} is not a provider; there are {', '.join(provider_types())}")
    return next(iter(found)).load()


def _checked(kind: str, module: Any) -> Provider:
    """Return a provider whose functions' errors name the function, the file and the line."""
    if not isinstance(getattr(module, "ABOUT", None), About):
        raise ProviderError(f"{kind}: a provider has its facts in ABOUT = About(settings={{...}}, left=...)")
    missing = [name for name in FUNCTIONS if not callable(getattr(module, name, None))]
    if missing:
        raise ProviderError(
            f"{kind}: lacks the function{'s' * (len(missing) > 1)} {', '.join(missing)}; a provider has "
            f"{', '.join(FUNCTIONS)}"
        )
    for name in FUNCTIONS:
        wanted = list(inspect.signature(getattr(Provider, name)).parameters)[1:]
        try:
            inspect.signature(getattr(module, name)).bind(*wanted)
        except TypeError as error:
            form = f"{name}({', '.join(wanted)})"
            raise ProviderError(f"{kind}: {name} must take the arguments of {form}: {error}") from None
    functions = {name: _named(kind, getattr(module, name)) for name in FUNCTIONS}
    return SimpleNamespace(ABOUT=module.ABOUT, **functions)


def _named(kind: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function with errors that say where they come from, and with a check of what it returns."""
    place = f"{kind}: {function.__name__}"

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        try:
            answer = function(*arguments)
        except OvertoneError:
            raise
        except (Exception, SystemExit) as error:
            raise ProviderError(
                f"{place}: {_said(error, inspect.getsourcefile(function) or kind)}"
            ) from error
        if function.__name__ == "check" and not isinstance(answer, str):
            raise ProviderError(f"{place}: must return the text that `plan --show` prints, not {answer!r}")
        if function.__name__ == "find":
            _check_resources(place, answer)
        return answer

    return call


def _check_resources(place: str, answer: Any) -> None:
    if not isinstance(answer, list) or not all(isinstance(one, Resource) for one in answer):
        raise ProviderError(f"{place}: must return a list of Resource, not {answer!r:.100}")
    for one in answer:
        if one.since is not None and not isinstance(one.since, (int, float)):
            rule = "must be seconds since 1970, such as time.time()"
            raise ProviderError(f"{place}: since={one.since!r} of {one.id}: {rule}")


def _said(error: BaseException, file: str) -> str:
    """Return what an error says, with the line of the provider's file from which it comes."""
    lines = [one.lineno for one in traceback.extract_tb(error.__traceback__) if one.filename == file]
    return f"{type(error).__name__}: {error}{f' ({Path(file).name}, line {lines[-1]})' if lines else ''}"
