"""`params.json` in each trial's folder: its config, written whenever its process starts."""

from __future__ import annotations

import json
from typing import Any

from overtone.core.json_encoder import encoder
from overtone.core.messages import Record, Started
from overtone.core.protocols import Observer
from overtone.core.table import TrialTable
from overtone.core.types import Config
from overtone.journal.text import as_data
from overtone.observers.trial_files import TrialFiles

PARAMS_JSON = "params.json"

_encode = json.JSONEncoder(default=as_data).encode
_encode_scalar = encoder(allow_nan=True)  # the other makes an encoder for each number
_SCALARS = frozenset({str, int, float, bool, type(None)})


class Params(Observer):
    """Writes configs, indented for people.

    Args:
        files: Where it writes.
        table: Shared with other observers, or its own.
    """

    follows_results = False

    def __init__(self, files: TrialFiles, table: TrialTable | None = None) -> None:
        self._files = files
        self._table = table if table is not None else TrialTable("live")

    def on_record(self, record: Record) -> None:
        self._table.apply(record)
        event = record.event
        if type(event) is Started:
            row = self._table.rows[event.trial_id]
            self._files.put(row.id, PARAMS_JSON, params_text(row.config))
            self._files.settle()

    def flush(self) -> None:
        self._files.flush()

    def close(self) -> None:
        self._files.close()


def params_text(config: Config) -> str:
    """What the file of a trial with this config holds."""
    # a line for each parameter; json's own indent is ten times slower
    lines = ",".join([f"\n  {_encode(str(key))}: {_text(value)}" for key, value in config.items()])
    return f"{{{lines}\n}}\n"


def _text(value: Any) -> str:
    return _encode_scalar(value) if type(value) in _SCALARS else _encode(value)
