"""Names of Optuna's parameters as keys of configs: "a/b" is nested, as Overtone's own searchers name it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overtone.space.pins import nested


def as_config(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as a config; names that contradict each other, as "a" and "a/b" do, stay flat."""
    if not any("/" in name for name in params):
        return dict(params)
    parts = [name.split("/") for name in params]
    before = {"/".join(one[:i]) for one in parts for i in range(1, len(one))}
    if before & params.keys() or any("" in one for one in parts):
        return dict(params)
    return nested(params)
