"""A person's session with a run: its log, its results as they come, Ctrl-C, and what follows its end."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Any

from overtone.cluster.bringing import Bringing
from overtone.cluster.config import ClusterConfig
from overtone.cluster.following import Following, Screen
from overtone.cluster.head import Head
from overtone.cluster.interrupts import Interrupts, ask, can_ask
from overtone.cluster.progress import LeftPhase, Progress
from overtone.cluster.remote import RemoteError, UnreachableError
from overtone.cluster.results import Results
from overtone.cluster.run_record import RunRecord
from overtone.cluster.upload import work_folder

INTERRUPTED = 130

_BRING_BACK = "bringing results back; press Ctrl-C again to leave them on the head, which stays up"


class Detached(LeftPhase):
    """The person left; the run goes on."""


@dataclass
class Session:
    """One command's view of a run.

    Args:
        config: The cluster.
        head: Its head.
        record: The run on this machine.
        progress: Shows phases.
        interrupts: Handles Ctrl-C.
        has_terminal: Whether the run draws for a terminal.
        offset: The first byte of the log that is shown; -n begins n bytes before its end.
    """

    config: ClusterConfig
    head: Head
    record: RunRecord
    progress: Progress
    interrupts: Interrupts
    has_terminal: bool = False
    offset: int = 0

    def __post_init__(self) -> None:
        files = self.config.files
        if (
            "files" in self.record.facts
        ):  # The folder that was uploaded: the config may be another one by now.
            files = None if self.record.facts["files"] is None else Path(self.record.facts["files"])
        self.results = Results(self.head, self.record, files, work_folder(self.config), self.config.name)
        self._bringing = Bringing(self.head, self.record, self.results, self.progress.warn)
        self._n_interrupts = 0

    def watch(self) -> Mapping[str, Any]:
        """Show the run until it has ended, bring its results, and return its facts.

        Raises:
            Detached: The person chose to leave.
            UnreachableError: The head is out of reach.
            OvertoneError: Results could not be brought; the run has ended.
        """
        screen = Screen()
        with ExitStack() as stack:
            stack.enter_context(self._bringing)
            following = Following(
                self.head,
                self.record.id,
                screen,
                self.offset,
                self.has_terminal,
                say=self.progress.warn,
                is_over=lambda: self.record.end() is not None,
            )
            while True:
                try:
                    following.to_end()
                    self.interrupts.shield(_BRING_BACK)
                    break
                except KeyboardInterrupt:
                    screen.leave(self.has_terminal)
                    self._on_interrupt(screen)
            screen.leave(self.has_terminal)
            with self.progress.phase("bring back"):
                stack.close()  # a copy that is under way
                return self.bring()

    def bring(self) -> Mapping[str, Any]:
        """Bring all results of the run, which has ended, and return its facts.

        Raises:
            UnreachableError: The head is out of reach.
            OvertoneError: Results could not be brought.
        """
        facts = self._bringing.to_end()
        self.record.note({"status": facts["status"], "end": facts})
        return facts

    def _on_interrupt(self, screen: Screen) -> None:
        """Ask what Ctrl-C means, or stop politely; more of them are less polite.

        Raises:
            Detached: The person chose to leave.
        """
        self._n_interrupts += 1
        is_erased = False
        if self._n_interrupts == 1 and can_ask():
            choice = ask(attach_command(self.config), is_erased=screen.has_table)
            if choice == "detach":
                raise Detached
            if is_erased := screen.has_table:
                screen.come_back()
            if choice == "continue":
                self._n_interrupts = 0
                return
        signum = signal.SIGINT if self._n_interrupts < 3 else signal.SIGKILL
        if not is_erased:  # The table would be drawn over the line; the run says the same.
            self.progress.warn(
                "stopping the run: trials save and end; Ctrl-C again ends them at once"
                if self._n_interrupts == 1
                else "ending the run at once"
            )
        try:
            self.head.stop(self.record.id, signum)
        except (UnreachableError, RemoteError) as error:
            self.progress.warn(f"{error} The run was not told to stop")


def attach_command(config: ClusterConfig) -> str:
    """Return the command that shows a run again."""
    return f"overtone attach {quote(os.path.relpath(config.source))}"


def exit_status(facts: Mapping[str, Any], say: Callable[[str], None]) -> int:
    """Return the exit status of a run that is over."""
    status = facts["status"]
    if isinstance(status, int):
        return status
    say(
        f"run {facts['id']} ended without an exit status: its process was killed, or its machine began anew; "
        "submit it again to go on"
    )
    return 1


def terminal() -> dict[str, Any] | None:
    """Return size and kind of this command's terminal, for the run; None if its output is not one."""
    try:
        if not sys.stdout.isatty():
            return None
        size = os.get_terminal_size(sys.stdout.fileno())
    except (AttributeError, OSError, ValueError):
        return None
    names = ("TERM", "COLORTERM", "NO_COLOR", "LANG", "LC_ALL", "LC_CTYPE")
    environment = {name: os.environ[name] for name in names if name in os.environ}
    return {"size": [size.columns, size.lines], "environment": environment}


def leave(session: Session) -> int:
    """Say what goes on after a person left; returns the exit status."""
    session.progress.end(detached_text(session.config, session.record.id))
    return 0


def detached_text(config: ClusterConfig, run_id: str) -> str:
    """Return the line about a run that goes on without this command."""
    idle_s = config.limits.cluster_idle_s
    return (
        f"run {run_id} goes on. {attach_command(config)} shows it and brings its results, which stay on the "
        f"head until then. The head takes the cluster down {idle_s / 60:.0f} min after the run's end"
    )


def ended_without_results(error: Exception, config: ClusterConfig) -> str:
    """Return the line about results that are still on the head."""
    return (
        f"{error} The cluster stays up, since results are still on it: {attach_command(config)} brings them "
        "and takes it down"
    )
