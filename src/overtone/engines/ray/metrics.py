"""Data about a run for Ray's tools: metrics by node, and a list of the running trials.

For Ray, a forked trial is neither a task nor an actor. So the driver publishes the number of
running trials and the rate of results as metrics. It lists the trials in a file in Ray's logs.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Protocol

from overtone.file_lock import try_lock

EVERY_S = 1.0


class Gauge(Protocol):
    """A metric of Ray."""

    def set(self, value: float, tags: dict[str, str]) -> None:
        """Publish a value."""


class Figures:
    """Metrics of one run, published at most once a second.

    Args:
        run: Name of the run.
        gauge: Makes a gauge with the tags "run" and "node" from a name and a description.
        file: File for the list of running trials; None for no list.
        clock: Returns the time in seconds.

    Attributes:
        results: Number of results since the last publication, by node name.
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
        """Publish the metrics, unless they were published within the last second.

        Args:
            trials: Returns (node's name, trial's name) of all running trials.
        """
        now = self._clock()
        past_s = now - self._published_at
        if past_s >= EVERY_S:
            self._published_at = now
            self._publish(trials(), past_s)

    def close(self) -> None:
        """Publish that no trial runs any more, and close the file."""
        self.results.clear()
        self._publish((), EVERY_S)
        if self._file is not None:
            self._file.close()

    def _publish(self, trials: Iterable[tuple[str, str]], past_s: float) -> None:
        by_node: dict[str, list[str]] = {}
        for node, trial in trials:
            by_node.setdefault(node, []).append(trial)
        results = Counter(self.results)
        self.results.clear()  # the counting code keeps a reference to this object
        self._nodes |= by_node.keys() | results.keys()
        for node in self._nodes:  # also nodes where no trial runs any more
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
    """Return the metrics of a run for the cluster that this process is connected to.

    Args:
        run: Name of the run.
        id: Unique id of the run.
    """
    from ray.util.metrics import Gauge as RayGauge

    def gauge(name: str, description: str) -> Any:
        return RayGauge(name, description, ("run", "node"))

    return Figures(run, gauge, list_file(_logs(), run, id))


def list_file(logs: Path | None, run: str, id: str) -> IO[str] | None:
    """Open the file that `ray logs` shows.

    It is "overtone-RUN.log", or "overtone-RUN-ID.log" if a live run has the first one.

    Args:
        logs: The folder of Ray's logs; None if unknown.
        run: Name of the run.
        id: Unique id of the run.

    Returns:
        The file, locked until it is closed; None if it cannot be written.
    """
    if logs is None:
        return None
    for name in (run, f"{run}-{id}"):
        with suppress(OSError):  # another user owns the folder
            file = (logs / f"overtone-{name}.log").open("a", encoding="utf-8")
            if try_lock(file.fileno()):
                return file
            file.close()
    return None


def _logs() -> Path | None:
    """Return the folder of Ray's logs; None if this version of Ray does not provide it."""
    try:
        from ray._private.worker import _global_node

        assert _global_node is not None
        return Path(_global_node.get_logs_dir_path())
    except Exception:
        return None
