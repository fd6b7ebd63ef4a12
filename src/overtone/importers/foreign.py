"""An experiment of another tuner, as its reader describes it and as the recorder writes it down."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

State = Literal["done", "stopped", "failed", "running", "waiting"]


@dataclass(slots=True)
class ForeignResult:
    """One result of a trial.

    Attributes:
        metrics: The metrics, without the fields that the recorder adds.
        t: Its training_iteration; 0 for one more than that of the result before.
        seconds: Seconds from the start of the trial; None if unknown.
        checkpoint: The folder of the checkpoint saved with it; "" if there is none.
    """

    metrics: Mapping[str, Any]
    t: int = 0
    seconds: float | None = None
    checkpoint: str = ""


@dataclass(slots=True)
class ForeignTrial:
    """One trial.

    Attributes:
        config: Its hyperparameters, as plain data.
        results: In their order; those with a t that is not larger than the one before are left out.
        started, ended: Seconds since 1970; None if unknown.
        name: The tuner's own id, which the trial keeps if it can be the name of a folder.
        reason: Why it was stopped, for people.
        error: One line, if it failed.
    """

    config: dict[str, Any]
    state: State
    results: Sequence[ForeignResult] = ()
    started: float | None = None
    ended: float | None = None
    name: str = ""
    reason: str = ""
    error: str = ""
    traceback: str = ""
    hostname: str = ""
    pid: int = 0


@dataclass(slots=True)
class ForeignExperiment:
    """One experiment, whose trials are read as they are asked for.

    Attributes:
        tuner: The tuner, such as "Optuna".
        source: The file, folder or URL.
        name: Proposed name of the experiment.
        trials: In the order of their creation.
        trainable: The name of what its trials ran.
        n_trials: Their number, for a display of progress; 0 if unknown.
        metric, mode: The objectives and "max" or "min" of each; empty if unknown.
        constraints: Metrics that must be at most a bound.
        space: The space, by `space_to_data`; empty if unknown.
        started: Seconds since 1970; None if unknown.
        facts: Further facts for the journal's header, as plain data.
        lost: What cannot be carried over, in a few words each; complete when all trials are read.
    """

    tuner: str
    source: str
    name: str
    trials: Iterable[ForeignTrial] | Iterator[ForeignTrial]
    trainable: str = "study"
    n_trials: int = 0
    metric: Sequence[str] = ()
    mode: Sequence[str] = ()
    constraints: Mapping[str, float] = field(default_factory=dict)
    space: Mapping[str, Any] = field(default_factory=dict)
    started: float | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
