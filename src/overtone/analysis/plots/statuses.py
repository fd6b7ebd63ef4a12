"""The status of each trial in words: finished, stopped early, failed or running."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from overtone.core.trial import STATES, Status, state_word
from overtone.core.types import FINISHED
from overtone.reading.columns.trial_columns import Column, TrialColumns


def shown_statuses(columns: TrialColumns) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Return the words of `STATES` that occur, and which of them each trial has, shape (trials,).

    A trial without a status is pending, and one that ended without a cause finished.
    """
    statuses, causes = columns.status.levels or (), columns.end.levels or ()
    by_cause = [[STATES.index(state_word(one, cause)) for cause in (*causes, FINISHED)] for one in statuses]
    words = np.array([*by_cause, [STATES.index("pending")] * (len(causes) + 1)], np.int64)
    states = words[_codes(columns.status), _codes(columns.end)]
    present = np.unique(states)
    return tuple(STATES[i] for i in present.tolist()), np.searchsorted(present, states)


def _codes(column: Column) -> NDArray[np.int64]:
    """Return the codes of a column, and the last place for what is missing."""
    return np.where(column.missing, -1, column.values).astype(np.int64)


def has_ended(columns: TrialColumns) -> NDArray[np.bool_]:
    """Return whether each trial has ended for good, shape (trials,)."""
    final = np.array([Status(one).is_final for one in columns.status.levels or ()] + [False])
    return np.asarray(final[_codes(columns.status)])
