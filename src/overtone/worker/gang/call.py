"""One call of a function in ranks, as the head sees it: results, reports, verdicts and failures.

The call is over when each rank has returned or raised. After a first failure the others have `GATHER_S` to do
so, since several may fail and one of them is the cause; ranks that wait at a barrier are told to end.
"""

from __future__ import annotations

import pickle
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from overtone.standard_streams import say
from overtone.worker.checkpoints.temporary_folders import temporary_folder
from overtone.worker.gang.checkpoint_files import IncomingFiles, PlaceOnHost, file_messages
from overtone.worker.gang.failures import Failure, gang_error
from overtone.worker.gang.host import RankHost
from overtone.worker.gang.hub import Hub
from overtone.worker.gang.network import this_host, this_pid_namespace
from overtone.worker.gang.reports import Report, Verdict
from overtone.worker.protocol import decode, pickled
from overtone.worker.stacks import stacks_of
from overtone.worker.tracebacks import in_one_line

GATHER_S = 1.0
"""Time for other ranks to end after one has failed, in seconds."""

DEATH_S = 3.0
"""Time for the host to say how a rank's process has ended, in seconds."""

NODE_DEATH_S = 30.0
"""The same on another machine, in seconds: a cluster takes longer to see that a whole machine is gone."""

HALT_S = 30.0
"""Time for ranks to unwind after they were told to end, in seconds."""

NOTE_AFTER_S = 30.0
"""Time after which the user is told, once in a run, which ranks let others wait."""

LOOK_EVERY_S = 0.25

_MOST_STACKS = 4

OnReport = Callable[[list[Report]], Verdict | None]
OnTell = Callable[[int, Any], None]
Message = tuple[Any, ...]


