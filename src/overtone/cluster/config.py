"""The config of a cluster, as the launcher's parts get it: `config_reading` makes it from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overtone.errors import OvertoneError

MISSING: Any = object()
"""The value of a key that the config lacks; no error shows it."""


class ConfigError(OvertoneError, ValueError):
    """A cluster's config cannot be used as it is written; the message names the file and the line."""


@dataclass(frozen=True)
class Workers:
    """The nodes beside the head.

    Attributes:
        type: The provider's name of the machine type; None if the provider has no types.
        min: Nodes that are always up.
        max: Most nodes at once.
        spot: Whether the nodes are spot machines.
        idle_s: Seconds without work after which a node above `min` is released.
    """

    type: str | None = None
    min: int = 0
    max: int = 0
    spot: bool = False
    idle_s: float = 300.0


@dataclass(frozen=True)
class Limits:
    """The limits at which the head takes the cluster down.

    Attributes:
        cluster_idle_s: Seconds without an experiment and without a login.
        hours: Hours since the cluster began; None for no limit.
        price: US dollars since the cluster began; None for no limit.
    """

    cluster_idle_s: float = 900.0
    hours: float | None = 12.0
    price: float | None = None


@dataclass(frozen=True)
class Provider:
    """Where the nodes are.

    Attributes:
        type: The provider, such as "aws"; the path of its file for one of the user's own.
        settings: The provider's own settings, such as "region"; only those that the config names.
    """

    type: str
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ClusterConfig:
    """A cluster's config.

    Attributes:
        name: The name of the cluster, and the value of the tag `overtone-cluster`.
        provider: Where the nodes are.
        head: The machine type of the head, or its address for the provider "local"; None for the default.
        workers: The other nodes.
        files: The folder that is uploaded; None for none.
        setup: Shell commands that each node runs before Ray starts.
        limits: The limits at which the cluster is taken down.
        raw: Keys for Ray's cluster YAML, merged last. The whole text if the file is one of Ray's.
        is_ray: Whether the file is a cluster YAML of Ray's.
        source: The file.
        lines: The line of each key, from 1, such as "workers.max"; of items too, such as "provider.hosts.0".
    """

    name: str
    provider: Provider
    head: str | None = None
    workers: Workers = field(default_factory=Workers)
    files: Path | None = None
    setup: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    raw: Mapping[str, Any] = field(default_factory=dict)
    is_ray: bool = False
    source: Path = Path("cluster.yaml")
    lines: Mapping[str, int] = field(default_factory=dict)

    @property
    def hosts(self) -> list[str]:
        """The hosts as the config names them, the head first; [] if the provider has no hosts."""
        hosts = [str(host) for host in self.provider.settings.get("hosts", ())]
        head = self.head or next(iter(hosts), "")
        return [head, *(host for host in hosts if host != head)] if hosts else []

    def error(self, key: str, rule: str, value: Any = MISSING) -> ConfigError:
        """Return the error about a key, such as `error("workers.max", "must be ...", -1)`.

        Args:
            key: The key with those above it, such as "workers.max".
            rule: The values that are allowed, and an example.
            value: The wrong value; left out of the message if it is not given.
        """
        return config_error(self.source, self.lines, key, rule, value)


def config_error(
    source: Path, lines: Mapping[str, int], key: str, rule: str, value: Any = MISSING
) -> ConfigError:
    """Return an error with the file and the line of the key, or of the nearest key above it."""
    place = key
    while place and place not in lines:
        place = place.rpartition(".")[0]
    line = lines.get(place, 1)
    shown = "" if value is MISSING else f"={shown_value(value)}"
    return ConfigError(f"{source}:{line}: {key}{shown}: {rule}" if key else f"{source}:{line}: {rule}")


def shown_value(value: Any) -> str:
    """Return a value as an error shows it: short, and on one line."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
