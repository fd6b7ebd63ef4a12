"""Common parts of clouds whose machines Ray's launcher starts: checks, Ray's YAML, and SSH to the head."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from overtone.cluster.cloud_setup import add_missing, setup_commands
from overtone.cluster.provider_modules import about

if TYPE_CHECKING:
    from overtone.cluster.config import ClusterConfig
    from overtone.cluster.ssh_remote import SSHRemote
    from overtone.cluster.state import State

DISK_GB = 100
"""The size of a machine's disk without the setting `disk`."""

_LEAST_DISK_GB = 20
_USER = "ubuntu"
_KEPT = ("region",)
"""Settings that Ray's section `provider` has by the same name."""

_LOGIN = {
    "aws": "set AWS_PROFILE or run `aws configure`",
    "gcp": "run `gcloud auth application-default login`",
}


def check_cloud(config: ClusterConfig) -> None:
    """Check the size of the disk, and that the config has no credentials.

    Raises:
        ConfigError: The config cannot be used; the message names the line.
    """
    settings, cloud = config.provider.settings, config.provider.type
    if int(settings.get("disk", _LEAST_DISK_GB)) < _LEAST_DISK_GB:
        raise config.error("provider.disk", f"must be at least {_LEAST_DISK_GB} GB", settings["disk"])
    provider, key = config.raw.get("provider", {}), f"{cloud}_credentials"
    if isinstance(provider, Mapping) and key in provider:
        rule = f"credentials do not belong in a config: delete it, and {_LOGIN[cloud]}"
        raise config.error(f"{'' if config.is_ray else 'raw.'}provider.{key}", rule)  # without its value


def with_cloud_keys(
    ray: Mapping[str, Any],
    config: ClusterConfig,
    provider: Mapping[str, Any],
    add_to_node: Callable[[dict[str, Any], bool], None],
    ray_version: str | None,
) -> dict[str, Any]:
    """Return Ray's cluster YAML with the keys that a cloud needs; those that it has already are kept.

    Args:
        ray: The YAML in general form. Not modified.
        config: The cluster's config.
        provider: Keys of the section `provider`; "module" is the node provider.
        add_to_node: Adds to a node type what the cloud needs; called with whether it is the head.
        ray_version: Ray's version on a machine without Ray; None for that of this Python.
    """
    made = copy.deepcopy(dict(ray))
    section = made.setdefault("provider", {})
    for key in about(config.provider.type).keys:
        if key not in _KEPT:
            section.pop(key, None)
    section.update(type="external", module=provider["module"], cache_stopped_nodes=False)
    section.update(provider)
    made.setdefault("auth", {}).setdefault("ssh_user", _USER)
    for name, node_type in made.get("available_node_types", {}).items():
        add_to_node(node_type, name == made.get("head_node_type"))
    add_missing(made, setup_commands(config.provider.type, ray_version), has_own_setup=config.is_ray)
    return made


def head_remote(config: ClusterConfig, state: State, address: str) -> SSHRemote:
    """Return the head at an address, which the cluster's own key reaches, or that of the user's own YAML."""
    from overtone.cluster.ssh_keys import KEY_FILE
    from overtone.cluster.ssh_remote import SSHRemote

    auth = config.raw.get("auth", {})
    return SSHRemote(
        address,
        user=auth.get("ssh_user", _USER),
        key=auth.get("ssh_private_key", state.folder / KEY_FILE),
        known_hosts=state.folder / "known_hosts",
    )