class Call:
    """Waits for ranks that were called.

    Args:
        ranks: The ranks that were called.
        processes: Where each rank runs: (pid, host's name, host, pid namespace).
        timeout_s: Longest silence of a rank, and longest time that it lets others wait, in seconds.
        checkpoint: What `get_checkpoint()` gives.

    Attributes:
        open: The ranks that have not ended the call.
    """

    def __init__(
        self,
        hub: Hub,
        host: RankHost,
        ranks: Sequence[int],
        processes: Mapping[int, Message],
        timeout_s: float,
        checkpoint: PlaceOnHost | None = None,
        on_report: OnReport | None = None,
        on_tell: OnTell | None = None,
    ) -> None:
        self._hub, self._host, self._processes, self._timeout_s = hub, host, processes, timeout_s
        self._num_workers, self._checkpoint = len(processes), checkpoint
        self._on_report, self._on_tell = on_report, on_tell
        self.open = set(ranks)
        self._results: dict[int, Any] = dict.fromkeys(ranks)
        self._reports: dict[int, Report] = {}
        self._incoming: dict[int, IncomingFiles] = {}
        self._folders: list[Path] = []
        self._failures: list[Failure] = []
        self._stop: BaseException | None = None  # what on_report has raised
        self._reason = ""  # with which ranks at the barrier are told to end
        self._give_up_at = 0.0
        self._waits_since: float | None = None  # when the first rank came to the barrier or to the end
        self._is_noticed = self._is_wait_told = False
        self._lost: set[int] = set()

    def wait(self) -> list[Any]:
        """Return the results of the ranks, in the order of ranks.

        Raises:
            GangError: A rank raised, died, hung, or left others at a barrier.
            BaseException: What `on_report` or `on_tell` raised.
        """
        every_s = min(LOOK_EVERY_S, self._timeout_s / 8)
        look_at = time.monotonic() + every_s
        try:
            while self.open:
                for rank, message in self._hub.poll(every_s):
                    self._take(rank, message)
                self._look_for_losses()
                if self._stop is not None or self._failures:
                    if self._is_given_up():
                        break
                    continue
                if time.monotonic() >= look_at:
                    look_at = time.monotonic() + every_s
                    self._look_for_hangs()
                self._decide()
        finally:
            self._drop_files()
        if self._stop is not None:
            raise self._stop
        if self._failures:
            raise gang_error(self._failures, self._num_workers)
        return list(self._results.values())

    # --- messages ---------------------------------------------------------------------

    def _take(self, rank: int, message: Message) -> None:
        kind, *rest = message
        if kind == "alive":
            self._is_noticed = self._is_noticed or rest[0]
        elif kind in ("file", "data", "files_end"):
            if rank in self._incoming and self._incoming[rank].take(message):
                del self._incoming[rank]
                if self._reason:
                    self._hub.send(rank, ("halt", self._reason))
        elif kind == "tell":
            self._take_value(rank, rest[0])
        elif kind == "fetch":
            if self._checkpoint is not None:
                self._hub.stream(rank, file_messages(Path(self._checkpoint.path)))
        elif rank in self.open:
            self._waits_since = self._waits_since or time.monotonic()
            if kind in ("report", "record"):
                self._take_report(rank, kind, rest)
            else:
                self._take_end(rank, kind, rest)

    def _take_value(self, rank: int, value: bytes) -> None:
        if self._on_tell is not None and self._stop is None and not self._failures:
            try:
                self._on_tell(rank, pickle.loads(value))
            except BaseException as error:  # ranks that tell may never come to a barrier
                self._end_with(error, GATHER_S)

    def _take_report(self, rank: int, kind: str, rest: list[Any]) -> None:
        if self._reason:
            self._hub.send(rank, ("halt", self._reason))
            return
        if kind == "report":
            raw, saved, reduce, may_save, is_noticed = rest
            report = Report(rank, decode(raw), None, reduce, False, may_save, is_noticed)
        else:
            saved, is_noticed = rest
            report = Report(rank, {}, None, is_record=True, may_save=True, is_noticed=is_noticed)
        if saved is not None:
            report = replace(report, checkpoint=self._readable(rank, saved))
        self._reports[rank] = report

    def _readable(self, rank: int, saved: PlaceOnHost) -> Path:
        """Return where the head reads the files of a rank, which it may still have to send."""
        if saved.is_here():
            return Path(saved.path)
        folder = Path(temporary_folder())
        self._folders.append(folder)
        self._incoming[rank] = IncomingFiles(folder)
        self._hub.send(rank, ("send_files",))
        return folder / Path(saved.path).name if saved.is_file else folder

    def _take_end(self, rank: int, kind: str, rest: list[Any]) -> None:
        self.open.discard(rank)
        self._close_incoming(rank)
        if kind == "raised":
            line, traceback, exception = rest
            self._fail(Failure(rank, f"raised {line}", traceback, traceback, exception))
        elif kind == "returned":
            try:
                self._results[rank] = pickle.loads(rest[0])
            except Exception as error:  # any, since it calls methods of the user's classes
                self._fail(
                    Failure(rank, f"returned what cannot be read here: {type(error).__name__}: {error}")
                )

    def _close_incoming(self, rank: int) -> None:
        if rank in self._incoming:
            self._incoming.pop(rank).close()

    def _drop_files(self) -> None:
        for rank in list(self._incoming):
            self._close_incoming(rank)
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)
        self._folders.clear()

    # --- the barrier ------------------------------------------------------------------

    def _decide(self) -> None:
        """Ask for the verdict and tell it to all ranks, once every rank has come to the barrier."""
        if not self._reports:
            return
        ended = sorted(self._results.keys() - self.open)
        arrived = sorted(self._reports)
        if ended:
            self._fail(Failure(ended[0], _uneven(f"has returned while rank {arrived[0]} waits in report()")))
        elif len(arrived) == len(self.open) and not self._incoming:
            reports = [self._reports[rank] for rank in arrived]
            recording = [report.rank for report in reports if report.is_record]
            if recording and len(recording) < len(reports):
                other = next(report.rank for report in reports if not report.is_record)
                text = f"waits in record_checkpoint() while rank {other} waits in report()"
                self._fail(Failure(recording[0], _uneven(text)))
            else:
                self._ask(reports)

    def _ask(self, reports: list[Report]) -> None:
        assert self._on_report is not None
        if self._is_noticed:
            reports = [replace(report, is_noticed=True) for report in reports]
        try:
            verdict = self._on_report(reports) or Verdict()
        except BaseException as error:
            self._end_with(error, HALT_S)
            return
        self._reports.clear()
        self._drop_files()
        self._waits_since = None
        params = None if verdict.params is None else pickled(dict(verdict.params))
        self._hub.send_to_all(("verdict", params, verdict.wants_save), sorted(self.open))

    def _end_with(self, error: BaseException, within_s: float) -> None:
        """Tell all ranks to end, and raise `error` when they have."""
        self._stop = error
        self._dismiss(f"the head ended the call: {in_one_line(error)}", within_s)

    def _dismiss(self, reason: str, within_s: float) -> None:
        self._reason = reason
        self._give_up_at = time.monotonic() + within_s
        for rank in self._reports:
            if rank not in self._incoming:
                self._hub.send(rank, ("halt", reason))
        self._reports.clear()

    # --- failures ---------------------------------------------------------------------

    def _fail(self, failure: Failure) -> None:
        if self._stop is not None:
            return
        self._failures.append(failure)
        if len(self._failures) == 1:
            self._dismiss("another rank failed", GATHER_S)

    def _is_given_up(self) -> bool:
        return time.monotonic() >= self._give_up_at

    def _look_for_losses(self) -> None:
        for rank in sorted(self._hub.lost.keys() - self._lost):  # also one that was not called
            self._lost.add(rank)
            self.open.discard(rank)
            self._close_incoming(rank)
            if self._stop is None:
                text = f"{self._where(rank)} ended: {self._how_it_ended(rank)}"
                self._fail(Failure(rank, text, is_death=True))

    def _how_it_ended(self, rank: int) -> str:
        """Return how the process of a rank ended; inside a trial, the attempt ends during this wait."""
        give_up_at = time.monotonic() + (DEATH_S if self._is_beside(rank) else NODE_DEATH_S)
        while not (failure := self._host.failure()) and time.monotonic() < give_up_at:
            time.sleep(0.02)
        return failure or f"its connection to the head is gone ({self._hub.lost[rank]})"

    def _look_for_hangs(self) -> None:
        if failure := self._host.failure():
            self._fail(Failure(None, failure, is_death=True))
            return
        silent = [rank for rank in sorted(self.open) if self._hub.silence_s(rank) > self._timeout_s]
        what = f"gave no sign of life for {self._timeout_s:g} s"
        waits_s = 0.0 if self._waits_since is None else time.monotonic() - self._waits_since
        if waits_s > NOTE_AFTER_S and self._on_report is not None and not self._is_wait_told:
            self._is_wait_told = True
            say(self._wait_note(waits_s))
        if not silent and waits_s > self._timeout_s:
            silent = sorted(self.open - self._reports.keys())
            what = f"let the others wait for {self._timeout_s:g} s (timeout_s)"
        for rank in silent:
            self._fail(Failure(rank, f"{self._where(rank)} {what}", self._stacks(rank, silent)))
        if silent:
            self._give_up_at = 0.0

    def _wait_note(self, waits_s: float) -> str:
        absent = ", ".join(map(str, sorted(self.open - self._reports.keys())))
        if not self._reports:
            ended = min(self._results.keys() - self.open)
            return (
                f"rank {ended} has returned {waits_s:.0f} s ago, and these ranks have not: {absent}; they "
                f"have {self._timeout_s:g} s (timeout_s), also if they wait for rank {ended} in a collective"
            )
        return _uneven(
            f"rank {min(self._reports)} has waited in report() for {waits_s:.0f} s, since these ranks have "
            f"not called it: {absent}; they have {self._timeout_s:g} s (timeout_s)"
        )

    def _where(self, rank: int) -> str:
        pid, name, *_ = self._processes[rank]
        return f"(process {pid} on {name})"

    def _stacks(self, rank: int, ranks: list[int]) -> str:
        if not self._is_beside(rank) or rank in ranks[_MOST_STACKS:]:
            return ""
        return stacks_of([self._processes[rank][0]], "")

    def _is_beside(self, rank: int) -> bool:
        """Return whether this process sees the rank's process."""
        return tuple(self._processes[rank][2:]) == (this_host(), this_pid_namespace())


def _uneven(text: str) -> str:
    return f"{text}: every rank must call report() and record_checkpoint() equally often, in the same order"
