"""The names, tags and client tokens of a cluster's resources on AWS."""

from __future__ import annotations

import secrets

from overtone.cluster.resource import TAG

MOST_NAME = 32
"""Most characters of a cluster's name: a role has 64, with the region in its name."""


def access_name(name: str) -> str:
    """Return the name of the cluster's key pair and security group."""
    return f"overtone-{name}"


def role_name(name: str, region: str) -> str:
    """Return the name of the role and the instance profile: an account has one set for all regions."""
    return f"overtone-{name}-{region}"


def new_client_token(name: str) -> str:
    """Return a client token for one request, at most 64 characters, by which the cluster is recognised."""
    return f"{_token_prefix(name)}{secrets.token_hex(8)}"


def is_client_token(token: str, name: str) -> bool:
    """Return whether a request of this cluster had the client token."""
    return token.startswith(_token_prefix(name))


def _token_prefix(name: str) -> str:
    return f"overtone/{name}/"  # no name has a slash: "a" is not taken for "a/b"


def tags(name: str) -> list[dict[str, str]]:
    """Return the tags of all resources of the cluster, in the form of the API."""
    return [{"Key": TAG, "Value": name}]


def has_tag(tags: object, name: str) -> bool:
    """Return whether the tags of a resource, in the form of the API, name the cluster."""
    listed = tags if isinstance(tags, list) else []
    return any(tag.get("Key") == TAG and tag.get("Value") == name for tag in listed)


def tag_specification(kind: str, name: str) -> list[dict[str, object]]:
    """Return the argument that tags a resource in the request that makes it."""
    return [{"ResourceType": kind, "Tags": tags(name)}]
