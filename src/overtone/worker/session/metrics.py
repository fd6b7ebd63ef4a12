"""Reported metrics: merging, size limits and conversion to plain data."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from numbers import Number, Real
from typing import Any

from overtone.core.sizes import LONGEST_NAME, LONGEST_RESULT, LONGEST_TEXT, MOST_LEVELS, largest_value
from overtone.core.types import UNNAMED
from overtone.core.utf8 import encodable
from overtone.errors import TrainableError
from overtone.tagged_json import tagged, untagged
from overtone.worker.protocol import encode

LONGEST_REPR = 500
MOST_DIGITS = 4300
"""Most digits of an integer: by default Python reads and writes no longer ones."""
MOST_BITS = 14283
"""Integers of this many bits have at most `MOST_DIGITS` digits."""
LARGEST_ARRAY = 1000
DEEPEST = 20
"""Depth at which results with more than `MOST_LEVELS` levels are cut."""

_BRACKETS = re.compile(r'[\[\]{}]|"(?:[^"\\]|\\.)*"')


def merged(metrics: Any, metric: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the metrics from the arguments of `report`, as a new dict.

    Raises:
        TrainableError: `metrics` is neither a mapping nor a number.
    """
    if metrics is None and isinstance(kwargs.get("metrics"), Mapping):
        metrics = kwargs.pop("metrics")  # report(metrics={...}), as the 2.x API has it
    if isinstance(metrics, Mapping):
        kwargs.pop("checkpoint_dir_name", None)
        values = {**metrics, **kwargs} if kwargs else dict(metrics)
    elif metrics is None:
        values = kwargs
    elif is_number(metrics):
        values = {UNNAMED: metrics, **kwargs}
    else:
        raise TrainableError(
            f"report() takes a dict of metrics or a number, not {type(metrics).__name__} {metrics!r:.100}: "
            'write report({"accuracy": 0.9}) or report(accuracy=0.9)'
        )
    if metric is not None:
        values[UNNAMED] = metric
    return values


def encoded(metrics: Mapping[str, Any], warned: set[str]) -> str:
    """Return `metrics` as JSON text, as plain data (see `normalise`) where they are not.

    Args:
        warned: Keys with a warning so far. Modified in place.

    Raises:
        TrainableError: The metrics are too large.
    """
    data = metrics
    try:
        raw = encode(data)
    except (TypeError, ValueError, RecursionError):
        raw = ""
    if not raw or not is_readable(raw):
        data = normalise(metrics, warned)
        raw = encode(data)
    if len(raw) > LONGEST_TEXT:
        check_size(data, len(raw))
    return raw


def check_size(metrics: Mapping[str, Any], raw_bytes: int) -> None:
    """Refuse metrics that exceed the size limit of a record.

    Args:
        raw_bytes: The size of `metrics` as JSON.

    Raises:
        TrainableError: The metrics are too large, or a metric's name is too long.
    """
    name = max(metrics, key=lambda name: len(str(name)), default="")
    if len(str(name)) > LONGEST_NAME:
        raise TrainableError(
            f"report(): a metric's name may have up to {LONGEST_NAME:,} characters, and {name!r:.60} has "
            f"{len(str(name)):,}"
        )
    if raw_bytes > LONGEST_RESULT:
        largest, largest_bytes = largest_value(metrics)
        raise TrainableError(
            f"report(): the metrics take {raw_bytes:,} bytes as JSON, and a result may take up to "
            f"{LONGEST_RESULT:,}. The largest metric is {largest!r} with about {largest_bytes:,} bytes. "
            f"Save large data in a checkpoint, or in a file of its own"
        )


def is_number(value: Any) -> bool:
    """Return whether `value` is a single number: of Python, of NumPy, or in a tensor."""
    return isinstance(value, Number) or getattr(value, "shape", None) == ()


