"""Resources of a pod as a config writes them: "cpu=2,memory=4Gi,gpu=1"."""

from __future__ import annotations

import re

from overtone.cluster.kubernetes.fields import is_quantity

HEAD = "cpu=2,memory=8Gi"
"""The head's resources if the config has none."""

WORKER = "cpu=4,memory=16Gi"
"""A worker's resources if the config has none."""

GPU = "nvidia.com/gpu"
EXAMPLE = "cpu=8,memory=32Gi,gpu=1"

_NAME = re.compile(r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(/[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?)?", re.ASCII)
_UNITS = {"k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def resources_of(text: str) -> dict[str, str]:
    """Return the quantity of each resource, by Kubernetes' name.

    Args:
        text: Pairs such as "cpu=2,memory=4Gi,gpu=1"; "gpu" is `nvidia.com/gpu`, others have their full name.

    Raises:
        ValueError: The text is wrong; the message is a rule with an example.
    """
    quantities: dict[str, str] = {}
    for pair in text.split(","):
        name, equals, quantity = (part.strip() for part in pair.partition("="))
        name = GPU if name == "gpu" else name
        if not equals or not _NAME.fullmatch(name) or not is_quantity(quantity):
            raise ValueError(
                f"must be quantities by resource, such as {EXAMPLE}: {pair.strip()!r} is not one"
            )
        if name in quantities:
            raise ValueError(f"must have each resource once, such as {EXAMPLE}: {name} is there twice")
        quantities[name] = quantity
    for name in ("cpu", "memory"):
        if name not in quantities:
            raise ValueError(f"must have cpu and memory, such as {EXAMPLE}: {name} is missing")
    if _bytes(quantities["memory"]) < 512 * 2**20:
        raise ValueError(f"must have at least 512Mi of memory for Ray, such as {EXAMPLE}")
    for name, quantity in quantities.items():
        if "/" in name and not quantity.isdigit():
            raise ValueError(f"must have a whole number of {name}, such as {EXAMPLE}")
    return quantities


def _bytes(quantity: str) -> float:
    unit = quantity.lstrip("0123456789.")
    return float(quantity[: len(quantity) - len(unit)]) * _UNITS.get(unit, 1.0)
