"""`overtone logs EXP TRIAL`: what a trial printed; with `-f`, what it prints until it ends."""

from __future__ import annotations

import argparse
import sys
from collections import deque
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from overtone.cli.arguments import Arguments, add_experiment, positive
from overtone.cli.exit_codes import OK, NotFoundError

if TYPE_CHECKING:
    from overtone.reading.output_lines import FileLines, KeptLines, Printed

_POLL_S = 0.3
_LAST_S = 0.5
"""From a trial's end until its last output is certainly in its file."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone logs`."""
    add_experiment(parser)
    parser.add_argument("trial", metavar="TRIAL", help="its id, the beginning or end of it, or its index")
    about = "follow the output until the trial ends"
    parser.add_argument("-f", "--follow", action="store_true", help=about)
    parser.add_argument("-n", type=positive, metavar="LINES", help="only the last lines (all that are kept)")
    which = parser.add_mutually_exclusive_group()
    for stream in ("stdout", "stderr"):
        which.add_argument(
            f"--{stream}", action="store_const", const=(stream,), dest="streams", help=f"only its {stream}"
        )


def run(args: Arguments) -> int:
    """Print it.

    Raises:
        NotFoundError: There is no such output.
    """
    from overtone.cli.lookup import analysis_of, journal_of, trial_id
    from overtone.journal.lines import header
    from overtone.reading.output_lines import FileLines, KeptLines
    from overtone.reading.trial_output import STREAMS, log_files

    journal = journal_of(args.experiment, args.dir)
    _, trials = analysis_of(journal)
    wanted = trial_id(args.trial, (one.trial_id for one in trials), journal.parent)
    facts, streams = header(journal), args.streams or STREAMS
    names = log_files(facts)
    folder = _brought(journal, wanted, names, args.follow)
    source: FileLines | KeptLines
    source = KeptLines(folder, wanted) if names is None else FileLines(folder, names, streams, args.n)
    output = _Output(streams)
    with closing(source):
        back: Iterable[Printed] = source.lines(is_last=not args.follow)
        output.show(back if args.n is None else _last(back, streams, args.n))
        if args.follow:
            _follow(journal, wanted, source, output)
    if not output.has_read and args.n != 0:
        raise NotFoundError(_nothing(folder, wanted, names, facts))
    return OK


def _last(lines: Iterable[Printed], streams: tuple[str, ...], count: int) -> Iterable[Printed]:
    return deque((one for one in lines if one[0] in streams), maxlen=count)


class _Output:
    """Prints lines, fit for the terminal.

    Attributes:
        has_read: Whether there was any output, of whatever stream.
    """

    def __init__(self, streams: tuple[str, ...]) -> None:
        self.has_read = False
        self._streams = streams
        self._colours = sys.stdout.isatty()

    def show(self, lines: Iterable[Printed]) -> None:
        from overtone.observers.display.plain_text import printable_output
        from overtone.standard_streams import write

        texts: list[str] = []
        for stream, line in lines:
            self.has_read = True
            if stream in self._streams:
                text = printable_output(line.decode("utf-8", "replace"), self._colours)
                texts.append(text + ("\x1b[0m\n" if "\x1b" in text else "\n"))
                if len(texts) >= 1000:
                    write(sys.stdout, "".join(texts))
                    texts.clear()
        if texts:
            write(sys.stdout, "".join(texts))


def _follow(journal: Path, trial_id: str, source: FileLines | KeptLines, output: _Output) -> None:
    """Print what comes until the trial has ended, or nobody runs the experiment."""
    import time

    from overtone.control.holder import holder
    from overtone.core.messages import Moved
    from overtone.journal.reader import follow

    ended: set[str] = set()

    def rest(seconds: float) -> None:
        output.show(source.lines())
        time.sleep(seconds)

    def is_over() -> bool:
        return trial_id in ended or holder(journal) is None

    for record in follow(journal, is_over, _POLL_S, lazy=True, sleep=rest):
        for choice in record.choices:
            if type(choice) is Moved and choice.status in ("TERMINATED", "ERROR"):
                ended.add(choice.trial_id)
            elif type(choice) is Moved:
                ended.discard(choice.trial_id)  # it runs again
    time.sleep(_LAST_S)
    output.show(source.lines(is_last=True))


# --- where it is ----------------------------------------------------------------------


def _brought(journal: Path, trial_id: str, names: tuple[str, str] | None, follows: bool) -> Path:
    """Return the folder with a trial's output; files that are only at the experiment's URL are downloaded.

    Raises:
        NotFoundError: It should be followed, and is written on another machine.
    """
    from overtone.reading.fetched_output import is_elsewhere, output_folder
    from overtone.store.cache import origin

    if follows and is_elsewhere(journal, trial_id, names):
        raise NotFoundError(
            f"the output of {trial_id} is on the machine that runs the experiment, and comes to "
            f"{origin(journal.parent)} every 15 s or more: leave out -f, or run the command there"
        )
    return output_folder(journal, trial_id, names)


def _nothing(folder: Path, trial_id: str, names: tuple[str, str] | None, header: dict[str, Any]) -> str:
    """Return why there is no output, and what to do."""
    from overtone.reading.output_lines import KeptLines
    from overtone.reading.trial_output import NEWEST

    parts = header.get("parts", {})
    options, engine = parts.get("options", {}), parts.get("engine", "")
    if names is not None:
        return f"{trial_id} printed nothing: {' and '.join(dict.fromkeys(names))} in {folder} are empty"
    if options.get("captures_output") is False:
        return (
            f"the output of {trial_id} was not kept: the experiment has captures_output=False. Leave that "
            "out, or set log_to_file=True"
        )
    if engine in ("Inline", "Simulated"):
        return f"the output of {trial_id} was not kept: the engine {engine} runs trials inside the driver"
    with closing(KeptLines(folder, trial_id)) as kept:
        is_foreign = kept.is_foreign
    if is_foreign:
        return f"the output of {trial_id} was not kept: {folder / NEWEST} is a file of the trial's own"
    return (
        f"{trial_id} has printed nothing, or the disk of its driver is not this machine's: {folder} has no "
        f"{NEWEST}"
    )
