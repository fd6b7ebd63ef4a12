"""A report of one or several experiments, within a size."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from overtone.errors import OvertoneError
from overtone.ui.data.comparison import comparison
from overtone.ui.data.experiment import Experiment
from overtone.ui.report.document import document
from overtone.ui.report.packing import packed_json
from overtone.ui.report.parts import columns_part, parts_of
from overtone.version import __version__

MOST_BYTES = 6_000_000

_ROUNDINGS = (None, 16, 12, 10, 8)
"""Bits of mantissas that are tried one after the other until a report is small enough."""


def report(
    title: str, still: Sequence[str], journals: Sequence[Path], facts: Sequence[Mapping[str, Any]]
) -> str:
    """Return a report as one HTML document.

    Args:
        title: Its title.
        still: HTML of the sections for readers without script.
        journals: One for each experiment.
        facts: What the list of experiments says of each.
    """
    experiments = [
        Experiment(name, lambda journal=journal: journal)  # type: ignore[misc]
        for name, journal in zip(_ids(journals), journals, strict=True)
    ]
    try:
        parts = [part for one in experiments for part in parts_of(one)]
        listed = [{**fact, "id": one.name} for fact, one in zip(facts, experiments, strict=True)]
        parts.append(("experiments", packed_json({"folder": "", "experiments": listed})))
        if len(experiments) > 1:
            try:
                parts.append(("compare", packed_json(comparison(experiments, {}))))
            except OvertoneError:
                pass  # they have no common metric
        written = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        for bits in _ROUNDINGS:
            me = {"version": __version__, "read_only": True, "written": written, "mantissa_bits": bits}
            columns = [columns_part(one, bits) for one in experiments]
            text = document(title, still, [("me", packed_json(me)), *columns, *parts])
            if len(text) <= MOST_BYTES:
                break
        return text
    finally:
        for one in experiments:
            one.close()


def _ids(journals: Sequence[Path]) -> list[str]:
    """Return the folders' names, made different where they are not."""
    names: list[str] = []
    for journal in journals:
        name, n = journal.parent.name, 2
        while name in names:
            name, n = f"{journal.parent.name} ({n})", n + 1
        names.append(name)
    return names
