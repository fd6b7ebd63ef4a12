"""Means of metrics, weighted by samples, and timers; PyTorch is not needed here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, TypeVar

from overtone.errors import UsageError

BATCH_SIZE = "*batch_size"
"""The key of a config whose value is the global batch size: each worker gets its part."""
NUM_SAMPLES = "num_samples"
BATCH_COUNT = "batch_count"
EPOCH = "epoch"
PROFILE = "profile"

Method = TypeVar("Method", bound=Callable[..., Any])


class AverageMeter:
    """A mean of one metric, weighted by the number of samples.

    Attributes:
        val: The last value.
        sum: The sum of the values, each times its number of samples.
        count: The number of samples.
    """

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all values."""
        self.val = self.sum = 0.0
        self.count = 0.0

    def update(self, val: float, n: float = 1) -> None:
        """Add the mean `val` of `n` samples."""
        self.val = val
        if n:  # NaN times 0 is NaN
            self.sum += val * n
            self.count += n

    @property
    def avg(self) -> float:
        """The weighted mean; 0 before the first value."""
        return self.sum / self.count if self.count else 0.0


class AverageMeterCollection:
    """The means of the metrics of batches: `update(metrics)` per batch, then `summary()`."""

    def __init__(self) -> None:
        self._meters: dict[str, AverageMeter] = {}
        self._batch_count = 0
        self._num_samples = 0.0

    def update(self, metrics: Mapping[str, Any], n: float | None = None) -> None:
        """Add the metrics of a batch.

        Args:
            metrics: Numbers, or tensors of one element, by name.
            n: The number of samples in the batch; by default `metrics["num_samples"]`.

        Raises:
            UsageError: The number of samples is missing, or a metric is not a number.
        """
        samples = metrics.get(NUM_SAMPLES) if n is None else n
        if samples is None:
            raise UsageError(
                f"the metrics of a batch lack {NUM_SAMPLES!r} (given: "
                f"{', '.join(map(repr, metrics)) or 'none'}): "
                'means are weighted by it; add the size of the batch, such as "num_samples": target.size(0)'
            )
        samples = as_number(NUM_SAMPLES, samples)
        self._batch_count += 1
        self._num_samples += samples
        for name, value in metrics.items():
            if name != NUM_SAMPLES:
                self._meters.setdefault(name, AverageMeter()).update(as_number(name, value), samples)

    def summary(self) -> dict[str, Any]:
        """Return the counts of batches and samples, and each metric's mean and, as `last_...`, last value."""
        total = self._num_samples
        found: dict[str, Any] = {
            NUM_SAMPLES: int(total) if total == int(total) else total,
            BATCH_COUNT: self._batch_count,
        }
        for name, meter in self._meters.items():
            found[name] = meter.avg
            found[f"last_{name}"] = meter.val
        return found


def as_number(name: str, value: Any) -> float:
    """Return a number, or the only element of a tensor, as a float or an int.

    Raises:
        UsageError: The value is neither.
    """
    if isinstance(value, (int, float)):
        return value
    try:
        return float(value)
    except (TypeError, ValueError, RuntimeError):
        pass
    raise UsageError(
        f"{name}={value!r:.100}: a metric of a batch must be a number or a tensor of one element, such as "
        "loss.item()"
    )


def reduced(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the results of all workers as one: means are weighted by `num_samples`.

    `num_samples` is summed and `batch_count` is the largest. Values that are not numbers are those of the
    first worker that has them. A worker without samples does not count in a mean.
    """
    weights = [result.get(NUM_SAMPLES) for result in results]
    if any(weight is None for weight in weights):  # a train_epoch of the user's own need not count
        weights = [1] * len(results)
    return _reduced(results, weights)


def _reduced(results: Sequence[Mapping[str, Any]], weights: Sequence[Any]) -> dict[str, Any]:
    combined: dict[str, Any] = {}
    for name in dict.fromkeys(name for result in results for name in result):
        having = [
            (result[name], weight) for result, weight in zip(results, weights, strict=True) if name in result
        ]
        values = [value for value, _ in having]
        if name == NUM_SAMPLES:
            combined[name] = sum(values)
        elif name == BATCH_COUNT:
            combined[name] = max(values)
        elif all(isinstance(value, Mapping) for value in values):
            combined[name] = _reduced(values, [weight for _, weight in having])
        elif all(value == values[0] for value in values) or not all(map(_is_plain, values)):
            combined[name] = values[0]
        else:
            total = sum(weight for _, weight in having)
            parts = [(value, weight / total if total else 1 / len(having)) for value, weight in having]
            combined[name] = sum(value * share for value, share in parts if share)
    return combined


def _is_plain(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


class TimerCollection:
    """Durations by name: `with timers.record("fwd"): ...`; nothing is recorded while it is disabled."""

    def __init__(self) -> None:
        self._durations: dict[str, list[float]] = {}
        self._is_enabled = False

    def enable(self) -> None:
        """Record from now on."""
        self._is_enabled = True

    def disable(self) -> None:
        """Stop recording."""
        self._is_enabled = False

    def reset(self) -> None:
        """Forget all durations."""
        self._durations = {}

    @contextmanager
    def record(self, key: str) -> Iterator[None]:
        """Record the duration of the block under `key`."""
        if not self._is_enabled:
            yield
            return
        start = perf_counter()
        try:
            yield
        finally:
            self._durations.setdefault(key, []).append(perf_counter() - start)

    def stats(self, mean: bool = True, last: bool = False) -> dict[str, float]:
        """Return seconds by name: `mean_<key>_s`, and with `last` also `last_<key>_s`."""
        found = {}
        for key, durations in self._durations.items():
            if mean:
                found[f"mean_{key}_s"] = sum(durations) / len(durations)
            if last:
                found[f"last_{key}_s"] = durations[-1]
        return found


def override(interface_class: type) -> Callable[[Method], Method]:
    """Mark a method that overrides one of `interface_class`.

    Raises:
        UsageError: The class has no method of that name.
    """

    def check(method: Method) -> Method:
        if method.__name__ not in dir(interface_class):
            from overtone.lazy import nearest

            public = [name for name in dir(interface_class) if not name.startswith("_")]
            raise UsageError(
                f"{interface_class.__name__} has no method {method.__name__!r} to override"
                f"{nearest(method.__name__, public)}"
            )
        return method

    return check
