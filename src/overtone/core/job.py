"""What an engine needs to know of an experiment in order to run its trials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overtone.core.protocols import Store


@dataclass(frozen=True, slots=True)
class Job:
    """One experiment, as an engine sees it.

    Attributes:
        trainable: What the user gave: a function, a class, a callable, a curve.
        name: The trainable's name, as in the folder and in trial names.
        folder: The experiment's folder on this machine, already there.
        parameters: Large objects from `tune.with_parameters`, by argument name.
        checkpoint_freq: Class trainables save every so many iterations; 0 for never.
        checkpoint_at_end: Class trainables save when they end.
        reuse: Keep a process for the next trial.
        log_to_file: File names (below the trial's folder) for stdout and stderr, or
            None to show both on the console.
        grace_s: From a Halt to SIGTERM, and from there to SIGKILL.
        captures_output: Whether what trials print is caught and shown with their name.
        store: Where checkpoints go.
    """

    trainable: Any
    name: str
    folder: Path
    parameters: Mapping[str, Any] = field(default_factory=dict)
    checkpoint_freq: int = 0
    checkpoint_at_end: bool = False
    reuse: bool = False
    log_to_file: tuple[str, str] | None = None
    grace_s: float = 10.0
    captures_output: bool = True
    store: Store | None = None
