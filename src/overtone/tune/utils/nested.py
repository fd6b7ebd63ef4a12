"""Nested dicts and lists as one level, "a/b", and back."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

D = TypeVar("D", bound=dict[Any, Any])


def flatten_dict(
    dt: D, delimiter: str = "/", prevent_delimiter: bool = False, flatten_list: bool = False
) -> D:
    """Return a dict of the type of `dt` without nesting: {"a": {"b": 1}} becomes {"a/b": 1}.

    Args:
        dt: The dict; it stays as it is. Inner dicts that are empty disappear.
        delimiter: Text between the keys.
        prevent_delimiter: Whether to refuse keys that contain the delimiter.
        flatten_list: Whether lists are spread out, too, by the index of each item.

    Raises:
        ValueError: A key contains the delimiter, and `prevent_delimiter` is set.
    """
    flat = copy.copy(dt)
    flat.clear()
    for key, value in dt.items():
        if prevent_delimiter and delimiter in str(key):
            raise ValueError(f"the key {key!r} contains {delimiter!r}, which separates keys: choose another")
        inner = dict(enumerate(value)) if flatten_list and isinstance(value, list) else value
        if not isinstance(inner, dict):
            flat[key] = value
            continue
        for name, item in flatten_dict(inner, delimiter, prevent_delimiter, flatten_list).items():
            flat[f"{key}{delimiter}{name}"] = item
    return flat


def unflatten_dict(dt: D, delimiter: str = "/") -> D:
    """Return the nested dict of {"a/b": 1}, {"a": {"b": 1}}, with dicts of the type of `dt`.

    Raises:
        TypeError: A key is the name of a value and of a dict, as "a" in {"a": 1, "a/b": 2}.
    """
    kind = type(dt)
    nested = kind()
    for key, value in dt.items():
        *above, last = key.split(delimiter)
        place = nested
        for name in above:
            place = place.setdefault(name, kind())
            if not isinstance(place, kind):
                raise TypeError(f"{key!r}: {name!r} is a value already, {place!r}, and cannot have parts")
        place[last] = value
    return nested


def unflatten_list_dict(dt: Mapping[str, Any], delimiter: str = "/") -> Any:
    """Return the nested dicts and lists of `dt`: {"a/0/b": 1} becomes {"a": [{"b": 1}]}.

    Keys of digits are the places in a list, which must be complete.

    Raises:
        ValueError: A list has a gap.
    """
    return _with_lists(unflatten_dict(dict(dt), delimiter), "")


def _with_lists(nested: Any, path: str) -> Any:
    if not isinstance(nested, dict):
        return nested
    inner = {key: _with_lists(value, f"{path}/{key}") for key, value in nested.items()}
    if not inner or not all(str(key).isdigit() for key in inner):
        return inner
    places = sorted(inner, key=int)
    if [int(key) for key in places] != list(range(len(places))):
        raise ValueError(f"{path.lstrip('/') or 'the list'}: places {', '.join(places)} do not make a list")
    return [inner[key] for key in places]


def unflattened_lookup(
    flat_key: str, lookup: Mapping[str, Any] | Sequence[Any], delimiter: str = "/", **kwargs: Any
) -> Any:
    """Return `lookup["a"][0]["b"]` for the key "a/0/b".

    Args:
        flat_key: The keys and places, with delimiters between them.
        lookup: A nested dict or list. A key that is there as a whole is taken first.
        delimiter: Text between the keys.
        kwargs: `default`: returned if there is no such value.

    Raises:
        KeyError: There is no such value, and no `default`.
    """
    if flat_key in lookup:
        return lookup[flat_key]  # type: ignore[call-overload]
    found: Any = lookup
    for key in flat_key.split(delimiter):
        try:
            found = found[key] if isinstance(found, Mapping) else found[int(key)]
        except (KeyError, IndexError, TypeError, ValueError):
            if "default" in kwargs:
                return kwargs["default"]
            raise KeyError(f"{flat_key!r}: there is no {key!r}") from None
    return found


def merge_dicts(d1: Mapping[str, Any], d2: Mapping[str, Any]) -> dict[str, Any]:
    """Return a new dict with the values of both; those of `d2` win, also in inner dicts."""
    return deep_update(copy.deepcopy(dict(d1)), d2, new_keys_allowed=True)


def deep_update(
    original: dict[str, Any],
    new_dict: Mapping[str, Any],
    new_keys_allowed: bool = False,
    allow_new_subkey_list: Sequence[str] = (),
    override_all_if_type_changes: Sequence[str] = (),
    override_all_key_list: Sequence[str] = (),
) -> dict[str, Any]:
    """Put the values of `new_dict` into `original`, also in inner dicts, and return it.

    Args:
        original: Changed in place.
        new_dict: The new values.
        new_keys_allowed: Whether keys may be new.
        allow_new_subkey_list: Keys of the first level whose dicts may get new keys.
        override_all_if_type_changes: Keys of the first level whose dict is replaced if its "type" changes.
        override_all_key_list: Keys whose dict is replaced.

    Raises:
        KeyError: A key is new, and new keys are not allowed there.
    """
    for key, value in new_dict.items():
        if key not in original and not new_keys_allowed:
            raise KeyError(f"{key!r} is unknown; there is {', '.join(map(repr, original)) or 'nothing'}")
        old = original.get(key)
        is_replaced = key in override_all_key_list
        if isinstance(value, Mapping) and isinstance(old, dict) and key in override_all_if_type_changes:
            is_replaced |= {"type"} <= old.keys() & value.keys() and old["type"] != value["type"]
        if is_replaced or not isinstance(value, Mapping) or not isinstance(old, dict):
            original[key] = value
        else:
            is_open = new_keys_allowed or key in allow_new_subkey_list
            deep_update(old, value, is_open, override_all_key_list=override_all_key_list)
    return original
