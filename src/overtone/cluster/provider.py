"""Providers: where nodes are. Each is one module, with its facts in `ABOUT` and five functions.

Overtone's own are the modules of `overtone.cluster.providers`. Others are files that a config names, or
modules of packages with the entry point `overtone.providers`; docs/new-provider.md has one.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module, metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from overtone.cluster.resource import TAG, Resource
from overtone.errors import OvertoneError

if TYPE_CHECKING:
    from overtone.cluster.config import ClusterConfig
    from overtone.cluster.progress import Progress
    from overtone.cluster.remote import Remote
    from overtone.cluster.state import State

__all__ = [
    "TAG", "About", "Ending", "Listing", "Provider", "ProviderError", "RayKeys", "Resource", "Setting",
    "about", "loaded", "provider_of", "provider_types",
]  # fmt: skip

BUILT_IN = ("local", "aws", "gcp", "kubernetes", "slurm")
ENTRY_POINTS = "overtone.providers"
FUNCTIONS = ("check", "find", "start", "stop", "reach")


class ProviderError(OvertoneError):
    """A provider's module cannot be used; the message says which and why."""


class Setting(NamedTuple):
    """One key of `provider` in a config.

    Attributes:
        kind: "text", "texts" (a list of texts, without double ones), "port", "gigabytes" or "price".
        example: A value, for errors.
        is_required: Whether the config must have it.
    """

    kind: str
    example: str
    is_required: bool = False


PRICE = {"price": Setting("price", "0.35")}
"""US dollars an hour for one node, where `prices.json` does not have it: a setting of all providers."""


class Ending(NamedTuple):
    """How the head of a cluster ends the cluster's machines itself, at a limit.

    Attributes:
        function: "module:function" that ends the machines, workers first; it gets the cluster's `name` and
            `settings` as keywords, and its module must be installed on the head. "" for none: each machine
            shuts down.
        settings: The provider's settings that the function gets; None for those that the config lacks.
        shuts_down: Whether a machine that shuts down is ended by its provider, so that no more is paid.
    """

    function: str = ""
    settings: tuple[str, ...] = ()
    shuts_down: bool = False


class Listing(NamedTuple):
    """How clusters that this machine does not know are found, for `overtone clusters --all`.

    Attributes:
        function: "module:function" that returns the names of all clusters in a place.
        setting: The setting of the provider that names such a place, such as "region".
        variables: Environment variables that name a place, too.
    """

    function: str
    setting: str
    variables: tuple[str, ...] = ()


class RayKeys(NamedTuple):
    """The keys of Ray's cluster YAML for a cloud whose machines Ray's launcher starts.

    Attributes:
        function: "module:function" that adds them; see `cloud_keys.with_cloud_keys`.
        machine_type: The key of `node_config` with the machine type.
    """

    function: str
    machine_type: str


