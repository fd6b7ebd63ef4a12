"""`overtone sync EXP --to TRACKER`: send what a tracker lacks, or an experiment that has no tracker.

An experiment that runs is followed until its end.
"""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from overtone.cli.arguments import Arguments, add_experiment
from overtone.cli.exit_codes import OK, WRONG

if TYPE_CHECKING:
    from pathlib import Path

    from overtone.observers.trackers.tracker import TrackerCallback

TRACKERS = ("wandb", "mlflow", "comet", "aim")

_TIMEOUT_S = 600.0
_LOOK_S = 1.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone sync`."""
    add_experiment(parser)
    parser.add_argument("--to", choices=TRACKERS, required=True, help="the tracker to send to")
    parser.add_argument(
        "--project", metavar="NAME", help="project of wandb or comet, or experiment of mlflow or aim"
    )
    parser.add_argument("--uri", metavar="URI", help="tracking URI of mlflow, or repository of aim")
    parser.add_argument(
        "--offline",
        action="store_true",
        help="write the tracker's offline files instead of sending (wandb, comet)",
    )
    parser.add_argument(
        "--checkpoints", action="store_true", help="also send checkpoints as artifacts (not to aim)"
    )
    parser.add_argument(
        "--timeout",
        metavar="S",
        type=float,
        default=_TIMEOUT_S,
        help="longest wait for the tracker, in seconds (600)",
    )


def run(args: Arguments) -> int:
    """Send; the exit code is 1 if something is missing in the end.

    Raises:
        OvertoneError: The journal of a running experiment is on another machine, or the tracker's package is
            missing.
    """
    from overtone.cli.lookup import journal_of
    from overtone.cli.tables import say
    from overtone.observers.trackers.mark import marks
    from overtone.observers.trackers.trackers import Trackers
    from overtone.quantity_text import count_text
    from overtone.reading.journal_index import JournalIndex

    journal = journal_of(args.experiment, args.dir)
    if is_running := _is_running(journal):
        say(f"{journal.parent.name} runs: {args.to} gets its results until it ends")
    made = [_callback(args.to, given) for given in _settings(args, list(marks(journal.parent, (args.to,))))]
    for one in made:
        one.upload_timeout = args.timeout
    index = JournalIndex(journal)
    trackers = Trackers(journal.parent, made, index.table, {"name": journal.parent.name})
    while is_running and not trackers.are_over:
        trackers.flush()
        time.sleep(_LOOK_S)
        is_running = _is_running(journal)
    index.refresh()
    n = sum(row.n_results for row in index.table.rows.values())
    has_all = trackers.finish()
    if has_all:
        both = f"{count_text(len(index.table.rows), 'trial')}, {count_text(n, 'result')}"
        say(f"{args.to} has all of {journal.parent.name}: {both}")
        for one in made:
            one.folder = str(journal.parent)
            if note := one.note():
                say(note)
    return OK if has_all else WRONG


def _is_running(journal: Path) -> bool:
    """Return whether a process runs the experiment.

    Raises:
        OvertoneError: It does on another machine, and this machine has a copy of the journal.
    """
    from overtone.control.holder import holder, this_host
    from overtone.errors import OvertoneError
    from overtone.store.cache import origin

    driver = holder(journal)
    if driver is not None and driver.hostname != this_host() and origin(journal.parent) is not None:
        raise OvertoneError(
            f"{origin(journal.parent)} is run by {driver}: sync it there, or here when it has ended"
        )
    return driver is not None


def _settings(args: Arguments, known: list[Any]) -> list[dict[str, Any]]:
    """Return the settings of each place to send to: as asked, else as recorded, else the defaults."""
    asked = _asked(args)
    if asked or not known:
        return [asked]
    return [dict(one.settings) for one in known]


def _asked(args: Arguments) -> dict[str, Any]:
    """Return the arguments of the callback that options ask for."""
    from overtone.errors import ArgumentError

    names = _OPTIONS[args.to]
    given = {
        "project": args.project,
        "uri": args.uri,
        "offline": args.offline,
        "checkpoints": args.checkpoints,
    }
    found = {}
    for option, value in given.items():
        if not value:
            continue
        if option not in names:
            raise ArgumentError(f"--{option} is not an option of {args.to}")
        name, convert = names[option]
        found[name] = convert(value)
    return found


_OPTIONS: dict[str, dict[str, tuple[str, Any]]] = {
    "wandb": {
        "project": ("project", str),
        "offline": ("mode", lambda _: "offline"),
        "checkpoints": ("upload_checkpoints", bool),
    },
    "mlflow": {
        "project": ("experiment_name", str),
        "uri": ("tracking_uri", str),
        "checkpoints": ("save_artifact", bool),
    },
    "comet": {
        "project": ("project_name", str),
        "offline": ("online", lambda _: False),
        "checkpoints": ("save_checkpoints", bool),
    },
    "aim": {"project": ("experiment_name", str), "uri": ("repo", str)},
}
"""For each tracker the argument that an option sets, and how its value is made."""


def _callback(kind: str, settings: dict[str, Any]) -> TrackerCallback:
    from importlib import import_module

    names = {"wandb": "Wandb", "mlflow": "MLflow", "comet": "Comet", "aim": "Aim"}
    module = import_module(f"overtone.tune.logger.{kind}")
    given = {name: value for name, value in settings.items() if value is not None}
    made: TrackerCallback = getattr(module, f"{names[kind]}LoggerCallback")(**given)
    return made
