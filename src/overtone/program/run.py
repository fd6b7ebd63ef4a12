"""Runs a program from its start to its end, and reports what it prints, writes and sends."""

from __future__ import annotations

import os
import time
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from selectors import EVENT_READ, DefaultSelector
from typing import IO, Any

from overtone.errors import TrainableError, TrialHalted
from overtone.program.child import Child
from overtone.program.event_files import EventFolder
from overtone.program.offline_runs import OfflineRuns
from overtone.program.reports import Reports
from overtone.program.text_metrics import Gathered, TextMetrics
from overtone.worker.output import OutputLines
from overtone.worker.session.parent_trial import SOCKET

POLL_S = 0.2
"""Interval at which the trial looks for orders and for the end of the program, in seconds."""

FILES_EVERY_S = 1.0
"""Interval at which event files and offline runs are read, in seconds."""

LAST_OUTPUT_S = 2.0
"""Time for the output of processes that outlive the program, in seconds."""

_LAST_LINES = 20
_CHUNK, _MOST_CHUNKS = 1 << 16, 32

Signature = tuple[tuple[str, int, int], ...]


@dataclass(frozen=True)
class Sources:
    """Where the metrics of a program come from, besides `overtone.report`.

    Attributes:
        metrics: The metrics that make a result; empty if each line with metrics is a result.
        patterns: Regular expressions for the lines that the program prints.
        event_folder: Folder of TensorBoard event files; None for none.
        run_folder: Folder of W&B's offline runs; None for none.
    """

    metrics: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    event_folder: Path | None = None
    run_folder: Path | None = None


class Trial(ABC):
    """The trial of a program, as `run` sees it."""

    @abstractmethod
    def report(self, metrics: Mapping[str, Any], checkpoint: str | None) -> None:
        """Report a result; raises TrialHalted if the trial should end."""

    @abstractmethod
    def check(self, child: Child) -> None:
        """Raise TrialHalted if the trial was told to end since its last report."""

    @abstractmethod
    def write(self, stream: str, data: bytes) -> None:
        """Write output of the program; `stream` is "stdout" or "stderr"."""


def run(
    trial: Trial, words: list[str], environment: dict[str, str], directory: str, checkpoint_folder: Path,
    sources: Sources, grace_s: float, is_new: bool,
) -> None:  # fmt: skip
    """Run a program to its end.

    Args:
        words: The command.
        checkpoint_folder: The folder that goes with the next result if the program changed it.
        grace_s: Seconds from the end of the trial to SIGKILL.
        is_new: Whether the trial has no result yet, so that one must come.

    Raises:
        TrialHalted: The trial was told to end; the program has ended.
        TrainableError: The program failed, cannot be started, or reported nothing.
    """
    with DefaultSelector() as selector:
        running = _Running(trial, checkpoint_folder, sources)
        with closing(Reports(selector, running.take_request)) as reports:
            child = Child(words, {**environment, SOCKET: reports.path}, directory)
            with closing(child):
                running.follow(child, reports, selector, grace_s)
    if child.status:
        raise TrainableError(running.failure(words, child.status))
    if is_new:
        running.check_reported()


