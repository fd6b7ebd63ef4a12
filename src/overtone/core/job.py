"""What an engine needs to know of an experiment in order to run its trials."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from overtone.core.protocols import Store
from overtone.core.trial_limits import TrialLimits


@dataclass(frozen=True, slots=True)
class Job:
    """One experiment, as an engine sees it.

    Attributes:
        trainable: What the user gave: a function, a class, a callable, a curve.
        name: The trainable's name, as in the folder and in trial names.
        folder: The experiment's folder on this machine, already there.
        parameters: Large objects from `tune.with_parameters`, by argument name.
        checkpoint_freq: Trials save every so many iterations; 0 for never, None for as often
            as it costs little.
        checkpoint_at_end: Class trainables save when they end; None to leave that to
            `checkpoint_freq=None`.
        reuse: Keep a process for the next trial.
        log_to_file: File names (below the trial's folder) for stdout and stderr, or
            None to show both on the console.
        grace_s: From a Halt to SIGTERM, and from there to SIGKILL; also from a SIGTERM of
            somebody else's to SIGKILL, for a trial that can save.
        captures_output: Whether what trials print is caught and shown with their name.
        store: Where checkpoints go.
        elapsed_s: How long the experiment has run already, under earlier drivers.
        limits: What a trial may use.
        memory_share: Of the machine's memory; before more is in use, the trial ends that uses the most. None
            if nobody watches the machine's memory.
        seed: The experiment's; an engine that simulates draws by it.
        is_bounded: Whether anything but a trial itself may end it, such as `stop` or `max_t`.
        uses_ray: Trials use Ray themselves, so that on a cluster each is an actor.
        runtime_env: Of trials on a cluster: Ray's environment.
        label_selector: Conditions on the labels of the nodes of a cluster where trials run.
        mark: Tells `folder` from another one at its path (`store.folder_mark`); None for a folder of this
            process alone, which is made if it is missing.
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
    is_bounded: bool = True
    uses_ray: bool = False
    runtime_env: Mapping[str, Any] = field(default_factory=dict)
    label_selector: Mapping[str, str] = field(default_factory=dict)
    mark: Any = None
