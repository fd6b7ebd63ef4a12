"""Checkpoints of another tuner, linked file by file into an experiment's folder."""

from __future__ import annotations

import json
import os
from pathlib import Path

from overtone.store.local import MANIFEST


def linked(source: str, folder: Path, final_folder: Path, trial_id: str, t: int) -> str:
    """Link a checkpoint into the folder of its trial, and return its path once the experiment is in place.

    The manifest names no file, so that none is checked: the other tuner may still change them.

    Args:
        source: The other tuner's folder, with the files of the checkpoint.
        folder: The experiment's folder while it is made.
        final_folder: Its path afterwards.
    """
    name = f"checkpoint_{t:06d}"
    made = folder / trial_id / name
    made.mkdir(parents=True, exist_ok=True)
    with os.scandir(source) as entries:
        for entry in entries:
            if entry.name != MANIFEST and not (made / entry.name).is_symlink():
                os.symlink(os.path.abspath(entry.path), made / entry.name)
    (made / MANIFEST).write_text(json.dumps({"format": 1, "files": {}}))
    return str(final_folder / trial_id / name)