@dataclass(frozen=True)
class About:
    """What is known of a provider without asking it.

    Attributes:
        settings: The keys of `provider` in a config beside `type` and `price`. With the setting "hosts", the
            head is one of the hosts, and the workers are the others.
        left: What is left after `overtone down`, as `overtone plan` says it; "{name}" becomes the cluster's.
        place: The settings that tell two clusters of one name apart.
        head, worker: Examples of machine types, for errors.
        default_head: The head's machine type if the config names none.
        machine_types: Whether workers have a machine type: "none", "optional" or "required".
        has_prices: Whether `prices.json` has the prices of its machine types.
        has_spot: Whether there are spot machines.
        reuses_addresses: Whether a new machine may have the address of an earlier one, and another host key.
        requeues: Whether an interrupted run is started again by the provider.
        ending: How the head ends the machines; None if they stay, and only the cluster's processes end.
        listing: How unknown clusters are found; None if they cannot be.
        ray: For a cloud whose machines Ray's launcher starts.
    """

    settings: Mapping[str, Setting]
    left: str
    place: tuple[str, ...] = ()
    head: str = "m6i.large"
    worker: str = "g5.xlarge"
    default_head: str | None = None
    machine_types: Literal["none", "optional", "required"] = "optional"
    has_prices: bool = False
    has_spot: bool = False
    reuses_addresses: bool = False
    requeues: bool = False
    ending: Ending | None = None
    listing: Listing | None = None
    ray: RayKeys | None = None
    keys: Mapping[str, Setting] = field(init=False)
    """`settings` with the price."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "keys", {**self.settings, **PRICE})


class Provider(Protocol):
    """The facts and the five functions of a provider's module."""

    ABOUT: About

    def check(self, config: ClusterConfig) -> str:
        """Check what only this provider knows of the config, without the network.

        Returns:
            What the provider would get, for `overtone plan --show`: Ray's cluster YAML, manifests, a batch
            script. Without any secret.

        Raises:
            ConfigError: The config cannot be used; `config.error` names the line.
        """

    def find(self, config: ClusterConfig) -> list[Resource]:
        """Return what exists of this cluster now. Reads only.

        Raises:
            OvertoneError: The provider does not answer.
        """

    def start(self, config: ClusterConfig, state: State, progress: Progress, for_run: bool) -> None:
        """Start the whole cluster; what is there already is not changed.

        Args:
            config: The cluster's config.
            state: The cluster's records on this machine, locked.
            progress: Shows the phases.
            for_run: Whether the cluster is for one run alone, and may end with it.

        Raises:
            OvertoneError: It cannot be started. The caller then takes down what was started.
        """

    def stop(self, config: ClusterConfig, state: State, progress: Progress) -> None:
        """Take the cluster down. It is repeated as long as `find` finds something, five times at most."""

    def reach(self, config: ClusterConfig, state: State) -> Remote:
        """Return how commands run and files are copied on the head."""


def provider_types() -> tuple[str, ...]:
    """Return the providers that a config may name: Overtone's own, and those of installed packages."""
    return (*BUILT_IN, *sorted(one.name for one in metadata.entry_points(group=ENTRY_POINTS)))


def provider_of(config: ClusterConfig) -> Provider:
    """Return the module of the config's provider.

    Raises:
        ProviderError: There is no such module, or it is not a provider's.
    """
    return _module(config.provider.type)


def about(kind: str) -> About:
    """Return the facts of a provider, by its type in a config.

    Raises:
        ProviderError: There is no such module, or it is not a provider's.
    """
    return _module(kind).ABOUT


def loaded(function: str) -> Callable[..., Any]:
    """Return the function that a text such as "overtone.cluster.aws.ending:end_from_head" names."""
    module, _, name = function.partition(":")
    return getattr(import_module(module), name)  # type: ignore[no-any-return]


@functools.cache
def _module(kind: str) -> Provider:
    if kind in BUILT_IN:
        return import_module(f"overtone.cluster.providers.{kind}")
    return _checked(kind, _module_of_file(Path(kind)) if kind.endswith(".py") else _module_of_package(kind))


def _module_of_file(path: Path) -> Any:
    name = f"overtone_provider_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise ProviderError(f"{path}: the provider's file is missing")
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise ProviderError(f"{path}: cannot be imported: {type(error).__name__}: {error}") from error
    return module


def _module_of_package(kind: str) -> Any:
    found = metadata.entry_points(group=ENTRY_POINTS, name=kind)
    if not found:
        raise ProviderError(f"{kind} is not a provider; there are {', '.join(provider_types())}")
    try:
        return next(iter(found)).load()
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise ProviderError(f"the provider {kind} cannot be imported: {why}") from error


def _checked(kind: str, module: Any) -> Provider:
    if not isinstance(getattr(module, "ABOUT", None), About):
        raise ProviderError(f"{kind}: a provider has its facts in ABOUT = About(settings={{...}}, left=...)")
    missing = [name for name in FUNCTIONS if not callable(getattr(module, name, None))]
    if missing:
        raise ProviderError(
            f"{kind}: lacks the function{'s' * (len(missing) > 1)} {', '.join(missing)}; a provider has "
            f"{', '.join(FUNCTIONS)}"
        )
    return module  # type: ignore[no-any-return]
