"""Submits a script: up, upload, run, results back, and down what was started for it."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from overtone.cluster import apply
from overtone.cluster.config import ClusterConfig
from overtone.cluster.head import Head
from overtone.cluster.interrupts import Ask, Interrupts
from overtone.cluster.progress import Progress
from overtone.cluster.provider_modules import about, provider_of
from overtone.cluster.remote import RemoteError, UnreachableError
from overtone.cluster.resuming import (
    GoingOn,
    bring_there,
    note_places,
    of_earlier_run,
    of_experiment,
    taken_up,
)
from overtone.cluster.run_end import (
    Ending,
    note_started,
    other_runs,
    runs_of,
    see_to_end,
    shield_end,
    take_down,
)
from overtone.cluster.run_folder import new_id
from overtone.cluster.run_record import RunRecord, script_key
from overtone.cluster.session import (
    INTERRUPTED,
    Session,
    attach_command,
    leave,
    terminal,
)
from overtone.cluster.state import BusyError, State, told_of_full_disk
from overtone.cluster.upload import check_upload, large_files, script_place, upload_files
from overtone.errors import OvertoneError

_BUSY_S = 1.0


@dataclass(frozen=True)
class Program:
    """The program that runs on the head.

    Attributes:
        words: The command; None stands for the head's Python.
        directory: Where it runs on the head.
        shown: The script, as people call it.
        arguments: The script's arguments.
        source: The script on this machine; it is uploaded if the config names no files.
    """

    words: tuple[str | None, ...]
    directory: str
    shown: str
    arguments: tuple[str, ...]
    source: Path | None = None

    @property
    def key(self) -> str:
        """The key that identifies it among the runs of a cluster."""
        return script_key(self.directory, self.shown, self.arguments)


def program_of(config: ClusterConfig, script: str, arguments: Sequence[str]) -> Program:
    """Return the program for a script of this machine.

    Raises:
        OvertoneError: The script is missing, or is not uploaded.
    """
    directory, path = script_place(config, script)
    first: tuple[str | None, ...] = ("bash",) if path.endswith(".sh") else (None,)
    return Program((*first, path, *arguments), directory, path, tuple(arguments), Path(script).expanduser())


def submit(
    config: ClusterConfig,
    program: Program,
    *,
    ending: Ending = "started",
    is_detached: bool = False,
    experiment: Path | None = None,
    ask: Ask | None = None,
    progress: Progress | None = None,
) -> int:
    """Run a program on a cluster, and return its exit status.

    Args:
        config: The cluster; it is started if it is not up.
        ending: See `Ending`.
        is_detached: Whether to return once the program runs.
        experiment: An experiment of this machine that goes on there.
        ask: Asks a person a question with the answer yes or no; None if there is nobody to ask.

    Raises:
        OvertoneError: It is not possible; the message says what is left, and what to do.
    """
    progress = progress or Progress()
    with Interrupts(progress) as interrupts:
        work = _Submission(config, program, ending, progress, interrupts, ask)
        return work.carry_out(is_detached, experiment)


class _Submission:
    """One command, from the start of the cluster until the script runs."""

    def __init__(
        self,
        config: ClusterConfig,
        program: Program,
        ending: Ending,
        progress: Progress,
        interrupts: Interrupts,
        ask: Ask | None,
    ) -> None:
        self.config, self.program, self.ending, self.progress = config, program, ending, progress
        self.state = State.open(config)
        self.record = RunRecord(self.state.folder, new_id())
        self._head: Head | None = None
        self._interrupts, self._ask = interrupts, ask

    @property
    def has_started(self) -> bool:
        """Whether the cluster is up because this command has started it."""
        return apply.was_started_by(self.record.id, self.state)

    def carry_out(self, is_detached: bool, experiment: Path | None) -> int:
        """Submit, and see the run to its end."""
        check_upload(self.config, self._ask)
        if experiment is not None:
            going_on = of_experiment(experiment)
        else:
            going_on = of_earlier_run(self.state.folder, self.program.key)
        with told_of_full_disk(self.state), self.record.active():
            try:
                with self._interrupts.with_hangup():  # until the script runs, nobody else takes anything down
                    session = self._begin(self._up(), going_on)
            except KeyboardInterrupt:
                self._undo("interrupted before the script ran")
                return INTERRUPTED
            except BaseException as error:
                self._undo_after(error)
                raise
            if is_detached:
                return leave(session)
            return see_to_end(session, self.ending, str(self.state.info().get("id")))

    def _up(self) -> Head:
        """Start the cluster, unless it is up; wait while another command changes it.

        Two may be submitted at the same moment.
        """
        is_told = False
        while True:
            try:
                has_started = apply.up(
                    self.config, self.progress, for_run=self.ending != "never", ask=self._ask,
                    interrupts=self._interrupts, starter=self.record.id,
                )  # fmt: skip
                if has_started and self.ending == "started":
                    note_started(self.state)
                self._head = Head(provider_of(self.config).reach(self.config, self.state))
                return self._head
            except BusyError as error:
                if not is_told:
                    self.progress.warn(f"waiting: {error}")
                is_told = True
                time.sleep(_BUSY_S)

    def _begin(self, head: Head, going_on: GoingOn) -> Session:
        """Upload the files, and start the script."""
        with self.progress.phase("upload"):
            if self.config.files is not None and (large := large_files(self.config.files)):
                self.progress.warn(large)
            upload_files(head.remote, self.config, self.program.source)
            bring_there(head, going_on)
        command = self._command(going_on)
        running = head.prepare(self.record.id, command)
        if running is not None:
            raise OvertoneError(
                f"{self.program.shown} runs on {self.config.name} already with these arguments, as run "
                f"{running['id']}: {attach_command(self.config)} shows it"
            )
        home = next(str(facts["home"]) for facts in head.runs() if facts["id"] == self.record.id)
        self.record.note({"key": self.program.key, "script": self.program.shown, "submitted": time.time()})
        files = None if self.config.files is None else str(self.config.files)
        self.record.note({"home": home, "arguments": list(self.program.arguments), "files": files})
        note_places(self.record, going_on, home)
        head.begin(self.record.id)
        taken_up(self.state.folder, self.program.key, but=self.record.id)
        self.state.record({"event": "submitted", "run": self.record.id, "script": self.program.shown})
        return Session(
            self.config, head, self.record, self.progress, self._interrupts, command["terminal"] is not None
        )

    def _command(self, going_on: GoingOn) -> dict[str, Any]:
        return {
            "command": list(self.program.words),
            "directory": self.program.directory,
            "script": self.program.shown,
            "arguments": list(self.program.arguments),
            "key": self.program.key,
            "cluster": self.config.name,
            "life": self.state.info().get("id"),
            "takes_down": self.has_started and self.ending == "started",
            "ending": self.ending,
            "terminal": terminal(),
            "has_terminal": terminal() is not None,
            "resume": going_on.resume,
            "requeues": about(self.config.provider.type).requeues,
            "submitted": time.time(),
        }

    def _undo_after(self, error: BaseException) -> None:
        """Undo after an error, and show it first if what is left becomes the error of the command."""
        try:
            self._undo()
        except OvertoneError:
            self.progress.warn(str(error))
            raise

    def _undo(self, said: str = "") -> None:
        """Take down what was started for a script that did not run, unless another run uses it by now.

        Args:
            said: A line that is shown once a further Ctrl-C does not end this.
        """
        is_up = self.has_started or self._head is not None  # If not, `up` has taken down what it started.
        if is_up:
            shield_end(self.config, self._interrupts)
        if said:
            self.progress.warn(said)
        if not is_up:
            return
        runs: list[dict[str, Any]] = []
        if self._head is not None:
            with suppress(RemoteError, UnreachableError):
                self._head.stop(self.record.id)  # It may be prepared, or have begun.
            with suppress(RemoteError, UnreachableError):
                runs = runs_of(self._head, str(self.state.info().get("id")))
        others = other_runs(runs, self.state.folder, self.record.id)
        is_wanted = self.ending == "always" or (self.has_started and self.ending == "started")
        if is_wanted and not others:
            take_down(self.config, self.progress, self._interrupts)
        else:
            why = f" for run {', '.join(others)}" if others else "" if self.has_started else ", as before"
            what = f"stays up{why}"
            self.progress.warn(f"{self.config.name} {what}; {apply.down_command(self.config)} takes it down")
