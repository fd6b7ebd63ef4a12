"""Observers: they follow an experiment and write files and output for people and other programs."""

from __future__ import annotations

from overtone.lazy import attach

TYPE_CHECKING = False
if TYPE_CHECKING:
    from overtone.observers.projections import file_observers, rebuild, reconcile

__all__ = ["file_observers", "rebuild", "reconcile"]

# the process that writes event files needs a part of this package alone, and should be up soon
__getattr__, __dir__ = attach(__name__, {"overtone.observers.projections": " ".join(__all__)})