class _Running:
    """The state of a program that runs."""

    def __init__(self, trial: Trial, checkpoint_folder: Path, sources: Sources) -> None:
        self._trial, self._folder = trial, checkpoint_folder
        self._signature = _signature(checkpoint_folder)
        self._text = TextMetrics(sources.metrics, sources.patterns)
        self._gathered = Gathered(sources.metrics)
        self._wanted = sources.metrics
        self._events = None if sources.event_folder is None else EventFolder(sources.event_folder)
        self._runs = None if sources.run_folder is None else OfflineRuns(sources.run_folder)
        self._last: deque[str] = deque(maxlen=_LAST_LINES)
        self._pipes: list[_Pipe] = []
        self._results: list[dict[str, Any]] = []
        self._n_results = 0
        self._has_requests = False
        self._is_over = False

    def follow(self, child: Child, reports: Reports, selector: DefaultSelector, grace_s: float) -> None:
        """Handle everything that comes from the program until it has ended."""
        self._child, self._selector = child, selector
        for stream, pipe in (("stdout", child.stdout), ("stderr", child.stderr)):
            os.set_blocking(pipe.fileno(), False)
            self._pipes.append(_Pipe(self, stream, pipe))
            selector.register(pipe, EVENT_READ, self._pipes[-1])
        looked_at = time.monotonic()
        try:
            while child.status is None:
                self._read(POLL_S if self._pipes else POLL_S / 10)
                self._trial.check(child)
                if time.monotonic() - looked_at >= FILES_EVERY_S:
                    self._look()
                    looked_at = time.monotonic()
            self._read_rest()
            self._look(is_last=True)
        except TrialHalted:
            self._is_over = True
            child.end(grace_s, self._has_requests, self._read)
            self._read_rest()
            raise
        except BaseException:
            child.end(grace_s / 2, False, self._read)
            raise
        finally:
            child.kill()

    def take_request(self, metrics: Mapping[str, Any], checkpoint: str | None) -> bool:
        """Report what the program sent itself; return whether the trial is over already.

        From now on, the program's text has no metrics.
        """
        self._has_requests = True
        if not self._is_over:
            with self._child.frozen():
                self._report(metrics, checkpoint or self._changed_checkpoint())
        return self._is_over

    def take_lines(self, lines: list[str]) -> None:
        """Find metrics in lines that the program printed."""
        for line in lines:
            if line.strip():
                self._last.append(line)
            self._take(self._text.found(line))

    def drop(self, pipe: _Pipe) -> None:
        """Read a pipe no longer: it is closed."""
        self._selector.unregister(pipe.file)
        self._pipes.remove(pipe)

    def show(self, stream: str, data: bytes) -> None:
        """Pass the program's output on."""
        self._trial.write(stream, data)

    def failure(self, words: list[str], status: int) -> str:
        """Return the message of a program that failed."""
        import signal

        if status < 0:
            how = f"was killed by {signal.Signals(-status).name}"
        else:
            how = f"ended with exit code {status}"
        command = " ".join(words)
        text = f"the program {how}: {command if len(command) < 500 else command[:500] + '...'}"
        if self._last:
            text += "\nits last lines:\n" + "\n".join(f"  {line[:500]}" for line in self._last)
        return text

    def check_reported(self) -> None:
        """Raise a TrainableError if the program ended without a result."""
        if self._n_results:
            return
        name = next(iter(self._wanted), "loss")
        seen = ", ".join(list(self._gathered.seen)[:20])
        found = (
            f"it printed the metrics {seen}" if seen else "no metric was found in what it printed or wrote"
        )
        last = (
            "\nits last lines:\n" + "\n".join(f"  {line[:500]}" for line in self._last) if self._last else ""
        )
        raise TrainableError(
            f"the program ended, and the metric {name!r} never came: {found}. Print a line such as "
            f'{{"{name}": 0.31}} or {name}=0.31, or give a pattern, such as --pattern '
            f"'{name} is (?P<{name}>[0-9.]+)'{last}"
        )

    def _read(self, timeout_s: float) -> None:
        """Handle what comes within a time."""
        for key, _ in self._selector.select(timeout_s):
            key.data()
        self._report_results()

    def _read_rest(self) -> None:
        """Read the rest of the output after the program's end."""
        deadline = time.monotonic() + LAST_OUTPUT_S
        while self._pipes and time.monotonic() < deadline:
            ready = self._selector.select(POLL_S)
            if not ready:
                break
            for key, _ in ready:
                key.data()
            self._report_results()
        for pipe in list(self._pipes):
            pipe.end()
        self._report_results()

    def _look(self, is_last: bool = False) -> None:
        """Read new metrics from files."""
        for source in (self._events, self._runs):
            for metrics in () if source is None else source.look(is_last):
                self._take(metrics)
        self._report_results()

    def _take(self, metrics: Mapping[str, Any]) -> None:
        if metrics and not self._has_requests and not self._is_over:
            result = self._gathered.add(metrics)
            if result is not None:
                self._results.append(result)

    def _report_results(self) -> None:
        """Report all results that came. The checkpoint goes with the last one.

        The program does nothing meanwhile, so that the checkpoint is that of the last result.
        """
        if not self._results:
            return
        with self._child.frozen():
            for pipe in list(self._pipes):
                pipe.drain()
            results, self._results = self._results, []
            for result in results[:-1]:
                self._report(result, None)
            self._report(results[-1], self._changed_checkpoint())

    def _changed_checkpoint(self) -> str | None:
        """Return the checkpoint folder if the program changed it and is not writing to it; else None."""
        signature = _signature(self._folder)
        if signature == self._signature or self._child.has_open(self._folder):
            return None
        self._signature = signature
        return str(self._folder) if signature else None

    def _report(self, metrics: Mapping[str, Any], checkpoint: str | None) -> None:
        self._n_results += 1
        self._trial.report(metrics, checkpoint)


class _Pipe:
    """One of the two output pipes."""

    def __init__(self, running: _Running, stream: str, pipe: IO[bytes]) -> None:
        self._running, self._stream, self.file = running, stream, pipe
        self._lines = OutputLines()

    def __call__(self) -> bool:
        """Read what is there; return whether there was anything."""
        data = self.file.read(_CHUNK)
        if data is None:
            return False
        if not data:
            self.end()
            return False
        self._running.show(self._stream, data)
        self._running.take_lines(self._lines.feed(data))
        return True

    def drain(self) -> None:
        """Read all that is in the pipe."""
        for _ in range(_MOST_CHUNKS):  # a process that left the group may write on
            if not self():
                return

    def end(self) -> None:
        """Read no more."""
        self._running.drop(self)
        self._running.take_lines(self._lines.end())


def _signature(folder: Path) -> Signature:
    """Return the name, size and time of each file below a folder."""
    found = []
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                facts = os.stat(os.path.join(place, name))
            except OSError:
                continue
            found.append((os.path.join(place, name), facts.st_size, facts.st_mtime_ns))
    return tuple(sorted(found))
