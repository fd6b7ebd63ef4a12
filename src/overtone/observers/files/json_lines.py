"""`result.json` in each trial's folder: one JSON object a line, the full result.

NaN and the infinities are the literals NaN and Infinity, which `json.loads` takes; times, UUIDs and
paths are texts, and decimals numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from overtone.core.table import Row
from overtone.core.types import Metrics
from overtone.journal.text import loads
from overtone.observers.files.constant_text import ConstantTexts
from overtone.observers.files.own_files import RESULT_JSON
from overtone.observers.files.readable_json import encode
from overtone.observers.files.trial_files import TrialFiles
from overtone.tagged_json import MARK


def _is_usual(raw: str) -> bool:
    return '"timesteps_total":' in raw and MARK not in raw


def _usual(raw: str) -> str:
    """Return a result as it is written: with NaN as NaN, and with a number of timesteps."""
    if MARK in raw:
        raw = encode(loads(raw))
    if '"timesteps_total":' in raw:
        return raw
    return f'{raw[:-1]}{"," if len(raw) > 2 else ""}"timesteps_total":null}}'


class JsonLines:
    """Writes each result as its worker encoded it, with the trial's constant facts at the end.

    Args:
        files: Where it writes.
        texts: The constant texts of trials.
    """

    def __init__(self, files: TrialFiles, texts: ConstantTexts) -> None:
        self._files = files
        self._texts = texts

    def add(self, row: Row, raw: str, metrics: Metrics) -> None:
        """Write a result; `raw` is its JSON text, if there is one."""
        self.add_all(row, [raw if raw and "\n" not in raw else encode(dict(metrics))])

    def add_all(self, row: Row, raws: Sequence[str]) -> None:
        """Write results of a trial, each as JSON text without line breaks."""
        if not all(map(_is_usual, raws)):
            raws = [raw if _is_usual(raw) else _usual(raw) for raw in raws]
        lines = "\n".join(raws)
        self._files.add(row.id, RESULT_JSON, f"{lines}\n".replace("}\n", self._texts.of(row).ending))
