"""Reads the config of a cluster; each error names the line, the values that are allowed, and an example."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from overtone.cluster.config import ClusterConfig, ConfigError, Limits, Provider, Workers
from overtone.cluster.config_checks import Document
from overtone.cluster.prices import check_limit
from overtone.cluster.provider import About, Setting
from overtone.cluster.provider_modules import ProviderError, about, provider_types
from overtone.cluster.ray_reading import (
    RAY_KEYS,
    RAY_PROVIDERS,
    RAY_TOP_KEYS,
    check_caching,
    config_of_ray,
)
from overtone.cluster.ray_shape import check_shape
from overtone.cluster.yaml_lines import parse_yaml, read_yaml
from overtone.lazy import nearest

KEYS = ("name", "provider", "head", "workers", "files", "setup", "limits", "raw")
WORKER_KEYS = ("type", "min", "max", "spot", "idle")
LIMIT_KEYS = ("cluster_idle", "hours", "price")

_NAME = re.compile(r"[a-z]([a-z0-9-]{0,30}[a-z0-9])?")


def read_config(path: Path) -> ClusterConfig:
    """Return the config of a file, which is Overtone's or a cluster YAML of Ray's.

    Raises:
        ConfigError: The file is missing or wrong: "c.yaml:7: workers.max=-1: must be ..., such as 8".
        MissingPackageError: PyYAML is missing.
    """
    return _config(path, *read_yaml(path))


def parse_config(text: str, source: Path, *, checks_files: bool = True) -> ClusterConfig:
    """Return the config of a text.

    Args:
        text: The contents of a file.
        source: The file, for errors and for paths in the config.
        checks_files: Whether the folder `files` must exist.

    Raises:
        ConfigError: The text is wrong.
        MissingPackageError: PyYAML is missing.
    """
    return _config(source, *parse_yaml(text, source), checks_files)


def _config(source: Path, value: Any, lines: Mapping[str, int], checks_files: bool = True) -> ClusterConfig:
    document = Document(source, lines)
    if value is None:
        raise ConfigError(f"{source}:1: the file is empty: write name, provider and workers")
    top = document.mapping("", value, "must be keys with values, such as name: digits")
    if any(key in top for key in RAY_KEYS) and "workers" not in top and "name" not in top:
        return config_of_ray(document, top)
    document.check_keys("", top, KEYS)
    name = _name(document, top)
    provider = _provider(document, top)
    config = ClusterConfig(
        name=name,
        provider=provider,
        head=_head(document, top, provider),
        workers=_workers(document, top, provider),
        files=_files(document, top, checks_files),
        setup=_setup(document, top),
        limits=_limits(document, top),
        raw=_raw(document, top, provider),
        source=source,
        lines=lines,
    )
    check_limit(config)
    return config


def _name(document: Document, top: Mapping[str, Any]) -> str:
    if "name" not in top:
        raise document.error("", "name is missing: write a name for the cluster, such as name: digits")
    name = document.text("name", top["name"], "digits")
    if not _NAME.fullmatch(name):
        rule = (
            "must be 1 to 32 small letters, digits and hyphens, with a letter first and no hyphen last, "
            "such as digits-2"
        )
        raise document.error("name", rule, name)
    return name


def _provider(document: Document, top: Mapping[str, Any]) -> Provider:
    example = "provider: {type: aws, region: eu-west-1}"
    if "provider" not in top:
        raise document.error("", f"provider is missing: say where the nodes are, such as {example}")
    given = document.mapping("provider", top["provider"], f"must have a type, such as {example}")
    if "type" not in given:
        types = ", ".join(provider_types())
        raise document.error("provider", f"type is missing: choose one of {types}, such as {example}")
    kind = document.text("provider.type", given.pop("type"), "aws")
    kind, known = _known_provider(document, kind)
    document.check_keys("provider", given, tuple(known), f"the provider {kind}")
    for name, setting in known.items():
        if setting.is_required and name not in given:
            rule = f"{name} is missing for the provider {kind}: write it, such as {name}: {setting.example}"
            raise document.error("provider", rule)
    settings = {name: _setting(document, name, known[name], value) for name, value in given.items()}
    return Provider(kind, settings)


def _known_provider(document: Document, kind: str) -> tuple[str, Mapping[str, Setting]]:
    """Return the type of a provider, that of a file as an absolute path, and the settings that it has."""
    if kind.endswith(".py"):
        kind = os.path.abspath(document.source.parent / os.path.expanduser(kind))
    elif kind not in (types := provider_types()):
        near, own = nearest(kind, types), "the file of your own, such as ./my_cloud.py"
        rule = f"is not a provider{near}; choose one of {', '.join(types)}, or {own}"
        raise document.error("provider.type", rule, kind)
    try:
        return kind, about(kind).keys
    except ProviderError as error:
        raise document.error("provider.type", str(error)) from error


def _setting(document: Document, name: str, setting: Setting, value: Any) -> Any:
    key = f"provider.{name}"
    if setting.kind == "text":
        return document.text(key, value, setting.example)
    if setting.kind == "port":
        return document.whole_number(key, value, setting.example, 1, 65_535)
    if setting.kind == "gigabytes":
        return document.whole_number(key, value, setting.example, 8, 16_384)
    if setting.kind == "price":
        rule = f"must be the price of one node in US dollars an hour, such as {setting.example}"
        return document.positive(key, value, rule)
    if not isinstance(value, list) or not value:
        raise document.error(key, f"must be a list with at least one item, such as {setting.example}", value)
    example = setting.example.strip("[]").partition(",")[0]
    texts = [document.text(f"{key}.{i}", one, example) for i, one in enumerate(value)]
    for i, text in enumerate(texts):
        if text in texts[:i]:
            raise document.error(f"{key}.{i}", "is there twice: name each one once", text)
    return tuple(texts)


def _head(document: Document, top: Mapping[str, Any], provider: Provider) -> str | None:
    head = top.get("head")
    if hosts := provider.settings.get("hosts"):
        if head is None:
            return str(hosts[0])
        head = document.text("head", head, hosts[0])
        if head not in hosts:
            raise document.error("head", f"must be one of provider.hosts: {', '.join(hosts)}", head)
        return head
    facts = about(provider.type)
    if isinstance(head, Mapping):
        raise document.error("head", f"must be a machine type alone, such as {facts.head}", head)
    return facts.default_head if head is None else document.text("head", head, facts.head)


def _workers(document: Document, top: Mapping[str, Any], provider: Provider) -> Workers:
    hosts = len(provider.settings["hosts"]) - 1 if "hosts" in provider.settings else None
    if top.get("workers") is None:
        return Workers(min=hosts or 0, max=hosts or 0)
    example = "workers: {type: g5.xlarge, min: 0, max: 8}"
    given = document.mapping("workers", top["workers"], f"must be keys with values, such as {example}")
    document.check_keys("workers", given, WORKER_KEYS)
    least, most = _worker_counts(document, given, hosts)
    return Workers(
        type=_worker_type(document, given, about(provider.type), most),
        min=least,
        max=most,
        spot=_spot(document, given, provider),
        idle_s=document.duration("workers.idle", given["idle"], "5m") if "idle" in given else Workers.idle_s,
    )


def _worker_counts(document: Document, given: Mapping[str, Any], hosts: int | None) -> tuple[int, int]:
    """Return the fewest and the most workers; with local hosts, both are all of them by default."""
    counts = {}
    for key, example in (("min", "0"), ("max", "8")):
        if key in given:
            counts[key] = document.whole_number(f"workers.{key}", given[key], example)
            if hosts is not None and counts[key] > hosts:
                rule = f"must be at most {hosts}, the hosts beside the head: name more in provider.hosts"
                raise document.error(f"workers.{key}", rule, given[key])
    if not counts and hosts is None:
        raise document.error("workers", "max is missing: say how many there may be, such as max: 8")
    most = counts.get("max", counts.get("min", 0) if hosts is None else hosts)
    least = counts.get("min", 0 if hosts is None else most)
    if least > most:
        raise document.error("workers.max", f"must be at least workers.min={least}, such as {least}", most)
    return least, most


def _worker_type(document: Document, given: Mapping[str, Any], facts: About, most: int) -> str | None:
    if given.get("type") is None:
        if facts.machine_types == "required" and most:
            rule = f"type is missing: name a machine type, such as type: {facts.worker}"
            raise document.error("workers", rule)
        return None
    if facts.machine_types == "none":
        raise document.error("workers.type", "workers have no machine types here: remove it", given["type"])
    return document.text("workers.type", given["type"], facts.worker)


def _spot(document: Document, given: Mapping[str, Any], provider: Provider) -> bool:
    spot = given.get("spot", False)
    if not isinstance(spot, bool):
        raise document.error("workers.spot", "must be true or false", spot)
    if spot and not about(provider.type).has_spot:
        rule = f"the provider {provider.type} has no spot machines: remove it, or write false"
        raise document.error("workers.spot", rule, spot)
    return spot


def _files(document: Document, top: Mapping[str, Any], checks_files: bool) -> Path | None:
    if top.get("files") is None:
        return None
    given = document.text("files", top["files"], "files: .")
    folder = document.source.parent / Path(given).expanduser()
    if checks_files and not folder.is_dir():
        rule = f"must be a folder that exists, seen from {document.source.parent.resolve()}, such as ."
        raise document.error("files", rule, given)
    return Path(os.path.abspath(folder))  # Not resolved: a link may lead elsewhere tomorrow.


def _setup(document: Document, top: Mapping[str, Any]) -> tuple[str, ...]:
    given = top.get("setup")
    example = "setup: pip install -r requirements.txt"
    commands = [given] if isinstance(given, str) else given
    if commands is None:
        return ()
    if not isinstance(commands, list):
        raise document.error("setup", f"must be a shell command, or a list of them, such as {example}", given)
    for i, command in enumerate(commands):
        key = "setup" if isinstance(given, str) else f"setup.{i}"
        if not isinstance(command, str) or not command.strip():
            raise document.error(key, f"must be a shell command, such as {example}", command)
    return tuple(command.strip() for command in commands)


def _limits(document: Document, top: Mapping[str, Any]) -> Limits:
    if top.get("limits") is None:
        return Limits()
    example = "limits: {cluster_idle: 15m, hours: 12, price: 20}"
    given = document.mapping("limits", top["limits"], f"must be keys with values, such as {example}")
    document.check_keys("limits", given, LIMIT_KEYS)
    hours, price = given.get("hours", Limits.hours), given.get("price")
    rule = "must be a number of hours above 0, such as 12; null for no limit"
    hours = None if hours is None else document.positive("limits.hours", hours, rule)
    rule = "must be a number of US dollars above 0, such as 20; null for no limit"
    price = None if price is None else document.positive("limits.price", price, rule)
    idle = given.get("cluster_idle")
    seconds = Limits.cluster_idle_s if idle is None else document.duration("limits.cluster_idle", idle, "15m")
    return Limits(seconds, hours, price)


def _raw(document: Document, top: Mapping[str, Any], provider: Provider) -> dict[str, Any]:
    raw = document.mapping("raw", top.get("raw") or {}, "must be keys of Ray's cluster YAML")
    if provider.type in RAY_PROVIDERS:
        document.check_keys("raw", raw, RAY_TOP_KEYS, "Ray's cluster YAML")
        raw = check_shape(document, raw, "raw")
        check_caching(document, raw, "raw.provider")
    return raw
