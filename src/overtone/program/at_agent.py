"""A trial whose program an agent runs on another machine: its process on the driver's machine."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from overtone.errors import StorageError, TrainableError, TrialHalted, TrialLostError
from overtone.program.shared_place import (
    AGENTS,
    Files,
    Inbox,
    PersistentFiles,
    files_at,
    read_tree,
    remove_tree,
    write_json,
    write_tree,
)
from overtone.worker.session.session import Session

PLACE = "OVERTONE_SWEEP_PLACE"
AGENT = "OVERTONE_SWEEP_AGENT"
GPUS = "OVERTONE_SWEEP_GPUS"
"""Environment variables of a trial's process: the sweep's folder or URL, the agent, and its GPUs."""

POLL_S = 0.25


def task_name(agent: str, trial_id: str, attempt: int, run_id: str) -> str:
    """Return the folder of a trial's attempt at an agent."""
    return f"{AGENTS}/{agent}/tasks/{trial_id}.{attempt}.{run_id}"


def dropped_name(agent: str) -> str:
    """Return the file that says that the driver counts an agent as lost."""
    return f"{AGENTS}/{agent}/dropped.json"


def run_there(
    program: Mapping[str, Any], session: Session, config: Mapping[str, Any], facts: Mapping[str, Any],
    task: str, write: Callable[[str, bytes], None],
) -> None:  # fmt: skip
    """Let the agent run the program, and report what it sends.

    Args:
        program: The fields of the `Program`.
        task: The folder of this attempt, from `task_name`.

    Raises:
        TrialHalted: The trial was told to end.
        TrainableError: The program failed.
        TrialLostError: The agent is lost.
    """
    files = PersistentFiles(files_at(os.environ[PLACE]))
    if session.checkpoint is not None:
        write_tree(files, f"{task}/restore", Path(session.checkpoint))
    start = {
        "program": program, "config": dict(config), "facts": dict(facts),
        "iteration": session.iteration, "restores": session.checkpoint is not None,
        "grace_s": session.grace_s, "gpus": os.environ.get(GPUS, ""),
    }  # fmt: skip
    write_json(files, f"{task}/start.json", start)
    inbox, agent = Inbox(files, f"{task}/out"), os.environ[AGENT].partition(":")[0]
    try:
        while True:
            messages = inbox.take()
            for message in messages:
                if _handle(message, files, task, session, write):
                    return
            session.obey_halt(_nothing)
            if not messages:
                time.sleep(POLL_S)
                _check_there(files, task, agent)
    except BaseException as error:
        with suppress(StorageError, OSError):
            write_json(files, f"{task}/halt.json", {})
        if isinstance(error, TrialHalted):
            _await_end(inbox, session.grace_s, write)
        raise


def _check_there(files: Files, task: str, agent: str) -> None:
    """Raise a TrialLostError if the agent is gone, or has lost the trial's process."""
    with suppress(StorageError, OSError):
        if files.read(dropped_name(agent)) is not None:
            raise TrialLostError(f"the agent {agent} is gone")
        if files.read(f"{task}/killed.json") is not None:
            raise TrialLostError(f"its process at the agent {agent} was killed")


def _handle(
    message: Mapping[str, Any], files: Files, task: str, session: Session, write: Callable[[str, bytes], None]
) -> bool:
    """Handle a message of the agent; return whether the program has ended well."""
    if "output" in message:
        write(message["stream"], message["output"].encode("latin-1"))
    elif "metrics" in message:
        name = message.get("checkpoint")
        if name is None:
            session.report(message["metrics"])
        else:
            with tempfile.TemporaryDirectory(prefix="overtone_") as folder:
                read_tree(files, f"{task}/{name}", Path(folder, "checkpoint"))
                remove_tree(files, f"{task}/{name}")
                session.report(message["metrics"], checkpoint=os.path.join(folder, "checkpoint"))
    elif message.get("end") == "halted":
        raise TrialLostError("its agent ended it")
    elif message.get("end") == "failed":
        raise TrainableError(str(message.get("error", "")))
    return message.get("end") == "done"


def _await_end(inbox: Inbox, grace_s: float, write: Callable[[str, bytes], None]) -> None:
    """Show the last output of a program that was told to end."""
    deadline = time.monotonic() + grace_s
    while time.monotonic() < deadline:
        messages = inbox.take()
        for message in messages:
            if "output" in message:
                write(message["stream"], message["output"].encode("latin-1"))
            if "end" in message:
                return
        if not messages:
            time.sleep(POLL_S)


@contextmanager
def _nothing() -> Iterator[None]:
    yield
