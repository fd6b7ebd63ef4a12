"""Kept for imports of `tune.utils.util`: small functions that scripts and searchers use."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from threading import Thread
from typing import Any

from overtone.tune.utils.gpu import wait_for_gpu
from overtone.tune.utils.monitor import UtilMonitor
from overtone.tune.utils.nested import (
    deep_update,
    flatten_dict,
    merge_dicts,
    unflatten_dict,
    unflatten_list_dict,
    unflattened_lookup,
)
from overtone.tune.utils.rehearsal import diagnose_serialization, validate_save_restore

__all__ = [
    "Tee",
    "UtilMonitor",
    "date_str",
    "deep_update",
    "diagnose_serialization",
    "flatten_dict",
    "is_nan",
    "is_nan_or_inf",
    "merge_dicts",
    "retry_fn",
    "unflatten_dict",
    "unflatten_list_dict",
    "unflattened_lookup",
    "validate_save_restore",
    "validate_warmstart",
    "wait_for_gpu",
    "warn_if_slow",
]

_log = logging.getLogger(__name__)


def date_str() -> str:
    """Return the time as text for file names, such as "2030-01-31_23-59-59"."""
    return datetime.now().strftime("%Y-%m-%d_%H-%M-%S")


def is_nan(value: Any) -> bool:
    """Return whether `value` is NaN."""
    return bool(value != value)


def is_nan_or_inf(value: Any) -> bool:
    """Return whether `value` is NaN or infinite."""
    return is_nan(value) or value in (math.inf, -math.inf)


def retry_fn(
    fn: Callable[[], Any],
    exception_type: type[BaseException] | Sequence[type[BaseException]] = Exception,
    num_retries: int = 3,
    sleep_time: float = 1,
    timeout: float | None = None,
) -> bool:
    """Call `fn` until a call returns; return whether one did.

    Args:
        fn: Called in a thread.
        exception_type: Exceptions after which `fn` is called again.
        num_retries: Maximum number of calls.
        sleep_time: Seconds between two calls.
        timeout: Seconds after which a call counts as failed. Its thread runs on: no call is killed.
    """
    caught = exception_type if isinstance(exception_type, type) else tuple(exception_type)
    for i in range(num_retries):
        if i:
            time.sleep(sleep_time)
        returned: list[bool] = []

        def call(returned: list[bool] = returned) -> None:
            try:
                fn()
                returned.append(True)
            except caught as error:
                _log.warning("%r failed: %s: %s", fn, type(error).__name__, error)

        thread = Thread(target=call, daemon=True)
        thread.start()
        thread.join(timeout)
        if returned:
            return True
    return False


class warn_if_slow:
    """Warns if the block takes longer than `threshold` seconds: `with warn_if_slow("load"): ...`.

    Args:
        name: The block's name in the warning.
        threshold: Seconds; 0.5 by default.
        message: The warning, with {name} and {duration}.
        disable: Whether never to warn.

    Attributes:
        too_slow: Whether it warned.
    """

    DEFAULT_THRESHOLD = 0.5
    DEFAULT_MESSAGE = "{name} took {duration:.3f} s"

    def __init__(
        self, name: str, threshold: float | None = None, message: str | None = None, disable: bool = False
    ) -> None:
        self.name, self.disable = name, disable
        self.threshold = threshold or self.DEFAULT_THRESHOLD
        self.message = message or self.DEFAULT_MESSAGE
        self.too_slow = False

    def __enter__(self) -> warn_if_slow:
        self.start = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        duration = time.monotonic() - self.start
        if duration > self.threshold and not self.disable:
            self.too_slow = True
            _log.warning(self.message.format(name=self.name, duration=duration))


class Tee:
    """A stream that writes to two others; a closed one is left out."""

    def __init__(self, stream1: Any, stream2: Any) -> None:
        self.stream1, self.stream2 = stream1, stream2

    def write(self, text: str) -> None:
        """Write to both streams."""
        self._each("write", text)

    def flush(self) -> None:
        """Flush both streams."""
        self._each("flush")

    @property
    def encoding(self) -> Any:
        """The encoding of the first stream that has one."""
        return getattr(self.stream1, "encoding", None) or getattr(self.stream2, "encoding", None)

    def _each(self, method: str, *arguments: Any) -> None:
        for stream in (self.stream1, self.stream2):
            if not getattr(stream, "closed", False):
                getattr(stream, method)(*arguments)


def validate_warmstart(
    parameter_names: Sequence[str],
    points_to_evaluate: Any,
    evaluated_rewards: Any,
    validate_point_name_lengths: bool = True,
) -> None:
    """Check the points and rewards that a searcher of yours was given.

    Raises:
        TypeError: `points_to_evaluate` is not a list of dicts or lists, or `evaluated_rewards` is not a list.
        ValueError: A point has another number of values than there are parameters, or the numbers of
            points and of rewards differ.
    """
    if not points_to_evaluate:
        return
    if not isinstance(points_to_evaluate, list):
        raise TypeError(f"points_to_evaluate={points_to_evaluate!r:.200} must be a list")
    for i, point in enumerate(points_to_evaluate):
        if not isinstance(point, (Mapping, list)):
            raise TypeError(f"points_to_evaluate[{i}]={point!r:.200} must be a dict or a list")
        if validate_point_name_lengths and len(point) != len(parameter_names):
            raise ValueError(
                f"points_to_evaluate[{i}]={point!r:.200} must have {len(parameter_names)} values: "
                f"{', '.join(parameter_names)}"
            )
    if evaluated_rewards and not isinstance(evaluated_rewards, list):
        raise TypeError(f"evaluated_rewards={evaluated_rewards!r:.200} must be a list")
    if evaluated_rewards and len(evaluated_rewards) != len(points_to_evaluate):
        raise ValueError(
            f"evaluated_rewards has {len(evaluated_rewards)} values for {len(points_to_evaluate)} points"
        )
