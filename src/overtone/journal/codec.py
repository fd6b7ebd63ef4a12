"""Encoding of a record as one line of JSON that ends with its checksum, and decoding.

    {"n":7,"e":"reported","time":1.5,"trial_id":"358bb_00006","attempt":0,"t":3,"metrics":{...},"crc":"8b2f0c11"}

`n` counts lines from 1, `e` names the event, and its fields follow; "choices" has the resulting
choices. Fields equal to their default are omitted, and readers ignore unknown fields: so a message
may gain fields with defaults, and old journals remain readable. In "reported", `metrics` comes
last, so that it can be cut out without being decoded.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, fields
from functools import lru_cache
from json.encoder import encode_basestring_ascii
from math import isfinite
from sys import intern
from typing import Any

from overtone.core import messages as m
from overtone.core.limits import Limits
from overtone.core.resources import Placement, Resources
from overtone.core.trial import Status
from overtone.core.types import Checkpoint, Config, Metrics, Why
from overtone.errors import OvertoneError, StorageError
from overtone.journal.formats import Upgrade
from overtone.journal.plain_reports import PLAIN_REPORT
from overtone.journal.seals import sealed
from overtone.journal.text import LazyMetrics, dumps, find_field, loads

_EVENTS: dict[str, type] = {
    "capacity_changed": m.CapacityChanged,
    "suggested": m.Suggested,
    "started": m.Started,
    "reported": m.Reported,
    "saved": m.Saved,
    "save_failed": m.SaveFailed,
    "discarded": m.Discarded,
    "noticed": m.Noticed,
    "ended": m.Ended,
    "requested": m.Requested,
    "tick": m.Tick,
    "interrupted": m.Interrupted,
    "resumed": m.Resumed,
}
_CHOICES: dict[str, type] = {
    "added": m.Added,
    "ruled": m.Ruled,
    "moved": m.Moved,
    "noted": m.Noted,
    "steered": m.Steered,
}
_NOT_EVENTS = ("header", "driver", "end")
_LEFT_OUT = ("metrics", "raw")  # of Reported: written apart

_METRICS = b',"metrics":'
_FOLDER = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,199}")  # a trial's id is also a folder's name
_STATUSES = {one.value: one.value for one in Status}
_quoted = encode_basestring_ascii
_NUMBERS = frozenset({int, float})
_Writer = Callable[[Any, Callable[[Config | None], str]], str]
_LONG_RUN_S = 1e9  # beyond, a float with six decimals may have more digits than a float holds


class _Texts(dict[type, Callable[[Any], str]]):
    """The functions that write values, by the type of the value."""

    def __missing__(self, kind: type) -> Callable[[Any], str]:
        return dumps


_few = lru_cache(4096)(dumps)  # trials have few different demands and placements
_TEXTS = _Texts({
    str: _quoted,
    int: repr,
    float: lambda value: repr(value) if isfinite(value) else dumps(value),
    Resources: _few,
    Placement: _few,
    Why: lambda why: f"{{{_WRITERS[Why](why, dumps)[1:]}}}",
})  # fmt: skip


@lru_cache(8, typed=True)
def _time(time: float) -> str:
    """Return an event's time as text; cached, since events that follow at once have the same time."""
    if type(time) is float and 1e-3 <= time < _LONG_RUN_S:
        if round(time * 1e6) / 1e6 != time:
            return repr(time)
        # the shortest text, equal to that of `repr`, which takes ten times as long
        text = f"{time:.6f}".rstrip("0")
        return text if text[-1] != "." else f"{text}0"
    return _TEXTS[type(time)](time)


def _writer(kind: type, begin: str = "", end: str = "") -> _Writer:
    """Return a function from a message and an encoder of configs to the fields as text.

    A comma precedes each field in the text.

    Args:
        begin: Text before the fields.
        end: Text after the fields.

    The function is compiled, as the methods of dataclasses are: it runs for every event, and a loop over
    the fields takes twice as long.
    """
    needed, optional = begin.replace("{", "{{"), []
    for one in fields(kind):
        if one.name in _LEFT_OUT:
            continue
        read = f"(value := one.{one.name})"
        value = read if one.default is MISSING else "value"  # an optional field is read by its test
        if one.name == "config":
            text = f"config({value})"
        elif one.name == "time":
            text = f"time({value})"
        elif one.type == "str" and kind is not Why:  # a user's own reason may hold anything
            text = f"quoted({value})"
        elif one.type == "int":
            text = f"value if type({value}) is int else texts[type(value)](value)"
        else:
            text = f"texts[type({value})](value)"
        if one.default is MISSING:
            needed += f',"{one.name}":{{{text}}}'
        else:
            # not compared with None: that would be a call of the value's own __eq__
            is_set = f"{read} is not None" + f" and value != {one.default!r}" * (one.default is not None)
            optional.append(f" if {is_set}: text += f',\"{one.name}\":{{{text}}}'")
    finish = f" return text + {end!r}" if end else " return text"
    source = ["def write(one, config):", f" text = f'{needed}'", *optional, finish]
    found: dict[str, Any] = {"texts": _TEXTS, "quoted": _quoted, "time": _time}
    exec("\n".join(source), found)
    return found["write"]  # type: ignore[no-any-return]


