"""Encoding of messages as JSON, and decoding with a check of every field.

A message is a tuple; the first item names its kind, and `Vocabulary` defines the fields of each
kind. The body of its frame is a JSON array. The metrics of a report follow after a newline, as the
text that the journal stores.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any, NoReturn

from overtone.core.json_encoder import encoder
from overtone.core.sizes import LONGEST_LINE, LONGEST_RESULT, LONGEST_TEXT
from overtone.core.types import Checkpoint
from overtone.errors import MessageError, TrainableError
from overtone.worker.frames import FrameReader, framed

Message = tuple[Any, ...]
"""A message: its kind, then its fields."""

Field = Callable[[Any], Any]
"""Returns a field after a check; raises ValueError or TypeError if the field has a wrong type or value."""

Vocabulary = Mapping[str, tuple[Field, ...]]
"""The allowed messages of a sender: the fields of each kind."""

WRONG = "wrong"
"""Kind of the message that a reader returns last, after an invalid message: ("wrong", error)."""

_MOST = 1 << 53  # beyond, not every integer is a float
_SHOWN = 200  # characters of an invalid message in an error


def _flag(value: Any) -> bool:
    if type(value) is not bool:
        raise TypeError("neither true nor false")
    return value


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value < _MOST:
        raise ValueError("not a whole number from 0 to 2**53")
    return value


def _status(value: Any) -> int:
    if type(value) is not int or abs(value) >= _MOST:
        raise ValueError("not a whole number")
    return value


def _amount(value: Any) -> float:
    if type(value) not in (int, float) or not (isfinite(value) and 0 <= value < _MOST):
        raise ValueError("not a finite number from 0 on")
    return float(value)


def _text(value: Any) -> str:
    if type(value) is not str:
        raise TypeError("not a text")
    return value


def _lines(value: Any) -> list[str]:
    if type(value) is not list:
        raise TypeError("not a list")
    return [_text(line) for line in value]


def _counts(value: Any) -> list[int]:
    if type(value) is not list:
        raise TypeError("not a list")
    return [_count(one) for one in value]


def _numbers(value: Any) -> list[float | None]:
    if type(value) is not list:
        raise TypeError("not a list")
    return [None if one is None else _amount(one) for one in value]


def _cause(value: Any) -> str:
    if value not in ("returned", "raised", "killed", "limit", "lost", "halted", "out_of_memory"):
        raise ValueError("not a cause")
    return str(value)


def _checkpoint(value: Any) -> Checkpoint:
    trial_id, t, uri, size_bytes, is_automatic = value
    return Checkpoint(_text(trial_id), _count(t), _text(uri), _count(size_bytes), _flag(is_automatic))


def _maybe_checkpoint(value: Any) -> Checkpoint | None:
    return None if value is None else _checkpoint(value)


_NAME = (_text, _count)  # trial_id and attempt

TRIAL: Vocabulary = {
    "started": (*_NAME, _count, _text, _maybe_checkpoint),  # pid, hostname, restored checkpoint
    "reported": (*_NAME, _count, _text, _maybe_checkpoint),  # t, metrics as JSON
    "saved": (*_NAME, _checkpoint),
    "save_failed": (*_NAME, _text),
    "left_threads": (*_NAME, _text),  # their names
    "no_room": (*_NAME, _text),  # a line for the user, if the trial's output goes to files
    "gpu_memory": (*_NAME, _amount),
    "ended": (*_NAME, _cause, _text, _text),  # error, traceback
    "make_ranks": (*_NAME, _count, _count, _text, _text),  # a GangPlan
    "end_ranks": (*_NAME, _count),  # generation
}
"""Messages of a trial."""

_PRINTS: Vocabulary = {"output": (_text, _text, _count, _text, _lines)}  # trial_id, name, pid, stream

CALLER: Vocabulary = {
    **TRIAL,
    **_PRINTS,
    "hello": (*_NAME, _count, _flag),  # the pid of a trial with its own process, and as for "node"
    "used": (*_NAME, _amount, _amount),  # of its limits
    "node": (_text, _count, _flag),  # a node's agent: its name, its pid, whether it sees the driver's disk
    "machine": (_text, _numbers),  # "", and a sample of the node; null for NaN
    "noticed": (*_NAME, _amount),  # grace_s
    "largest": (*_NAME, _text),  # the trial that uses the most memory of its node: an explanation
    "hopeless": (*_NAME, _text, _text),  # it would raise again: error, traceback
    "rank_pids": (*_NAME, _counts),  # the processes of the ranks of a trial on a node
    "ranks_gone": (*_NAME, _count, _text),  # generation, and why they could not be made or ""
}
"""Messages of nodes and trials that call the driver's port."""

SERVER: Vocabulary = {
    "ready": (_flag, _text),
    "broken": (_text, _text),
    "forked": (_count, _count),
    "failed": (_count, _text),
    "exited": (_count, _status),
    "limit": (_count, _count, _text),
    "memory": (_count, _count, _text),
    "largest": (_count, _count, _text),
    "noticed": (_count,),
}
"""Messages of the server that makes processes; see `requests`."""

