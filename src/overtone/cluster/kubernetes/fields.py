"""Strict checks of manifests: KubeRay and Kubernetes must know each field, and its value must have the type.

`kuberay_fields.json` has the fields of each type. A value's type there is one of: string, integer, number,
boolean, quantity, map (texts by text), quantities (quantities by text), any, "one of A B", the name of
another type, or a list of a type in brackets. A field that ends with "!" is required.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from overtone.lazy import nearest

_QUANTITY = re.compile(r"\d+(\.\d+)?([eE][+-]?\d+|[numkMGTPE]|[KMGTPE]i)?", re.ASCII)
_ALIASES = {"PullPolicy": "one of Always IfNotPresent Never"}


def is_quantity(value: Any) -> bool:
    """Return whether a value is a quantity of Kubernetes, such as 2, "500m" or "16Gi"."""
    if isinstance(value, str):
        return _QUANTITY.fullmatch(value) is not None
    return isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0


def wrong_fields(manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return each wrong field of a RayCluster, RayJob or Secret: its path and the rule that it breaks."""
    return list(_wrong(manifest, str(manifest.get("kind")), ""))


@lru_cache(maxsize=1)
def known_fields() -> dict[str, Any]:
    """Return the content of `kuberay_fields.json`."""
    text = Path(__file__).with_name("kuberay_fields.json").read_text("utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def _is_text_map(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(one, str) for pair in value.items() for one in pair)


def _is_quantities(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(key, str) and is_quantity(one) for key, one in value.items()
    )


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_SIMPLE: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "string": (lambda value: isinstance(value, str), 'must be a text, such as "a"'),
    "integer": (_is_integer, "must be a whole number, such as 8"),
    "number": (lambda value: _is_integer(value) or isinstance(value, float), "must be a number, such as 0.5"),
    "boolean": (lambda value: isinstance(value, bool), "must be true or false"),
    "quantity": (is_quantity, 'must be a quantity, such as "500m" or "16Gi"'),
    "map": (_is_text_map, 'must be texts by text, such as {a: "1"}'),
    "quantities": (_is_quantities, 'must be quantities by resource, such as {cpu: 2, memory: "4Gi"}'),
    "any": (lambda value: value is not None, "must have a value"),
}


def _wrong(value: Any, kind: str, path: str) -> Iterator[tuple[str, str]]:
    kind = _ALIASES.get(kind, kind)
    if kind in _SIMPLE:
        is_right, rule = _SIMPLE[kind]
        if not is_right(value):
            yield path, rule
    elif kind.startswith("one of "):
        words = kind.split()[2:]
        if value not in words:
            yield path, f"must be one of {', '.join(words)}"
    elif kind.startswith("["):
        if isinstance(value, list):
            for i, one in enumerate(value):
                yield from _wrong(one, kind[1:-1], f"{path}.{i}")
        else:
            yield path, "must be a list, such as [...]"
    else:
        yield from _wrong_object(value, kind, path)


def _wrong_object(value: Any, kind: str, path: str) -> Iterator[tuple[str, str]]:
    fields = known_fields()["types"].get(kind)
    if fields is None:
        yield path, f"Overtone has no fields for {kind}"
        return
    if not isinstance(value, Mapping):
        yield path, f"must be keys with values, such as {{{next(iter(fields))}: ...}}"
        return
    for name, one in value.items():
        below = f"{path}.{name}" if path else str(name)
        if name not in fields:
            version = known_fields()["version"]
            yield below, f"is not a field of {kind} in {version}{nearest(str(name), fields)}"
        else:
            yield from _wrong(one, fields[name].rstrip("!"), below)
    for name, its_kind in fields.items():
        if its_kind.endswith("!") and name not in value:
            yield (f"{path}.{name}" if path else name), "is missing"
