"""Tells Overtone's files in a trial's folder from files of the same name that the trial wrote.

A trial works in that folder, and may well write a `result.json` of its own. Such a file is never
changed or deleted: the journal has all results.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress

from overtone.core.sizes import LONGEST_LINE
from overtone.errors import StorageError
from overtone.observers.files.constant_text import params_text
from overtone.regular_files import open_regular

RESULT_JSON = "result.json"
PROGRESS_CSV = "progress.csv"
PARAMS_JSON = "params.json"
ERROR_TXT = "error.txt"
EVENTS = "events.out.tfevents."
"""The beginning of the names of event files."""

_EXCEPTION = rb"Traceback \(|(\w+\.)*_*[A-Z]\w*(:|\n)"
_RAISED = re.compile(_EXCEPTION)
"""The beginning of a text about an exception."""

_ERROR = re.compile(_EXCEPTION + rb"|[a-z]")
"""The beginning of a text about a failure: a traceback, an exception's name or a sentence."""

_EVENTS_BYTES = 1 << 16

_SESSION = b"_hparams_/session_start_info"
"""Overtone's event files begin with it."""

_EXPERIMENT = b"_hparams_/experiment"
"""Other writers put it before: Overtone writes no summary of a whole experiment."""


def is_own(name: str, trial_id: str, data: bytes, has_failed: bool = True) -> bool:
    """Return whether a file of this name and contents is Overtone's.

    A file that is empty, or was torn by a crash, counts as Overtone's.

    Args:
        data: The contents; of a result.json or progress.csv the first line suffices, with its end.
        has_failed: Whether the trial may have failed. If not, an error.txt is Overtone's only if it is
            about an exception, which the journal has lost.
    """
    if name.startswith(EVENTS):
        begin = data[:_EVENTS_BYTES]
        return not data or (_SESSION in begin and _EXPERIMENT not in begin)
    if not data or b"\0" in data:
        return True
    first, newline, _ = data.partition(b"\n")
    if name == RESULT_JSON:
        return f'"trial_id":"{trial_id}"'.encode() in first or not (newline or _is_json(data))
    if name == PROGRESS_CSV:
        return b"trial_id" in first.split(b",") or not newline
    if name == PARAMS_JSON:
        return _is_params(data)
    if name == ERROR_TXT and not has_failed:
        return _RAISED.match(data) is not None
    return name != ERROR_TXT or not data.endswith(b"\n") or _ERROR.match(data) is not None


def is_own_file(path: str, name: str, trial_id: str) -> bool:
    """Return whether the file at a path is Overtone's; a missing file is."""
    with suppress(OSError, StorageError), open_regular(path) as file:
        limit = LONGEST_LINE if name in (RESULT_JSON, PROGRESS_CSV) else None
        return is_own(name, trial_id, file.read() if limit is None else file.readline(limit))
    return True


def _is_json(data: bytes) -> bool:
    with suppress(ValueError, RecursionError):
        json.loads(data)
        return True
    return False


def _is_params(data: bytes) -> bool:
    """Return whether the data is a config as Overtone writes it, or torn."""
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return data.startswith(b"{")  # torn
    return isinstance(found, dict) and params_text(found).encode("utf-8", "backslashreplace") == data
