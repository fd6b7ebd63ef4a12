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

LONGEST_TEXT = 1 << 20
"""Characters of a text for people, such as a traceback."""

_NUMBER = 24
"""Characters of a float in full."""


def shorten(text: str, most: int = LONGEST_TEXT) -> str:
    """Return `text`, with its middle left out if it is longer than `most` characters."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[... {len(text) - 2 * half} characters are left out ...]\n{text[-half:]}"


def estimate_json_bytes(value: Any) -> int:
    """Return about how many bytes `value` takes as JSON. What is not plain data counts as a number."""
    total, left = 0, [value]
    while left:
        one = left.pop()
        if isinstance(one, str):
            # a character may take up to 12 bytes
            total += 2 + (len(encode_basestring_ascii(one)) if len(one) > 1000 else len(one))
        elif isinstance(one, Mapping):
            total += 2 + 4 * len(one)
            left.extend(one.keys())
            left.extend(one.values())
        elif isinstance(one, (list, tuple, set, frozenset)):
            total += 2 + len(one)
            left.extend(one)
        elif isinstance(one, int) and not isinstance(one, bool):
            total += 1 + one.bit_length() // 3
        else:
            total += _NUMBER
        if total > LONGEST_LINE:  # also ends a list that contains itself
            break
    return total
