"""The cluster's own SSH key on machines of Google Cloud."""

from __future__ import annotations

import copy
from typing import Any

from overtone.cluster import ssh_keys
from overtone.cluster.state import State


def with_access(ray: dict[str, Any], state: State) -> dict[str, Any]:
    """Return Ray's YAML with the cluster's own SSH key, which only its machines accept.

    Ray's launcher would put a key into the metadata of the whole project.
    """
    ray = copy.deepcopy(ray)
    auth = ray["auth"]
    if "ssh_private_key" in auth:
        return ray
    key = ssh_keys.private_key(state.folder)
    auth["ssh_private_key"] = str(key)
    line = f"{auth['ssh_user']}:{ssh_keys.public_key(key)} {auth['ssh_user']}"
    own = {"ssh-keys": line, "block-project-ssh-keys": "true", "enable-oslogin": "FALSE"}
    for node_type in ray["available_node_types"].values():
        items = node_type["node_config"].setdefault("metadata", {}).setdefault("items", [])
        items[:] = [one for one in items if one["key"] not in own]
        items += [{"key": name, "value": value} for name, value in own.items()]
    return ray
