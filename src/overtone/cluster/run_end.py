"""The end of a run: its log, its results, and the cluster, which is taken down if it was started for runs."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from shlex import join
from typing import Any, Literal

from overtone.cluster import apply
from overtone.cluster.config import ClusterConfig
from overtone.cluster.head import Head
from overtone.cluster.interrupts import Interrupts
from overtone.cluster.progress import Progress
from overtone.cluster.provider_modules import provider_of
from overtone.cluster.remote import RemoteError, UnreachableError
from overtone.cluster.run_record import active_runs
from overtone.cluster.session import (
    INTERRUPTED,
    Detached,
    Session,
    attach_command,
    ended_without_results,
    exit_status,
    leave,
)
from overtone.cluster.state import BusyError, State
from overtone.errors import OvertoneError

Ending = Literal["started", "always", "never"]
"""Whether the cluster is taken down in the end: if it was started for runs, always, or never.

Runs of others are waited for: the last one takes it down.
"""

_BUSY_S = 1.0
_STARTED = "started for runs"


def see_to_end(session: Session, ending: Ending, life: str) -> int:
    """Show a run until its end, bring its results, take the cluster down if that is asked for.

    Args:
        life: Identifies this life of the cluster: runs of earlier ones do not count.

    Returns:
        The exit status of the script.
    """
    config, progress = session.config, session.progress
    try:
        with progress.phase("run", session.record.facts.get("script", "")):
            progress.warn(f"run {session.record.id}; if the connection breaks: {attach_command(config)}")
            facts = session.watch()
    except Detached:
        return leave(session)
    except KeyboardInterrupt:
        progress.warn(
            f"results of run {session.record.id} are still on {config.name}, which stays up: "
            f"{attach_command(config)} brings them and takes it down"
        )
        return INTERRUPTED
    except UnreachableError as error:
        return _lost(session, error)
    except (OvertoneError, OSError) as error:
        raise OvertoneError(ended_without_results(error, config)) from None
    status = exit_status(facts, progress.warn)
    if status:
        progress.warn(f"{session.record.facts.get('script', 'the script')} ended with exit code {status}")
    is_down = _finish(session, facts, ending, life)
    progress.end(_last_line(session, is_down))
    return status


def note_started(state: State) -> None:
    """Remember that this life of the cluster was started for submitted runs."""
    state.record({"event": _STARTED, "life": state.info().get("id")})


def _was_started_for_runs(session: Session, life: str) -> bool:
    events = State.open(session.config).events()
    return any(one.get("event") == _STARTED and one.get("life") == life for one in events)


def take_down(config: ClusterConfig, progress: Progress, interrupts: Interrupts) -> None:
    """Take the cluster down; a first Ctrl-C does not interrupt that.

    Raises:
        BusyError: Another command is changing it.
        OvertoneError: Something is left; the message lists it.
    """
    shield_end(config, interrupts)
    apply.down(config, progress, interrupts)


def shield_end(config: ClusterConfig, interrupts: Interrupts) -> None:
    """Let the next Ctrl-C only say that the cluster is being taken down."""
    interrupts.shield(apply.shield_text(config))


def _finish(session: Session, facts: Mapping[str, Any], ending: Ending, life: str) -> bool:
    """Take the cluster down if its work is done; returns whether it is down.

    Other commands may come to that at the same moment, or begin to use the cluster.
    """
    config, progress = session.config, session.progress
    state = State.open(config)
    if ending != "never":
        session.interrupts.shield(
            f"looking who else uses {config.name}; press Ctrl-C again to leave it as it is: "
            f"{apply.down_command(config)} takes it down"
        )
    while True:
        info = state.info()
        phase = info.get("phase")
        if phase == "down" or str(info.get("id")) != life:
            return True
        is_going = phase == "taking down"
        if not is_going and not _is_done_with(session, facts, ending, life):
            return False
        if not (is_going and state.holder() is not None):
            try:
                take_down(config, progress, session.interrupts)
                return True
            except BusyError:
                pass
        time.sleep(_BUSY_S)


def _is_done_with(session: Session, facts: Mapping[str, Any], ending: Ending, life: str) -> bool:
    """Return whether to take the cluster down.

    The last run takes down a cluster that was started for any of them. No command ends runs of others.
    """
    if ending == "never":
        return False
    folder = session.record.folder
    try:
        runs = runs_of(session.head, life)
    except (UnreachableError, RemoteError):
        runs = [dict(facts)]
    others = other_runs(runs, folder, facts["id"])
    is_ours = ending == "always" or any(one["takes_down"] for one in runs)
    is_ours = is_ours or _was_started_for_runs(session, life)
    if others and is_ours:
        if ending == "always":
            note_started(State.open(session.config))
        name = session.config.name
        session.progress.warn(f"{name} stays up for run {', '.join(others)}, whose end takes it down")
    return is_ours and not others


def runs_of(head: Head, life: str) -> list[dict[str, Any]]:
    """Return the facts of all runs of a life of the cluster.

    Raises:
        RemoteError: The head's driver fails.
        UnreachableError: The head does not answer.
    """
    return [one for one in head.runs() if str(one.get("life")) == life]


def goes_on(facts: Mapping[str, Any]) -> bool:
    """Return whether a run has not ended, by its facts on the head."""
    return facts["state"] in ("running", "waiting")


def other_runs(runs: Iterable[Mapping[str, Any]], folder: Path, run_id: str) -> list[str]:
    """Return the runs beside `run_id` that use the cluster, or are about to.

    Args:
        runs: The facts of the runs on the head.
        folder: The state folder of the cluster, for runs that commands on this machine submit or follow.
        run_id: The run that does not count.
    """
    there = {str(one["id"]) for one in runs if goes_on(one)}
    return sorted({*there, *active_runs(folder)} - {run_id})


def _lost(session: Session, error: UnreachableError) -> int:
    """Say what is left of a run whose head does not answer."""
    config, results = session.config, session.results
    try:
        is_gone = not provider_of(config).find(config)
    except OvertoneError:
        is_gone = False
    what = "is gone" if is_gone else "does not answer; it may be up, and the run may go on there"
    again = "" if is_gone else f" {attach_command(config)} shows the run if the head comes back;"
    places = f" Results so far: {', '.join(results.places)}." if results.places else ""
    session.progress.warn(
        f"{error} The head of {config.name} {what}.{places}{again} overtone submit with the same arguments "
        "resumes it on a new head"
    )
    return 1


def _submit_command(session: Session, experiment: Path) -> str:
    """Return the command that goes on with an experiment of a run, on the same cluster."""
    facts = session.record.facts
    words = ["overtone", "submit", os.path.relpath(session.config.source), str(facts.get("script", "SCRIPT"))]
    arguments = facts.get("arguments") or []
    return join([*words, "--resume", str(experiment), *(["--", *arguments] if arguments else [])])


def _last_line(session: Session, is_down: bool) -> str:
    places = session.results.places
    results = f"results: {', '.join(places)}" if places else "no experiment was run"
    if unfinished := session.results.unfinished:
        results += f"; to go on: {_submit_command(session, unfinished[-1])}"
    up = f"{session.config.name} is up; overtone down takes it down"
    left = "nothing is left running" if is_down else up
    return f"{results}; {apply.summary(session.config)}{left}"
