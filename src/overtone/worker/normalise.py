"""What a user reports: metrics by name, as plain data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Number
from typing import Any

from overtone.core.sizes import LONGEST_NAME, LONGEST_RESULT, estimate_json_bytes
from overtone.errors import TrainableError

LONGEST_REPR = 500
LARGEST_ARRAY = 1000
DEEPEST = 20


def merged(metrics: Any, metric: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The metrics that the arguments of `report` mean, as a new dict.

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
        values = {"_metric": metrics, **kwargs}
    else:
        raise TrainableError(
            f"report() takes a dict of metrics or a number, not {type(metrics).__name__} {metrics!r:.100}: "
            'write report({"accuracy": 0.9}) or report(accuracy=0.9)'
        )
    if metric is not None:
        values["_metric"] = metric
    return values


def check_size(metrics: Mapping[str, Any], raw_bytes: int) -> None:
    """Refuse metrics that do not fit in a record.

    Args:
        raw_bytes: The size of `metrics` as JSON.

    Raises:
        TrainableError: The metrics are too large, or one of them has a name that is too long.
    """
    name = max(metrics, key=lambda name: len(str(name)), default="")
    if len(str(name)) > LONGEST_NAME:
        raise TrainableError(
            f"report(): a metric's name may have up to {LONGEST_NAME:,} characters, and {name!r:.60} has "
            f"{len(str(name)):,}"
        )
    if raw_bytes > LONGEST_RESULT:
        sizes = {name: estimate_json_bytes(value) for name, value in metrics.items()}
        largest = max(sizes, key=lambda name: sizes[name])
        raise TrainableError(
            f"report(): the metrics take {raw_bytes:,} bytes as JSON, and a result may take up to "
            f"{LONGEST_RESULT:,}. The largest metric is {largest!r} with about {sizes[largest]:,} bytes. "
            f"Save large data in a checkpoint, or in a file of its own"
        )


def is_number(value: Any) -> bool:
    """Whether it is one number: of Python, of NumPy, or in a tensor."""
    return isinstance(value, Number) or getattr(value, "shape", None) == ()


def normalise(metrics: Mapping[str, Any], warned: set[str]) -> dict[str, Any]:
    """`metrics` as plain data, in the same order.

    NumPy and torch scalars become Python numbers and small arrays lists. Anything that is
    not data becomes its repr, cut at 500 characters, with one warning for each key.

    Args:
        warned: The keys that were warned of; grows.
    """
    plain: dict[str, Any] = {}
    for key, value in metrics.items():
        name = key if type(key) is str else str(key)
        plain[name] = _plain(value, name, warned, 0)
    return plain


def _plain(value: Any, key: str, warned: set[str], depth: int) -> Any:
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if depth < DEEPEST:
        if isinstance(value, Mapping):
            return {str(name): _plain(one, key, warned, depth + 1) for name, one in value.items()}
        if isinstance(value, (list, tuple)):
            return [_plain(one, key, warned, depth + 1) for one in value]
        shape = getattr(value, "shape", None)
        if shape is not None and hasattr(value, "tolist") and _size(shape) <= LARGEST_ARRAY:
            # NumPy scalars and arrays, torch tensors: all of them know `tolist`
            return _plain(value.tolist(), key, warned, depth + 1)
    return _shown(value, key, warned)


def _size(shape: Any) -> float:
    try:
        return float(math.prod(shape))
    except TypeError:
        return math.inf


def _shown(value: Any, key: str, warned: set[str]) -> str:
    try:
        text = repr(value)
    except Exception as error:  # a repr may do anything, and a report must not die of it
        text = f"<{type(value).__name__}, whose repr raised {type(error).__name__}>"
    if key not in warned:
        warned.add(key)
        import warnings

        warnings.warn(
            f"the reported {key!r} is a {type(value).__name__}, which is not plain data: its repr is kept. "
            f"Report numbers, texts, lists or dicts.",
            stacklevel=2,
        )
    return text[:LONGEST_REPR]
