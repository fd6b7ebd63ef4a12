"""Before a cluster is taken down: runs end, and results that are on its head alone are brought."""

from __future__ import annotations

import signal
import time
from collections.abc import Mapping
from typing import Any

from overtone.cluster.config import ClusterConfig
from overtone.cluster.head import Head
from overtone.cluster.head_files import head_of
from overtone.cluster.interrupts import Ask, Interrupts
from overtone.cluster.progress import Progress
from overtone.cluster.remote import RemoteError, UnreachableError
from overtone.cluster.run_end import goes_on, runs_of
from overtone.cluster.run_record import RunRecord
from overtone.cluster.session import Session
from overtone.cluster.state import State
from overtone.errors import OvertoneError

SAVE_S = 120.0
"""Seconds that a run has to save its trials and to end, before it is killed."""

_PAUSE_S = 1.0


def bring_last_results(
    config: ClusterConfig, progress: Progress, ask: Ask | None = None
) -> bool:
    """Stop the runs of a cluster that is up, and bring the results that no command has brought.

    A head that does not answer is left alone, with a warning: the cluster may cost meanwhile.

    Args:
        ask: Asks a person whether a run that goes on may be stopped; None if there is nobody to ask.

    Returns:
        Whether the cluster may be taken down.

    Raises:
        OvertoneError: Results cannot be brought; the message says how to take the cluster down without.
    """
    state = State(config.name)
    info = state.info()
    if info.get("phase") != "up":
        return True
    try:
        head = Head(head_of(config))
        runs = runs_of(head, str(info.get("id")))
    except (RemoteError, UnreachableError) as error:
        progress.warn(f"{error} Results that are on the head alone are not brought")
        return True
    left = [one for one in runs if RunRecord(state.folder, one["id"]).end() is None]
    going = ", ".join(one["id"] for one in left if goes_on(one))
    if going and ask is not None and not ask(f"run {going} goes on: stop it and take {config.name} down?"):
        return False
    with Interrupts(progress) as interrupts:
        for facts in left:
            record = RunRecord(state.folder, facts["id"])
            record.note_submitted(facts)
            interrupts.shield(
                f"results of run {facts['id']} come back; press Ctrl-C again to leave them on {config.name}, "
                "which stays up"
            )
            with record.active(), progress.phase("bring back", facts["id"]):
                try:
                    _stop(head, facts, progress)
                    progress.note("results")
                    Session(config, head, record, progress, interrupts).bring()
                except UnreachableError as error:
                    progress.warn(f"{error} Results that are on the head alone are not brought")
                    return True
                except (OvertoneError, OSError) as error:
                    raise OvertoneError(
                        f"{error} The cluster stays up, since results of run {facts['id']} are still on it; "
                        f"overtone down {config.name} --without-results takes it down all the same"
                    ) from None
    return True


def _stop(head: Head, facts: Mapping[str, Any], progress: Progress) -> None:
    """Let a run end as after Ctrl-C, and wait for that."""
    if not goes_on(facts):
        return
    progress.note(f"run {facts['id']}: trials save and end")
    for signum in (signal.SIGINT, signal.SIGKILL):
        head.stop(facts["id"], signum)
        until = time.monotonic() + SAVE_S
        while time.monotonic() < until:
            now = next((one for one in head.runs() if one["id"] == facts["id"]), None)
            if now is None or not goes_on(now):
                return
            time.sleep(_PAUSE_S)
