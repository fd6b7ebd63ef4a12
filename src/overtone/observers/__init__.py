"""What follows an experiment and writes it down for people and other programs."""

from __future__ import annotations

from overtone.observers.projections import file_observers, rebuild, reconcile

__all__ = ["file_observers", "rebuild", "reconcile"]
