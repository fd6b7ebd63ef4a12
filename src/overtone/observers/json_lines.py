"""`result.json` in each trial's folder: one JSON object a line, the full result.

NaN and the infinities are the literals NaN and Infinity, which `json.loads` takes.
"""

from __future__ import annotations

from overtone.core.json_encoder import encoder
from overtone.core.messages import Moved, Record, Reported
from overtone.core.protocols import Observer
from overtone.core.table import TrialTable
from overtone.journal.text import as_data
from overtone.observers.constant_text import ConstantTexts
from overtone.observers.trial_files import TrialFiles

RESULT_JSON = "result.json"

_encode = encoder(as_data, allow_nan=True)
_IS_FINAL = frozenset({"TERMINATED", "ERROR"})


class JsonLines(Observer):
    """Writes each result as its worker encoded it, with the trial's constant facts at the end.

    Args:
        files: Where it writes.
        table: Shared with other observers, or its own.
        texts: Shared with other observers, or its own.
    """

    def __init__(
        self, files: TrialFiles, table: TrialTable | None = None, texts: ConstantTexts | None = None
    ) -> None:
        self._files = files
        self._table = table if table is not None else TrialTable("live")
        self._texts = texts if texts is not None else ConstantTexts()

    def on_record(self, record: Record) -> None:
        table = self._table  # which is shared, and has the record already where another observer is first
        row = table.shown if table.n == record.n else table.apply(record)
        event = record.event
        if row is not None:
            assert type(event) is Reported
            ending = self._texts.of(row).ending
            raw = event.raw
            if len(raw) < 3 or '"__float__"' in raw or "\n" in raw:
                raw = _encode(dict(event.metrics) or {"timesteps_total": None})
            if '"timesteps_total":' in raw:
                self._files.add(row.id, RESULT_JSON, raw[:-1] + ending)
            else:
                self._files.add(row.id, RESULT_JSON, f'{raw[:-1]},"timesteps_total":null{ending}')
        for choice in record.choices:
            if type(choice) is Moved and choice.status in _IS_FINAL:
                self._files.settle()
                self._texts.forget(choice.trial_id)

    def flush(self) -> None:
        self._files.flush()

    def close(self) -> None:
        self._files.close()
