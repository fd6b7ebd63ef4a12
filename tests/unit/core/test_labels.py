"""Label selectors, in Ray's form."""

from __future__ import annotations

from typing import Any

import pytest

from overtone.core.labels import is_match, joined, selector_of
from overtone.errors import ResourceError


@pytest.mark.parametrize(
    ("condition", "fits"),
    [
        ("nvme", {"nvme"}),
        ("!nvme", {"ssd", None}),
        ("in(nvme, ssd)", {"nvme", "ssd"}),
        ("!in(nvme,ssd)", {None}),
        ("in(hdd)", set()),
        ("", set()),
    ],
)
def test_a_condition_holds_for_some_values(condition: str, fits: set[str | None]) -> None:
    selector = selector_of("label_selector", {"disk": condition})
    labels: dict[str | None, dict[str, str]] = {None: {}, "nvme": {"disk": "nvme"}, "ssd": {"disk": "ssd"}}
    assert {value for value, one in labels.items() if is_match(selector, one)} == fits


def test_all_conditions_must_hold() -> None:
    selector = {"disk": "nvme", "zone": "!a"}
    assert is_match(selector, {"disk": "nvme", "zone": "b", "more": "c"})
    assert not is_match(selector, {"disk": "nvme", "zone": "a"})
    assert is_match({}, {})


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ("fast", "label_selector='fast': must be a dict of strings"),
        ({"disk": 3}, "must be a dict of strings"),
        ({"": "x"}, "'' must be"),
        ({"disk": "in(a"}, r"'disk' must be .* not 'in\(a'"),
        ({"disk": "!!a"}, "not '!!a'"),
    ],
)
def test_what_is_not_a_selector_is_an_error(value: Any, told: str) -> None:
    with pytest.raises(ResourceError, match=told):
        selector_of("label_selector", value)


def test_two_selectors_are_joined_unless_they_differ_on_a_label() -> None:
    assert joined({"a": "1", "b": "2"}, {"b": "2", "c": "!3"}) == {"a": "1", "b": "2", "c": "!3"}
    with pytest.raises(ResourceError, match="label 'b'.*'2'.*'!2'.*differ"):
        joined({"b": "2"}, {"b": "!2"})
