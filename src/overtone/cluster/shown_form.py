"""The provider's input as text: Ray's cluster YAML, or the provider's own form."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from overtone.cluster.config import ClusterConfig, shown_value
from overtone.cluster.provider_modules import provider_of
from overtone.cluster.ray_document import planned_yaml
from overtone.cluster.ray_form import differences, merge
from overtone.cluster.ray_reading import RAY_PROVIDERS
from overtone.cluster.yaml_lines import parse_yaml

_USED_BY_HOSTS = frozenset(
    {
        "cluster_name", "provider", "auth", "min_workers", "max_workers", "idle_timeout_minutes",
        "file_mounts", "initialization_commands", "setup_commands", "head_setup_commands",
        "worker_setup_commands",
    }
)  # fmt: skip
"""Keys of a cluster YAML of Ray's that count for hosts over SSH."""


def shown_form(config: ClusterConfig) -> str:
    """Return what the provider gets, without any secret."""
    return provider_of(config).check(config).rstrip("\n") + "\n"


def form_changes(config: ClusterConfig) -> list[str]:
    """Return a line for each key in which Ray's YAML and the user's own keys differ.

    For a cluster YAML of Ray's: what Overtone adds to it, or does not use. Else: what `raw` replaces.
    """
    if config.provider.type not in RAY_PROVIDERS:
        return []
    if not config.is_ray:
        return [f"raw      replaces {key}" for key in _overrides(config)]
    if config.provider.type == "local":
        unused = [key for key, value in config.raw.items() if value and key not in _USED_BY_HOSTS]
        return [f"unused   {key}: Overtone starts and stops hosts itself" for key in unused]
    changes = differences(config.raw, planned_yaml(config))
    told = [one for one in changes if one[1:] not in ((None, {}), (None, []))]  # Ray's own defaults
    return [f"becomes  {key}: {_change_text(before, after)}" for key, before, after in told]


def _overrides(config: ClusterConfig) -> list[str]:
    """Return the keys of `raw` that replace a value that Overtone writes, such as "idle_timeout_minutes"."""
    if not config.raw:
        return []
    own, _ = parse_yaml(shown_form(replace(config, raw={})), config.source)
    return [key for key, before, _ in differences(own, merge(own, config.raw)) if before is not None]


def _change_text(before: Any, after: Any) -> str:
    if after is None:
        return f"removed (was {shown_value(before)})"
    return shown_value(after) if before is None else f"{shown_value(after)} (was {shown_value(before)})"
