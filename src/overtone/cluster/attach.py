"""Shows a run that another command submitted: its log goes on from where it is."""

from __future__ import annotations

from overtone.cluster.config import ClusterConfig
from overtone.cluster.head import Head
from overtone.cluster.head_files import head_of
from overtone.cluster.interrupts import Interrupts, can_ask
from overtone.cluster.progress import Progress
from overtone.cluster.run_end import see_to_end
from overtone.cluster.run_record import RunRecord
from overtone.cluster.session import Session, terminal
from overtone.cluster.state import State
from overtone.errors import OvertoneError

SHOWN_BYTES = 1 << 16
"""Bytes of the log that are shown at once, before it goes on."""


def attach(
    config: ClusterConfig,
    run_id: str | None = None,
    *,
    shows_all: bool = False,
    progress: Progress | None = None,
) -> int:
    """Show a run until its end, and finish what its `overtone submit` would have done.

    In a terminal, a cluster without a run gets a shell on its head.

    Args:
        config: The cluster.
        run_id: The run, or the beginning of its id; None for the newest.
        shows_all: Whether to show the log from its beginning.

    Returns:
        The exit status of the script.

    Raises:
        OvertoneError: There is no such run, or the head does not answer.
    """
    progress = progress or Progress()
    state = State(config.name)
    head = Head(head_of(config))
    life = str(state.info().get("id"))
    runs = [one for one in head.runs() if str(one.get("life")) == life]
    if not runs and run_id is None and can_ask():
        return head.remote.shell()
    found = [one for one in runs if one["id"].startswith(run_id or "")]
    if not found:
        known = ", ".join(one["id"] for one in runs[-5:]) or "none"
        what = f"no run {run_id}" if run_id else "no run"
        raise OvertoneError(f"there is {what} on {config.name}; there are: {known}")
    facts = found[-1]
    record = RunRecord(state.folder, facts["id"])
    record.note_submitted(facts)
    if facts["state"] == "waiting":
        head.begin(facts["id"])  # its `overtone submit` was killed before it did so
    has_terminal = bool(facts["has_terminal"]) and terminal() is not None
    offset = 0 if shows_all else -SHOWN_BYTES
    with Interrupts(progress) as interrupts, record.active():
        session = Session(config, head, record, progress, interrupts, has_terminal, offset)
        return see_to_end(session, facts["ending"] or "started", life)
