"""The shape of Ray's cluster YAML: which kind of value each key has that Overtone reads or extends."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from overtone.cluster.config_checks import Document, below

Check = Callable[[Document, str, Any], Any]


def check_shape(document: Document, ray: Mapping[str, Any], place: str = "") -> dict[str, Any]:
    """Return the keys of Ray's YAML that have values, each of its kind.

    Args:
        document: The file, for errors.
        ray: A cluster YAML, or a part of one.
        place: The key below which it stands, such as "raw".

    Raises:
        ConfigError: A value is of another kind; the message has an example.
    """
    return _checked(document, place, ray, _TOP)


def _checked(document: Document, place: str, given: Any, shape: Mapping[str, Check]) -> dict[str, Any]:
    checked = {}
    for name, value in document.mapping(place, given, "must be keys with values").items():
        if value is None:
            continue  # Ray's own files have keys without a value.
        checked[name] = shape[name](document, below(place, name), value) if name in shape else value
    return checked


def _mapping(document: Document, key: str, value: Any) -> Any:
    return document.mapping(key, value, "must be keys with values")


def _mappings(document: Document, key: str, value: Any) -> Any:
    if not isinstance(value, list) or not all(isinstance(one, Mapping) for one in value):
        raise document.error(key, "must be a list of keys with values, such as [{Name: value}]", value)
    return value


def _items(shape: Mapping[str, Check]) -> Check:
    """Return the check of a list, each of whose items has the shape."""

    def check(document: Document, key: str, value: Any) -> Any:
        items = _mappings(document, key, value)
        return [_checked(document, below(key, str(i)), one, shape) for i, one in enumerate(items)]

    return check


def _scheduling(document: Document, key: str, value: Any) -> Any:
    """Check what Compute Engine has as one mapping, and Ray's examples as a list of them."""
    return (_mappings if isinstance(value, list) else _mapping)(document, key, value)


def _texts(document: Document, key: str, value: Any) -> Any:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise document.error(key, "must be a list of texts, such as [ray stop]", value)
    return value


def _text(document: Document, key: str, value: Any) -> Any:
    return document.text(key, value, "my-name")


def _whole_number(document: Document, key: str, value: Any) -> Any:
    return document.whole_number(key, value, "2")


def _number(document: Document, key: str, value: Any) -> Any:
    if value == 0 and not isinstance(value, bool):
        return value
    return document.positive(key, value, "must be a number of 0 or more, such as 5")


def _flag(document: Document, key: str, value: Any) -> Any:
    if not isinstance(value, bool):
        raise document.error(key, "must be true or false", value)
    return value


def _labelled(document: Document, key: str, value: Any) -> Any:
    return _checked(document, key, value, {"labels": _mapping})


def _texts_by_name(document: Document, key: str, value: Any) -> Any:
    return {
        name: document.text(below(key, name), one, "./data")
        for name, one in _mapping(document, key, value).items()
    }


def _node(document: Document, key: str, value: Any) -> Any:
    return _checked(document, key, value, _NODE)


def _node_types(document: Document, key: str, value: Any) -> Any:
    types = _mapping(document, key, value)
    return {name: _checked(document, below(key, name), one, _NODE_TYPE) for name, one in types.items()}


_NODE: Mapping[str, Check] = {
    "InstanceType": _text, "machineType": _text, "ImageId": _text, "labels": _mapping, "resources": _mapping,
    "BlockDeviceMappings": _items({"Ebs": _mapping}), "TagSpecifications": _items({"Tags": _mappings}),
    "InstanceMarketOptions": _mapping, "MetadataOptions": _mapping, "IamInstanceProfile": _mapping,
    "SecurityGroupIds": _texts, "SubnetIds": _texts, "scheduling": _scheduling,
    "disks": _items({"initializeParams": _labelled}),
}  # fmt: skip

_NODE_TYPE: Mapping[str, Check] = {
    "node_config": _node, "resources": _mapping, "labels": _mapping, "docker": _mapping,
    "min_workers": _whole_number, "max_workers": _whole_number, "idle_timeout_s": _number,
    "initialization_commands": _texts, "worker_setup_commands": _texts,
}  # fmt: skip

_COMMANDS = (
    "initialization_commands", "setup_commands", "head_setup_commands", "worker_setup_commands",
    "head_start_ray_commands", "worker_start_ray_commands",
)  # fmt: skip

_TOP: Mapping[str, Check] = {
    "cluster_name": _text, "head_node_type": _text, "provider": _mapping, "auth": _texts_by_name,
    "docker": _mapping, "metadata": _mapping, "file_mounts": _texts_by_name, "max_workers": _whole_number,
    "min_workers": _whole_number, "initial_workers": _whole_number, "upscaling_speed": _number,
    "idle_timeout_minutes": _number, "file_mounts_sync_continuously": _flag, "cluster_synced_files": _texts,
    "rsync_exclude": _texts, "rsync_filter": _texts, "available_node_types": _node_types, "head_node": _node,
    "worker_nodes": _node, **dict.fromkeys(_COMMANDS, _texts),
}  # fmt: skip
