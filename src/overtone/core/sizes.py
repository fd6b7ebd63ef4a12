"""Limits of the size of results, configs and texts: each record fits in one line of the journal."""

from __future__ import annotations

from collections.abc import Mapping
from json.encoder import encode_basestring_ascii
from typing import Any

LONGEST_LINE = 64 << 20
"""Bytes of a line of the journal with its newline. Writers refuse longer lines, readers report them."""

LONGEST_RESULT = 32 << 20
"""Bytes of one result as JSON. The rest of the line is for the decisions that the result leads to."""

LONGEST_CONFIG = 12 << 20
"""Bytes of one config as JSON. A record may have two: the suggested config, and the config of its trial."""

LONGEST_NAME = 1000
"""Characters of a name, or of a line for people."""

LONGEST_TEXT = 1 << 20
"""Characters of a text for people, such as a traceback."""

MOST_LEVELS = 100
"""Levels of a nested result: readers walk through it, some with a call for each level."""

_NUMBER = 24
"""Characters of a float in full."""

_DEEPEST = 300
_LISTS = frozenset({list, tuple, set, frozenset})


def shorten(text: str, most: int = LONGEST_TEXT) -> str:
    """Return `text`, with its middle left out if it is longer than `most` characters."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters are left out ...]\n{text[-half:]}"


def largest_value(values: Mapping[str, Any]) -> tuple[str, int]:
    """Return the name of the value that takes most as JSON, and about how many bytes it takes."""
    sizes = {name: estimate_json_bytes(value) for name, value in values.items()}
    largest = max(sizes, key=lambda name: sizes[name])
    return largest, sizes[largest]


def estimate_json_bytes(value: Any, depth: int = 0) -> int:
    """Return about how many bytes `value` takes as JSON. Other values than plain data count as a number."""
    kind = type(value)
    if kind is str:
        # a character may take up to 12 bytes
        return 2 + (len(encode_basestring_ascii(value)) if len(value) > 1000 else len(value))
    if kind is int:
        bits: int = value.bit_length()
        return 1 + bits // 3
    if kind is not dict and kind not in _LISTS:
        return estimate_json_bytes(dict(value), depth) if isinstance(value, Mapping) else _NUMBER
    if depth > _DEEPEST:  # also a list that contains itself
        return LONGEST_LINE
    total = 2 + len(value)
    if kind is dict:
        total += sum([3 + len(str(name)) for name in value])
        value = value.values()
    for one in value:
        total += _NUMBER if type(one) is float else estimate_json_bytes(one, depth + 1)
        if total > LONGEST_LINE:
            break
    return total
