"""Recorded learning curves, as what a simulated search runs."""

from __future__ import annotations

from overtone.curves.table import CurveTable

__all__ = ["CurveTable"]
