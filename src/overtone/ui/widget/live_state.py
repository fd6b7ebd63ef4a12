"""The state of an experiment for a page that may come late: all columns, and all that changed since."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from overtone.errors import OvertoneError
from overtone.ui.data.binary_message import decoded
from overtone.ui.data.plain_json import plain

if TYPE_CHECKING:
    from overtone.ui.data.experiment import Experiment

_MOST_SHARE = 0.5
"""An update that is larger than this share of all columns is replaced by all columns."""


class LiveState:
    """What a page needs to show an experiment: whoever has the newest `whole` and `update` has all.

    An update tells of everything since `whole`, so that none is lost if several come at once, and a page
    that opens later needs no earlier ones.

    Args:
        experiment: Is read.

    Attributes:
        whole: A message with all trials; empty before there is a journal.
        update: A message with the trials that changed since; empty if none did.
        overview: JSON.
        is_over: Whether no driver runs the experiment.
    """

    def __init__(self, experiment: Experiment) -> None:
        self._experiment = experiment
        self._n, self._key = 0, ""
        self.whole = self.update = b""
        self.overview = ""
        self.is_over = False

    def refresh(self) -> None:
        """Read what was recorded since."""
        try:
            facts = self._experiment.overview()
            update = self._experiment.update_since(self._n, self._key) if self.whole else None
            if update is None or len(update) > max(_MOST_SHARE * len(self.whole), 20_000):
                self._take_whole()
            else:
                self.update = update if decoded(update)[0]["n"] > self._n else b""
        except OvertoneError:
            return  # no journal yet, or not readable now
        self.overview = json.dumps(plain({**facts, "id": self._experiment.name}), ensure_ascii=False)
        self.is_over = facts["state"] not in ("running", "stopping")

    def _take_whole(self) -> None:
        self.whole, self.update = self._experiment.columns(), b""
        header: dict[str, Any] = decoded(self.whole)[0]
        self._n, self._key = header["n"], header["journal"]
