"""Simulated results: the curve's metrics and the session's fields, as data and as JSON text."""

from __future__ import annotations

import time
from collections.abc import Mapping
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from typing import Any

from overtone.core.json_encoder import encoder
from overtone.core.types import UNNAMED
from overtone.worker.protocol import encode
from overtone.worker.session.metrics import normalise

PLAIN = frozenset({int, float, str, bool, type(None)})
OWN = frozenset({
    "training_iteration", "time_this_iter_s", "time_total_s", "timesteps_total", "timestamp", "date",
    "iterations_since_restore", "time_since_restore", "done",
})  # fmt: skip

_encode = encoder()
_step = lru_cache(4096)(repr)  # many curves take the same time for each iteration
_LATEST = 253_402_300_799  # the last second of the year 9999, where calendars end


class Fields:
    """Maker of simulated results.

    Attributes:
        warned: Names of metrics that are not plain data and for which a warning was given.
    """

    def __init__(self) -> None:
        self.warned: set[str] = set()

    def result(
        self, metrics: Any, t: int, at: float, seconds: float, total_s: float, n_here: int, here_s: float
    ) -> tuple[dict[str, Any], str]:
        """Return the metrics with the session's fields, and the same as JSON text.

        Args:
            metrics: Metrics of the curve: a mapping, or one value.
            t: The training_iteration.
            at: Virtual time of the report.
            seconds: Duration of the iteration.
            total_s: Total training time of the trial.
            n_here: Number of iterations since the trial was started or restored.
            here_s: Training time since the trial was started or restored.
        """
        is_mapping = type(metrics) is dict or isinstance(metrics, Mapping)
        values = metrics if is_mapping else {UNNAMED: metrics}
        own = _numbers(values)
        if own is None:
            for value in values.values():
                if type(value) not in PLAIN:
                    values = normalise(values, self.warned)
                    break
        second = int(at)
        shown = date(second)
        filled = dict(values)  # One dict, filled key by key: a display of both parts merges two.
        filled["training_iteration"] = t
        filled["time_this_iter_s"] = seconds
        filled["time_total_s"] = total_s
        filled["timesteps_total"] = None
        filled["timestamp"] = second
        filled["date"] = shown
        filled["iterations_since_restore"] = n_here
        filled["time_since_restore"] = here_s
        filled["done"] = False
        if not OWN.isdisjoint(values):
            filled["timesteps_total"] = values.get("timesteps_total")
            filled["done"] = values.get("done") is True
            return filled, encode(filled)
        if own is None:
            try:
                own = _encode(values)[1:-1]
            except (ValueError, TypeError):  # NaN, or a key that is not a string
                return filled, encode(filled)
            own += "," if own else ""
        step = _step(seconds)  # exact float text is slow: reuse it for equal numbers
        total = step if total_s == seconds else repr(total_s)
        here = total if here_s == total_s else repr(here_s)
        return filled, (
            f'{{{own}"training_iteration":{t},"time_this_iter_s":'
            f'{step},"time_total_s":{total},"timesteps_total":null,"timestamp":{second},'
            f'"date":"{shown}","iterations_since_restore":{n_here},"time_since_restore":'
            f'{here},"done":false}}'
        )


class _Names(dict[Any, str]):
    """Cache of metric names as JSON text with a colon."""

    def __missing__(self, name: Any) -> str:
        self[name] = text = f"{encode_basestring_ascii(name)}:"
        return text


_named = _Names()


def _numbers(values: Mapping[Any, Any]) -> str | None:
    """Return the metrics as JSON text, a comma after each; None unless all are finite numbers.

    Most metrics are finite numbers, and the general encoder takes twice as long.
    """
    texts = []
    for name, value in values.items():
        if type(name) is not str:
            return None
        if type(value) is float and value - value == 0.0:
            texts.append(f"{_named[name]}{value!r},")
        elif type(value) is int:
            texts.append(f"{_named[name]}{value},")
        else:
            return None
    return "".join(texts)


@lru_cache(4096)
def date(second: int) -> str:
    """Return the date of a virtual second, counted from 1970 in UTC: the same on every machine."""
    day, rest = divmod(min(second, _LATEST), 86_400)
    return f"{_day(day)}_{rest // 3600:02}-{rest // 60 % 60:02}-{rest % 60:02}"


@lru_cache(64)
def _day(day: int) -> str:
    return time.strftime("%Y-%m-%d", time.gmtime(86_400 * day))
