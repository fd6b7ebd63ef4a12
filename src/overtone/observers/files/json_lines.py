"""`result.json` in each trial's folder: one JSON object a line, the full result.

NaN and the infinities are the literals NaN and Infinity, which `json.loads` takes.
"""

from __future__ import annotations

from collections.abc import Sequence

from overtone.core.json_encoder import encoder
from overtone.core.messages import Moved, Record, Reported
from overtone.core.protocols import Observer
from overtone.core.table import Row, TrialTable
from overtone.journal.text import as_data, loads
from overtone.observers.files.constant_text import ConstantTexts
from overtone.observers.files.trial_files import TrialFiles

RESULT_JSON = "result.json"

_encode = encoder(as_data, allow_nan=True)
_IS_FINAL = frozenset({"TERMINATED", "ERROR"})


def _is_usual(raw: str) -> bool:
    return '"timesteps_total":' in raw and '"__float__"' not in raw


def _usual(raw: str) -> str:
    """Return a result as it is written: with NaN as NaN, and with a number of timesteps."""
    if '"__float__"' in raw:
        raw = _encode(loads(raw))
    if '"timesteps_total":' in raw:
        return raw
    return f'{raw[:-1]}{"," if len(raw) > 2 else ""}"timesteps_total":null}}'


class JsonLines(Observer):
    """Writes each result as its worker encoded it, with the trial's constant facts at the end.

    Args:
        files: Where it writes.
        table: Shared with other observers, or its own.
        texts: Shared with other observers, or its own.
    """

    is_projection = True

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
            raw = event.raw
            self.on_results(row, [raw if raw and "\n" not in raw else _encode(dict(event.metrics))])
        for choice in record.choices:
            if type(choice) is Moved and choice.status in _IS_FINAL:
                self._files.settle()
                self._texts.forget(choice.trial_id)

    def on_results(self, row: Row, raws: Sequence[str]) -> None:
        """Write results of a trial, each as JSON text without line breaks."""
        if not all(map(_is_usual, raws)):
            raws = [raw if _is_usual(raw) else _usual(raw) for raw in raws]
        lines = "\n".join(raws)
        self._files.add(row.id, RESULT_JSON, f"{lines}\n".replace("}\n", self._texts.of(row).ending))

    def flush(self) -> None:
        self._files.flush()

    def close(self) -> None:
        self._files.close()
