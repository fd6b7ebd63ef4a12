"""What Ray's tools show of a run: metrics by node, and which trials run where.

Ray knows a forked trial neither as a task nor as an actor. So the driver publishes how many run
and how many results come, as metrics, and keeps a list of the trials in a file among Ray's logs.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Protocol

EVERY_S = 1.0


class Gauge(Protocol):
    """A metric of Ray's."""

    def set(self, value: float, tags: dict[str, str]) -> None:
        """Publish a value."""


class Figures:
    """The figures of one run, published at most once a second.

    Args:
        run: Its name.
        gauge: Makes a gauge with the tags "run" and "node" from a name and a description.
        file: Where the running trials are listed; None for nowhere.
        clock: Seconds.

    Attributes:
        results: How many results came from each node, by its name, since they were last published.
    """

    def __init__(
        self,
        run: str,
        gauge: Callable[[str, str], Gauge],
        file: IO[str] | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.results: Counter[str] = Counter()
        self._run, self._file, self._clock = run, file, clock
        self._tag = run.encode("ascii", "backslashreplace").decode()  # Ray takes no other text
        self._running = gauge("overtone_running_trials", "Trials that run now.")
        self._rate = gauge("overtone_results_per_second", "Results of trials in the last second.")
        self._nodes: set[str] = set()
        self._published_at = clock()
        self._listed = ""

    def publish(self, trials: Callable[[], Iterable[tuple[str, str]]]) -> None:
        """Publish the figures, unless that was done within the last second.

        Args:
            trials: Gives (node's name, trial's name) of all that run.
        """
        now = self._clock()
        past_s = now - self._published_at
        if past_s >= EVERY_S:
            self._published_at = now
            self._publish(trials(), past_s)

    def close(self) -> None:
        """Publish that nothing runs any more."""
        self.results.clear()
        self._publish((), EVERY_S)
        if self._file is not None:
            self._file.close()

    def _publish(self, trials: Iterable[tuple[str, str]], past_s: float) -> None:
        by_node: dict[str, list[str]] = {}
        for node, trial in trials:
            by_node.setdefault(node, []).append(trial)
        results = Counter(self.results)
        self.results.clear()  # whoever counts keeps the same object
        self._nodes |= by_node.keys() | results.keys()
        for node in self._nodes:  # also those where nothing runs any more
            tags = {"run": self._tag, "node": node}
            self._running.set(len(by_node.get(node, ())), tags)
            self._rate.set(results[node] / past_s, tags)
        self._nodes = {node for node in self._nodes if node in by_node or results[node]}
        self._list(by_node)

    def _list(self, by_node: Mapping[str, list[str]]) -> None:
        listed = "".join(f"{node} {' '.join(trials)}\n" for node, trials in sorted(by_node.items()))
        if self._file is None or listed == self._listed:
            return
        self._listed = listed
        count = sum(map(len, by_node.values()))
        when = time.strftime("%Y-%m-%d %H:%M:%S")
        head = f"{self._run}: {count} trial{'s' * (count != 1)} running at {when}\n"
        with suppress(OSError):  # the disk is full
            self._file.seek(0)
            self._file.truncate()
            self._file.write(head + listed)
            self._file.flush()


def figures_of(run: str, id: str) -> Figures:
    """Return the figures of a run, for the cluster that this process works with.

    Args:
        run: Its name.
        id: What no other run is called.
    """
    from ray.util.metrics import Gauge as RayGauge

    def gauge(name: str, description: str) -> Any:
        return RayGauge(name, description, ("run", "node"))

    return Figures(run, gauge, list_file(_logs(), run, id))


def list_file(logs: Path | None, run: str, id: str) -> IO[str] | None:
    """Open the file that `ray logs` shows.

    It is "overtone-RUN.log", or "overtone-RUN-ID.log" if a live run has the first one.

    Args:
        logs: The folder; None for nowhere.
        run: The name of the run.
        id: What no other run is called.

    Returns:
        The file, locked until it is closed; None if it cannot be written.
    """
    for name in (run, f"{run}-{id}"):
        with suppress(OSError):  # the folder is another user's; another run writes the file
            return _locked(logs / f"overtone-{name}.log") if logs is not None else None
    return None


def _locked(path: Path) -> IO[str]:
    import fcntl

    file = path.open("a", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        file.close()
        raise
    return file


def _logs() -> Path | None:
    """The folder of Ray's logs; None in a Ray that does not say where it is."""
    try:
        from ray._private.worker import _global_node

        assert _global_node is not None
        return Path(_global_node.get_logs_dir_path())
    except Exception:
        return None
