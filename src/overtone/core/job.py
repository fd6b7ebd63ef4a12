"""The part of an experiment that an engine needs to run its trials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overtone.core.limits import TrialLimits
from overtone.core.store import Store


@dataclass(frozen=True, slots=True)
class Job:
    """One experiment, as an engine sees it.

    Attributes:
        trainable: The user's function, class, callable or curve.
        name: The trainable's name, as in the folder and in trial names.
        folder: The experiment's folder on this machine, already there.
        parameters: Large objects from `tune.with_parameters`, by argument name.
        checkpoint_freq: Iterations between checkpoints; 0 for no checkpoints, None for an
            automatic interval with a small overhead.
        checkpoint_at_end: Whether class trainables save when they end; None to leave that to
            `checkpoint_freq=None`.
        reuse: Keep a process for the next trial.
        log_to_file: File names (below the trial's folder) for stdout and stderr, or
            None to show both on the console.
        grace_s: Seconds from a Halt to SIGTERM, and from there to SIGKILL. Also from an external
            SIGTERM to SIGKILL, for a trial that can save.
        captures_output: Whether the output of trials is captured and shown with their name.
        store: Store of the checkpoints.
        elapsed_s: Seconds that the experiment has run under earlier drivers.
        limits: Limits of each trial.
        memory_share: Share of the machine's memory. Before more is in use, the trial that uses the
            most is ended. None if the machine's memory is not watched.
        seed: Seed of the experiment; simulating engines draw random numbers from it.
        seed_index: The index of the trial whose seed every trial gets; None for its own.
        is_bounded: Whether anything but a trial itself may end it, such as `stop` or `max_t`.
        uses_ray: Whether trials use Ray themselves, so that on a cluster each trial is an actor.
        runtime_env: Ray's runtime environment of trials on a cluster.
        label_selector: Conditions on the labels of the cluster nodes that run trials.
        chdir_to_trial_dir: Whether each trial works in its own folder, below `folder`.
        export_formats: Formats in which class trainables export their model when they end.
        mark: Identifies `folder` among folders at the same path (`store.folder_mark`). None for a
            folder of this process alone, which is created if missing.
    """

    trainable: Any
    name: str
    folder: Path
    parameters: Mapping[str, Any] = field(default_factory=dict)
    checkpoint_freq: int | None = None
    checkpoint_at_end: bool | None = None
    reuse: bool = False
    log_to_file: tuple[str, str] | None = None
    grace_s: float = 10.0
    captures_output: bool = True
    store: Store | None = None
    elapsed_s: float = 0.0
    limits: TrialLimits | None = None
    memory_share: float | None = None
    seed: int = 0
    seed_index: int | None = None
    is_bounded: bool = True
    uses_ray: bool = False
    runtime_env: Mapping[str, Any] = field(default_factory=dict)
    label_selector: Mapping[str, str] = field(default_factory=dict)
    chdir_to_trial_dir: bool = False
    export_formats: tuple[str, ...] = ()
    mark: Any = None
