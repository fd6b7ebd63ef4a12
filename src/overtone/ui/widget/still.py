"""What a saved notebook shows without a kernel: a summary, and a picture of the history."""

from __future__ import annotations

import base64

from overtone.analysis.drawing.svg import svg
from overtone.analysis.page.html import text
from overtone.analysis.scenes.catalogue import scene_of
from overtone.errors import OvertoneError
from overtone.reading.columns.trial_columns import TrialColumns

MOST_BYTES = 300_000
_WIDTH = 760.0


def still(summary: str, columns: TrialColumns | None) -> str:
    """Return HTML of at most `MOST_BYTES` bytes: without the picture, or the summary, if they are larger.

    Args:
        summary: HTML.
        columns: The experiment; None before there is a journal.
    """
    if len(summary.encode("utf-8", "replace")) > MOST_BYTES:
        summary = ""
    both = summary + _picture(columns)
    return both if len(both.encode("utf-8", "replace")) <= MOST_BYTES else summary


def _picture(columns: TrialColumns | None) -> str:
    """Return an image, whose style sheet does not reach the notebook."""
    if columns is None or not len(columns) or not columns.goals:
        return ""
    try:
        drawn = svg(scene_of("optimization_history", [columns]), _WIDTH)
    except OvertoneError:
        return ""
    data = base64.b64encode(drawn.encode("utf-8", "replace")).decode()
    title = text(f"Optimization history of {columns.name}")
    return f'<img alt="{title}" style="max-width:100%" src="data:image/svg+xml;base64,{data}">'
