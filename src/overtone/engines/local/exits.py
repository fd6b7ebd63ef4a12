"""Accounts of attempts of which a process is gone and did not report how the attempt ended."""

from __future__ import annotations

from overtone.engines.local.process import NEVER_RAN, Account, LocalAttempt, TrialProcess
from overtone.worker.gang.plan import EXIT_HEAD_GONE

HEAD_GONE = f"exited with code {EXIT_HEAD_GONE}"
"""The end of a rank's process that lost the connection to its head, as text."""


def account_of(
    process: TrialProcess, attempt: LocalAttempt, text: str, was_taken: bool, broken: tuple[str, str] | None
) -> Account:
    """Return how the attempt of a process ended.

    Args:
        text: Description of how the process ended, for people.
        was_taken: Whether another program or the system killed the process.
        broken: Error and traceback if no process can be made; otherwise None.
    """
    if process.order is not None:
        text = f"rank {process.order.place.rank} {text}"
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


def left_threads_text(trial_id: str, names: str) -> str:
    """Return the text about a trial that left threads, so that its process is not used again."""
    return (
        f"trial {trial_id} left threads running ({names}): processes of such trials are not "
        "reused. Join the threads before the trial ends, or set reuse_actors=False"
    )
