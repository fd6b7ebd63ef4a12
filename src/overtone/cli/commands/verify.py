"""`overtone verify EXP`: replay the journal, and count the decisions that today's code would not make."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from overtone.cli.arguments import Arguments, add_experiment, add_json
from overtone.cli.exit_codes import OK, WRONG

if TYPE_CHECKING:
    from overtone.run.verify import Verification

_MOST_SHOWN = 5
_WAIT_S, _EVERY_S = 1.0, 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone verify`."""
    add_experiment(parser)
    add_json(parser)


def run(args: Arguments) -> int:
    """Verify the experiment; the exit code is 1 if something differs."""
    from overtone.cli.lookup import journal_of
    from overtone.reading.progress_line import ProgressLine
    from overtone.run.verify import verify

    journal = journal_of(args.experiment, args.dir)
    with ProgressLine(_WAIT_S, _EVERY_S) as line:

        def progress(n: int) -> None:
            if line.is_due:
                line.show(f"replaying: {n:,} records")

        found = verify(journal, progress=progress)
    if args.json:
        from overtone.cli.json_output import write_json

        write_json(_data(found))
    else:
        _show(found)
    return OK if found.is_same else WRONG


def _show(found: Verification) -> None:
    from overtone.cli.tables import say

    say(f"{found.n_records:,} record{'s' * (found.n_records != 1)} replayed")
    _say_differences("decisions", found.n_decisions, found.decisions)
    if found.n_suggestions:
        _say_differences("suggestions", found.n_suggestions, found.suggestions)
    for note in found.notes:
        say(note, "yellow")


def _say_differences(what: str, n: int, differing: list[Any]) -> None:
    from overtone.cli.tables import say
    from overtone.observers.display.plain_text import clean

    say(f"{len(differing):,} of {n:,} {what} differ", "yellow" if differing else "")
    for one in differing[:_MOST_SHOWN]:
        say(f"  {clean(str(one))}")
    if len(differing) > _MOST_SHOWN:
        say(f"  and {len(differing) - _MOST_SHOWN:,} more")


def _data(found: Verification) -> dict[str, Any]:
    return {
        "records": found.n_records,
        "decisions": found.n_decisions,
        "differing_decisions": [
            {"record": one.record.n, "now": one.now, "then": one.then} for one in found.decisions
        ],
        "suggestions": found.n_suggestions,
        "differing_suggestions": [
            {"record": one.record, "index": one.index, "now": one.now, "then": one.then}
            for one in found.suggestions
        ],
        "notes": found.notes,
    }
