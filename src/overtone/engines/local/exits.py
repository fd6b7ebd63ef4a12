"""Accounts of attempts of which a process is gone and did not report how the attempt ended."""

from __future__ import annotations

from overtone.engines.local.process import NEVER_RAN, Account, LocalAttempt, TrialProcess


def account_of(
    process: TrialProcess, attempt: LocalAttempt, text: str, was_taken: bool, broken: tuple[str, str] | None
) -> Account:
    """Return how the attempt of a process ended.

    Args:
        text: Description of how the process ended, for people.
        was_taken: Whether another program or the system killed the process.
        broken: Error and traceback if no process can be made; otherwise None.
    """
    if attempt.excess:
        return (*attempt.excess, "", False)
    if broken is not None and not attempt.has_spoken:
        return ("raised", *broken, True)
    if process.was_waiting and not attempt.has_spoken:
        return NEVER_RAN
    if process.is_terminated:
        return ("killed", f"did not halt within {attempt.grace_s:g} s: {text}", "", False)
    if attempt.is_noticed:
        return ("lost", f"ended after a SIGTERM: {text}", "", False)
    if "SIGKILL" in text:
        text += "; out of memory?"
    return ("lost" if was_taken else "killed", text, "", False)


def unsendable(error: Exception) -> str:
    """Return the error text of a trial whose config cannot be pickled."""
    return f"its config cannot be sent to its process: {type(error).__name__}: {error}"
