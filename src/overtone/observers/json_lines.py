"""`result.json` in each trial's folder: one JSON object a line, the full result.

NaN and the infinities are the literals NaN and Infinity, which `json.loads` takes.
"""

from __future__ import annotations

from typing import Any

from overtone.core.json_encoder import encoder
from overtone.core.messages import Moved, Record, Reported, Started
from overtone.core.protocols import Observer
from overtone.core.table import Row, TrialTable, constant_facts
from overtone.journal.text import as_data
from overtone.observers.trial_files import TrialFiles

RESULT_JSON = "result.json"

_encode = encoder(as_data, allow_nan=True)
_IS_FINAL = frozenset({"TERMINATED", "ERROR"})


class JsonLines(Observer):
    """Writes each result as its worker encoded it, with the trial's constant facts at the end.

    Args:
        files: Where it writes.
        table: Shared with other observers, or its own.
    """

    def __init__(self, files: TrialFiles, table: TrialTable | None = None) -> None:
        self._files = files
        self._table = table if table is not None else TrialTable("live")
        self._endings: dict[str, tuple[Any, str]] = {}

    def on_record(self, record: Record) -> None:
        table = self._table  # which is shared, and has the record already where another observer is first
        row = table.shown if table.n == record.n else table.apply(record)
        event = record.event
        if row is not None:
            assert type(event) is Reported
            config, ending = self._endings.get(row.id, (None, ""))
            if config is not row.config:
                ending = _ending(row)
                self._endings[row.id] = (row.config, ending)
            raw = event.raw
            if len(raw) < 3 or '"__float__"' in raw or "\n" in raw:
                raw = _encode(dict(event.metrics) or {"timesteps_total": None})
            if "timesteps_total" in event.metrics or '"timesteps_total":' in raw:
                self._files.add(row.id, RESULT_JSON, raw[:-1] + ending)
            else:
                self._files.add(row.id, RESULT_JSON, f'{raw[:-1]},"timesteps_total":null{ending}')
        elif type(event) is Started:
            self._endings.pop(event.trial_id, None)  # another process: other constant facts
        for choice in record.choices:
            if type(choice) is Moved and choice.status in _IS_FINAL:
                self._files.settle()
                self._endings.pop(choice.trial_id, None)

    def flush(self) -> None:
        self._files.flush()

    def close(self) -> None:
        self._files.close()


def _ending(row: Row) -> str:
    """What every line of a trial's attempt ends with, from the comma after the metrics on."""
    return f",{_encode({**constant_facts(row), 'config': row.config})[1:]}\n"
