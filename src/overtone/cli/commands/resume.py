"""`overtone resume PATH`: run the recorded command again to resume the experiment."""

from __future__ import annotations

import argparse
from shlex import join, quote
from typing import TYPE_CHECKING, Any

from overtone.cli.arguments import Arguments, add_command_options, add_dir
from overtone.cli.exit_codes import OK, NotFoundError

if TYPE_CHECKING:
    from overtone.cli.recorded_command import Execute, Rerun


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `overtone resume`."""
    parser.add_argument(
        "experiment", metavar="PATH", help="the experiment's folder, its name below DIR, or a URL"
    )
    parser.epilog = "overtone resume PATH -- COMMAND ... runs COMMAND instead of the recorded command."
    add_dir(parser)
    parser.add_argument(
        "--force",
        action="store_true",
        help="also if the experiment is finished, such as for a script that asks for more trials",
    )
    add_command_options(parser)


def run(args: Arguments, execute: Execute | None = None) -> int:
    """Become the recorded command.

    Args:
        execute: Does that: takes a program, its arguments and its environment, as `os.execvpe`.

    Raises:
        NotFoundError: It cannot be resumed; the message says why and what to do.
    """
    from overtone.cli.recorded_command import become
    from overtone.run.resume.target import ENVIRONMENT

    path, rerun, facts = _planned(args)
    _tell(args, path, rerun, facts)
    if args.dry_run:
        return OK
    become(rerun, {ENVIRONMENT: path}, execute)
    return OK


def _planned(args: Arguments) -> tuple[str, Rerun, dict[str, Any]]:
    """Return the experiment's place, the command to run, and the experiment's overview."""
    from overtone.cli.lookup import journal_of
    from overtone.cli.recorded_command import again, check_owner
    from overtone.control.overview import overview, place_of
    from overtone.journal.lines import header
    from overtone.journal.newest_parts import newest_driver
    from overtone.reading.imported import how_to_go_on, origin_of
    from overtone.reading.summary_cache import SummaryCache

    journal = journal_of(args.experiment, args.dir)
    path = place_of(journal)
    with SummaryCache() as index:
        facts = overview(journal, index)
    driver = facts["driver"]
    if driver is not None:
        who = "a process" if driver["pid"] is None else f"process {driver['pid']} on {driver['hostname']}"
        raise NotFoundError(f"{path} is running: {who} is at work on it")
    if origin_of(header(journal)):
        raise NotFoundError(how_to_go_on(path, header(journal)))
    if "rerun_of" in header(journal):
        command = f"overtone rerun {quote(path)} 0"
        raise NotFoundError(f"{path} is the rerun of one trial. To run it again: {command}")
    if facts["state"] == "finished" and not args.force:
        raise NotFoundError(
            f"{path} is finished, so there is nothing to resume; with --force its script is run again, and "
            "goes on where it asks for more trials (a larger num_samples) or tries failed ones again"
        )
    rerun = again(newest_driver(journal), path, args.rest)
    if not args.rest and not args.yes:
        check_owner(journal, rerun)
    return path, rerun, facts


def _tell(args: Arguments, path: str, rerun: Rerun, facts: dict[str, Any]) -> None:
    if args.json:
        from overtone.cli.json_output import write_json

        plan = {"path": path, "command": rerun.command, "directory": rerun.directory, "experiment": facts}
        write_json(plan)
        return
    import platform

    from overtone.cli.tables import say
    from overtone.control.overview import counted
    from overtone.quantity_text import count_text

    n, planned = facts["trials"], facts["planned"] or 0
    trials = f"{n} of {count_text(planned, 'trial')}" if planned > n else count_text(n, "trial")
    about = f"{trials} ({counted(facts['statuses'])}), {count_text(facts['results'], 'result')}"
    say(f"resuming {facts['name']}: {about}")
    for note in rerun.notes:
        say(note, "yellow")
    if rerun.hostname not in ("", platform.node()):
        say(f"it ran on {rerun.hostname}, this is {platform.node()}", "yellow")
    say(f"in {rerun.directory}: {join(rerun.command)}")
