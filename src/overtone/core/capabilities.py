"""Facts about an engine that a run depends on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Capabilities:
    """Capabilities of an engine.

    Attributes:
        is_elastic: Whether capacity may be added later, so that trials that do not fit wait.
        isolates: Whether trials are separate processes, so that the driver continues while a trial works.
        spans_hosts: Whether trials may run on other machines than the driver.
        repeats: Whether the same commands lead to the same events, so that a resume can repeat them.
        pauses: Whether a paused trial can start again.
        calls_pump: Whether trials run inside `poll`, which passes their events to the pump of `attach`.
        max_concurrent: The largest number of trials that run at the same time; None if only
            resources limit it.
    """

    is_elastic: bool = False
    isolates: bool = False
    spans_hosts: bool = False
    repeats: bool = False
    pauses: bool = True
    calls_pump: bool = False
    max_concurrent: int | None = None
