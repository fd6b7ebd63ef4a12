"""How a trial learns that it is over."""

from __future__ import annotations


class TrialHalted(BaseException):
    """Raised inside `report()` when the trial was told to end.

    Let it pass: `finally` blocks and context managers do their work. It is no Exception,
    so that `except Exception` does not stop it, and each further report raises it again.
    """
