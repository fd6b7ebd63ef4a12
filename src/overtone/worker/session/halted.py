"""The exception that ends a trial's code."""

from __future__ import annotations


class TrialHalted(BaseException):
    """Raised inside `report()` when the trial was told to end.

    Let it pass: `finally` blocks and context managers do their work. It is not an Exception,
    so `except Exception` does not catch it, and each further report raises it again.
    """
