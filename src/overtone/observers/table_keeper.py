"""Observer that applies each record to the table of trials that the other observers read."""

from __future__ import annotations

from overtone.core.messages import Record
from overtone.core.protocols import Observer
from overtone.core.table import TrialTable
from overtone.core.types import Metrics


class TableKeeper(Observer):
    """Keeps a table up to date; it is the first of a run's observers, and no other applies records.

    Args:
        table: The table; a record's result is its `shown` until the next record.
    """

    def __init__(self, table: TrialTable) -> None:
        self.table = table
        self.on_record = table.apply  # type: ignore[assignment, method-assign]  # one call less for each result

    def on_record(self, record: Record) -> None:
        self.table.apply(record)

    on_past = on_record

    def on_past_report(
        self, n: int, time: float, trial_id: str, attempt: int, t: int, metrics: Metrics
    ) -> None:
        """Apply a past report as `on_past` does."""
        self.table.show(n, time, trial_id, t, metrics)

    def memory(self) -> TrialTable:
        """Return the table."""
        return self.table