_PLAIN_REPORT = re.compile(r'\["reported","([^"\\]*)",(\d{1,15}),(\d{1,15}),null\]\n', re.ASCII)
"""The head of nearly all messages: a match needs no other check."""

_PLAIN_LIFE = re.compile(
    r'\["(?:started","([^"\\\x00-\x1f]*)",(\d{1,15}),(\d{1,15}),"([^"\\\x00-\x1f]*)",null'
    r'|ended","([^"\\\x00-\x1f]*)",(\d{1,15}),"returned","","")\]',
    re.ASCII,
)
"""The usual first and last messages of a trial: a match needs no other check."""

_AT_METRICS = 4  # the place of a report's metrics in its message


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


Scan = Callable[[str, int], tuple[Any, int]]
"""Returns the value in JSON text from an index on, and the index of its end."""


def scanner(object_hook: Callable[[dict[str, Any]], Any] | None = None) -> Scan:
    """Return a scanner that refuses NaN and Infinity, as `raw_decode` without its overhead."""
    decoder: Any = json.JSONDecoder(object_hook=object_hook, parse_constant=_refuse_constant)
    found: Scan = decoder.scan_once
    return found


scan = scanner()


def _fields_of(value: Any) -> list[Any]:
    """Return the JSON form of a value that JSON does not support."""
    if type(value) is Checkpoint:
        return [value.trial_id, value.t, value.uri, value.size_bytes, value.is_automatic]
    raise TypeError(f"{value!r:.100} cannot be sent: it is not plain data")


_encode = encoder(_fields_of)


def message_frame(message: Message) -> bytes:
    """Return `message` as the bytes of a frame.

    Raises:
        TrainableError: The metrics of a report exceed the size limit of a record.
    """
    if message[0] == "reported":
        head = _encode((*message[:_AT_METRICS], *message[_AT_METRICS + 1 :]))
        body = f"{head}\n{message[_AT_METRICS]}".encode()
        if len(body) > LONGEST_LINE:
            raise TrainableError(
                f"the metrics of one report take {len(body) / 2**20:.0f} MiB as JSON; at most "
                f"{LONGEST_LINE >> 20} MiB are taken: report less, or save it with a checkpoint"
            )
    else:
        body = _encode(message).encode()
        if len(body) > LONGEST_LINE:
            short = [one[:LONGEST_TEXT] if isinstance(one, str) else one for one in message]
            body = _encode(short).encode()
    return framed(body)


def _check_size(size: int) -> None:
    if size > LONGEST_RESULT:
        raise ValueError(f"a result of {size} characters: at most {LONGEST_RESULT} are taken")


def message_reader(vocabulary: Vocabulary) -> FrameReader[Message]:
    """Return a reader of messages of `vocabulary`."""
    return FrameReader(lambda body: read_message(body, vocabulary), wrong=lambda error: (WRONG, error))


def read_message(body: bytes | memoryview, vocabulary: Vocabulary) -> Message:
    """Return the message in the body of a frame.

    The metrics of a report remain unparsed text.

    Raises:
        MessageError: The message is not in the vocabulary.
    """
    try:
        text = str(body, "utf-8")
        plain = _PLAIN_REPORT.match(text)
        if plain is not None and "reported" in vocabulary:
            _check_size(len(text) - plain.end())
            trial_id, attempt, t = plain.groups()
            return ("reported", trial_id, int(attempt), int(t), text[plain.end() :], None)
        plain = _PLAIN_LIFE.fullmatch(text)
        if plain is not None and "ended" in vocabulary:
            trial_id, attempt, pid, hostname, ended_id, last = plain.groups()
            if pid is not None:
                return ("started", trial_id, int(attempt), int(pid), hostname, None)
            return ("ended", ended_id, int(last), "returned", "", "")
        found, end = scan(text, 0)
        if type(found) is not list:
            raise TypeError("not an array")
        if found[0] == "reported":
            if text[end] != "\n":
                raise ValueError("a report without metrics")
            _check_size(len(text) - end)
            found.insert(_AT_METRICS, text[end + 1 :])
        elif end != len(text):
            raise ValueError("more than one array")
        kind, *fields = found
        checks = vocabulary[kind]
        if len(fields) != len(checks):
            raise ValueError(f"{len(fields)} fields, not {len(checks)}")
        return (kind, *[check(value) for check, value in zip(checks, fields, strict=True)])
    except (ValueError, TypeError, LookupError, StopIteration, RecursionError) as error:
        shown = bytes(body[:_SHOWN]).decode("utf-8", "backslashreplace")
        why = str(error) or type(error).__name__
        raise MessageError(f"{shown!r:.{_SHOWN}} is not a message ({why:.{_SHOWN}})") from None
