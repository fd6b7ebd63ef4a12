"""Accounts of trials whose process is gone and did not report how the trial ended."""

from __future__ import annotations

from overtone.core.messages import Cause
from overtone.engines.local.process import TrialProcess

Account = tuple[Cause, str, str, bool]
"""The cause, the error, its traceback, and whether another try is hopeless."""


def never_ran(process: TrialProcess, broken: tuple[str, str] | None) -> bool:
    """Return whether a process died while it waited, so that its trial never ran.

    Args:
        broken: Error and traceback if no process can be made; otherwise None.
    """
    has_waited = process.was_waiting and not process.has_spoken
    return has_waited and not process.excess and broken is None


def account_of(process: TrialProcess, text: str, was_taken: bool, broken: tuple[str, str] | None) -> Account:
    """Return how the trial in a process ended.

    Args:
        text: Description of how the process ended, for people.
        was_taken: Whether another program or the system killed the process.
        broken: Error and traceback if no process can be made; otherwise None.
    """
    if process.excess:
        return (*process.excess, "", False)
    if broken is not None and not process.has_spoken:
        return ("raised", *broken, True)
    if never_ran(process, broken):
        return ("halted", "", "", False)
    if process.is_terminated:
        return ("killed", f"did not halt within {process.grace_s:g} s: {text}", "", False)
    if process.is_noticed:
        return ("lost", f"ended after a SIGTERM: {text}", "", False)
    if "SIGKILL" in text:
        text += "; out of memory?"
    return ("lost" if was_taken else "killed", text, "", False)
