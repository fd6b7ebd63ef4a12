"""`overtone tail EXP`: what happens in a running experiment, line by line, until it ends."""

from __future__ import annotations

import argparse
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.cli.arguments import Arguments, add_experiment, add_json, positive
from overtone.cli.exit_codes import OK

if TYPE_CHECKING:
    from overtone.cli.event_text import EventText
    from overtone.observers.display.progress import Progress

_LINES = 10
_POLL_S = 0.3
_REMOTE_POLL_S = 3.0
_TIME_COLUMNS = 11


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone tail`."""
    add_experiment(parser)
    about = f"begin N lines back ({_LINES})"
    parser.add_argument("-n", type=positive, default=_LINES, metavar="N", help=about)
    parser.add_argument("--no-results", action="store_true", help="omit the lines of single results")
    add_json(parser)


def run(args: Arguments) -> int:
    """Follow until nobody runs the experiment."""
    import time

    from overtone.cli.lookup import journal_of
    from overtone.control.holder import holder
    from overtone.control.overview import overview
    from overtone.reading.summary_cache import SummaryCache
    from overtone.store.cache import origin

    journal = journal_of(args.experiment, args.dir)
    url = origin(journal.parent)

    def wait(seconds: float) -> None:
        time.sleep(seconds if url is None else _REMOTE_POLL_S)
        if url is not None:
            journal_of(url)  # which brings what is new there to this machine

    progress = followed(args, journal, lambda: holder(journal) is None, wait)
    if not args.json:
        with SummaryCache() as index:
            _say_end(overview(journal, index), progress)
    return OK


def followed(
    args: Arguments, journal: Path, stop: Callable[[], bool], sleep: Callable[[float], None]
) -> Progress:
    """Print the last lines, and then each as it comes until `stop()`; what is known in the end."""
    from overtone.cli.event_text import Telling
    from overtone.journal.codec import Codec
    from overtone.journal.lines import header
    from overtone.journal.reader import follow
    from overtone.space.nesting import with_tuples

    telling = Telling(journal.parent.name, os.fspath(journal.parent), header(journal), not args.no_results)
    back: deque[EventText] | None = deque(maxlen=args.n)

    def rest(seconds: float) -> None:
        nonlocal back
        if back is not None:  # all that had been there was read
            _print(back, args.json)
            back = None
        sys.stdout.flush()
        sleep(seconds)

    codec = Codec(decode_config=with_tuples)
    for record in follow(journal, stop, _POLL_S, lazy=True, codec=codec, sleep=rest):
        if back is not None:
            back.extend(telling.lines(record))
        else:
            _print(telling.lines(record), args.json)
    _print(back or (), args.json)
    return telling.progress


def _print(lines: Iterable[EventText], as_json: bool) -> None:
    from overtone.cli.json_output import line_of
    from overtone.cli.tables import terminal_columns
    from overtone.observers.display.plain_text import clean, duration, folded, pad

    room = terminal_columns()
    for one in lines:
        event: Any = one.record.event
        if as_json:
            document = {
                "n": one.record.n,
                "time": event.time,
                "kind": one.kind,
                "trial_id": one.trial_id,
                "t": getattr(event, "t", None),
                "metrics": dict(event.metrics) if one.kind == "result" else None,
                "text": one.say(),
            }
            print(line_of(document))
            continue
        head = f"{pad(duration(event.time), _TIME_COLUMNS, True)}  "
        text = clean(one.say())
        for line in [text] if room is None else folded(text, max(20, room - len(head))):
            print(f"{head}{line}")
            head = " " * len(head)


def _say_end(facts: dict[str, Any], progress: Progress) -> None:
    from shlex import quote

    from overtone.cli.tables import say, terminal_columns
    from overtone.control.overview import counted
    from overtone.observers.display.sentences import best_lines

    say(f"{facts['state']}: {counted(facts['statuses'])}")
    for line in best_lines(progress, terminal_columns()):
        say(line)
    if facts["is_resumable"]:
        say(f"to resume: overtone resume {quote(facts['path'])}")
