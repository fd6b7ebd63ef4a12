"""Providers: where nodes are. Each is a module with the five functions of `Provider`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from overtone.cluster.resource import TAG, Resource

if TYPE_CHECKING:
    from overtone.cluster.config import ClusterConfig

__all__ = ["TAG", "Provider", "Resource", "provider_of"]


class Provider(Protocol):
    """The five functions of a provider's module."""

    def check(self, config: ClusterConfig) -> None:
        """Check what only this provider knows of the config, without the network.

        Raises:
            ConfigError: The config cannot be used; the message names the line.
        """

    def find(self, config: ClusterConfig) -> list[Resource]:
        """Return what exists of this cluster now. Reads only."""

    def start(self, config: ClusterConfig, state: Any, progress: Any) -> None:
        """Start the whole cluster; what is there already is not changed."""

    def stop(self, config: ClusterConfig, state: Any, progress: Any) -> None:
        """Take the cluster down."""

    def reach(self, config: ClusterConfig, state: Any) -> Any:
        """Return the `Remote` that runs commands and copies files on the head."""


def provider_of(config: ClusterConfig) -> Provider:
    """Return the module of the config's provider.

    Raises:
        ConfigError: Overtone has no such provider.
    """
    from importlib import import_module

    name = f"{__name__}.{config.provider.type}"
    try:
        module: Any = import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name:
            raise
        raise config.error("provider.type", "is not supported yet", config.provider.type) from None
    return module  # type: ignore[no-any-return]