_NAMES = {kind: name for name, kind in (_EVENTS | _CHOICES).items()}


class _Writers(dict[type, _Writer]):
    """The functions that write messages, by type of message; each is compiled at its first use."""

    def __missing__(self, kind: type) -> _Writer:
        is_choice = kind in _CHOICES.values()
        self[kind] = _writer(kind, f'{{"c":"{_NAMES[kind]}"', "}") if is_choice else _writer(kind)
        return self[kind]


_WRITERS: _Writers = _Writers()


class Codec:
    """Encodes records as lines, and decodes the lines of one journal, in their order.

    A line may be decoded again later. A reader that begins after the header gets records of format
    1 as they are.

    Args:
        encode_config: Replaces values of a config that are not data by their place in the space.
        decode_config: The reverse.
        has_objects: Whether configs may have values that are not data, which `decode_config` restores.
    """

    def __init__(
        self,
        encode_config: Callable[[Config], Any] | None = None,
        decode_config: Callable[[Any], Config] | None = None,
        has_objects: bool = False,
    ) -> None:
        self.has_objects = has_objects
        self._encode_config = encode_config
        self._decode_config = decode_config
        self._last: tuple[Config | None, str] = (None, "null")
        self._read: tuple[Any, Config | None] = (None, None)
        self._upgrade = Upgrade()

    def config(self, data: Any) -> Config:
        """Return the config that is written as this data."""
        made: Config = data if self._decode_config is None else self._decode_config(data)
        return made

    def anew(self) -> Codec:
        """Return a codec of the same configs for another reading: it follows the records of one reading."""
        return Codec(self._encode_config, self._decode_config, self.has_objects)

    def __reduce__(self) -> tuple[Any, ...]:
        return Codec, (self._encode_config, self._decode_config, self.has_objects)

    # --- writing -----------------------------------------------------------------------

    def encode(self, record: m.Record) -> bytes:
        """Return the record's line, with its newline."""
        event = record.event
        if type(event) is m.Reported:
            raw = event.raw
            if not raw or "\n" in raw:
                raw = dumps(event.metrics)
            if event.checkpoint is None and not record.choices:
                text = (
                    f'{{"n":{record.n},"e":"reported","time":{_time(event.time)},"trial_id":{_quoted(event.trial_id)},'
                    f'"attempt":{event.attempt},"t":{event.t},"metrics":{raw}'
                )
            else:
                text = f'{self._head(record)},"metrics":{raw}'
        else:
            text = self._head(record)
        try:
            body = text.encode()
        except UnicodeEncodeError:  # half of a surrogate pair, which UTF-8 cannot encode
            body = text.encode("ascii", "backslashreplace")
        return sealed(body)

    def encode_fact(self, n: int, kind: str, facts: Mapping[str, Any]) -> bytes:
        """Return the line of a fact that is not an event: "header", "driver" at each start, "end"."""
        return sealed(dumps({"n": n, "e": kind, **facts})[:-1].encode())

    def encode_choices(self, choices: Sequence[m.Choice]) -> str:
        """Return the choices as text: equal texts mean equal choices."""
        return ",".join([_WRITERS[type(one)](one, self._config) for one in choices])

    def _head(self, record: m.Record) -> str:
        event = record.event
        self._last = (None, "null")  # one record may name a config twice; between records it may change
        kind = type(event)
        head = f'{{"n":{record.n},"e":"{_NAMES[kind]}"{_WRITERS[kind](event, self._config)}'
        return f'{head},"choices":[{self.encode_choices(record.choices)}]' if record.choices else head

    def _config(self, config: Config | None) -> str:
        if config is not self._last[0]:
            data = config if config is None or self._encode_config is None else self._encode_config(config)
            self._last = (config, dumps(data))
        return self._last[1]

    # --- reading -----------------------------------------------------------------------

    def decode(self, body: bytes, lazy: bool = False, raw: bool = False) -> m.Record | None:
        """Return the record in an unsealed line; None if the line holds no event.

        Args:
            lazy: Leave metrics undecoded until they are read, and the `raw` of reports empty.
            raw: With `lazy`, set the `raw` of reports to the text of their metrics.

        Raises:
            StorageError: The record is unknown to this version, or Overtone did not write it.
        """
        try:
            found = PLAIN_REPORT.match(body)
            if found is None:
                return self._decode(body, lazy, raw)
            n, time, trial_id, attempt, t = found.groups()
            metrics, text = _metrics(body, found.end(), lazy, raw)
            return m.Record(
                int(n), m.Reported(float(time), trial_id.decode(), int(attempt), int(t), metrics, None, text)
            )
        except OvertoneError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError) as error:  # valid checksum, invalid record
            raise StorageError(
                f"the record that begins with {body[:60]!r} holds something that Overtone does not write "
                f"({type(error).__name__}: {error!s:.200}): it was made by something else"
            ) from error

    def _decode(self, body: bytes, lazy: bool, raw: bool) -> m.Record | None:
        """Decode as `decode` does, for all records but plain reports."""
        self._read = (None, None)  # one record may name a config twice
        begin = 0
        if b'"e":"reported"' in body[:40]:
            document, begin = _split_metrics(body)
        else:
            document = loads(body.decode() + "}")
        kind = document.pop("e")
        if kind in _NOT_EVENTS:
            if kind != "end":
                self._upgrade.begin(document)
            return None
        if kind not in _EVENTS:
            raise StorageError(
                f"record {document['n']} is a {kind!r}, which this version of Overtone does not know: "
                f"pip install -U overtone"
            )
        if kind == "reported":
            document["metrics"], document["raw"] = _metrics(body, begin, lazy, raw)
        n, ruled = document.pop("n"), document.pop("choices", ())
        choices = tuple([self._message(_CHOICES[one.pop("c")], one) for one in ruled])
        return self._upgrade.apply(m.Record(n, self._message(_EVENTS[kind], document), choices))

    def _message(self, kind: type, document: dict[str, Any]) -> Any:
        for name, made in _PARTS_OF[kind]:
            value = document.get(name)
            if value is not None:
                document[name] = made(value)
        if self._decode_config is not None and document.get("config") is not None:
            data = document["config"]
            if data != self._read[0]:
                self._read = (data, self._decode_config(data))
            document["config"] = self._read[1]
        if kind is m.Added and not _FOLDER.fullmatch(document["trial_id"]):
            raise ValueError(f"trial_id {document['trial_id']!r:.100} is not the name of a folder")
        if kind is m.Moved:
            if document["status"] not in _STATUSES:
                raise ValueError(f"status {document['status']!r:.100} is none of a trial")
            document["status"] = _STATUSES[document["status"]]
        elif kind is m.Started:  # few nodes have many trials: trials share the text of a node's name
            document["node"] = intern(document["node"])
            document["hostname"] = intern(document.get("hostname", ""))
        if type(document.get("trial_id", "")) is not str or type(document.get("time", 0.0)) not in _NUMBERS:
            raise TypeError("a trial_id that is not a text, or a time that is not a number")
        return _made(kind, document)


