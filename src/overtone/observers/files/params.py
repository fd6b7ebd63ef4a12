"""`params.json` in each trial's folder: its config, written whenever its process starts."""

from __future__ import annotations

from overtone.core.messages import Record, Started
from overtone.core.protocols import Observer
from overtone.core.table import TrialTable
from overtone.observers.files.constant_text import ConstantTexts
from overtone.observers.files.trial_files import TrialFiles

PARAMS_JSON = "params.json"


class Params(Observer):
    """Writes configs, indented for people.

    Args:
        files: Where it writes.
        table: Shared with other observers, or its own.
        texts: Shared with other observers, or its own.
    """

    follows_results, is_projection = False, True

    def __init__(
        self, files: TrialFiles, table: TrialTable | None = None, texts: ConstantTexts | None = None
    ) -> None:
        self._files = files
        self._table = table if table is not None else TrialTable("live")
        self._texts = texts if texts is not None else ConstantTexts()

    def on_record(self, record: Record) -> None:
        self._table.apply(record)
        event = record.event
        if type(event) is Started:
            row = self._table.rows[event.trial_id]
            self._files.put(row.id, PARAMS_JSON, self._texts.of(row).params)
            self._files.settle()

    def flush(self) -> None:
        self._files.flush()

    def close(self) -> None:
        self._files.close()
