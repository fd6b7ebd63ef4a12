"""The watchdog on the head: ends an idle cluster, and a cluster at its limits of hours and price.

`start_command` is the command for the head. The watchdog looks at the cluster every LOOK_S seconds.
Its files are in the cluster's folder on the head: `watchdog.json` (settings, read at each look),
`age.json` (age and cost so far), `watchdog.log`, and `ended.json` once it ended the cluster.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.cluster import head_view, supervised
from overtone.cluster.age_record import AgeRecord, Moment
from overtone.cluster.config import Limits
from overtone.cluster.durations import duration_text
from overtone.cluster.end_machines import check_ending, machine_of, shuts_down
from overtone.cluster.ending import Ended, end_cluster, read_ended
from overtone.cluster.limit_rules import END, SAVE_S, WARN, Facts, Verdict, decide
from overtone.cluster.marked_processes import head_address
from overtone.cluster.run_folder import cluster_folder
from overtone.file_lock import open_locked
from overtone.regular_files import read_regular, replace_file

if TYPE_CHECKING:
    from overtone.cluster.config import ClusterConfig

MODULE = "overtone.cluster.watchdog"
LOOK_S, SHORTEST_LOOK_S = 10.0, 0.5
RETRY_S = 60.0
"""Seconds until an end that left something is tried again."""


@dataclass(frozen=True)
class Settings:
    """The settings of a watchdog.

    Attributes:
        name: The name of the cluster.
        began: Identifies the life of the cluster: seconds since 1970.
        limits: The limits of its config.
        prices: US dollars an hour by node type; "head" is the head.
        machine: How the machines end, from `end_machines.machine_of`; None if they stay.
        look_s: Seconds between two looks.
        starting_s: Seconds of its life in which the cluster counts as busy: a command still starts its nodes.
    """

    name: str
    began: float = 0.0
    limits: Limits = field(default_factory=Limits)
    prices: Mapping[str, float] = field(default_factory=dict)
    machine: Mapping[str, Any] | None = None
    look_s: float = LOOK_S
    starting_s: float = 0.0

    def text(self) -> str:
        """Return the settings as JSON."""
        return json.dumps({**vars(self), "limits": vars(self.limits)})

    @classmethod
    def of(cls, text: str | bytes) -> Settings:
        """Return the settings in JSON.

        Raises:
            ValueError, KeyError, TypeError: It is not what `text` returns.
        """
        found = json.loads(text)
        return cls(**{**found, "limits": Limits(**found["limits"])})


def start_command(
    config: ClusterConfig,
    prices: Mapping[str, float] | None = None,
    began: float = 0.0,
    starting_s: float = 0.0,
) -> str:
    """Return the shell command that starts the watchdog on the head, after Ray.

    The command may be repeated: a second one only renews the settings.

    Args:
        config: The config of the cluster.
        prices: US dollars an hour by node type, with "head" for the head.
        began: When the life of the cluster began, in seconds since 1970. Another value starts age and
            cost at 0.
        starting_s: Seconds for which the cluster is not idle: a command still starts its nodes, and repeats
            this one when they are up.
    """
    look_s = min(LOOK_S, max(SHORTEST_LOOK_S, config.limits.cluster_idle_s / 4))
    settings = Settings(
        config.name, began, config.limits, dict(prices or {}), machine_of(config), look_s, starting_s
    )
    return supervised.command(config.name, f"-m {MODULE} --start {shlex.quote(settings.text())}")


class Watchdog:
    """Looks at the cluster from its head, and ends it.

    Args:
        folder: The cluster's folder on the head.
        settings: The settings; later looks read them again.
    """

    def __init__(self, folder: Path, settings: Settings) -> None:
        self._folder, self._settings = folder, settings
        self._record = AgeRecord.read(folder / "age.json", settings.began, Moment.now())
        self._cost_an_hour = head_view.cost_an_hour({head_view.HEAD: 1}, settings.prices)
        self._warned, self._could_write = "", True

    def run(self) -> None:
        """Look until the cluster is ended."""
        ended = self._ended()
        while ended is None:
            verdict = self.look()
            if verdict.action == END:
                ended = self._announce(verdict)
            else:
                time.sleep(min(self._settings.look_s, verdict.in_s))
        while not self._end(ended):
            time.sleep(RETRY_S)

    def look(self) -> Verdict:
        """Look once; return what to do."""
        self._read_settings()
        address = head_address(self._settings.name)
        busy = head_view.busy(address)
        if not busy and self._record.age_s < self._settings.starting_s:
            busy = ("its start",)
        self._record = self._record.advanced(Moment.now(), self._cost_an_hour, bool(busy))
        self._cost_an_hour = self._cost(address)
        self._write()
        record = self._record
        facts = Facts(busy, record.busy_at, record.cost, self._cost_an_hour)
        verdict = decide(record.age_s, facts, self._settings.limits)
        if verdict.action == WARN and verdict.reason != self._warned:
            self._warn(f"ends in {duration_text(verdict.in_s)}: {verdict.reason}")
        self._warned = verdict.reason if verdict.action == WARN else ""
        return verdict

    def _read_settings(self) -> None:
        try:
            found = Settings.of(read_regular(self._folder / "watchdog.json"))
        except (OSError, ValueError, KeyError, TypeError):
            return  # those of the last look hold
        if found.began != self._settings.began:
            self._record = AgeRecord(found.began, Moment.now())
        self._settings = found

    def _cost(self, address: str | None) -> float:
        """Return the cost of an hour; that of the last look if Ray does not answer."""
        if address is None:
            return self._cost_an_hour
        try:
            found = head_view.nodes(address)
        except Exception:  # Ray's head restarts
            return self._cost_an_hour
        return head_view.cost_an_hour({**found, head_view.HEAD: 1}, self._settings.prices)

    def _write(self) -> None:
        """Write age and cost; with a full disk they count on in memory."""
        try:
            self._record.write(self._folder / "age.json")
        except OSError as error:
            if self._could_write:
                say(f"age and cost cannot be written: {error}")
            self._could_write = False
        else:
            self._could_write = True

    def _ended(self) -> Ended | None:
        """Return the end that a killed watchdog had begun."""
        found = read_ended(self._folder / "ended.json")
        return (
            found if found is not None and found.began == self._settings.began and not found.is_done else None
        )

    def _announce(self, verdict: Verdict) -> Ended:
        record = self._record
        ended = Ended(record.began, verdict.reason, time.time(), record.age_s, round(record.cost, 4))
        self._keep(ended)
        self._warn(f"ends now: {verdict.reason}")
        return ended

    def _end(self, ended: Ended) -> bool:
        settings = self._settings
        is_done = end_cluster(settings.name, settings.machine, SAVE_S, say)
        if is_done:
            self._keep(Ended(**{**vars(ended), "is_done": True}))
            say("ended")
        return is_done

    def _keep(self, ended: Ended) -> None:
        with suppress(OSError):  # a full disk keeps no cluster alive
            ended.write(self._folder / "ended.json")

    def _warn(self, text: str) -> None:
        say(text)
        line = f"Cluster {self._settings.name} {text}."
        if shutil.which("wall"):
            with suppress(OSError, subprocess.SubprocessError):
                subprocess.run(
                    ["wall", line],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    timeout=10,
                    check=False,
                )


def say(text: str) -> None:
    """Write a line to the log."""
    with suppress(OSError):  # a full disk; a buffer would fail again at exit
        os.write(1, f"{time.strftime('%Y-%m-%d %H:%M:%S')} {text}\n".encode())


def begin(settings: Settings) -> None:
    """Renew the settings, and start a supervised watchdog unless one runs.

    Raises:
        ProviderError: The function that would end the machines is not installed here.
    """
    check_ending(settings.machine)
    folder = cluster_folder()
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(folder / "watchdog.json", settings.text().encode())
    lock = open_locked(folder / "watchdog.lock", os.O_RDWR | os.O_CREAT)
    if lock is None:
        return
    try:
        if (folder / "ended.json").exists():  # of an earlier life
            (folder / "age.json").unlink(missing_ok=True)
            (folder / "ended.json").unlink()
    finally:
        os.close(lock)
    resume()
    if settings.machine is not None and shuts_down(settings.machine):
        error = supervised.start_at_boot(MODULE, "--resume")
        if error:
            os.write(
                2, f"if the head restarts, nothing ends it: cron does not run there ({error})\n".encode()
            )


def resume() -> None:
    """Start a supervised watchdog with the present settings; it ends at once if another one watches."""
    supervised.start(MODULE, log=cluster_folder() / "watchdog.log")


def watch() -> int:
    """Watch until the cluster is ended; return the exit status."""
    folder = cluster_folder()
    lock = open_locked(folder / "watchdog.lock", os.O_RDWR | os.O_CREAT)
    if lock is None:
        return 0  # another one watches
    Watchdog(folder, Settings.of(read_regular(folder / "watchdog.json"))).run()
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run `python -m overtone.cluster.watchdog`; return the exit status."""
    parser = argparse.ArgumentParser(prog=f"python -m {MODULE}")
    parser.add_argument("--start", metavar="JSON", help="renew the settings and start it in the background")
    parser.add_argument("--resume", action="store_true", help="start it in the background, after a reboot")
    given = parser.parse_args(arguments)
    if given.start is not None:
        begin(Settings.of(given.start))
    elif given.resume:
        resume()
    else:
        return watch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
