"""Conditions on the labels of a cluster's nodes, as Ray writes them: `{"disk": "in(nvme, ssd)"}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from overtone.errors import ResourceError

_FORM = re.compile(r"(?P<not>!?)(?:in\((?P<many>[^()]*)\)|(?P<one>[^!()]*))")


def selector_of(name: str, value: Any) -> dict[str, str]:
    """Return a label selector, checked; empty for None.

    Args:
        name: Name of the argument, for errors.
        value: By label, "x", "!x", "in(x, y)" or "!in(x, y)".

    Raises:
        ResourceError: `value` is not a dict of such strings.
    """
    if value is None:
        return {}
    is_dict = isinstance(value, Mapping)
    if not is_dict or not all(isinstance(one, str) for pair in value.items() for one in pair):
        raise ResourceError(f'{name}={value!r}: must be a dict of strings, such as {{"team": "vision"}}')
    for label, condition in value.items():
        if not label or not _FORM.fullmatch(condition):
            raise ResourceError(
                f'{name}={value!r}: {label!r} must be "x", "!x", "in(x, y)" or "!in(x, y)", not {condition!r}'
            )
    return dict(value)


def joined(first: Mapping[str, str], second: Mapping[str, str]) -> dict[str, str]:
    """Return the selector of nodes that meet both selectors.

    Raises:
        ResourceError: Both have different conditions on one label, which Ray cannot express.
    """
    for label in sorted(first.keys() & second.keys()):
        if first[label] != second[label]:
            raise ResourceError(
                f"label {label!r}: labels={first[label]!r} of the engine and "
                f"label_selector={second[label]!r} of the trials differ: give one of the two"
            )
    return {**first, **second}


def is_match(selector: Mapping[str, str], labels: Mapping[str, str]) -> bool:
    """Return whether labels meet a selector; a label that is not set equals nothing."""
    return all(_is_met(condition, labels.get(label)) for label, condition in selector.items())


def _is_met(condition: str, value: str | None) -> bool:
    form = _FORM.fullmatch(condition)
    assert form is not None
    allowed = [one.strip() for one in form["many"].split(",")] if form["many"] is not None else [form["one"]]
    return (value in allowed) != bool(form["not"])
