"""`overtone rerun EXP TRIAL`: run one trial again with the recorded command, and compare its results."""

from __future__ import annotations

import argparse
import json
from shlex import join, quote

from overtone.cli.arguments import Arguments, add_command_options, add_experiment
from overtone.cli.exit_codes import OK, NotFoundError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone rerun`."""
    add_experiment(parser)
    parser.add_argument("trial", metavar="TRIAL", help="a trial's id, how it begins, or its index")
    parser.epilog = "overtone rerun EXP TRIAL -- COMMAND ... runs COMMAND instead of the recorded command."
    add_command_options(parser)


def run(args: Arguments) -> int:
    """Become the recorded command, which runs one trial and ends.

    Raises:
        NotFoundError: There is no such trial, or the command cannot be run again.
    """
    from overtone.cli.lookup import analysis_of, journal_of, trial_id
    from overtone.cli.recorded_command import again, become, check_owner
    from overtone.cli.tables import say
    from overtone.control.overview import place_of
    from overtone.journal.lines import header
    from overtone.journal.newest_parts import newest_driver
    from overtone.reading.imported import origin_of
    from overtone.reading.request_text import is_study
    from overtone.run.resume.target import RERUN

    journal = journal_of(args.experiment, args.dir)
    path = place_of(journal)
    _, trials = analysis_of(journal)
    wanted = trial_id(args.trial, (one.trial_id for one in trials), journal.parent)
    if origin := origin_of(header(journal)):
        raise NotFoundError(
            f"{path} was imported from {origin}: its trials did not run here. The trial's config: "
            f"overtone show {quote(path)} {wanted}"
        )
    if is_study(header(journal)):
        raise NotFoundError(
            f"{path} is a study, whose trials run in the code that asks for them: none can run again alone. "
            f"The trial's config: overtone show {quote(path)} {wanted}"
        )
    rerun = again(newest_driver(journal), path, args.rest)
    if not args.rest and not args.yes:
        check_owner(journal, rerun)
    if args.json:
        from overtone.cli.json_output import write_json

        facts = {"path": path, "trial_id": wanted, "command": rerun.command, "directory": rerun.directory}
        write_json(facts)
    else:
        for note in rerun.notes:
            say(note, "yellow")
        say(f"in {rerun.directory}: {join(rerun.command)}")
    if not args.dry_run:
        become(rerun, {RERUN: json.dumps({"path": path, "trial_id": wanted})})
    return OK