def _metrics(body: bytes, begin: int, lazy: bool, raw: bool) -> tuple[Metrics, str]:
    if lazy:
        text = body[begin:]
        return LazyMetrics(text), text.decode() if raw else ""
    whole = body[begin:].decode()
    metrics = loads(whole)
    if type(metrics) is not dict:
        raise TypeError("metrics that are no object")
    return metrics, whole


def _split_metrics(body: bytes) -> tuple[dict[str, Any], int]:
    """Return the fields of a report before its metrics, and the position of the metrics.

    Usually the first `_METRICS` is the right one. If a config has a key of that name, the fields
    are passed one by one instead.
    """
    at = body.find(_METRICS)
    if at < 0:
        raise ValueError("it has no metrics")
    try:
        return loads(body[:at].decode() + "}"), at + len(_METRICS)
    except ValueError:
        text = body.decode()
        head = text[: find_field(text, "metrics")]
        return loads(head + "}"), len(head.encode()) + len(_METRICS)


def _made(kind: type, document: dict[str, Any]) -> Any:
    """Return a `kind` from its fields in `document`, ignoring unknown fields."""
    try:
        return kind(**document)
    except TypeError:
        known = {one.name for one in fields(kind)}
        return kind(**{name: value for name, value in document.items() if name in known})


def _checkpoint(document: dict[str, Any]) -> Checkpoint:
    made: Checkpoint = _made(Checkpoint, document)
    return made


def _why(document: dict[str, Any]) -> Why:
    if "against" in document:
        document["against"] = tuple(document["against"])
    document["rule"] = intern(document["rule"])
    made: Why = _made(Why, document)
    return made


def _placement(document: dict[str, Any]) -> Placement:
    gpus = tuple([tuple(map(tuple, bundle)) for bundle in document["gpus"]])
    return Placement(tuple(document["nodes"]), gpus)


def _resources(document: dict[str, Any]) -> Resources:
    bundles = tuple([tuple(map(tuple, bundle)) for bundle in document["bundles"]])
    strategy, workers, auto = (document.get(name) for name in ("strategy", "workers", "auto"))
    return _shared(bundles, strategy or "PACK", workers and tuple(workers), auto and tuple(auto))


_shared = lru_cache(1024)(Resources)  # 10,000 trials have few different demands
_PARTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "Checkpoint": _checkpoint,
    "Why": _why,
    "Placement": _placement,
    "Resources": _resources,
    "Limits": Limits.of,
}
_PARTS_OF = {
    kind: [(one.name, _PARTS[of]) for one in fields(kind) if (of := str(one.type).split(" | ")[0]) in _PARTS]
    for kind in _NAMES
}
"""The fields of each message that are objects in JSON, with the functions that make their values."""
