"""The checkpoints of a training that runs within a trial's own code."""

from __future__ import annotations

import shutil
import tempfile
from math import isfinite
from pathlib import Path
from typing import Any

from overtone.tune.tune import CheckpointConfig
from overtone.worker.checkpoints import saving
from overtone.worker.checkpoints.checkpoint import Checkpoint


class KeptCheckpoints:
    """Checkpoints in a folder of their own.

    Args:
        home: The folder, made when it is needed.
        config: How many are kept; None for all.

    Attributes:
        all: The kept checkpoints with their metrics, oldest first.
    """

    def __init__(self, home: Path, config: CheckpointConfig | None) -> None:
        self._home, self._config = home, config or CheckpointConfig()
        self._number = 0
        self.all: list[tuple[Checkpoint, dict[str, Any]]] = []

    @property
    def newest(self) -> Checkpoint | None:
        """The last checkpoint; None if there is none."""
        return self.all[-1][0] if self.all else None

    def keep(self, files: Path, metrics: dict[str, Any]) -> Checkpoint:
        """Keep a copy of a file or folder; delete the worst checkpoint beyond the number that is kept."""
        self._home.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(prefix=".new-", dir=self._home))
        if files.is_file():
            shutil.copy2(files, made)
        else:
            saving.copy_into(files, made)
        while (folder := self._home / f"checkpoint_{self._number:06d}").exists():
            self._number += 1
        made.rename(folder)
        kept = Checkpoint(folder)
        self.all.append((kept, metrics))
        most = self._config.num_to_keep
        if most is not None and len(self.all) > most + (self._config.checkpoint_score_attribute is not None):
            worst = min(self.all[:-1], key=self._score)
            self.all.remove(worst)
            shutil.rmtree(worst[0].path, ignore_errors=True)
        return kept

    def _score(self, one: tuple[Checkpoint, dict[str, Any]]) -> float:
        """Return how good a checkpoint is; the same for all without a metric, so that the oldest goes."""
        name = self._config.checkpoint_score_attribute
        value = one[1].get(name) if name is not None else 0.0
        if not isinstance(value, (int, float)) or not isfinite(value):
            return -float("inf")
        return -value if self._config.checkpoint_score_order == "min" else value
