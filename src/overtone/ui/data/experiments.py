"""All experiments of a folder, as the dashboard shows them."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from overtone.ui.data.experiment import Experiment
from overtone.ui.data.experiment_places import place_at
from overtone.ui.data.listing import Listing

_MOST_OPEN = 6
"""Experiments whose columns stay in memory."""


class Experiments:
    """The experiments of a folder. Threads share it; its methods block.

    Args:
        folder: The folder with experiments, the folder of one, or a URL of either.
        is_demo: Whether `kill_driver` is allowed.

    Attributes:
        folder: The folder or URL, as text.
    """

    def __init__(self, folder: str | os.PathLike[str], is_demo: bool = False) -> None:
        self._place = place_at(os.fspath(folder))
        self.folder = self._place.text
        self._is_demo = is_demo
        self._listing = Listing(self._place)
        self._lock = threading.Lock()
        self._open: dict[str, Experiment] = {}

    def listing(self) -> list[dict[str, Any]]:
        """Return the facts of all experiments, running ones first, then the newest; see `docs/cli.md`.

        Raises:
            StorageError: A URL cannot be read.
        """
        return self._listing.read()

    def get(self, experiment: str) -> Experiment:
        """Return the experiment of this id, which `listing` has.

        Raises:
            KeyError: There is none.
            StorageError: It is at a URL that cannot be read.
        """
        with self._lock:
            found = self._open.get(experiment)
        if found is None or not found.exists():
            found = self._opened(experiment)  # Without the lock: a network may be slow.
        with self._lock:
            found = self._open.pop(experiment, found)
            self._open[experiment] = found
            idle = [name for name, one in self._open.items() if not one.is_watched and one is not found]
            for name in idle[: max(0, len(self._open) - _MOST_OPEN)]:
                self._open.pop(name).close()
            return found

    def _opened(self, experiment: str) -> Experiment:
        with self._lock:
            gone = self._open.pop(experiment, None)
        if gone is not None:
            gone.close()
        if experiment not in self._place.names():
            raise KeyError(
                f"there is no experiment {experiment!r} in {self.folder}; it may be deleted or moved"
            )
        locate = partial(self._place.journal, experiment)
        return Experiment(experiment, locate, self._place.interval_s, self._is_demo)

    def compare(self, experiments: Sequence[str], **options: Any) -> bytes:
        """Return the figure of several experiments side by side, as a message.

        Raises:
            KeyError: One of them does not exist.
            GoalError: They have no common metric.
        """
        from overtone.ui.data.comparison import comparison_scene

        return comparison_scene([self.get(one) for one in experiments], options)

    def comparison(self, experiments: Sequence[str], **options: Any) -> dict[str, Any]:
        """Return the same numbers as data: best values, quantiles, costs, and where the best configs differ.

        Raises:
            KeyError, GoalError: See `compare`.
        """
        from overtone.ui.data.comparison import comparison

        return comparison([self.get(one) for one in experiments], options)

    def close(self) -> None:
        """End all threads."""
        with self._lock:
            for one in self._open.values():
                one.close()
            self._open.clear()

    @property
    def path(self) -> Path | None:
        """The folder on this machine; None for a URL."""
        from overtone.store.files import is_url

        return None if is_url(self.folder) else Path(self.folder)
