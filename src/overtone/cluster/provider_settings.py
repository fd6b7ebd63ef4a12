"""The settings that each provider has in a config."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """One key of `provider`.

    Attributes:
        kind: "text", "texts" (a list of texts, without double ones), "port", "gigabytes" or "price".
        example: A value, for errors.
        is_required: Whether the config must have it.
    """

    kind: str
    example: str
    is_required: bool = False


_SSH = {
    "user": Setting("text", "ubuntu"),
    "ssh_key": Setting("text", "~/.ssh/id_ed25519"),
    "port": Setting("port", "22"),
}

_ALL = {"price": Setting("price", "0.35")}
"""`price`: US dollars an hour for one node, where `prices.json` does not have it."""

PROVIDER_SETTINGS: Mapping[str, Mapping[str, Setting]] = {
    "local": {"hosts": Setting("texts", "[10.0.0.1, 10.0.0.2]", True), **_SSH, **_ALL},
    "aws": {
        "region": Setting("text", "eu-west-1", True),
        "zone": Setting("text", "eu-west-1a"),
        "subnets": Setting("texts", "[subnet-0123456789abcdef0]"),
        "image": Setting("text", "ami-0123456789abcdef0"),
        "disk": Setting("gigabytes", "100"),
        "ssh_from": Setting("text", "203.0.113.7/32"),
        "instance_profile": Setting("text", "my-profile"),
        **_ALL,
    },
    "gcp": {
        "project": Setting("text", "my-project", True),
        "zone": Setting("text", "us-central1-a", True),
        "image": Setting("text", "projects/my-project/global/images/family/my-image"),
        "disk": Setting("gigabytes", "100"),
        "network": Setting("text", "default"),
        "service_account": Setting("text", "ray@my-project.iam.gserviceaccount.com"),
        **_ALL,
    },
    "kubernetes": {
        "context": Setting("text", "my-cluster"),
        "namespace": Setting("text", "default"),
        "kubeconfig": Setting("text", "~/.kube/config"),
        "image": Setting("text", "rayproject/ray:2.60.0-py311"),
        "service_account": Setting("text", "ray"),
        **_ALL,
    },
    "slurm": {
        "partition": Setting("text", "gpu"),
        "account": Setting("text", "my-account"),
        "qos": Setting("text", "normal"),
        "constraint": Setting("text", "a100"),
        "login": Setting("text", "me@login.example.org"),
        "ssh_key": _SSH["ssh_key"],
        "port": _SSH["port"],
        **_ALL,
    },
}
"""The settings of each provider; a new provider has its row here."""

DEFAULT_HEADS: Mapping[str, str] = {"aws": "m6i.large", "gcp": "n2-standard-2"}
"""The head's machine type if a config names none."""

WITHOUT_PRICES = frozenset({"local", "kubernetes", "slurm"})
"""Providers whose machine types are not in `prices.json`."""

WITHOUT_SPOT = frozenset({"local", "slurm"})
"""Providers without spot machines."""