def is_readable(raw: str) -> bool:
    """Return whether every reader accepts the JSON text; a quick check, and False may be wrong.

    This process may write text that others cannot read: half of a surrogate pair, which UTF-8 cannot
    encode; integers of any length, if it lifted the limit of their digits; and as many levels as its
    own stack allows.
    """
    if "\\ud" in raw:
        return False
    if len(raw) <= 2 * MOST_LEVELS:  # most are so short that there is nothing to look for
        return True
    if len(raw) > MOST_DIGITS and not 0 < _max_digits() <= MOST_DIGITS:
        return False
    return raw.count("{") + raw.count("[") <= MOST_LEVELS or _depth(raw) <= MOST_LEVELS


def _max_digits() -> int:
    limit = getattr(sys, "get_int_max_str_digits", None)  # Python 3.10.0 to 3.10.6 has none
    return 0 if limit is None else int(limit())


def _depth(raw: str) -> int:
    """Return the number of nesting levels of JSON text."""
    depth = most = 0
    for token in _BRACKETS.findall(raw):
        depth += 1 if token in "[{" else -1 if token in "]}" else 0
        most = max(most, depth)
    return most


def normalise(metrics: Mapping[str, Any], warned: set[str]) -> dict[str, Any]:
    """Return `metrics` as plain data, in the same order.

    Times, decimals, UUIDs and paths are kept: they travel with a tag (see `tagged_json`). NumPy and
    torch scalars become Python numbers and small arrays lists. An object that is not data, or that
    raises during the conversion, becomes its repr, cut at 500 characters, with one warning per key. So
    does an integer of more than 4,300 digits. Half of a surrogate pair is escaped, in names as well.

    Args:
        warned: Keys with a warning so far. Modified in place.
    """
    plain: dict[str, Any] = {}
    for key, value in metrics.items():
        name = _name(key)
        plain[name] = _plain(value, name, warned, ())
    return plain


def _name(key: Any) -> str:
    try:
        return encodable(str(key))
    except Exception as error:
        return f"<{type(key).__name__}, whose str raised {type(error).__name__}>"


def _plain(value: Any, key: str, warned: set[str], above: tuple[int, ...]) -> Any:
    """Return `value` as plain data; `above` are the ids of the containers around it."""
    if value is None or isinstance(value, bool):
        return value
    try:
        if isinstance(value, str):
            return encodable(str.__str__(value))
        if isinstance(value, int):
            number = int.__int__(value)
            return number if number.bit_length() <= MOST_BITS else _shown(value, key, warned)
        if isinstance(value, float):
            return float.__float__(value)
        if (tag := tagged(value)) is not None:
            return untagged(tag)  # an object of the standard library, not of a subclass
        if len(above) < DEEPEST and id(value) not in above:
            return _unpacked(value, key, warned, (*above, id(value)))
    except Exception:  # a user's object may raise anything here: it is not data
        pass
    return _shown(value, key, warned)


def _unpacked(value: Any, key: str, warned: set[str], above: tuple[int, ...]) -> Any:
    """Return the contents of a container, an array or a library's scalar, as plain data."""
    if isinstance(value, Mapping):
        return {_name(name): _plain(one, key, warned, above) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(one, key, warned, above) for one in value]
    shape = getattr(value, "shape", None)
    if shape is None or not hasattr(value, "tolist") or _size(shape) > LARGEST_ARRAY:
        return _shown(value, key, warned)
    held = value.tolist()  # NumPy scalars and arrays, torch tensors: all of them know it
    if shape == () and type(held) is type(value) and isinstance(held, Real):
        return float(held)  # np.longdouble returns itself
    return _plain(held, key, warned, above)


def _size(shape: Any) -> float:
    try:
        return float(math.prod(shape))
    except TypeError:
        return math.inf


def _shown(value: Any, key: str, warned: set[str]) -> str:
    try:
        if isinstance(value, int):
            text = f"<an integer of {value.bit_length()} bits, {hex(value)[:40]}...>"
        else:
            text = encodable(repr(value)[:LONGEST_REPR])[:LONGEST_REPR]
    except Exception as error:  # a repr may do anything, and must not break a report
        text = f"<{type(value).__name__}, whose repr raised {type(error).__name__}>"
    if key not in warned:
        warned.add(key)
        import warnings

        warnings.warn(
            f"the reported {key!r} is a {type(value).__name__}, which is not plain data: its repr is kept. "
            f"Report numbers, texts, lists or dicts.",
            stacklevel=2,
        )
    return text
