"""Names that users gave to the folders of trials: links in the experiment's folder."""

from __future__ import annotations

import os
from collections.abc import Container, Mapping
from pathlib import Path
from typing import Any


def linked_names(folder: Path, header: Mapping[str, Any], trials: Container[str]) -> dict[str, str]:
    """Return the name of the link to each trial's folder, by trial id.

    The folder is read only if the experiment had a `trial_dirname_creator`.

    Args:
        folder: The experiment's folder.
        header: The header of its journal.
        trials: The ids of its trials; other links are ignored.
    """
    parts = header.get("parts")
    options = parts.get("options") if isinstance(parts, Mapping) else None
    if not isinstance(options, Mapping) or options.get("trial_folder") is None:
        return {}
    names = {}
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_symlink() and (trial_id := os.readlink(entry.path)) in trials:
                    names[trial_id] = entry.name
    except OSError:  # a folder that is gone, or not readable: its trials keep their ids
        return {}
    return names
